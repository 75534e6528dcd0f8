"""Find planned figures of different documents that contradict each other."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import combinations

from kgrag.answer.notes import note
from kgrag.qualifiers import Comparator
from kgrag.statements.choose import choose, in_places
from kgrag.statements.figures import Figure, Measured, of_any_size, planned_figures
from kgrag.statements.in_force import InForce
from kgrag.statements.naming import day_of_issue
from kgrag.statements.sources import Spot, quoted, spot_of
from kgrag.statements.table import Column, Row, Source, Table
from kgrag.statements.targets import (
    INDICATOR,
    REGION,
    YEAR,
    WantedTargets,
    check_indicator,
    wanted_statements,
)
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL
from kgrag.text.quantities import narrow

_MORE = re.compile(
    r"(?:利用率|利用系数|回收率|处理率|处置率|治理率|收集率|覆盖率|绿化率|绿地率|达标率|保护率|保有率|保持率"
    r"|普及率|替代率|安全率|优良率|完成率|合格率|清洁化率|电气化率|洁净率|转化率|植被盖度|覆盖度|绿色出行比例)$"
    r"|(?:优良|优于|达标)[^，]{0,12}(?:比例|比重|率)$"
    r"|^(?:非化石能源|可再生能源|新能源|清洁能源|绿色建筑|城镇绿色建筑|装配式建筑|星级绿色建筑|新能源汽车)"
    r"[^，]{0,16}(?:比例|比重|占比)$|^电能占|清洁取暖率$"
)
_LESS = re.compile(
    r"(?:浓度|能耗|电耗|水耗|煤耗|油耗|用水量|漏损率|线损率|弃风率|弃光率|死亡率|发生率|排放强度|能耗强度"
    r"|碳排放强度|碳强度|电能利用效率|PUE)$|劣[V五Ⅴ]|黑臭|污染天数|^煤炭消费|^单位.{1,14}(?:排放|消耗)",
    re.IGNORECASE,
)
_AT_LEAST: frozenset[Comparator] = frozenset([">=", ">"])
_AT_MOST: frozenset[Comparator] = frozenset(["<=", "<"])

BELOW, AFTER, UNLIKE_ABOVE, UNLIKE = "低于上级", "晚于上级", "与上级不同", "两文不一"
_ORDER = (BELOW, AFTER, UNLIKE, UNLIKE_ABOVE)
_ALL = Decimal(100)
_ROUNDED = Decimal("0.05")  # 超过800万 and 805.5万 say the same
# 国家提出到2030年…: a document of a place tells what others aim at.
_ELSEWHERE = re.compile(
    r"(?:国家|国务院|党中央|中央|我国|全国)[^。；]{0,60}(?:提出|明确|要求)[^。；]{0,6}到?20\d\d年"
    r"|20\d\d年[，,]?(?:全国|我国)"
)
# 各省（区、市）…不低于30%: what the country sets for each place. Its total or average bounds none.
_FOR_EACH = re.compile(r"(?:[各每]个?|所有|全部)(?:省|自治区|直辖市|地区|地方|市|州|盟|县|区|级)")
_COLUMNS = (
    Column("kind", "差异", "difference"),
    INDICATOR,
    Column("scope", "范围", "scope"),
    REGION,
    YEAR,
    Column("figure", "数值", "figure"),
    Column("issued", "发文日期", "issued"),
    Column("status", "效力", "status"),
    Column("against_region", "对照地区", "against region"),
    Column("against_year", "对照年份", "against year"),
    Column("against_figure", "对照数值", "against figure"),
    Column("against_issued", "对照发文日期", "against issued"),
    Column("against_status", "对照效力", "against status"),
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two conflicting figures.

    Attributes:
        kind: Kind of conflict.
        own: The local figure; of two documents of one place, that of the earlier one.
        other: The figure of the superior place, or of the later document.
    """

    kind: str
    own: Figure
    other: Figure


def conflicts(store: Store, wanted: WantedTargets, *, day: str) -> Table:
    """Return pairs of conflicting planned figures, with both sources.

    A figure is compared with that of the nearest superior place with the same indicator, unit,
    scope and kind of change. It counts as lower only if the direction of the indicator is certain.
    A figure of the country counts only if its sentence sets it for each place, or it is all (100%).
    Achieved figures are left out.

    Args:
        store: The knowledge base.
        wanted: Selects the local figures by indicator, place and year; `within` must contain one of
            the two documents. `standing` is ignored.
        day: ISO 8601 date at which the status of documents is determined.

    Raises:
        NotFoundError: If the filter leaves no document, or a place or the indicator is unknown.
    """
    chosen, everything = choose(store, wanted.within), choose(store, None)
    asked = WantedTargets(indicator=wanted.indicator, standing="planned")
    statements = wanted_statements(store, asked, everything)
    if not statements:
        check_indicator(store, wanted.indicator)
    here = in_places(wanted.regions, everything)
    groups: defaultdict[Measured, list[Figure]] = defaultdict(list)
    figures = list(planned_figures(statements, everything.cards))
    for figure in figures:
        groups[figure.measured].append(figure)
    national = quoted(store, (spot_of(f.statement) for f in figures if f.place == (NATIONAL,)))

    pairs = [
        pair
        for group in groups.values()
        for pair in (*_against_above(group, partial(_binds, national)), *_between_documents(group))
        if here(pair.own.place)
        and (pair.own.card.doc_id in chosen.cards or pair.other.card.doc_id in chosen.cards)
        and (not wanted.years or wanted.years[0] <= pair.own.year <= wanted.years[1])
    ]
    sources = quoted(store, (spot_of(f.statement) for p in pairs for f in (p.own, p.other)))
    in_force = InForce.read(store, list(everything.cards.values()))
    rows = [
        _row(pair, sources, lambda figure: in_force.status(figure.card.doc_id, day).told())
        for pair in sorted(pairs, key=_order)
        if not any(_is_of_elsewhere(f, sources) for f in (pair.own, pair.other))
        and (pair.kind != AFTER or _names_its_year(pair.own, sources))
    ]
    return Table("conflicts", _COLUMNS, tuple(rows), _notes(rows, figures))


def _notes(rows: Sequence[Row], figures: Sequence[Figure]) -> tuple[str, ...]:
    n_documents = len({f.card.doc_id for f in figures})
    compared = {"documents": n_documents, "figures": len(figures), "n": len(rows)}
    kinds = {row.cells[0] for row in rows}
    further = {BELOW: "no-breach", UNLIKE_ABOVE: "not-certain"}
    return (
        note("conflicts", "zh", **compared),
        *(note(name, "zh") for kind, name in further.items() if kind in kinds),
    )


def _against_above(group: Sequence[Figure], binds: Callable[[Figure], bool]) -> Iterator[_Pair]:
    """Yield a place's figures that fall short of those of the nearest superior place that bind."""
    if not of_any_size(group[0].measured.unit):
        return
    by_place: defaultdict[tuple[str, ...], list[Figure]] = defaultdict(list)
    for figure in group:
        by_place[figure.place].append(figure)
    for place, own in by_place.items():
        for around in _around(place):
            above = [figure for figure in by_place.get(around, ()) if binds(figure)]
            if above:
                yield from _short_of(own, above)
                break


def _binds(national: Mapping[Spot, Source], figure: Figure) -> bool:
    """Return whether a figure bounds the places inside: one of the country must be set for each."""
    if figure.place != (NATIONAL,):
        return True
    if figure.measured.unit == "%" and figure.value == _ALL and not figure.measured.change:
        return True
    source = national.get(spot_of(figure.statement))
    return source is not None and bool(_FOR_EACH.search(source.quote))


def _around(place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the superior places, nearest first, the country last."""
    if place == (NATIONAL,):
        return
    for n in range(len(place) - 1, 0, -1):
        yield place[:n]
    yield (NATIONAL,)


def _short_of(own: Sequence[Figure], above: Sequence[Figure]) -> Iterator[_Pair]:
    direction = _more_is_better(own[0].indicator, [figure.comparator for figure in (*own, *above)])
    by_document: defaultdict[tuple[str, int], list[Figure]] = defaultdict(list)
    for figure in own:
        by_document[figure.card.doc_id, figure.year].append(figure)
    for (_, year), figures in by_document.items():
        same_year = [f for f in above if f.year == year]
        if same_year:
            yield from _worse(figures, same_year, direction)
    if direction is not None:
        yield from _late(own, above, direction)


def _worse(
    own: Sequence[Figure], above: Sequence[Figure], direction: bool | None
) -> Iterator[_Pair]:
    """Yield a document's strictest figure of a year if it is below all superior ones."""
    if direction is None:
        if len({f.value for f in own}) == 1 and own[0].value not in {f.value for f in above}:
            yield _Pair(UNLIKE_ABOVE, own[0], above[0])
        return
    best, least = _strictest(own, direction), _strictest(above, not direction)
    if _is_worse(best.value, least.value, direction):
        yield _Pair(BELOW, best, least)


def _late(own: Sequence[Figure], above: Sequence[Figure], direction: bool) -> Iterator[_Pair]:
    """Yield the first figure of a place if it is due later than the superior one and no stricter.

    Its sentence must name the year, as a year inherited from the context may be wrong.
    """
    first = min(own, key=lambda f: (f.year, f.statement.doc_id, f.statement.start))
    earlier = [f for f in above if f.year < first.year]
    if not earlier or any(f.year == first.year for f in above):
        return
    best = _strictest([f for f in own if f.year == first.year], direction)
    least = _strictest(earlier, not direction)
    if best.value == least.value or _is_worse(best.value, least.value, direction):
        yield _Pair(AFTER, best, least)


def _strictest(figures: Iterable[Figure], direction: bool) -> Figure:
    ordered = sorted(figures, key=lambda f: (f.value, f.statement.doc_id, f.statement.start))
    return ordered[-1] if direction else ordered[0]


def _is_worse(value: Decimal, other: Decimal, direction: bool) -> bool:
    return value < other if direction else value > other


def _between_documents(group: Sequence[Figure]) -> Iterator[_Pair]:
    """Yield pairs of documents that share no figure for the same place and year."""
    by_time: defaultdict[tuple[tuple[str, ...], int], dict[str, list[Figure]]] = defaultdict(dict)
    for figure in group:
        by_time[figure.place, figure.year].setdefault(figure.card.doc_id, []).append(figure)
    for by_document in by_time.values():
        ordered = sorted(by_document.values(), key=lambda f: day_of_issue(f[0].card) or "")
        for one, other in combinations(ordered, 2):
            if not any(_agree(a, b) for a in one for b in other):
                yield _Pair(UNLIKE, one[0], other[0])


def _agree(one: Figure, other: Figure) -> bool:
    """Return whether two figures are compatible: equal, or one rounded from the other."""
    low, high = sorted((one, other), key=lambda f: f.value)
    if low.value == high.value:
        return True
    if low.comparator in _AT_LEAST and high.comparator not in _AT_LEAST:
        return high.value - low.value <= abs(low.value) * _ROUNDED
    return any(_rounded(a.value, b.value) for a, b in ((low, high), (high, low)))


def _rounded(exact: Decimal, short: Decimal) -> bool:
    """Return whether a number is another one rounded to fewer decimals.

    >>> _rounded(Decimal("13.46"), Decimal("13.5")), _rounded(Decimal("27.4"), Decimal("26.1"))
    (True, False)
    """
    places = short.as_tuple().exponent
    finer = exact.as_tuple().exponent
    is_finer = isinstance(places, int) and isinstance(finer, int) and finer < places
    return is_finer and exact.quantize(Decimal(1).scaleb(int(places))) == short


def _is_of_elsewhere(figure: Figure, sources: Mapping[Spot, Source]) -> bool:
    """Return whether the sentence of a local figure reports one of the country."""
    source = sources.get(spot_of(figure.statement))
    local = figure.place != (NATIONAL,)
    return source is None or (local and bool(_ELSEWHERE.search(source.quote)))


def _names_its_year(figure: Figure, sources: Mapping[Spot, Source]) -> bool:
    return str(figure.year) in narrow(sources[spot_of(figure.statement)].quote)


def _row(pair: _Pair, sources: Mapping[Spot, Source], status_of: Callable[[Figure], str]) -> Row:
    own, other = pair.own, pair.other
    cells = (
        pair.kind,
        own.indicator,
        own.measured.scope or None,
        own.place[-1],
        own.year,
        own.shown,
        day_of_issue(own.card),
        status_of(own) or None,
        other.place[-1],
        other.year,
        other.shown,
        day_of_issue(other.card),
        status_of(other) or None,
    )
    return Row(cells, tuple(sources[spot_of(f.statement)] for f in (own, other)))


def _order(pair: _Pair) -> tuple[int, str, int, tuple[str, ...], str, int]:
    own = pair.own
    at = own.statement
    return _ORDER.index(pair.kind), own.indicator, own.year, own.place, at.doc_id, at.start


def _more_is_better(indicator: str, comparators: Iterable[Comparator]) -> bool | None:
    """Return whether a larger figure is the stricter target; None if uncertain.

    It is for changes (提高, 下降 by an amount). Otherwise comparators (不低于, 不超过) and words of
    the name decide; where they disagree, the direction is uncertain.

    >>> _more_is_better("污水处理率", ["="]), _more_is_better("PM2.5浓度", ["=", "<="])
    (True, False)
    >>> _more_is_better("单位GDP能耗", ["-", "-"]), _more_is_better("人均面积", ["=", "="])
    (True, None)
    >>> _more_is_better("污水处理率", ["<="]) is None
    True
    """
    used = {*comparators}
    if used & {"+", "-"}:
        return True if len(used) == 1 else None
    more = bool(_MORE.search(indicator) or used & _AT_LEAST)
    less = bool(_LESS.search(indicator) or used & _AT_MOST)
    return more if more is not less else None
