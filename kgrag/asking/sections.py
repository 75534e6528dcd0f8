"""Questions for the tasks or measures of one document: all headings under those words."""

import re
from collections.abc import Mapping, Sequence

from kgrag.asking.meant import chunk_at, document_meant
from kgrag.asking.rows import Complete, Stated
from kgrag.asking.search_context import SearchContext
from kgrag.generation.listed import Place
from kgrag.retrieval.search import Search
from kgrag.types import Heading, Language

# Words for what a document has a part of, each row one meaning.
_PARTS: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"(?:重点|主要|工作|具体)任务|任务措施|(?:重点|主要)(?:举措|措施|工作|行动)|(?:tasks|measures)"
    ),
    re.compile(r"(?:重点|主要|重大)工程|(?:projects)"),
    re.compile(r"保障措施|组织保障|组织实施|政策保障"),
    re.compile(r"基本原则|工作原则|(?:principles)"),
    re.compile(r"重点(?:领域|方向)"),
)
_ASKS = re.compile(
    r"哪[些几]|列[出举]|包括|有什么|是什么|都有|几[大个项]|\b(?:which|what|list)\b", re.I
)
_MOST = 40  # headings
_NOTES: Mapping[Language, str] = {
    "zh": "《{title}》“{part}”之下共{n}项，{n}项均已列出",
    "en": "{n} of {n} headings under “{part}” of 《{title}》",
}


def sections(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the headings under a part of a document that a question names; None for another.

    Args:
        search: For the question.
        knowledge: Whose documents are asked.
    """
    query = search.query
    part = next((part for part in _PARTS if part.search(query.remainder)), None)
    if part is None or not (_ASKS.search(query.text) or _ends_with(query.text, part)):
        return None
    meant = document_meant(search, knowledge)
    if meant is None:
        return None
    card = meant.card
    found = _under(knowledge.store.headings([card.doc_id]).get(card.doc_id, ()), part)
    if found is None:
        return None
    heading, inner = found
    chunks = knowledge.store.chunks_of([card.doc_id], size=knowledge.settings().leaf)
    rows = tuple(
        Stated(Place(card.doc_id, h.start, h.end, chunk_at(chunks, h.start))) for h in inner
    )
    note = _NOTES[query.language].format(title=card.title, part=heading.text, n=len(inner))
    return Complete(rows, (note, *meant.notes), "sections")


def _ends_with(text: str, part: re.Pattern[str]) -> bool:
    """Return whether a question only names the part: 某某方案的重点任务."""
    bare = text.rstrip("？?。. ")
    return any(match.end() == len(bare) for match in part.finditer(bare))


def _under(
    headings: Sequence[Heading], part: re.Pattern[str]
) -> tuple[Heading, list[Heading]] | None:
    """Return the first heading that names a part, and those right under it; None for too few."""
    for at, heading in enumerate(headings):
        if not part.search(heading.text):
            continue
        inner: list[Heading] = []
        for following in headings[at + 1 :]:
            if following.level <= heading.level:
                break
            inner.append(following)
        top = min((h.level for h in inner), default=0)
        direct = [h for h in inner if h.level == top]
        if 2 <= len(direct) <= _MOST:
            return heading, direct
    return None
