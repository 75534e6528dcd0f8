"""Timeline of documents (issue, entry into force, expiry), deadlines and target years."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kgrag.answer.notes import note
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter
from kgrag.statements.choose import Chosen, choose, in_places, names_all, stated_place
from kgrag.statements.figures import figure_words
from kgrag.statements.sources import Spot, object_of, sourced, spot_of
from kgrag.statements.table import Column, Table
from kgrag.statements.targets import REGION, WantedTargets, check_indicator, wanted_statements
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.due import due_clauses, due_date
from kgrag.text.facets import NATIONAL
from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL
from kgrag.types import Document


def day_places(text: str, day: str) -> list[tuple[int, int]]:
    """Return the spans of a day, month or year in a text, in digits or Chinese numerals.

    Args:
        text: Any text.
        day: `2022-03-05`, `2022-03` or `2022`.

    >>> day_places("二〇二二年三月五日，2022-03-05", "2022-03-05")
    [(0, 9), (10, 20)]
    """
    year, *rest = day.split("-")
    inner = "".join(rf"\s*[年月/.\-]\s*{_digits(part)}" for part in rest)
    mark = "年月日"[len(rest)]
    pattern = rf"(?<!\d){_digits(year)}{inner}(?:\s*[{mark}号]|(?!\d))"
    return [match.span() for match in re.finditer(pattern, text)]


def _digits(part: str) -> str:
    """Return a pattern of a number in a date: 2022 or 二〇二二, 05 or 5 or 五."""
    wide = "".join(f"[{digit}{chr(0xFF10 + int(digit))}]" for digit in part)
    if len(part) == 4:  # a year, digit by digit
        han = "".join("[〇零○Ｏ0]" if d == "0" else HAN_DIGITS[int(d)] for d in part)
        return f"(?:{wide}|{han})"
    number = int(part)
    tens, ones = divmod(number, 10)
    ten = ("", "十", "二十", "三十")[tens]
    han = ten + (HAN_DIGITS[ones] if ones else "")
    bare = "".join(f"[{digit}{chr(0xFF10 + int(digit))}]" for digit in str(number))
    return f"(?:{wide}|{bare}|{han})(?![0-9{HAN_SMALL}])"


Event = Literal["written", "issued", "effective", "expires", "due", "target"]

EVENTS: Mapping[Event, str] = {
    "written": "成文", "issued": "印发", "effective": "施行", "expires": "失效",
    "due": "时限", "target": "目标",
}  # fmt: skip
_OF_DOCUMENTS: tuple[Event, ...] = ("written", "issued", "effective", "expires")
# Words beside the date by which a document says from and until when it holds.
_BESIDE: Mapping[Event, re.Pattern[str]] = {
    "effective": re.compile("(?:之日|[日起])[^。；\n]{0,12}(?:施行|实施|执行|生效)"),
    "expires": re.compile("有效|失效|废止|[截至止]"),
}
# Facts by which it says so, whether by a date or by how long it holds.
_HOLDS: Mapping[str, Event] = {"施行日期": "effective", "有效期至": "expires", "有效期": "expires"}
_NEAR = 24  # characters around a date in which these words stand
_BATCH = 64  # documents whose texts are held at once
_LAST = "99"  # sorts what is due in a year behind what is due on its days
_COLUMNS = (
    Column("date", "日期", "date"),
    Column("event", "事件", "event"),
    Column("what", "内容", "what"),
    REGION,
    Column("organ", "部门", "organ"),
    Column("certainty", "依据", "told or inferred"),
)


@dataclass(frozen=True, slots=True)
class WantedTimes:
    """Selection of events; empty fields select everything.

    Attributes:
        indicator: Words of an indicator: selects its figures, deadlines that name it, and the
            documents with such figures.
        regions: Places; a province includes its cities.
        since: First day, month or year: 2022, 2022-06, 2022-06-30.
        until: Last day, month or year.
        events: Kinds of event.
        within: Selects documents.
    """

    indicator: str = ""
    regions: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    events: tuple[Event, ...] = ()
    within: Filter | None = None


class _Entry(NamedTuple):
    date: str
    event: Event
    what: str
    place: tuple[str, ...]
    organ: str
    certainty: str
    spot: Spot


def timeline(store: Store, wanted: WantedTimes) -> Table:
    """Return events in order of date; those of a year come at its end.

    Equal events of several documents are one row with several sources. Achieved figures are left
    out, see `targets`. Deadlines without a date (持续推进, 每年) are left out and counted in a
    note.

    Raises:
        NotFoundError: If the filter leaves no document, or a place or the indicator is unknown.
    """
    chosen = choose(store, wanted.within)
    asked = wanted.events or tuple(EVENTS)
    figures = _figures(store, wanted, chosen)
    stating = {entry.spot[0] for entry in figures}
    here = in_places(wanted.regions, chosen)
    duties, n_open = _duties(store, wanted, chosen, here)
    entries = [
        *figures,
        *duties,
        *_from_texts(store, wanted, chosen, [*figures, *duties], stating),
    ]
    if not entries:
        check_indicator(store, wanted.indicator)
    kept = [e for e in entries if e.event in asked and here(e.place) and _is_within(e.date, wanted)]
    rows: defaultdict[tuple[str | None, ...], list[Spot]] = defaultdict(list)
    for entry in sorted(kept, key=_order):
        rows[_cells(entry)].append(entry.spot)
    return Table(
        "timeline",
        _COLUMNS,
        sourced(store, rows.items()),
        _notes(chosen, kept, n_open, wanted.regions),
    )


def _notes(
    chosen: Chosen, kept: Collection[_Entry], n_open: int, regions: Collection[str]
) -> tuple[str, ...]:
    cards = chosen.cards.values()
    silent = sum(card.metadata.year is None for card in cards)
    guessed = sum(
        card.metadata.year is not None and "written" in card.metadata.inferred for card in cards
    )
    n_kept, n_chosen = len({e.spot[0] for e in kept}), len(chosen.cards)
    notes = [
        note("in-table", "zh", n=n_kept, chosen=n_chosen),
        *chosen.filter_notes(),
        *chosen.place_notes(regions),
        note("dates-of-issue", "zh", silent=silent, inferred=guessed),
    ]
    if n_open:
        notes.append(note("no-day", "zh", n=n_open))
    return tuple(notes)


def _figures(store: Store, wanted: WantedTimes, chosen: Chosen) -> list[_Entry]:
    of = WantedTargets(indicator=wanted.indicator, standing="planned", within=wanted.within)
    return [
        _Entry(
            date=s.qualifiers.year,
            event="target",
            what=f"{s.fact.subject.name} {figure_words(s)}",
            place=stated_place(s.qualifiers, chosen.cards[s.doc_id]),
            organ="",
            certainty="",
            spot=spot_of(s),
        )
        for s in wanted_statements(store, of, chosen)
        if s.qualifiers.year
    ]


def _duties(
    store: Store, wanted: WantedTimes, chosen: Chosen, here: Callable[[Sequence[str]], bool]
) -> tuple[list[_Entry], int]:
    """Return the duties with a date, and the number of deadlines without one."""
    named, n_open = names_all(wanted.indicator), 0
    by_task: defaultdict[tuple[Spot, str, str, str], list[Statement]] = defaultdict(list)
    for statement in store.statements("duty", sorted(chosen.cards) if wanted.within else None):
        told = statement.qualifiers
        task = object_of(statement)
        clause = next(due_clauses(told.deadline), None)  # is read from the text, too
        if not told.deadline or clause or not named(task):
            continue
        date, certainty = _deadline(told.deadline, chosen.cards[statement.doc_id])
        if date:
            by_task[spot_of(statement), task, date, certainty].append(statement)
        else:
            n_open += here(stated_place(Qualifiers(), chosen.cards[statement.doc_id]))
    entries = [
        _Entry(
            date=date,
            event="due",
            what=task,
            place=stated_place(Qualifiers(), chosen.cards[spot[0]]),
            organ="、".join(dict.fromkeys(s.fact.subject.name for s in several)),
            certainty=certainty,
            spot=spot,
        )
        for (spot, task, date, certainty), several in by_task.items()
    ]
    return entries, n_open


def _deadline(text: str, card: Document) -> tuple[str, str]:
    """Return the date of a deadline, and a mark if its year is inferred from the document."""
    date = due_date(text)
    if date:
        return date, ""
    issued = card.metadata.issue_date
    date = due_date(text, year=card.metadata.year)
    # 3月底 in a plan of November is of the year after, or of a year that the title names
    return (date, "推断") if date and date >= issued[: len(date)] else ("", "")


def _from_texts(
    store: Store,
    wanted: WantedTimes,
    chosen: Chosen,
    taken: Iterable[_Entry],
    stating: Collection[str],
) -> Iterator[_Entry]:
    """Yield dates of documents, and clauses with a deadline that no other entry covers."""
    named, held = names_all(wanted.indicator), _validity(store, chosen)
    spots: defaultdict[str, list[Spot]] = defaultdict(list)
    for entry in taken:
        spots[entry.spot[0]].append(entry.spot)
    doc_ids = sorted(chosen.cards)
    for at in range(0, len(doc_ids), _BATCH):
        for document in store.documents(doc_ids[at : at + _BATCH]):
            if not wanted.indicator.strip() or document.doc_id in stating:
                yield from _days_of(document, held.get(document.doc_id, {}))
            for entry in _clauses(document, spots[document.doc_id]):
                if named(entry.what):
                    yield entry


def _validity(store: Store, chosen: Chosen) -> dict[str, dict[Event, tuple[int, int]]]:
    """Return the spans in which documents state their own validity."""
    found: defaultdict[str, dict[Event, tuple[int, int]]] = defaultdict(dict)
    for s in store.statements("condition", sorted(chosen.cards), predicates=[*_HOLDS]):
        card = chosen.cards[s.doc_id]
        if s.fact.subject.entity_id == node_id(card.title, card.metadata):
            found[s.doc_id][_HOLDS[s.fact.predicate]] = (s.start, s.end)
    return found


def _clauses(document: Document, taken: Sequence[Spot]) -> Iterator[_Entry]:
    """Yield the clauses with a deadline not before the year of issue, outside of some spans."""
    issued = str(document.metadata.year or "")
    for due in due_clauses(document.text):
        is_open = not due.date or due.date[:4] < issued
        if is_open or any(a < due.end and due.start < b for _, a, b in taken):
            continue
        yield _Entry(
            date=due.date,
            event="due",
            what=" ".join(document.text[due.start : due.end].split()).rstrip("，,、"),
            place=document.metadata.regions or (NATIONAL,),
            organ="",
            certainty="",
            spot=(document.doc_id, due.start, due.end),
        )


def _days_of(document: Document, stated: Mapping[Event, tuple[int, int]]) -> Iterator[_Entry]:
    """Yield the dates in a document's metadata, each with its span in the text."""
    told = document.metadata
    for event in _OF_DOCUMENTS:
        day: str = getattr(told, event)
        if not day or (event == "written" and day == told.issued):
            continue
        is_inferred = event in told.inferred
        start, end, is_told = _where(
            document.text, "" if is_inferred else day, event, stated.get(event)
        )
        yield _Entry(
            date=day,
            event=event,
            what=f"《{document.title}》",
            place=told.regions or (NATIONAL,),
            organ="、".join(told.issuers),
            certainty="推断" if is_inferred else "" if is_told else "推算",
            spot=(document.doc_id, start, end),
        )


def _where(
    text: str, day: str, event: Event, stated: tuple[int, int] | None
) -> tuple[int, int, bool]:
    """Return the span of a date and whether the text states it; else that of the stated validity.

    A date that is inferred or not from the text gets the first line.
    """
    beside, same = _BESIDE.get(event), day_places(text, day) if day else []
    for start, end in same:
        if not beside or beside.search(text, max(0, start - _NEAR), end + _NEAR):
            return start, end, True
    if stated:
        return *stated, False
    if same:
        return *same[0], True
    start = len(text) - len(text.lstrip())
    stop = text.find("\n", start)
    return start, stop if stop > start else len(text), not beside


def _is_within(date: str, wanted: WantedTimes) -> bool:
    """Return whether a date lies in the wanted range, compared at their common precision."""

    def pair(limit: str) -> tuple[str, str]:
        n = min(len(date), len(limit))
        return date[:n], limit[:n]

    (day, first), (same, last) = pair(wanted.since), pair(wanted.until)
    return first <= day and (not wanted.until or same <= last)


def _cells(entry: _Entry) -> tuple[str | None, ...]:
    return (
        entry.date,
        EVENTS[entry.event],
        entry.what,
        entry.place[-1],
        entry.organ or None,
        entry.certainty or None,
    )


def _order(entry: _Entry) -> tuple[str, int, tuple[str, ...], str, Spot]:
    day = "-".join(([*entry.date.split("-"), _LAST, _LAST])[:3])
    return day, list(EVENTS).index(entry.event), entry.place, entry.what, entry.spot
