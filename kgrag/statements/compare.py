"""Compare the figures of one indicator: places or documents as rows, years as columns."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, NamedTuple

from kgrag.answer.notes import Note, note
from kgrag.errors import OutOfRangeError
from kgrag.limits import checked_text
from kgrag.statements.choose import Chosen, choose, in_places, names_all, stated_place
from kgrag.statements.figures import base_words, decimal_of, measured_of, signed_words
from kgrag.statements.sources import Spot, sourced, spot_of
from kgrag.statements.table import Column, Row, Source, Table
from kgrag.statements.targets import (
    REGION,
    STANDINGS,
    YEAR,
    WantedTargets,
    check_indicator,
    targets,
    wanted_statements,
)
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.facets import called, place_rank
from kgrag.text.indicators import indicator_name, is_indicator
from kgrag.text.messages import message
from kgrag.types import Document, Language

By = Literal["province", "region", "document", "year"]

_DOCUMENT = Column("compared", "文件", "document compared")
_LOOKED_AT, _SHOWN = 50, 5  # names like the one wanted; of them, in a note
_ALIKE = 0.62  # of character pairs, from which names are like
_APART = re.compile("[、，,；;]")  # between indicators
_AND = re.compile("以及|[和与及]")  # between names that are indicators by themselves
_UNDATED = Column("undated", "未注明年份", "no year")


class _Figure(NamedTuple):
    """A figure and its cell in the table.

    Attributes:
        row: Place, document or year.
        head: Year, or the place where rows are years; empty without a year.
        inner: Whether its place lies within that of the row.
        value: As written, with its sign.
        name: Of the indicator.
        words: What tells it apart from others, in order.
        measure: Unit and kind of change; figures with the same have bars of one scale.
        amount: Its size; negative if it is no number.
        spot: Span of the statement.
    """

    row: str
    head: str
    inner: bool
    value: str
    name: str
    words: tuple[str, ...]
    measure: tuple[str, str]
    amount: float
    spot: Spot


class Value(NamedTuple):
    """A figure in a cell of a matrix.

    Attributes:
        value: As written, with its sign.
        words: What tells it apart from the others of the matrix.
        share: Of the largest comparable figure, 0 to 1; None if few are comparable.
        sources: At least one.
    """

    value: str
    words: tuple[str, ...]
    share: float | None
    sources: tuple[Source, ...]


class Line(NamedTuple):
    """A row of a matrix.

    Attributes:
        label: Place, document or year.
        held: Whether a document of the place is held.
        cells: Figures by head.
    """

    label: str
    held: bool
    cells: Mapping[str, Sequence[Value]]


class Matrix(NamedTuple):
    """A comparison with the figures of each cell apart.

    Attributes:
        heads: Of its columns; empty for figures without a year.
        words: What all figures have in common, and the name of most; not in their own words.
        lines: Its rows.
        notes: As of the table.
    """

    heads: tuple[str, ...]
    words: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def as_table(found: Matrix, by: By) -> Table:
    """Return a comparison as a table.

    Cells without a figure are None, places of which no document is held have no row. What all
    figures have in common is a note; a row with several sources has their numbers behind each
    figure.
    """
    told = (note("in-common", "zh", words="，".join(found.words)),) if found.words else ()
    return Table(
        name="compare",
        columns=(
            {"document": _DOCUMENT, "year": YEAR}.get(by, REGION),
            *(Column(head, head, head) if head else _UNDATED for head in found.heads),
        ),
        rows=tuple(_row(line, found.heads) for line in found.lines if line.held),
        notes=(*told, *found.notes),
    )


def _row(line: Line, heads: Sequence[str]) -> Row:
    """Return a line as a row; each figure has the numbers of its sources, if there are several."""
    values = {head: line.cells.get(head, ()) for head in heads}
    sources = {s.address: s for of in values.values() for value in of for s in value.sources}
    numbers = {address: n for n, address in enumerate(sources, start=1)}

    def shown(value: Value) -> str:
        words = f"（{'，'.join(value.words)}）" if value.words else ""
        marks = (
            "".join(f"[{numbers[s.address]}]" for s in value.sources) if len(sources) > 1 else ""
        )
        return f"{value.value}{words}{marks}"

    cells = ("\n".join(map(shown, of)) or None for of in values.values())
    return Row((line.label, *cells), tuple(sources.values()))


def matrix(store: Store, wanted: WantedTargets, *, by: By) -> Matrix:
    """Return figures with a row for each place or document and a column for each year.

    By year, rows are years and columns are places. By province and by document, requested rows
    without any figure are kept and named in a note; requested places of which no document is held
    have a row, too. In a province's row, figures of its cities carry the city's name. Several
    indicators (森林覆盖率、非化石能源占比) have columns each, unless the words are those of one.

    Args:
        store: The knowledge base.
        wanted: With an indicator.
        by: Meaning of the rows.

    Raises:
        OutOfRangeError: If no indicator is given.
        NotFoundError: As for `kgrag.statements.targets.targets`.
    """
    apart = _each(store, wanted)
    if len(apart) < 2:
        return _of_one(store, wanted, by)
    return _side_by_side({one.indicator: _of_one(store, one, by) for one in apart}, by)


def _each(store: Store, wanted: WantedTargets) -> list[WantedTargets]:
    """Return the selection of each of several indicators, or the one."""
    apart = [(part, _AND.split(part)) for part in _APART.split(wanted.indicator)]
    told = (words if all(map(is_indicator, words)) else [part] for part, words in apart)
    names = [name.strip() for name in chain.from_iterable(told) if name.strip()]
    if len(names) < 2 or wanted_statements(store, wanted, choose(store, wanted.within)):
        return [wanted]
    return [replace(wanted, indicator=name) for name in dict.fromkeys(names)]


def values(store: Store, wanted: WantedTargets) -> Table:
    """Return what `matrix` compares, one value a row as numbers."""
    tables = [targets(store, one) for one in _each(store, wanted)]
    return replace(tables[0], rows=tuple(row for one in tables for row in one.rows), notes=())


def _side_by_side(made: Mapping[str, Matrix], by: By) -> Matrix:
    """Return the comparisons of several indicators as one, the columns under their names."""
    lines: dict[str, Line] = {}
    for name, one in made.items():
        for line in one.lines:
            held = lines.get(line.label, Line(line.label, held=False, cells={}))
            own = {_head(name, head): values for head, values in line.cells.items()}
            lines[line.label] = Line(line.label, held.held or line.held, {**held.cells, **own})
    rank = place_rank if by in ("province", "region") else str
    common = "；".join("，".join(one.words) for one in made.values())
    return Matrix(
        tuple(_head(name, head) for name, one in made.items() for head in one.heads),
        (),
        tuple(sorted(lines.values(), key=lambda line: (not line.held, rank(line.label)))),
        (
            note("in-common", "zh", words=common),
            *dict.fromkeys(n for one in made.values() for n in one.notes),
        ),
    )


def _head(name: str, head: str) -> str:
    return f"{name} {head or _UNDATED.zh}"


def _of_one(store: Store, wanted: WantedTargets, by: By) -> Matrix:
    """Return the comparison of one indicator."""
    chosen, figures, heads, labels, notes = _grid(store, wanted, by)
    spots: defaultdict[_Figure, list[Spot]] = defaultdict(list)
    for figure in figures:
        spots[figure._replace(spot=("", 0, 0))].append(figure.spot)
    common = set.intersection(*({*f.words} for f in spots)) if spots else set()
    common |= {name for name, _ in Counter(f.name for f in spots).most_common(1)}
    sizes: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for f in spots:
        sizes[f.measure].append(f.amount)
    usual = max(sizes.values(), key=len, default=[])
    rows = sourced(store, (((), of) for of in spots.values()))
    cells: defaultdict[str, defaultdict[str, list[Value]]] = defaultdict(lambda: defaultdict(list))
    for f, row in zip(spots, rows, strict=True):
        compared = sizes[f.measure] is usual and min(usual) >= 0 < max(usual) and len(usual) > 1
        share = f.amount / max(usual) if compared else None
        words = tuple(w for w in f.words if w not in common)
        if row.sources:  # of a document that is deleted meanwhile there are none
            cells[f.row][f.head].append(Value(f.value, words, share, row.sources))
    named = {called(r) for c in chosen.held for r in c.metadata.regions}
    named |= {called(label) for label in labels.values()}
    lacking = [r for r in wanted.regions if by in ("province", "region") and called(r) not in named]
    return Matrix(
        tuple(heads),
        tuple(dict.fromkeys(w for f in figures for w in f.words if w in common)),
        (
            *(Line(label, held=True, cells=cells[n]) for n, label in labels.items()),
            *(Line(place, held=False, cells={}) for place in lacking),
        ),
        notes,
    )


def _grid(
    store: Store, wanted: WantedTargets, by: By
) -> tuple[Chosen, list[_Figure], list[str], dict[str, str], tuple[str, ...]]:
    """Return documents, figures, heads, labels of rows, and notes; own places come first."""
    if not checked_text("indicator", wanted.indicator).strip():
        raise OutOfRangeError(message("a comparison is of an indicator, and none is given"))
    chosen = choose(store, wanted.within)
    found = wanted_statements(store, wanted, chosen)
    if not found:
        check_indicator(store, wanted.indicator)
    figures = [_figure(s, chosen.cards[s.doc_id], by) for s in found]
    figures.sort(key=lambda figure: figure.inner)
    heads = {f.head for f in figures}
    rank = place_rank if by == "year" else lambda head: (not head, head)
    names = _rows({f.row for f in figures}, chosen, wanted, by)
    labels = {n: _label(n, chosen, by) for n in names}
    stating = {figure.row for figure in figures}
    silent = [label for name, label in labels.items() if name not in stating]
    ids = {s.fact.subject.entity_id for s in found}
    notes = (
        chosen.note(
            {s.doc_id for s in found},
            wanted.named(note("figures-of", "zh", indicator=wanted.indicator)),
        ),
        *chosen.place_notes(wanted.regions),
        *([wanted.named(note("table-unread", "zh", names="、".join(silent)))] if silent else []),
        *similar(store, wanted.indicator, chosen.cards, ids, names_all(wanted.indicator)),
    )
    return chosen, figures, sorted(heads, key=rank), labels, notes


def similar(
    store: Store,
    indicator: str,
    cards: Mapping[str, Document],
    shown: Collection[str],
    is_asked: Callable[[str], bool],
    language: Language = "zh",
) -> Iterator[Note]:
    """Yield a note on indicators with similar names that are not shown.

    They may be synonyms (处理率 and 处置率) or other indicators; that is for the reader to decide.

    Args:
        store: The knowledge base.
        indicator: The name that is asked for.
        cards: Documents that are looked at, by id.
        shown: Entities of the indicators that are shown.
        is_asked: Whether a name is one that is asked for, which may be of other places or years.
        language: Of the note.
    """
    indicator = indicator_name(indicator)
    found = store.search_entities(indicator, top_k=_LOOKED_AT)
    like = [e for e, share in found if share >= _ALIKE and e not in shown]
    stating: defaultdict[str, set[str]] = defaultdict(set)
    for s in store.statements("target", sorted(cards), around=like):
        name = s.fact.subject.name
        if s.fact.subject.entity_id not in like or is_asked(name):
            continue
        if is_indicator(name) == is_indicator(indicator):
            stating[name].add(s.doc_id)
    ordered = sorted(stating, key=lambda name: (-len(stating[name]), name))[:_SHOWN]
    if ordered:
        names = (note("similar-indicator", language, name=n, n=len(stating[n])) for n in ordered)
        yield note("similar-indicators", language, names=tuple(names))


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
    name, value = statement.fact.subject.name, signed_words(statement)
    beside = (
        called(region) if inner else "",
        name,
        told.scope if told.scope not in name else "",
        *(w for w in measured_of(statement, card).counted if w not in f"{name}{value}"),
        STANDINGS[told.standing],
        base_words(statement),
    )
    size = decimal_of(told.value)
    return _Figure(
        row=row,
        head=head,
        inner=inner,
        value=value,
        name=name,
        words=tuple(filter(None, beside)),
        measure=(told.unit, told.comparator if told.comparator in ("+", "-") else ""),
        amount=-1.0 if size is None else float(size),
        spot=spot_of(statement),
    )


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
    if by == "year":
        return sorted(named, key=lambda year: (not year, year))
    return sorted(named, key=place_rank)


def _label(name: str, chosen: Chosen, by: By) -> str:
    if by == "document":
        return f"《{chosen.cards[name].title}》"
    return name or _UNDATED.zh
