"""Tables of figures: one a row, or places, documents and years side by side."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from kgrag.answer.notes import Note, note
from kgrag.errors import OutOfRangeError
from kgrag.qualifiers import StatementKind
from kgrag.statements.choose import (
    Chosen,
    check_named,
    choose,
    in_places,
    names_all,
    ranked,
    stated_place,
)
from kgrag.statements.figures import (
    STANDINGS,
    base_words,
    measured_of,
    sign_of,
    signed_words,
)
from kgrag.statements.selection import Selection
from kgrag.statements.sources import Spot, Stated, object_of, spot_of
from kgrag.statements.table import Cell, Column
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.facets import called, place_rank
from kgrag.text.indicators import indicator_name, is_indicator
from kgrag.text.messages import message
from kgrag.text.regions import level_of
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
_COMPARED = Column("compared", "文件", "document compared")
_UNDATED = Column("undated", "未注明年份", "no year")
_LOOKED_AT, _SHOWN = 50, 5  # names like the one wanted; of them, in a note
_ALIKE = 0.62  # of character pairs, from which names are like
_TARGET: StatementKind = "target"
_Cells = defaultdict[str, defaultdict[str, list[Spot]]]  # spans by column and figure


def targets(store: Store, selection: Selection) -> Stated:
    """Return the selected figures, a row for each indicator, place, year and value.

    Equal statements are one row with several sources.

    Raises:
        NotFoundError: If no document is selected, or a place or an indicator is unknown.
    """
    chosen = choose(store, selection, _TARGET)
    check_named(store, chosen, _TARGET)
    kept, left_out = ranked(chosen, selection)
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    for statement in kept:
        rows[_cells(statement, chosen.cards[statement.doc_id])].append(spot_of(statement))
    ordered = list(rows) if selection.order else sorted(rows, key=_order)
    stating = {stated_place(s.qualifiers, chosen.cards[s.doc_id])[-1] for s in chosen.statements}
    notes = (
        chosen.note(chosen.stating, _limited(selection, note("such-figures", "zh"))),
        *chosen.place_notes(selection.places),
        *(_silent(selection, _expected(selection, chosen, stating)) if selection.level else ()),
        *left_out,
    )
    return Stated(_COLUMNS, [(cells, rows[cells]) for cells in ordered], notes)


def _limited(selection: Selection, what: Note) -> Note:
    """Return what is counted, with the places, years and standing that it is limited to."""
    years = "-".join(map(str, dict.fromkeys(selection.years or ())))
    standing = note(selection.standing, "zh") if selection.standing else ""
    conditions = tuple(filter(None, (*selection.places, years, standing)))
    return note("selected", "zh", what=what, conditions=conditions) if conditions else what


def _silent(selection: Selection, names: Sequence[str]) -> tuple[Note, ...]:
    """Return a note on the places or documents that state no figure."""
    told = note("table-unread", "zh", names="、".join(names))
    return (_limited(selection, told),) if names else ()


def _expected(selection: Selection, chosen: Chosen, stating: Collection[str]) -> list[str]:
    """Return the selected places that documents are about, at the level of rows, without rows."""
    here = in_places(selection.places, chosen.cards.values())
    paths = [card.metadata.regions for card in chosen.cards.values() if card.metadata.regions]
    steps = (path[: n + 1] for path in paths for n in range(len(path)))
    level = selection.level
    at_level = (s for s in steps if (level_of(s[-1]) == level if level else len(s) == 1))
    return sorted({step[-1] for step in at_level if here(step)}.difference(stating), key=place_rank)


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


def _order(cells: tuple[Cell, ...]) -> tuple[object, ...]:
    indicator, region, year, *rest = cells
    return (str(indicator), place_rank(str(region)), str(year or ""), *map(str, rest))


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


class _Figure(NamedTuple):
    """A figure and its cell in a comparison.

    Attributes:
        row: Place or document.
        year: Of its column; empty without one.
        inner: Whether its place lies within that of the row.
        value: As written, with its sign.
        words: What tells it apart from others, in order, the indicator's name among them.
        name: Of the indicator.
        spot: Where it is stated.
    """

    row: str
    year: str
    inner: bool
    value: str
    words: tuple[str, ...]
    name: str
    spot: Spot

    def without(self, shared: Collection[str]) -> str:
        """Return it in words, without those that all figures share: 降14%（较2020年）."""
        words = "，".join(word for word in self.words if word not in shared)
        return f"{self.value}（{words}）" if words else self.value


def compare(store: Store, selection: Selection) -> Stated:
    """Return figures with a row for each place or document and a column for each year.

    In a province's row, figures of its cities carry the city's name. Several indicators have
    columns each. What all figures of one have in common is a note; a row with several sources has
    their numbers behind each figure. Places and documents without a figure are no rows but named
    in a note.

    Raises:
        OutOfRangeError: If no indicator is given.
        NotFoundError: As for `targets`.
    """
    if not selection.indicator.strip():
        raise OutOfRangeError(message("a comparison is of an indicator, and none is given"))
    chosen = choose(store, selection, _TARGET)
    check_named(store, chosen, _TARGET)
    parts = chosen.of_each_name(_TARGET)
    made = [(name, _figures(part, selection)) for name, part in parts.items()]
    rows: defaultdict[str, _Cells] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    heads = dict.fromkeys(head for one in made for head in _heads(*one))
    for name, figures in made:
        shared = _shared(figures)
        for f in figures:
            rows[f.row][_head(name, f.year)][f.without(shared)].append(f.spot)
    in_common = "；".join(filter(None, ("，".join(_shared(figures)) for _, figures in made)))
    told = dict.fromkeys(chain(*(_coverage(store, p, selection) for p in parts.values())))
    notes = (*([note("in-common", "zh", words=in_common)] if in_common else ()), *told)
    columns = (Column(head, head, head) if head else _UNDATED for head in heads)
    return Stated(
        (_COMPARED if selection.by == "document" else REGION, *columns),
        [
            _row(_label(name, chosen, selection), heads, rows[name])
            for name in _in_order(rows, selection, chosen)
        ],
        notes,
    )


def _heads(name: str, figures: Sequence[_Figure]) -> list[str]:
    """Return the heads of the columns of an indicator: years in order, none last."""
    years = sorted({f.year for f in figures}, key=lambda year: (not year, year))
    return [_head(name, year) for year in years]


def _head(name: str, year: str) -> str:
    return f"{name} {year or _UNDATED.zh}" if name else year


def _row(label: str, heads: Iterable[str], cells: _Cells) -> tuple[tuple[Cell, ...], list[Spot]]:
    """Return the cells of a row; each figure has the numbers of its sources, if some differ."""
    spots = dict.fromkeys(spot for h in heads for of in cells[h].values() for spot in of)
    numbers = {spot: f"[{n}]" for n, spot in enumerate(spots, start=1)} if len(spots) > 1 else {}

    def told(figures: Mapping[str, Sequence[Spot]]) -> str | None:
        marked = (
            text + "".join(numbers.get(spot, "") for spot in dict.fromkeys(of))
            for text, of in figures.items()
        )
        return "\n".join(marked) or None

    return (label, *(told(cells[head]) for head in heads)), list(spots)


def _figures(part: Chosen, selection: Selection) -> list[_Figure]:
    """Return the figures of a part, those of a row's own place first."""
    made = (_figure(s, part.cards[s.doc_id], selection) for s in part.statements)
    return sorted(made, key=lambda f: f.inner)


def _shared(figures: Sequence[_Figure]) -> list[str]:
    """Return the words that all figures have, and the name of most."""
    shared = set.intersection(*({*f.words} for f in figures)) if figures else set()
    shared |= {name for name, _ in Counter(f.name for f in figures).most_common(1)}
    return list(dict.fromkeys(word for f in figures for word in f.words if word in shared))


def _figure(statement: Statement, card: Document, selection: Selection) -> _Figure:
    told = statement.qualifiers
    place = stated_place(told, card)
    province, region, year = place[0], place[-1], told.year or told.period
    row = {"province": province, "region": region, "document": card.doc_id}[selection.by]
    inner = selection.by == "province" and region != province
    name, value = statement.fact.subject.name, signed_words(statement)
    beside = (
        called(region) if inner else "",
        name,
        told.scope if told.scope not in name else "",
        *(w for w in measured_of(statement, card).counted if w not in f"{name}{value}"),
        STANDINGS[told.standing],
        base_words(statement),
    )
    return _Figure(row, year, inner, value, tuple(filter(None, beside)), name, spot_of(statement))


def _coverage(store: Store, part: Chosen, selection: Selection) -> Iterator[Note]:
    """Yield how much of what is selected states figures, what does not, and like indicators."""
    rows = {f.row for f in _figures(part, selection)}
    asked = "、".join(part.names)
    yield part.note(part.stating, _limited(selection, note("figures-of", "zh", indicator=asked)))
    yield from part.place_notes(selection.places)
    if selection.by == "province":
        yield from _silent(selection, _expected(selection, part, rows))
    elif selection.by == "document" and selection.searched:
        silent = _in_order(part.cards.keys() - rows, selection, part)
        yield from _silent(selection, [_label(doc_id, part, selection) for doc_id in silent])
    for name in part.names:
        yield from _similar(store, name, part)


def _in_order(names: Collection[str], selection: Selection, chosen: Chosen) -> list[str]:
    if selection.by == "document":
        return sorted(names, key=lambda doc_id: (chosen.cards[doc_id].title, doc_id))
    return sorted(names, key=place_rank)


def _label(name: str, chosen: Chosen, selection: Selection) -> str:
    return f"《{chosen.cards[name].title}》" if selection.by == "document" else name


def _similar(store: Store, indicator: str, part: Chosen) -> Iterator[Note]:
    """Yield a note on indicators with similar names that are not shown.

    They may be synonyms (处理率 and 处置率) or other indicators; that is for the reader to decide.
    """
    is_asked, indicator = names_all(indicator), indicator_name(indicator)
    shown = {s.fact.subject.entity_id for s in part.statements}
    found = store.search_entities(indicator, top_k=_LOOKED_AT)
    like = [e for e, share in found if share >= _ALIKE and e not in shown]
    stating: defaultdict[str, set[str]] = defaultdict(set)
    for s in store.statements(_TARGET, sorted(part.cards), around=like):
        name = s.fact.subject.name
        is_like = s.fact.subject.entity_id in like and not is_asked(name)
        if is_like and is_indicator(name) == is_indicator(indicator):
            stating[name].add(s.doc_id)
    ordered = sorted(stating, key=lambda name: (-len(stating[name]), name))[:_SHOWN]
    if ordered:
        names = (note("similar-indicator", "zh", name=n, n=len(stating[n])) for n in ordered)
        yield note("similar-indicators", "zh", names=tuple(names))
