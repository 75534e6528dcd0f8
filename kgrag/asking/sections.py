"""Questions for the tasks or measures of one document: all headings under those words."""

import re
from collections.abc import Mapping, Sequence

from kgrag.asking.meant import chunk_at, document_meant
from kgrag.asking.rows import Complete, Stated
from kgrag.asking.search_context import SearchContext
from kgrag.generation.listed import Place
from kgrag.question.question import grammar, question_of
from kgrag.retrieval.search import Search
from kgrag.types import Heading, Language

# What a document has a part of, by what the question asks for and tags of headings.
_PARTS = ("tasks", "projects", "safeguards", "principles", "fields")
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
    asks = question_of(query).asks
    name = next((name for name in _PARTS if name in asks), "")
    part = re.compile("|".join(map(re.escape, grammar().words(name)))) if name else None
    if part is None or not ("a list" in asks or _ends_with(query.text, part)):
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
