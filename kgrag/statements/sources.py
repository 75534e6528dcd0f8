"""Sources of statements: document, headings, sentence."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from kgrag.answer.citation import Citation
from kgrag.answer.sentences import sentence_around
from kgrag.statements.in_force import InForce
from kgrag.statements.table import Cell, Column, Row
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.headings import HeadingTree
from kgrag.text.words import has_han
from kgrag.types import Document

_BATCH = 64  # documents whose texts are held at once
_LONGEST = 300  # characters of a quote
_MORE = "…"
_BEGINNING = 12  # characters of a task by which its item is found again
_REACH = 1500  # characters before a remark in which its item begins

_ROLES = ("牵头", "负责", "配合")

Spot = tuple[str, int, int]  # document, start, end


class Stated(NamedTuple):
    """What documents state, in rows whose sources are not read yet.

    Attributes:
        columns: Of the table.
        rows: Cells, and the spans that state them.
        notes: Coverage and omissions.
        tasks: As for `quoted`.
    """

    columns: tuple[Column, ...]
    rows: Iterable[tuple[tuple[Cell, ...], Iterable[Spot]]]
    notes: tuple[str, ...]
    tasks: Mapping[Spot, str] | None = None


def spot_of(statement: Statement) -> Spot:
    """Return the span of a statement."""
    return statement.doc_id, statement.start, statement.end


def role_of(statement: Statement) -> str:
    """Return the role of a citation or duty, else its predicate."""
    return statement.qualifiers.role or statement.fact.predicate


def role_rank(role: object) -> int:
    """Return the place of a duty's role among others: who leads comes first."""
    return _ROLES.index(role) if role in _ROLES else len(_ROLES)


def object_of(statement: Statement) -> str:
    """Return the object as written, else its entity's name."""
    return statement.qualifiers.object or statement.fact.object.name


def subject_of(statement: Statement) -> str:
    """Return the subject as written, else its entity's name."""
    return statement.qualifiers.subject or statement.fact.subject.name


def _item_start(text: str, start: int, end: int, task: str) -> int:
    """Return where the item begins that a span closes with who is responsible: at its task."""
    begin = task[:_BEGINNING]
    if not begin or begin in text[start:end]:
        return start
    first = max(0, start - _REACH)
    last = at = text.rfind(begin, first, start)
    while at > 0 and (text[at - 1] == "，" or has_han(text[at - 1])):  # it begins no item
        at = text.rfind(begin, first, at)
    return max(at, 0) or (last if last >= 0 else start)


def quoted(
    store: Store, spots: Iterable[Spot], about: Mapping[Spot, str] | None = None
) -> dict[Spot, Citation]:
    """Return the source of each span; spans of deleted documents are left out.

    Texts are loaded in batches.

    Args:
        store: With the texts.
        spots: The spans.
        about: The task of which a span says who is responsible; the source begins there.
    """
    by_document: dict[str, list[Spot]] = {}
    for spot in dict.fromkeys(spots):
        by_document.setdefault(spot[0], []).append(spot)
    doc_ids = sorted(by_document)
    found: dict[Spot, Citation] = {}
    for at in range(0, len(doc_ids), _BATCH):
        some = doc_ids[at : at + _BATCH]
        headings = store.headings(some)
        for document in store.documents(some):
            tree = HeadingTree(document.text, headings.get(document.doc_id, []))
            for spot in by_document[document.doc_id]:
                found[spot] = _source(document, tree, spot, (about or {}).get(spot, ""))
    return found


def sourced(
    store: Store,
    rows: Iterable[tuple[tuple[Cell, ...], Iterable[Spot]]],
    about: Mapping[Spot, str] | None = None,
    *,
    day: str = "",
) -> tuple[Row, ...]:
    """Return rows of cells and spans with the distinct sources of their spans, in order.

    Rows without a source are left out: their documents are deleted meanwhile.

    Args:
        store: With the texts.
        rows: Cells and spans of each.
        about: As for `quoted`.
        day: At which documents are in force, ISO 8601; today if empty.
    """
    made = [(cells, tuple(spots)) for cells, spots in rows]
    found = quoted(store, (spot for _, spots in made for spot in spots), about)
    day, in_force = day or date.today().isoformat(), InForce.read(store)
    for spot, source in found.items():
        found[spot] = replace(source, status=in_force.status(source.doc_id, day))
    with_sources = (
        (cells, dict.fromkeys(found[s] for s in spots if s in found)) for cells, spots in made
    )
    return tuple(Row(cells, tuple(sources)) for cells, sources in with_sources if sources)


def _source(document: Document, tree: HeadingTree, spot: Spot, about: str) -> Citation:
    _, remark, end = spot
    start = _item_start(document.text, remark, end, about)
    return Citation(
        number=0,
        doc_id=document.doc_id,
        title=document.title,
        file=document.file,
        heading_path=tree.path(start, end),
        page=document.page_at(start),
        cells=document.cells_at(start, end),
        start=start,
        end=end,
        quote=_quote(document.text, start, end, remark) or document.title,
        chunk_id="",
        document_number=document.metadata.number,
    )


def _quote(text: str, start: int, end: int, remark: int) -> str:
    """Return the sentences around a span on one line; only the span if they are long.

    An item is quoted from its task on; of a long one its beginning and its remark are left.
    """
    first, last = start, end
    if start == remark:
        first, last = sentence_around(text, start, end, longest=_LONGEST)
    line, rest = (" ".join(text[a:b].split()) for a, b in ((first, last), (remark, end)))
    if len(line) <= _LONGEST:
        return line
    kept = rest if start < remark and len(rest) < _LONGEST // 2 else ""
    return line[: _LONGEST - len(_MORE) - len(kept)] + _MORE + kept
