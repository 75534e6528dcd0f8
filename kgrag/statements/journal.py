"""The log of changes: which documents came, were replaced, renamed or withdrawn, and when."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple, TypeVar

from kgrag.answer.notes import note
from kgrag.errors import OutOfRangeError
from kgrag.kb_meta import NOTE
from kgrag.statements.digest import Difference, differences, items_of, part_names
from kgrag.statements.selection import Part
from kgrag.statements.table import Cell, Column, Row, Table
from kgrag.store.contents import DocumentBundle
from kgrag.store.folders import FOLDERS, shown_from
from kgrag.store.store import Store
from kgrag.text.as_of import parse_as_of
from kgrag.types import Document

CHANGES = f"{NOTE}change."  # begins the keys of the notes, one for each entry; then its time
_MOST_ROWS = 40  # of one document
_T = TypeVar("_T")

Kind = Literal["added", "replaced", "renamed", "withdrawn"]
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
        at: When, ISO 8601, local time.
        kind: What happened.
        source: Its absolute path, `#id` appended for a record.
        title: Of the document, of a withdrawn one what it was.
        was: The former title of a replaced document, the former source of a renamed one.
        clauses: Number of clauses that differ from the replaced one; None for other kinds.
        rows: Its figures, duties and references that differ.
    """

    at: str
    kind: Kind
    source: str
    title: str
    was: str = ""
    clauses: int | None = None
    rows: tuple[Difference, ...] = ()


def entries(store: Store) -> list[Entry]:
    """Return all changes, the oldest first, without those whose note is damaged."""
    return [*filter(None, map(_entry, store.notes(CHANGES).values()))]


def _entry(text: str) -> Entry | None:
    try:
        return Entry(*json.loads(text))
    except (TypeError, ValueError):
        return None


@dataclass
class Recorder:
    """Stores and deletes, and records in the same transaction what that changes.

    Attributes:
        store: The knowledge base.
    """

    store: Store
    _doc_of: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._doc_of = {state.source: state.doc_id for state in self.store.sources()}

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> str | None:
        """Store a document; see `kgrag.store.documents.DocumentStore`."""
        return self._stored(
            source, bundle.document, lambda: self.store.upsert_document(bundle, source=source)
        )

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record another source of a document; see `kgrag.store.documents.DocumentStore`.

        It takes the place of what `kgrag repair` names a document by whose files it cannot find.
        """

        def attach() -> None:
            self.store.attach_source(source, doc_id)
            if self._doc_of.pop(doc_id, "") == doc_id:
                self.store.detach_source(doc_id)

        for document in self.store.documents([doc_id]):
            self._stored(source, document, attach)

    def detach_source(self, source: str, *, to: str = "") -> None:
        """Forget a source; its document goes with the last one, unless it moves to another."""
        found = self.store.document_cards([self._doc_of.pop(source, "")])

        def work() -> None:
            for card in found:
                if to:
                    self.store.attach_source(to, card.doc_id)
                    self._put("renamed", to, card.title, source)
                else:
                    self._put("withdrawn", source, card.title)
                self.store.detach_source(source)

        self.store.in_one(work)

    def _stored(self, source: str, document: Document, store: Callable[[], _T]) -> _T:
        """Return what `store` returns; what it stores as that of a source is compared and told."""
        former = self._doc_of.get(source)

        def work() -> _T:
            held = self.store.documents([former]) if former else []
            if held and held[0].content_hash == document.content_hash:
                return store()
            before = items_of(self.store, held[0]) if held else None
            stored = store()
            if before is None:
                if stored is None:  # else another process has stored it meanwhile, and told so
                    self._put("added", source, document.title)
            else:
                n, rows = differences(before, items_of(self.store, document))
                told = (document.title, held[0].title, n, rows[:_MOST_ROWS])
                self._put("replaced", source, *told)
            return stored

        self._doc_of[source] = document.doc_id
        return self.store.in_one(work, alone=former is not None)

    def _put(self, kind: Kind, source: str, *told: object) -> None:
        at = datetime.now().isoformat(timespec="microseconds")
        text = json.dumps([at, kind, source, *told], ensure_ascii=False)
        self.store.set_meta({f"{CHANGES}{at} {source}": text})


def changes_since(store: Store, since: str, parts: Sequence[Part] = ()) -> Table:
    """Return what changed since a day: a row for each document, then for what differs in it.

    Args:
        store: The knowledge base.
        since: 7d for the last seven days, or 2022, 2022-06, 2022-06-30.
        parts: What of a replaced document is listed; all for none.

    Raises:
        OutOfRangeError: If `since` is neither.
    """
    first = _first_day(since)
    shown = shown_from(store.get_meta(FOLDERS))
    every, listed = entries(store), part_names(parts)
    told = [e for e in every if e.at[: len(first)] >= first]
    rows: list[Row] = []
    for e in told:
        was = shown(e.was) if e.kind == "renamed" else e.was if e.was != e.title else ""
        head: tuple[Cell, ...] = (e.at[:10], _KINDS[e.kind], e.title)
        rows.append(Row((*head, shown(e.source), was or None, e.clauses, *[None] * 4)))
        rows += (Row((*head, None, None, None, *row)) for row in e.rows if row[0] in listed)
    n = Counter(e.kind for e in told)
    values: dict[str, object] = {kind: n[kind] for kind in _KINDS}
    notes = [note("changes-since", "zh", since=first, **values)]
    if damaged := len(store.notes(CHANGES)) - len(every):
        notes.append(note("changes-damaged", "zh", n=damaged))
    return Table("digest", _COLUMNS, tuple(rows), tuple(notes))


def _first_day(since: str) -> str:
    days = since.strip().removesuffix("d")
    if days != since.strip() and days.isdecimal() and len(days) < 6:
        return (date.today() - timedelta(days=int(days))).isoformat()
    with suppress(OutOfRangeError):
        if parse_as_of(since).startswith(since):  # compared by its letters
            return since
    raise OutOfRangeError("{day!r} is not written as 7d, 2022, 2022-06 or 2022-06-30", day=since)
