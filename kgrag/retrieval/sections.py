"""Headings that a question means: a section of a quoted document, and parts it asks to list.

Of parts (部署了哪几大行动) the headings that count them are the answer, wherever they are found.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.search import Ranking, Search
from kgrag.store.store import SearchedStore
from kgrag.text.numbering import without_numbering
from kgrag.text.numerals import han_numeral
from kgrag.types import Heading, Query

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


_COUNT = r"[一二三四五六七八九十两]{1,3}|\d{1,2}"
_UNITS = "大个项类种条块步"
# 哪几大工作行动: how many, and of what, the noun a few characters on.
_ASKS = re.compile(
    rf"哪(?P<count>几|些|{_COUNT})(?:[{_UNITS}]|方面|部分)*(?P<noun>[^，,。；;？?、\s]{{0,10}})"
    rf"|(?P<many>{_COUNT}|几)(?:大[{_UNITS}]?|项)(?P<named>[^，,。；;？?、\s]{{0,10}})"
)
_BEST = 5  # candidates whose documents may hold the parts
_DOCUMENTS = 2
_FEWEST, _MOST_PARTS = 3, 15  # parts
_SHARE = 0.8  # of the parts' names that end in one word: 行动
_WORD = range(4, 1, -1)  # its characters


@dataclass(frozen=True, slots=True)
class _Parts:
    """Sibling headings.

    Attributes:
        doc_id: Their document.
        above: Their parent heading; empty at the top level.
        headings: In order.
        word: Common ending of their names; may be empty.
    """

    doc_id: str
    above: str
    headings: Sequence[Heading]
    word: str


def asked_parts(
    query: Query, candidates: Sequence[ScoredChunk], store: SearchedStore, *, leaf: int
) -> list[ScoredChunk]:
    """Return the leaf chunks with the headings that a question asks to list, in order.

    They are sibling headings in a document of the best candidates whose names end in the word asked
    for (哪几大行动: …行动), or, in the best document, as many as the question counts (哪六大方面).
    Of several groups the one with more candidates below it is taken.

    Returns:
        Chunks with the best candidate's score; empty if no list is asked for or found.
    """
    asked = [_count_asked(match) for match in _ASKS.finditer(query.remainder)]
    doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in candidates[:_BEST]))[:_DOCUMENTS]
    if not asked or not doc_ids:
        return []
    groups: list[tuple[tuple[float, ...], _Parts]] = []
    headings = store.headings(doc_ids)
    for rank, doc_id in enumerate(doc_ids):
        for parts in _beside_each_other(doc_id, headings.get(doc_id, ())):
            named = any(parts.word and parts.word[-2:] in noun for noun, _ in asked)
            counted = any(len(parts.headings) == count for _, count in asked)
            inside = _weight(parts, candidates)
            if inside and (named or (counted and not rank)):
                groups.append(((named + counted, -rank, inside), parts))
    if not groups:
        return []
    _, best = max(groups, key=lambda group: group[0])
    return _chunks(best, store, leaf=leaf, score=candidates[0].score)


def _count_asked(match: re.Match[str]) -> tuple[str, int]:
    said = match["count"] or match["many"]
    return match["noun"] or match["named"] or "", _number(said)


def _number(said: str) -> int:
    """Parse a count in digits or Chinese numerals; 0 for anything else.

    >>> [_number(said) for said in ("六", "十二", "8", "几")]
    [6, 12, 8, 0]
    """
    return int(said) if said.isdecimal() else int(han_numeral(said) or 0)


def _beside_each_other(doc_id: str, headings: Sequence[Heading]) -> Iterator[_Parts]:
    groups: dict[tuple[int, int], list[Heading]] = defaultdict(list)
    above: list[int] = []
    for i, heading in enumerate(headings):
        while above and headings[above[-1]].level >= heading.level:
            above.pop()
        groups[above[-1] if above else -1, heading.level].append(heading)
        above.append(i)
    for (parent, _), group in groups.items():
        if _FEWEST <= len(group) <= _MOST_PARTS:
            over = headings[parent].text if parent >= 0 else ""
            yield _Parts(doc_id, over, group, _common_word([heading_name(h.text) for h in group]))


def _common_word(names: Sequence[str]) -> str:
    """Return the longest word that most names end in; empty if there is none.

    >>> _common_word(["能源转型行动", "节能降碳行动", "碳汇巩固行动"])
    '行动'
    """
    for length in _WORD:
        ends = Counter(name[-length:] for name in names if len(name) > length)
        word, often = ends.most_common(1)[0] if ends else ("", 0)
        if often >= max(_FEWEST, _SHARE * len(names)):
            return word
    return ""


def _weight(parts: _Parts, candidates: Sequence[ScoredChunk]) -> float:
    start, last = parts.headings[0].start, parts.headings[-1].end
    return sum(
        1 / rank
        for rank, r in enumerate(candidates, start=1)
        if r.chunk.doc_id == parts.doc_id and start < r.chunk.end and r.chunk.start < last
    )


def _chunks(parts: _Parts, store: SearchedStore, *, leaf: int, score: float) -> list[ScoredChunk]:
    """Return the leaf chunks in which the headings begin."""
    of = f" of {parts.above}" if parts.above else ""
    reason = Reason("part", n=str(len(parts.headings)), of=of)
    starts = [heading.start for heading in parts.headings]
    return [
        ScoredChunk(chunk, score, (reason,))
        for chunk in store.chunks_of([parts.doc_id], size=leaf)
        if any(chunk.start <= start < chunk.end for start in starts)
    ]


def without(results: Sequence[ScoredChunk], parts: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return the results that neither are parts nor overlap one."""
    spans = [(p.chunk.doc_id, p.chunk.start, p.chunk.end) for p in parts]
    return [
        r
        for r in results
        if not any(
            doc_id == r.chunk.doc_id and start < r.chunk.end and r.chunk.start < end
            for doc_id, start, end in spans
        )
    ]
