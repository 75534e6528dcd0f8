"""The log of changes: which documents came, were replaced, renamed or withdrawn, and when."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Literal, NamedTuple

from kgrag.answer.notes import note
from kgrag.errors import OutOfRangeError
from kgrag.kb_meta import NOTE
from kgrag.statements.digest import Difference, differences, items_of
from kgrag.statements.table import Cell, Column, Row, Table
from kgrag.store.contents import DocumentBundle
from kgrag.store.folders import FOLDERS, shown_from
from kgrag.store.store import Store
from kgrag.text.as_of import parse_as_of
from kgrag.types import Document

LOG = f"{NOTE}changes"  # key of the note: entries as lists, the oldest first
_NEW = f"{NOTE}changes.new"  # of those of this run: the log is long, and written as a whole
_KEPT_DAYS = 400  # after which what is not held any more is forgotten
_MOST_ROWS = 40  # of one document
_TO_THE_SECOND = "seconds"

Kind = Literal["held", "added", "replaced", "renamed", "withdrawn"]
_KINDS: Mapping[Kind, str] = {
    "added": "新增", "replaced": "替换", "renamed": "改名", "withdrawn": "撤下",
}  # fmt: skip
_COLUMNS = (
    Column("day", "日期", "day"),
    Column("change", "变化", "change"),
    Column("title", "文件", "document"),
    Column("file", "路径", "file"),
    Column("was", "原为", "was"),
    Column("clauses", "不同条款", "clauses that differ"),
    Column("part", "部分", "part"),
    Column("item", "内容", "item"),
    Column("old", "原文", "old"),
    Column("new", "新文", "new"),
)


class Entry(NamedTuple):
    """One change of one source.

    Attributes:
        at: When it was noticed, ISO 8601, local time; empty for what was stored before the log.
        kind: What happened; `held` is nothing that is told.
        source: Its absolute path, `#id` appended for a record.
        doc_id: The document, of a withdrawn one what it was.
        content_hash: Of its bytes.
        title: Of the document.
        was: The former title of a replaced document, the former source of a renamed one.
        clauses: Number of clauses that differ from the replaced one; -1 where it is not known.
        rows: Its figures, duties and references that differ.
    """

    at: str
    kind: Kind
    source: str
    doc_id: str
    content_hash: str
    title: str
    was: str = ""
    clauses: int = -1
    rows: tuple[Difference, ...] = ()


def entries(store: Store) -> list[Entry]:
    """Return all changes, the oldest first, those included that are not recorded yet.

    What a run did that was killed is found by comparing the log with what is stored.
    """
    text = store.get_meta(LOG)
    told = [_entry(row) for row in (*json.loads(text or "[]"), *_new(store))]
    held, states = _held(told), store.sources()
    other = [s for s in states if s.source not in held or held[s.source].doc_id != s.doc_id]
    cards = {card.doc_id: card for card in store.document_cards(sorted({s.doc_id for s in other}))}
    now = {s.source: cards[s.doc_id] for s in other if s.doc_id in cards}
    at = "" if text is None else datetime.now().isoformat(timespec=_TO_THE_SECOND)
    gone = held.keys() - {s.source for s in states}
    return told + _unrecorded(held, gone, now, at)


def record(store: Store) -> None:
    """Record what changed since the last time."""

    def work() -> None:
        if (text := _text(store)) != store.get_meta(LOG):
            store.set_meta({LOG: text, _NEW: ""})

    if _text(store) != store.get_meta(LOG):
        store.in_one(work)


def _new(store: Store) -> list[Any]:
    rows: list[Any] = json.loads(store.get_meta(_NEW) or "[]")
    return rows


def _text(store: Store) -> str:
    """Return the log with what is not recorded yet, without what is long past."""
    every = entries(store)
    held, oldest = _held(every), (date.today() - timedelta(days=_KEPT_DAYS)).isoformat()
    kept = [e for e in every if e.at >= oldest or held.get(e.source) is e]
    return json.dumps(kept, ensure_ascii=False)


@dataclass
class Recorder:
    """Stores documents, and records in the same transaction what those that are replaced lose.

    Attributes:
        store: The knowledge base.
    """

    store: Store
    _doc_of: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._doc_of = {state.source: state.doc_id for state in self.store.sources()}

    def upsert(self, bundle: DocumentBundle, source: str) -> str | None:
        """Store a document; see `kgrag.store.documents.DocumentStore.upsert_document`."""
        store, document = self.store, bundle.document
        former = self._doc_of.get(source, "")

        def work() -> str | None:
            old = [d for d in store.documents([former]) if d.content_hash != document.content_hash]
            before = items_of(store, old[0]) if old else None
            fingerprint = store.upsert_document(bundle, source=source)
            if before is not None:
                clauses, rows = differences(before, items_of(store, document))
                at = datetime.now().isoformat(timespec=_TO_THE_SECOND)
                told = Entry(
                    at, "replaced", source, document.doc_id, document.content_hash, document.title,
                    old[0].title, clauses, rows[:_MOST_ROWS],
                )  # fmt: skip
                store.set_meta({_NEW: json.dumps([*_new(store), told], ensure_ascii=False)})
            return fingerprint

        self._doc_of[source] = document.doc_id
        return store.in_one(work) if former else work()


def changes_since(store: Store, since: str, doc_ids: Collection[str] | None = None) -> Table:
    """Return what changed since a day: a row for each document, then for what differs in it.

    Args:
        store: The knowledge base.
        since: 7d for the last seven days, or 2022, 2022-06, 2022-06-30.
        doc_ids: Documents that may be told of; all for None.

    Raises:
        OutOfRangeError: If `since` is neither.
    """
    first = _first_day(since)
    shown = shown_from(store.get_meta(FOLDERS))
    told = [e for e in entries(store) if e.kind != "held" and e.at[: len(first)] >= first]
    if doc_ids is not None:
        told = [e for e in told if e.doc_id in doc_ids]
    rows: list[Row] = []
    for e in told:
        was = shown(e.was) if e.kind == "renamed" else e.was if e.was != e.title else ""
        clauses = e.clauses if e.clauses >= 0 else None
        head: tuple[Cell, ...] = (e.at[:10], _KINDS[e.kind], e.title, shown(e.source), was or None)
        rows.append(Row((*head, clauses, None, None, None, None)))
        rows += (Row((*head[:3], None, None, None, *row)) for row in e.rows)
    n = Counter(e.kind for e in told)
    values: dict[str, object] = {kind: n[kind] for kind in _KINDS}
    counts = note("changes-since", "zh", since=first, **values)
    return Table("digest", _COLUMNS, tuple(rows), (counts,))


def _first_day(since: str) -> str:
    days = since.strip().removesuffix("d")
    if days != since.strip() and days.isdecimal() and len(days) < 6:
        return (date.today() - timedelta(days=int(days))).isoformat()
    if not parse_as_of(since).startswith(since):  # compared by its letters
        raise OutOfRangeError("{day!r} is not written as 2022, 2022-06 or 2022-06-30", day=since)
    return since


def _entry(row: Sequence[Any]) -> Entry:
    told = Entry(*row)
    return told._replace(rows=tuple((part, item, a, b) for part, item, a, b in told.rows))


def _held(told: Sequence[Entry]) -> dict[str, Entry]:
    """Return the last entry of each source that is held according to the log."""
    held: dict[str, Entry] = {}
    for e in told:
        held.pop(e.was if e.kind == "renamed" else e.source, None)
        if e.kind != "withdrawn":
            held[e.source] = e
    return held


def _unrecorded(
    held: Mapping[str, Entry], gone: Collection[str], now: Mapping[str, Document], at: str
) -> list[Entry]:
    """Return what the log lacks: a gone source whose content is found under a new one is renamed.

    Args:
        held: The last entry of each source, by the log.
        gone: Those of them that are stored no more.
        now: Documents of stored sources that the log does not have, or has as others.
        at: When; empty if there was no log, and all of it may have been there for long.
    """
    by_content: defaultdict[str, list[Entry]] = defaultdict(list)
    for source in sorted(gone):
        by_content[held[source].content_hash].append(held[source])
    found: list[Entry] = []
    for source, card in sorted(now.items()):
        was, told = held.get(source), (source, card.doc_id, card.content_hash, card.title)
        if was and was.content_hash == card.content_hash:  # the rest of a rename
            found.append(Entry(at, "held", *told))
        elif was:
            found.append(Entry(at, "replaced", *told, was.title))
        elif by_content[card.content_hash]:
            former = by_content[card.content_hash].pop().source
            found.append(Entry(at, "renamed", *told, former))
        else:
            found.append(Entry(at, "added" if at else "held", *told))
    left = (e for several in by_content.values() for e in several)
    return found + [
        Entry(at, "withdrawn", e.source, e.doc_id, e.content_hash, e.title) for e in left
    ]
