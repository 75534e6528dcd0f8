"""Section retrieval: the section of a quoted document whose heading the question names."""

import sys
from collections.abc import Iterator, Sequence

from kgrag.results import Reason
from kgrag.retrieval.search import Ranking, Search
from kgrag.text.numbering import without_numbering
from kgrag.types import Heading

_MOST_DOCUMENTS = 5  # a title that more bear leads to no section
_MOST = 6  # headings; a name that more of them end in tells no section
_LENGTHS = range(2, 13)  # characters of a heading's name
_OF_ITS_KIND = 0.7  # 发展目标, where 主要目标 is asked for
_END = " \t\n　。：:；;，,、"


def heading_name(heading: str) -> str:
    """Return a heading without its number and surrounding punctuation.

    >>> [heading_name(h) for h in ("（三）主要目标。", "第三节  发展目标", "3.1 总则", "目标")]
    ['主要目标', '发展目标', '总则', '目标']
    """
    return (without_numbering(heading, " \t\n　") or heading).strip(_END)


def chunks_of_asked_sections(search: Search) -> Ranking:
    """Return the chunks of quoted documents under a heading whose name is in the question.

    《…》的主要目标是什么 asks for the section 二、主要目标, not every sentence with these words. A
    heading that the question contains scores 1; without one, those that end in two characters of it
    (发展目标) score 0.7, unless there are more than six or the question names an indicator:
    森林覆盖率目标 is a figure, not a section.
    """
    if not search.titled or len(search.titled) > _MOST_DOCUMENTS:
        return Ranking((), {})
    store, doc_ids = search.store, list(search.titled)
    asked = [
        (doc_id, *section)
        for doc_id, headings in store.headings(doc_ids).items()
        for section in _asked(headings, search.query.remainder, exactly=bool(search.indicators))
    ]
    if not asked:
        return Ranking((), {})
    best: dict[str, tuple[float, str]] = {}
    for chunk in store.chunks_of(doc_ids, size=search.settings.leaf):
        for doc_id, start, end, score, heading in asked:
            within = doc_id == chunk.doc_id and start < chunk.end and chunk.start < end
            if within and score > best.get(chunk.chunk_id, (0.0, ""))[0]:
                best[chunk.chunk_id] = score, heading
    hits = sorted(((c, score) for c, (score, _) in best.items()), key=lambda hit: -hit[1])
    reasons = {c: Reason("section", what=heading) for c, (_, heading) in best.items()}
    return Ranking(tuple(hits), reasons)


def _asked(
    headings: Sequence[Heading], question: str, *, exactly: bool
) -> Iterator[tuple[int, int, float, str]]:
    """Yield start, end, score and heading of the sections that a question names.

    Those whose names it contains, else, unless `exactly`, those of the same kind.
    """
    names = [
        (i, name) for i, h in enumerate(headings) if len(name := heading_name(h.text)) in _LENGTHS
    ]
    whole = [(i, 1.0) for i, name in names if name in question]
    found = whole
    if not (whole or exactly):
        found = [(i, _OF_ITS_KIND) for i, name in names if name[-2:] in question]
    if len(found) > _MOST:
        return
    for i, score in found:
        heading = headings[i]
        after = (h.start for h in headings[i + 1 :] if h.level <= heading.level)
        yield heading.start, next(after, sys.maxsize), score, heading.text
