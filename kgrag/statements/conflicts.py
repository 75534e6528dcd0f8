"""Find planned figures of different documents that contradict each other."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, combinations
from typing import NamedTuple

from kgrag.answer.notes import note
from kgrag.qualifiers import Comparator
from kgrag.statements.choose import check_named, choose, in_places, stated_place
from kgrag.statements.figures import (
    Measured,
    decimal_of,
    figure_words,
    is_known_place,
    measured_of,
    of_any_size,
)
from kgrag.statements.naming import day_of_issue
from kgrag.statements.selection import Selection
from kgrag.statements.sources import Spot, Stated, spot_of
from kgrag.statements.table import Cell, Column
from kgrag.statements.targets import INDICATOR, REGION, YEAR
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL
from kgrag.types import Document

_AT_LEAST: frozenset[Comparator] = frozenset([">=", ">"])
_AT_MOST: frozenset[Comparator] = frozenset(["<=", "<"])

BELOW, UNLIKE = "低于上级", "两文不一"
_ALL = Decimal(100)
_ROUNDED = Decimal("0.05")  # 超过800万 and 805.5万 say the same
_COLUMNS = (
    Column("kind", "差异", "difference"),
    INDICATOR,
    Column("scope", "范围", "scope"),
    REGION,
    YEAR,
    Column("figure", "数值", "figure"),
    Column("issued", "发文日期", "issued"),
    Column("against_region", "对照地区", "against region"),
    Column("against_year", "对照年份", "against year"),
    Column("against_figure", "对照数值", "against figure"),
    Column("against_issued", "对照发文日期", "against issued"),
)


class Figure(NamedTuple):
    """A planned figure with a single value, a year and a known place.

    Attributes:
        measured: Key for comparison.
        indicator: Name of the indicator.
        year: Target year.
        place: Full names, outermost first; 全国 for the whole country.
        value: In the unit.
        comparator: At least, about, a change, and so on.
        statement: Its source.
        card: The document, without its text.
    """

    measured: Measured
    indicator: str
    year: int
    place: tuple[str, ...]
    value: Decimal
    comparator: Comparator
    statement: Statement
    card: Document


class _Pair(NamedTuple):
    """Two conflicting figures.

    Attributes:
        kind: Kind of conflict.
        own: The local figure; of two documents of one place, that of the earlier one.
        other: The figure of the superior place, or of the later document.
    """

    kind: str
    own: Figure
    other: Figure


def conflicts(store: Store, selection: Selection) -> Stated:
    """Return pairs of conflicting planned figures, with both sources.

    A figure is compared with that of the nearest superior place with the same indicator, unit,
    scope and kind of change; only if the direction of the indicator is certain.
    A figure of the country counts only if it is all (100%): its total or average bounds no place.
    Achieved figures are left out.

    Args:
        store: The knowledge base.
        selection: Selects the local figures by indicator, place and year; one of the two documents
            must be among those that are searched. `standing` is ignored.

    Raises:
        NotFoundError: If no document is selected, or a place or an indicator is unknown.
    """
    covered = choose(store, selection).cards
    planned = Selection(kind="targets", indicator=selection.indicator, standing="planned")
    chosen = choose(store, planned, "target")
    check_named(store, chosen, "target")
    here = in_places(selection.places, chosen.cards.values())
    first, last = selection.years or (0, 9999)
    figures = list(planned_figures(chosen.statements, chosen.cards))
    pairs = [
        pair
        for pair in _pairs(figures)
        if here(pair.own.place)
        and not covered.keys().isdisjoint((pair.own.card.doc_id, pair.other.card.doc_id))
        and first <= pair.own.year <= last
    ]
    made = [
        (_cells(pair), [spot_of(figure.statement) for figure in (pair.own, pair.other)])
        for pair in sorted(pairs, key=_order)
    ]
    n_documents = len({f.card.doc_id for f in figures})
    counted = note("conflicts", "zh", documents=n_documents, figures=len(figures), n=len(pairs))
    is_any_below = any(pair.kind == BELOW for pair in pairs)
    return Stated(_COLUMNS, made, (counted, *([note("no-breach", "zh")] if is_any_below else ())))


def planned_figures(
    statements: Iterable[Statement], cards: Mapping[str, Document]
) -> Iterator[Figure]:
    """Yield the planned figures with a single value, a year and a known place.

    Args:
        statements: Targets.
        cards: Their documents, by id.
    """
    for statement in statements:
        told, card = statement.qualifiers, cards[statement.doc_id]
        value, place = decimal_of(told.value), stated_place(told, card)
        if told.standing != "planned" or told.value_to or value is None:
            continue
        if told.year.isdigit() and is_known_place(place, card):
            measured, name = measured_of(statement, card), statement.fact.subject.name
            year, comparator = int(told.year), told.comparator
            yield Figure(measured, name, year, place, value, comparator, statement, card)


def _pairs(figures: Iterable[Figure]) -> Iterator[_Pair]:
    """Yield what does not go together of the figures of each thing that is measured."""
    groups: defaultdict[Measured, defaultdict[tuple[str, ...], list[Figure]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for figure in figures:
        groups[figure.measured][figure.place].append(figure)
    for measured, by_place in groups.items():
        direction = _more_is_better([f for figures in by_place.values() for f in figures])
        for place, own in by_place.items():
            around = (
                [f for f in by_place.get(outer, ()) if outer != (NATIONAL,) or _is_all(f)]
                for outer in _around(place)
            )
            above = next(filter(None, around), None)
            if above and direction is not None and of_any_size(measured.unit):
                yield from _short_of(own, above, direction)
            yield from _between_documents(own)


def _is_all(figure: Figure) -> bool:
    is_level = figure.measured.unit == "%" and not figure.measured.change
    return is_level and figure.value == _ALL


def _around(place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the superior places, nearest first, the country last."""
    if place != (NATIONAL,):
        yield from (place[:n] for n in range(len(place) - 1, 0, -1))
        yield (NATIONAL,)


def _short_of(own: Sequence[Figure], above: Sequence[Figure], direction: bool) -> Iterator[_Pair]:
    """Yield a place's figures that fall short of those of the superior place."""
    by_document: defaultdict[tuple[str, int], list[Figure]] = defaultdict(list)
    for figure in own:
        by_document[figure.card.doc_id, figure.year].append(figure)
    for (_, year), figures in by_document.items():
        same_year = [f for f in above if f.year == year]
        if not same_year:
            continue
        best, least = _strictest(figures, direction), _strictest(same_year, not direction)
        if best.value != least.value and (best.value < least.value) is direction:
            yield _Pair(BELOW, best, least)


def _strictest(figures: Iterable[Figure], direction: bool) -> Figure:
    ordered = sorted(figures, key=lambda f: (f.value, spot_of(f.statement)))
    return ordered[-1] if direction else ordered[0]


def _between_documents(own: Sequence[Figure]) -> Iterator[_Pair]:
    """Yield pairs of documents of a place that share no figure of a year."""
    by_year: defaultdict[int, dict[str, list[Figure]]] = defaultdict(dict)
    for figure in own:
        by_year[figure.year].setdefault(figure.card.doc_id, []).append(figure)
    for by_document in by_year.values():
        ordered = sorted(by_document.values(), key=lambda f: day_of_issue(f[0].card) or "")
        for one, other in combinations(ordered, 2):
            if not any(_agree(a, b) for a in one for b in other):
                yield _Pair(UNLIKE, one[0], other[0])


def _agree(one: Figure, other: Figure) -> bool:
    """Return whether two figures are compatible: equal, or one rounded from the other."""
    low, high = sorted((one, other), key=lambda f: f.value)
    if low.comparator in _AT_LEAST and high.comparator not in _AT_LEAST:
        return high.value - low.value <= abs(low.value) * _ROUNDED
    short, exact = sorted((low.value, high.value), key=_decimals)
    return exact.quantize(Decimal(1).scaleb(-_decimals(short))) == short


def _decimals(value: Decimal) -> int:
    return -int(value.as_tuple().exponent)


def _cells(pair: _Pair) -> tuple[Cell, ...]:
    sides = (
        (f.place[-1], f.year, figure_words(f.statement), day_of_issue(f.card))
        for f in (pair.own, pair.other)
    )
    return (pair.kind, pair.own.indicator, pair.own.measured.scope or None, *chain(*sides))


def _order(pair: _Pair) -> tuple[bool, str, int, tuple[str, ...], Spot]:
    own = pair.own
    return pair.kind != BELOW, own.indicator, own.year, own.place, spot_of(own.statement)


def _more_is_better(figures: Sequence[Figure]) -> bool | None:
    """Return whether a larger figure is the stricter target; None if uncertain.

    It is for changes (提高, 下降 by an amount), and where some place is to reach all (100%).
    Otherwise the comparators of most figures of the thing decide: 不低于, 不超过.

    Args:
        figures: Of one thing that is measured, at all places.
    """
    if figures[0].measured.change or any(_is_all(figure) for figure in figures):
        return True
    used = Counter(figure.comparator for figure in figures)
    more, less = (sum(used[sign] for sign in signs) for signs in (_AT_LEAST, _AT_MOST))
    return more > less if more != less else None
