"""Read references between documents by rule: 根据《…》, 落实《…》, 修订《…》."""

import re
from collections.abc import Sequence

from kgrag.ids import entity_id, fact_id
from kgrag.ingestion.anchor import evidence_for
from kgrag.language.text import normalize_name, quoted_titles, sentence_spans
from kgrag.language.titles import document_name
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Mention

# The word nearest before the title names the relation; plain mention counts as 引用.
_RELATIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("废止", re.compile(r"废止|停止执行")),
    ("修订", re.compile(r"修订|修改|修正")),
    ("印发", re.compile(r"印发|发布|公布|颁布")),
    ("依据", re.compile(r"根据|依据|依照|按照|遵照|参照|对照")),
    ("落实", re.compile(r"落实|贯彻|执行|实施|推进|推动|衔接")),
)
EXTRACTOR = "rules"
_DEFAULT_RELATION = "引用"
_REACH = 24  # characters before the title in which its relation word stands ...
_LOOK_BACK = 300  # ... other titles of the same list left out
_OTHER_TITLES = re.compile(r"《[^《》]*》(?:[（(][^（）()]{0,40}[）)])?")


def references(document: Document, leaves: Sequence[Chunk]) -> tuple[list[Fact], list[Mention]]:
    """Return what a document says of others, and the place where it names itself.

    One fact for each relation and title cited; its evidence is the title's place, marks
    included. A document is an entity under the name that others cite it by, so that a citation
    meets the document cited without any matching at query time.

    Args:
        document: The document.
        leaves: Its smallest chunks in reading order.
    """
    own = Entity(
        entity_id(document_name(document.title)), document_name(document.title), "document"
    )
    places: dict[str, list[Evidence]] = {}
    facts: dict[str, Fact] = {}
    own_names = {normalize_name(document.title), normalize_name(own.name)}
    text = document.text
    for start, end, title in quoted_titles(text):
        name = " ".join(title.split()) if title.isascii() else "".join(title.split())
        if normalize_name(name) in own_names:
            continue
        cited = Entity(entity_id(name), name, "document")
        relation = _relation(text[max(0, start - _LOOK_BACK) : start - 1])
        fid = fact_id(own.entity_id, relation, cited.entity_id)
        facts.setdefault(fid, Fact(fid, own, relation, cited, ()))
        places.setdefault(fid, []).extend(
            evidence_for(leaves, start - 1, end + 1, extractor=EXTRACTOR)
        )
    found = [
        Fact(fid, f.subject, f.predicate, f.object, tuple(places[fid])) for fid, f in facts.items()
    ]
    at = evidence_for(leaves, *_title_span(document), extractor=EXTRACTOR)
    return found, [Mention(own, evidence) for evidence in at]


def _relation(before: str) -> str:
    best, at = _DEFAULT_RELATION, -1
    clause = _OTHER_TITLES.sub("", re.split(r"[。；;]", before)[-1])[-_REACH:]
    for relation, pattern in _RELATIONS:
        for match in pattern.finditer(clause):
            if match.start() > at:
                best, at = relation, match.start()
    return best


def _title_span(document: Document) -> tuple[int, int]:
    """Return where the document's title stands in its text: its first sentence otherwise."""
    spans = sentence_spans(document.text)
    first = next((s for s in spans if document.text[s[0] : s[1]].strip()), None)
    at = document.text.find(document.title)
    if at >= 0:
        return at, at + len(document.title)
    return first or (0, len(document.text))
