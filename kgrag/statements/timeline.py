"""Timeline of documents (issue, entry into force, expiry), deadlines and target years."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kgrag.answer.notes import Note, note
from kgrag.errors import OutOfRangeError
from kgrag.qualifiers import Qualifiers
from kgrag.statements.choose import (
    Chosen,
    check_named,
    choose,
    in_places,
    names_all,
    stated_place,
)
from kgrag.statements.figures import figure_words
from kgrag.statements.selection import Event, Selection
from kgrag.statements.sources import Spot, Stated, object_of, spot_of
from kgrag.statements.table import Cell, Column
from kgrag.statements.targets import REGION
from kgrag.store.store import Store
from kgrag.text.as_of import parse_as_of
from kgrag.text.document_nodes import node_id
from kgrag.text.due import due_clauses, due_date
from kgrag.text.facets import NATIONAL
from kgrag.text.quantities import dates
from kgrag.types import Document

EVENTS: Mapping[Event, str] = {
    "written": "成文", "issued": "印发", "effective": "施行", "expires": "失效",
    "due": "时限", "target": "目标",
}  # fmt: skip
_OF_DOCUMENTS: tuple[Event, ...] = ("written", "issued", "effective", "expires")
# Facts by which a document says from and until when it is in force, by a date or how long.
_HOLDS: Mapping[str, Event] = {
    "施行日期": "effective",
    "有效期至": "expires",
    "有效期": "expires",
}
_BATCH = 64  # documents whose texts are held at once
_LAST = "99"  # sorts what is due in a year behind what is due on its days
_COLUMNS = (
    Column("date", "日期", "date"),
    Column("event", "事件", "event"),
    Column("what", "内容", "what"),
    REGION,
    Column("certainty", "依据", "told or inferred"),
)


class _Entry(NamedTuple):
    date: str
    event: Event
    what: str
    place: tuple[str, ...]
    spot: Spot
    certainty: str = ""


def timeline(store: Store, selection: Selection) -> Stated:
    """Return events in order of date; those of a year come at its end.

    An indicator selects its figures, deadlines that name it, and the documents with such figures.
    Equal events of several documents are one row with several sources. Achieved figures are left
    out, see `targets`; so are deadlines without a date (持续推进, 每年), see `duties`.

    Raises:
        NotFoundError: If no document is selected, or a place or the indicator is unknown.
        OutOfRangeError: If `since` or `until` is no date.
    """
    for day in filter(None, (selection.since, selection.until)):
        if not parse_as_of(day).startswith(day):  # compared by its letters
            raise OutOfRangeError("{day!r} is not written as 2022, 2022-06 or 2022-06-30", day=day)
    everywhere = {"places": (), "years": None, "standing": "planned"}
    chosen = choose(store, selection.model_copy(update=everywhere), "target")
    here = in_places(selection.places, chosen.cards.values())
    figures = [
        _Entry(
            s.qualifiers.year,
            "target",
            f"{s.fact.subject.name} {figure_words(s)}",
            stated_place(s.qualifiers, chosen.cards[s.doc_id]),
            spot_of(s),
        )
        for s in chosen.statements
        if s.qualifiers.year
    ]
    taken = [*figures, *_duties(store, selection, chosen)]
    found = [*taken, *_from_texts(store, chosen, taken)]
    if not found:
        check_named(store, chosen, "target")
    asked = selection.events or tuple(EVENTS)
    kept = [
        e for e in found if e.event in asked and here(e.place) and _is_within(e.date, selection)
    ]
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    for entry in sorted(kept, key=_order):
        told = (EVENTS[entry.event], entry.what, entry.place[-1], entry.certainty or None)
        rows[entry.date, *told].append(entry.spot)
    return Stated(_COLUMNS, rows.items(), tuple(_notes(chosen, selection, kept)))


def _notes(chosen: Chosen, selection: Selection, kept: Sequence[_Entry]) -> Iterator[Note]:
    yield note("in-table", "zh", n=len({e.spot[0] for e in kept}), chosen=len(chosen.cards))
    yield from chosen.filter_notes()
    yield from chosen.place_notes(selection.places)
    told = [card.metadata for card in chosen.cards.values()]
    inferred = sum(m.year is not None and "written" in m.inferred for m in told)
    silent = sum(m.year is None for m in told)
    yield note("dates-of-issue", "zh", silent=silent, inferred=inferred)


def _duties(store: Store, selection: Selection, chosen: Chosen) -> Iterator[_Entry]:
    """Yield the duties whose deadline is a date, not a clause: that is read from the text."""
    asked = sorted(chosen.cards) if selection.searched or chosen.earlier else None
    for s in store.statements("duty", asked):
        told, task, card = s.qualifiers.deadline, object_of(s), chosen.cards[s.doc_id]
        if told and _is_named(task, chosen) and not next(due_clauses(told), None):
            date, certainty = _deadline(told, card)
            if date:
                place = stated_place(Qualifiers(), card)
                yield _Entry(date, "due", task, place, spot_of(s), certainty)


def _is_named(text: str, chosen: Chosen) -> bool:
    """Return whether a text names one of the indicators; true where any is chosen."""
    return not chosen.names or any(names_all(name)(text) for name in chosen.names)


def _deadline(text: str, card: Document) -> tuple[str, str]:
    """Return the date of a deadline, and a mark if its year is inferred from the document."""
    date = due_date(text)
    if date:
        return date, ""
    issued = card.metadata.issue_date
    date = due_date(text, year=card.metadata.year)
    # 3月底 in a plan of November is of the year after, or of a year that the title names
    return (date, "推断") if date and date >= issued[: len(date)] else ("", "")


def _from_texts(store: Store, chosen: Chosen, taken: Iterable[_Entry]) -> Iterator[_Entry]:
    """Yield dates of documents, and clauses with a deadline that no other entry covers."""
    spans = validity_spans(store, chosen.cards)
    stating = {s.doc_id for s in chosen.statements if s.qualifiers.year}
    spots: defaultdict[str, list[Spot]] = defaultdict(list)
    for entry in taken:
        spots[entry.spot[0]].append(entry.spot)
    doc_ids = sorted(chosen.cards)
    for at in range(0, len(doc_ids), _BATCH):
        for document in store.documents(doc_ids[at : at + _BATCH]):
            if not chosen.names or document.doc_id in stating:
                yield from _days_of(document, spans.get(document.doc_id, {}))
            found = _clauses(document, spots[document.doc_id])
            yield from (entry for entry in found if _is_named(entry.what, chosen))


def validity_spans(
    store: Store, cards: Mapping[str, Document]
) -> dict[str, dict[Event, tuple[int, int]]]:
    """Return the spans in which documents state from and until when they are in force.

    Args:
        store: The knowledge base.
        cards: Documents by id.
    """
    found: defaultdict[str, dict[Event, tuple[int, int]]] = defaultdict(dict)
    for s in store.statements("condition", sorted(cards), predicates=[*_HOLDS]):
        card = cards[s.doc_id]
        if s.fact.subject.entity_id == node_id(card.title, card.metadata):
            found[s.doc_id][_HOLDS[s.fact.predicate]] = (s.start, s.end)
    return found


def _clauses(document: Document, taken: Sequence[Spot]) -> Iterator[_Entry]:
    """Yield the clauses with a deadline not before the year of issue, outside of some spans."""
    issued = str(document.metadata.year or "")
    for due in due_clauses(document.text):
        is_open = not due.date or due.date[:4] < issued
        if not is_open and not any(a < due.end and due.start < b for _, a, b in taken):
            what = " ".join(document.text[due.start : due.end].split()).rstrip("，,、")
            spot = (document.doc_id, due.start, due.end)
            yield _Entry(due.date, "due", what, document.metadata.regions or (NATIONAL,), spot)


def _days_of(document: Document, stated: Mapping[Event, tuple[int, int]]) -> Iterator[_Entry]:
    """Yield the dates in a document's metadata, each with its span in the text."""
    told, what = document.metadata, f"《{document.title}》"
    place = told.regions or (NATIONAL,)
    for event in _OF_DOCUMENTS:
        day: str = getattr(told, event)
        if not day or (event == "written" and day == told.issued):
            continue
        is_inferred = event in told.inferred
        span, is_told = _where(document.text, "" if is_inferred else day, stated.get(event))
        is_told = is_told or event not in _HOLDS.values()
        certainty = "推断" if is_inferred else "" if is_told else "推算"
        yield _Entry(day, event, what, place, (document.doc_id, *span), certainty)


def _where(text: str, day: str, stated: tuple[int, int] | None) -> tuple[tuple[int, int], bool]:
    """Return where a text has a date, and True; else what states it, or the first line, and False.

    Args:
        text: Of a document.
        day: ISO 8601, of any precision; empty for one that is inferred.
        stated: The clause on how long the document is in force; the date is one within it.
    """
    first, last = stated or (0, len(text))
    for one in dates(text[first:last]) if day else ():
        if f"{one.year}-{one.month:02}-{one.day:02}".startswith(day):
            return (first + one.start, first + one.end), True
    start = len(text) - len(text.lstrip())
    stop = text.find("\n", start)
    return stated or (start, stop if stop > start else len(text)), False


def _is_within(date: str, selection: Selection) -> bool:
    """Return whether a date lies in the wanted range, compared at their common precision."""
    since, until, n = selection.since, selection.until, len(date)
    return since[:n] <= date[: len(since)] and date[: len(until)] <= until[:n]


def _order(entry: _Entry) -> tuple[str, int, tuple[str, ...], str, Spot]:
    day = "-".join(([*entry.date.split("-"), _LAST, _LAST])[:3])
    return day, list(EVENTS).index(entry.event), entry.place, entry.what, entry.spot
