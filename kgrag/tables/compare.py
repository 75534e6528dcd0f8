"""Compare the figures of one indicator: places or documents as rows, years as columns."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from kgrag.answer.notes import Note, note
from kgrag.errors import OutOfRangeError
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.choose import Chosen, choose, in_places, stated_place
from kgrag.tables.figures import measured_of, value_words
from kgrag.tables.sources import Spot, sourced, spot_of
from kgrag.tables.table import Column, Table
from kgrag.tables.targets import (
    REGION,
    STANDINGS,
    YEAR,
    WantedTargets,
    sign_of,
    wanted_statements,
)
from kgrag.text.facets import called
from kgrag.text.indicators import is_indicator
from kgrag.text.messages import message
from kgrag.types import Document

By = Literal["province", "region", "document", "year"]

_DOCUMENT = Column("compared", "文件", "document compared")
_LOOKED_AT, _SHOWN = 50, 5  # names like the one wanted; of them, in a note
_ALIKE = 0.62  # of character pairs, from which names are like
_UNDATED = Column("undated", "未注明年份", "no year")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure and its cell in the table.

    Attributes:
        row: Place, document or year.
        head: Year, or the place where rows are years; empty without a year.
        inner: Whether its place lies within that of the row.
        shown: Text of the cell.
        spot: Span of the statement.
    """

    row: str
    head: str
    inner: bool
    shown: str
    spot: Spot


def compare(store: Store, wanted: WantedTargets, *, by: By) -> Table:
    """Return a table of figures with a row for each place or document and a column for each year.

    By year, rows are years and columns are places. Cells without a figure are None. By province and
    by document, requested rows without any figure are kept and named in a note. In a province's
    row, figures of its cities carry the city's name.

    Args:
        store: The knowledge base.
        wanted: With an indicator.
        by: Meaning of the rows.

    Raises:
        OutOfRangeError: If no indicator is given.
        NotFoundError: As for `kgrag.tables.targets.targets`.
    """
    if not wanted.indicator.strip():
        raise OutOfRangeError(message("a comparison is of an indicator, and none is given"))
    chosen = choose(store, wanted.within)
    found = wanted_statements(store, wanted, chosen)
    figures = [_figure(s, chosen.cards[s.doc_id], by) for s in found]
    figures.sort(key=lambda figure: figure.inner)
    heads = sorted({f.head for f in figures}, key=lambda head: (not head, head))
    names = _rows({f.row for f in figures}, chosen, wanted, by)
    cells: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    spots: defaultdict[str, list[Spot]] = defaultdict(list)
    for figure in figures:
        cells[figure.row, figure.head][figure.shown] = None
        spots[figure.row].append(figure.spot)
    labels = {name: _label(name, chosen, by) for name in names}
    silent = [labels[name] for name in names if not spots[name]]
    return Table(
        name="compare",
        columns=(
            {"document": _DOCUMENT, "year": YEAR}.get(by, REGION),
            *(Column(head, head, head) if head else _UNDATED for head in heads),
        ),
        rows=sourced(
            store,
            (
                ((labels[n], *("\n".join(cells[n, head]) or None for head in heads)), spots[n])
                for n in names
            ),
        ),
        notes=(
            chosen.note(
                {s.doc_id for s in found},
                note("figures-of", "zh", indicator=wanted.indicator),
            ),
            *([note("table-unread", "zh", names="、".join(silent))] if silent else []),
            *_like(store, wanted, chosen, {s.fact.subject.entity_id for s in found}),
        ),
    )


def _like(
    store: Store, wanted: WantedTargets, chosen: Chosen, shown: Collection[str]
) -> Iterator[Note]:
    """Yield a note on indicators with similar names that are not in the table.

    They may be synonyms (处理率 and 处置率) or other indicators; that is for the reader to decide.
    """
    found = store.search_entities(wanted.indicator, top_k=_LOOKED_AT)
    like = [e for e, share in found if share >= _ALIKE and e not in shown]
    stating: defaultdict[str, set[str]] = defaultdict(set)
    for s in store.statements("target", sorted(chosen.cards), around=like):
        name = s.fact.subject.name
        if s.fact.subject.entity_id in like and is_indicator(name) == is_indicator(
            wanted.indicator
        ):
            stating[name].add(s.doc_id)
    ordered = sorted(stating, key=lambda name: (-len(stating[name]), name))[:_SHOWN]
    if ordered:
        names = (note("similar-indicator", "zh", name=n, n=len(stating[n])) for n in ordered)
        yield note("similar-indicators", "zh", names=tuple(names))


def _figure(statement: Statement, card: Document, by: By) -> _Figure:
    told = statement.qualifiers
    place = stated_place(told, card)
    province, region = place[0], place[-1]
    year = told.year or told.period
    row, head = {
        "province": (province, year),
        "region": (region, year),
        "document": (card.doc_id, year),
        "year": (year, region),
    }[by]
    inner = by == "province" and region != province
    name = statement.fact.subject.name
    beside = (
        called(region) if inner else "",
        name,
        told.scope if told.scope not in name else "",
        *(word for word in measured_of(statement, card).counted if word not in name),
        STANDINGS[told.standing],
        f"较{told.base_year}年" if told.base_year else "",
    )
    words = "，".join(filter(None, beside))
    shown = f"{sign_of(told)}{value_words(statement)}（{words}）"
    return _Figure(row, head, inner, shown, spot_of(statement))


def _rows(named: set[str], chosen: Chosen, wanted: WantedTargets, by: By) -> list[str]:
    """Return the rows in order: those with figures and those that are expected to have some."""
    if by == "province":
        here = in_places(wanted.regions, chosen)
        governed = [c.metadata.regions[0] for c in chosen.cards.values() if c.metadata.regions]
        named |= {province for province in governed if here((province,))}
    elif by == "document" and wanted.within:
        named |= chosen.cards.keys()
    if by == "document":
        return sorted(named, key=lambda doc_id: (chosen.cards[doc_id].title, doc_id))
    return sorted(named, key=lambda name: (not name, name))


def _label(name: str, chosen: Chosen, by: By) -> str:
    if by == "document":
        return f"《{chosen.cards[name].title}》"
    return name or _UNDATED.zh
