"""Decompose a comparison: 福建、河南各多少 asks for 福建 and for 河南.

Sides are places, or documents whose titles are quoted; if rules find none, a model's sub-questions.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, zip_longest

from kgrag.question.query import analyse, like, titles_in
from kgrag.text.facets import NATIONAL
from kgrag.text.places import places_in
from kgrag.text.regions import regions_named
from kgrag.types import Query, SubQuestion

# A question goes on from a quoted document to who issued what it is based on.
ASKS_ON = frozenset(["on from it", "who issued"])
WHOLE = "the whole question"  # label of the first side where a model made the others
_MOST = 6  # sides; a question that names more places is no comparison of them
_WHOLE = r"全国|国家(?!级|标准)|中央|国务院|我国"
_AND = r"(?:里|本级)?\s*(?:[、，,/和与及跟同或比]|以及)\s*"
_JOIN = r"\s*+(?:[、，,/和与及跟同或]|以及|比)?\s*+"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        label: Its place, 全国 for the national level; or the title quoted; or a model's label.
        query: The question about it alone.
        alone: Whether the model's expansion of the question, except keywords, is dropped.
    """

    label: str
    query: Query
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Named:
    """A place in the text that names a side."""

    start: int
    end: int
    label: str


def sides(query: Query, asks: Collection[str]) -> tuple[Side, ...]:
    """Return the sides of a comparison; empty for other questions.

    Sides are quoted titles that words of comparison oppose, else places that documents are about,
    except a province before its city. The national level is one only with words of comparison, as
    国家级 and 国家政策 are frequent. If rules find none, a model's sub-questions follow the
    question itself, as the model may be wrong.

    >>> asked = analyse("福建、河南到2025年各建多少家")
    >>> [side.query.text for side in sides(asked, ["comparison"])]
    ['福建到2025年各建多少家', '河南到2025年各建多少家']
    """
    return _by_rule(query, asks) or _by_reading(query, asks)


def _by_rule(query: Query, asks: Collection[str]) -> tuple[Side, ...]:
    if query.titles:
        return _documents(query) if "contrast" in asks else ()
    if len(query.places) + query.national < 2:
        return ()
    national = query.national and "comparison" in asks
    named = _beside_each_other(query.text, _named(query.text, query.places, national=national))
    labels = list(dict.fromkeys(n.label for n in named))
    if not 2 <= len(labels) <= _MOST:
        return ()
    return tuple(Side(label, _asked_of(query, label, named)) for label in labels)


def _by_reading(query: Query, asks: Collection[str]) -> tuple[Side, ...]:
    """Return the question and a side per place, document and year of its sub-questions.

    Sub-questions about the same are covered by the question itself.
    """
    if ASKS_ON.issubset(asks):
        return ()
    told: dict[str, Side] = {}
    for sub in query.sub_questions:
        title = f"《{sub.document}》" if sub.document else ""
        label = " ".join(filter(None, (sub.place, title, str(sub.year or ""))))
        if label:
            told.setdefault(label, Side(label, _by_itself(query, sub), alone=True))
    whole = Side(WHOLE, replace(query, sub_questions=()))
    return (whole, *told.values()) if len(told) > 1 else ()


def _by_itself(query: Query, sub: SubQuestion) -> Query:
    national = sub.place == NATIONAL
    named = "" if national or sub.place in sub.text else sub.place
    asked = analyse(named + sub.text, known_places={sub.place, *query.places} - {"", NATIONAL})
    return replace(like(query, asked), critical="", national=asked.national or national)


def _documents(query: Query) -> tuple[Side, ...]:
    found = [_Named(*title) for title in titles_in(query.text, dict(query.named))]
    titles = list(dict.fromkeys(one.label for one in found))
    if not 2 <= len(titles) <= _MOST:
        return ()
    return tuple(Side(title, _about(query, title, found)) for title in titles)


def _about(query: Query, title: str, named: Sequence[_Named]) -> Query:
    asked = analyse(
        _left_out(query.text, title, named), known_places=query.places, named=dict(query.named)
    )
    return like(query, asked)


def _beside_each_other(text: str, named: Sequence[_Named]) -> list[_Named]:
    """Drop places that only locate another one.

    北京通州 is one, as are 南昌 and 江西 in two places of a question; 安徽和阜阳 are two.
    """
    joined = [
        (one.label, following.label)
        for one, following in pairwise(named)
        if re.fullmatch(_AND, text[one.end : following.start])
    ]
    outer = _outer({one.label for one in named}, joined)
    kept: list[_Named] = []
    start: int | None = None  # of the names right before, that say where this one lies
    for one, following in zip_longest(named, named[1:]):
        if one.label not in outer:
            kept.append(one if start is None else replace(one, start=start))
            start = None
        elif following is not None and following.start == one.end:
            start = one.start if start is None else start
        else:
            start = None
    return kept


def _outer(labels: Collection[str], joined: Collection[tuple[str, str]]) -> set[str]:
    """Return the places around another one with which no word joins them."""
    return {
        label
        for label in labels
        for inner in labels
        if label != inner
        and label in _around(inner)
        and not {(label, inner), (inner, label)}.intersection(joined)
    }


def innermost(places: Collection[str]) -> tuple[str, ...]:
    """Return the places that lie around no other one of them, by short names.

    >>> innermost(["四川", "广元"]), innermost(["四川", "云南"])
    (('广元',), ('四川', '云南'))
    """
    return tuple(p for p in places if not any(p in _around(o) for o in places if o != p))


@cache
def _around(place: str) -> frozenset[str]:
    """Return the short names of all places around those of a name."""
    found: set[str] = set()
    for name in (place, *(place + level for level in "市区县旗")):
        for region in regions_named(name):
            parent = region.parent
            while parent is not None:
                found.add(parent.short)
                parent = parent.parent
    return frozenset(found)


def _named(text: str, places: Collection[str], *, national: bool) -> list[_Named]:
    """Return the mentions of places in a question, in order."""
    found = [_Named(*place) for place in places_in(text, places) if place[2] in places]
    if national:
        found += [_Named(*match.span(), NATIONAL) for match in re.finditer(_WHOLE, text)]
    return sorted(found, key=lambda one: one.start)


def _asked_of(query: Query, label: str, named: Sequence[_Named]) -> Query:
    text = _left_out(query.text, label, named)
    places = frozenset() if label == NATIONAL else frozenset({label})
    asked = analyse(text, known_places=places)
    return replace(like(query, asked), places=places, national=label == NATIONAL)


def _left_out(text: str, label: str, named: Sequence[_Named]) -> str:
    """Return a question with the names in each enumeration reduced to one side's."""
    pieces: list[str] = []
    at = 0
    for run in _runs(text, named):
        own = [n for n in run if n.label == label]
        pieces.append(text[at : run[0].start])
        pieces.append(text[own[0].start : own[0].end] if own else "")
        at = run[-1].end
    return "".join([*pieces, text[at:]])


def _runs(text: str, named: Sequence[_Named]) -> Iterator[list[_Named]]:
    """Yield adjacent mentions together."""
    run: list[_Named] = []
    for one in named:
        if run and not re.fullmatch(_JOIN, text[run[-1].end : one.start]):
            yield run
            run = []
        run.append(one)
    if run:
        yield run
