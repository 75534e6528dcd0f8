"""Table of planned and achieved figures of indicators."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from kgrag.answer.notes import Note, note
from kgrag.qualifiers import Qualifiers, Standing
from kgrag.retrieval.filter import Filter
from kgrag.statements.choose import Chosen, choose, in_places, names_all, stated_place
from kgrag.statements.sources import Spot, object_of, sourced, spot_of
from kgrag.statements.table import Cell, Column, Table
from kgrag.store.graph import Statement
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.indicators import indicator_names
from kgrag.text.messages import message
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
    """Selection of figures; empty fields select everything.

    Attributes:
        indicator: Words of the indicator's name, separated by blanks; or any of its names.
        regions: Places; a province includes its cities.
        years: First and last year.
        standing: Planned or achieved.
        within: Selects documents.
    """

    indicator: str = ""
    regions: tuple[str, ...] = ()
    years: tuple[int, int] | None = None
    standing: Standing = ""
    within: Filter | None = None

    def named(self, what: Note) -> Note:
        """Return what is counted, with the places, years and standing that it is limited to."""
        years = "-".join(map(str, dict.fromkeys(self.years or ())))
        standing = note(self.standing, "zh") if self.standing else ""
        conditions = tuple(filter(None, (*self.regions, years, standing)))
        return note("selected", "zh", what=what, conditions=conditions) if conditions else what


def targets(store: Store, wanted: WantedTargets) -> Table:
    """Return the selected figures, a row for each indicator, place, year and value.

    Equal statements are one row with several sources.

    Raises:
        NotFoundError: If the filter leaves no document, or a place or the indicator is unknown.
    """
    chosen = choose(store, wanted.within)
    found = wanted_statements(store, wanted, chosen)
    if not found:
        check_indicator(store, wanted.indicator)
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    for statement in found:
        rows[_cells(statement, chosen.cards[statement.doc_id])].append(spot_of(statement))
    return Table(
        name="targets",
        columns=_COLUMNS,
        rows=sourced(store, sorted(rows.items(), key=lambda item: _order(item[0]))),
        notes=(
            chosen.note({s.doc_id for s in found}, wanted.named(note("such-figures", "zh"))),
            *chosen.place_notes(wanted.regions),
        ),
    )


def wanted_statements(store: Store, wanted: WantedTargets, chosen: Chosen) -> list[Statement]:
    """Return the selected statements, ordered by document and offset."""
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


def check_indicator(store: Store, indicator: str) -> None:
    """Raise NotFoundError, with names that are like it, if no document has figures of an indicator.

    Args:
        store: The knowledge base.
        indicator: As in `WantedTargets`; empty for any.
    """
    stated, named = store.statements("target"), _named(indicator)
    if indicator.strip() and not any(map(named, stated)):
        raise not_called(message("indicator"), indicator, (s.fact.subject.name for s in stated))


def _named(wanted: str) -> Callable[[Statement], bool]:
    """Return a predicate: whether a statement's indicator has this name."""
    as_given, *as_known = (names_all(name) for name in (wanted, *indicator_names(wanted)))

    def is_wanted(statement: Statement) -> bool:
        name, written = statement.fact.subject.name, statement.qualifiers.subject
        known = any(named(name) for named in as_known)
        return as_given(name) or known or (bool(written) and as_given(written))

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
        object_of(statement),
    )


def _order(cells: tuple[Cell, ...]) -> tuple[str, ...]:
    indicator, region, year, *rest = cells
    return (str(indicator), str(region), str(year or ""), *map(str, rest))


def sign_of(told: Qualifiers) -> str:
    """Return the prefix of a value: 增约, ≥; empty for the plain value.

    >>> sign_of(Qualifiers("target", comparator="+", bound="~"))
    '增约'
    """
    return COMPARATORS.get(told.comparator, told.comparator) + COMPARATORS.get(
        told.bound, told.bound
    )


def _number(text: str) -> Cell:
    """Parse a number; other text is returned as it is, None for empty text.

    >>> _number("62"), _number("13.5"), _number(""), _number("300万")
    (62, 13.5, None, '300万')
    """
    try:
        value = float(text)
    except ValueError:
        return text or None
    return int(value) if value.is_integer() else value
