"""The figures that documents state of indicators, planned and achieved."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from kgrag.qualifiers import Qualifiers, Standing
from kgrag.retrieval.filter import Filter
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.choose import Chosen, choose, in_places, names_all, stated_place
from kgrag.tables.sources import Spot, quoted, sources_of, spot_of
from kgrag.tables.table import Cell, Column, Row, Table
from kgrag.text.indicators import indicator_name
from kgrag.types import Document

INDICATOR = Column("indicator", "指标", "indicator")
REGION = Column("region", "地区", "region")
YEAR = Column("year", "年份", "year")
_COLUMNS = (
    INDICATOR,
    REGION,
    YEAR,
    Column("period", "时期", "period"),
    Column("comparator", "比较", "comparator"),
    Column("value", "数值", "value"),
    Column("value_to", "至", "to"),
    Column("unit", "单位", "unit"),
    Column("standing", "目标或完成", "standing"),
    Column("binding", "属性", "binding"),
    Column("scope", "范围", "scope"),
    Column("base_year", "基年", "base year"),
    Column("as_written", "原表述", "as written"),
)
COMPARATORS = {
    "=": "", ">=": "≥", "<=": "≤", ">": ">", "<": "<", "~": "约", "+": "增", "-": "降", "range": "",
}  # fmt: skip
STANDINGS = {"planned": "目标", "achieved": "完成", "": ""}


@dataclass(frozen=True, slots=True)
class WantedTargets:
    """Which figures are wanted; what is empty is not asked.

    Attributes:
        indicator: Words that the indicator's name has, divided by blanks; or any name of it.
        regions: Places that the figures are about; a province includes its cities.
        years: First and last year in which they hold or are due.
        standing: Planned or achieved.
        within: Of which documents.
    """

    indicator: str = ""
    regions: tuple[str, ...] = ()
    years: tuple[int, int] | None = None
    standing: Standing = ""
    within: Filter | None = None


def targets(store: Store, wanted: WantedTargets) -> Table:
    """Return every figure that is wanted, a row for each indicator, place, year and value.

    What several documents, or places of one, state in the same way is one row with several
    sources.

    Raises:
        NotFoundError: If the filter leaves no document, or a place is none.
    """
    chosen = choose(store, wanted.within)
    found = wanted_statements(store, wanted, chosen)
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    for statement in found:
        rows[_cells(statement, chosen.cards[statement.doc_id])].append(spot_of(statement))
    sources = quoted(store, map(spot_of, found))
    return Table(
        name="targets",
        columns=_COLUMNS,
        rows=tuple(
            Row(cells, sources_of(spots, sources))
            for cells, spots in sorted(rows.items(), key=lambda item: _order(item[0]))
        ),
        notes=(chosen.note({s.doc_id for s in found}, zh="这样的数字", en="such figures"),),
    )


def wanted_statements(store: Store, wanted: WantedTargets, chosen: Chosen) -> list[Statement]:
    """Return the statements that are wanted, ordered by document and place."""
    named, here = _named(wanted.indicator), in_places(wanted.regions, chosen)
    doc_ids = sorted(chosen.cards) if wanted.within else None
    return [
        s
        for s in store.statements("target", doc_ids)
        if s.doc_id in chosen.cards
        and named(s)
        and here(stated_place(s.qualifiers, chosen.cards[s.doc_id]))
        and (not wanted.standing or s.qualifiers.standing == wanted.standing)
        and _in_years(s.qualifiers, wanted.years)
    ]


def _named(wanted: str) -> Callable[[Statement], bool]:
    """Return a test of whether a statement is of an indicator, by its name or as it is written."""
    as_given, as_known = names_all(wanted), names_all(indicator_name(wanted))

    def is_wanted(statement: Statement) -> bool:
        name, written = statement.fact.subject.name, statement.qualifiers.subject
        return as_given(name) or as_known(name) or (bool(written) and as_given(written))

    return is_wanted


def _in_years(told: Qualifiers, years: tuple[int, int] | None) -> bool:
    return years is None or (told.year.isdigit() and years[0] <= int(told.year) <= years[1])


def _cells(statement: Statement, card: Document) -> tuple[Cell, ...]:
    told = statement.qualifiers
    return (
        statement.fact.subject.name,
        stated_place(told, card)[-1],
        int(told.year) if told.year.isdigit() else None,
        told.period or None,
        sign_of(told) or None,
        _number(told.value),
        _number(told.value_to),
        told.unit or None,
        STANDINGS.get(told.standing) or None,
        told.binding or None,
        told.scope or None,
        int(told.base_year) if told.base_year.isdigit() else None,
        told.object or statement.fact.object.name,
    )


def _order(cells: tuple[Cell, ...]) -> tuple[str, ...]:
    indicator, region, year, *rest = cells
    return (str(indicator), str(region), str(year or ""), *map(str, rest))


def sign_of(told: Qualifiers) -> str:
    """Return how a value is meant: 增约, ≥; empty for the value itself.

    >>> sign_of(Qualifiers("target", comparator="+", bound="~"))
    '增约'
    """
    return COMPARATORS.get(told.comparator, told.comparator) + COMPARATORS.get(
        told.bound, told.bound
    )


def _number(text: str) -> Cell:
    """Return a number where it is one; None for nothing.

    >>> _number("62"), _number("13.5"), _number(""), _number("300万")
    (62, 13.5, None, '300万')
    """
    try:
        value = float(text)
    except ValueError:
        return text or None
    return int(value) if value.is_integer() else value
