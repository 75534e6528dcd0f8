"""Figures of one indicator side by side: places or documents down, years across."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgrag.errors import OutOfRangeError
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.choose import Chosen, choose, in_places, stated_place
from kgrag.tables.figures import measured_of, value_words
from kgrag.tables.sources import Spot, quoted, sources_of, spot_of
from kgrag.tables.table import Column, Note, Row, Table
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
from kgrag.types import Document

By = Literal["province", "region", "document", "year"]

_DOCUMENT = Column("compared", "文件", "document compared")
_LOOKED_AT, _SHOWN = 50, 5  # names like the one wanted; of them, in a note
_ALIKE = 0.62  # of character pairs, from which names are like
_UNDATED = Column("undated", "未注明年份", "no year")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure and where it stands in the table.

    Attributes:
        row: The place, document or year.
        head: The year; by year, the place. Empty for a figure without a year.
        inner: Whether it is of a place within the one that the row is of.
        shown: The figure in words.
        spot: Where it is stated.
    """

    row: str
    head: str
    inner: bool
    shown: str
    spot: Spot


def compare(store: Store, wanted: WantedTargets, *, by: By) -> Table:
    """Return figures side by side, a row for each place or document, a column for each year.

    By year it is the other way round: years down, places across. Where nothing is stated the cell
    is None; by province and by document every one that is wanted is a row, also one that states
    no such figure, and the notes name it. In a province's row, figures of its cities say whose
    they are.

    Args:
        store: The knowledge base.
        wanted: With an indicator.
        by: What is compared.

    Raises:
        OutOfRangeError: If no indicator is given.
        NotFoundError: As for `kgrag.tables.targets.targets`.
    """
    if not wanted.indicator.strip():
        raise OutOfRangeError("a comparison is of an indicator, and none is given")
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
    sources = quoted(store, (f.spot for f in figures))
    labels = {name: _label(name, chosen, by) for name in names}
    silent = [labels[name] for name in names if not spots[name]]
    return Table(
        name="compare",
        columns=(
            {"document": _DOCUMENT, "year": YEAR}.get(by, REGION),
            *(Column(head, head, head) if head else _UNDATED for head in heads),
        ),
        rows=tuple(
            Row(
                (labels[name], *("\n".join(cells[name, head]) or None for head in heads)),
                sources_of(spots[name], sources),
            )
            for name in names
        ),
        notes=(
            chosen.note(
                {s.doc_id for s in found},
                zh=f"{wanted.indicator}数字",
                en=f"figures of {wanted.indicator}",
            ),
            *([_unread(silent)] if silent else []),
            *_like(store, wanted, chosen, {s.fact.subject.entity_id for s in found}),
        ),
    )


def _unread(names: Sequence[str]) -> Note:
    listed = "、".join(names)
    return Note(f"未读出：{listed}", en=f"nothing stated: {listed}")


def _like(
    store: Store, wanted: WantedTargets, chosen: Chosen, shown: Collection[str]
) -> Iterator[Note]:
    """Yield a note of indicators whose names are like the one wanted, and that are not shown.

    They may be the same in other words, as 处理率 and 处置率 are, or others: a reader knows.
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
        zh = "、".join(f"{name}（{len(stating[name])}份）" for name in ordered)
        en = ", ".join(f"{name} ({len(stating[name])})" for name in ordered)
        yield Note(f"名称相近、未列入的指标：{zh}", en=f"indicators of like names, not shown: {en}")


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
    """Return what has figures, and that of which one would expect some; in order."""
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
