"""Checksums ("seals") of stored data, written in the same transaction, to detect bit flips."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, cast

from kgrag.store.checks import damaged_setting
from kgrag.store.sqlite.faults import is_damage
from kgrag.store.sqlite.statements import run, run_each

Part = Literal["text", "chunks", "summaries", "knowledge", "vectors", "sources", "log"]

# Statements of `sql/seals.sql` that read each part of a document.
_STATEMENTS: Mapping[Part, tuple[str, ...]] = {
    "text": ("sealed_text", "sealed_headings", "sealed_metadata"),
    "chunks": ("sealed_chunks",),
    "summaries": ("sealed_summaries",),
    "knowledge": ("sealed_names", "sealed_facts", "sealed_mentions", "sealed_qualifiers"),
    "vectors": ("sealed_vectors",),
    "sources": ("sealed_sources",),
    "log": ("sealed_log",),
}
# Later additions: documents without such rows keep their older checksum.
_LATER = frozenset({"sealed_metadata", "sealed_qualifiers"})
PARTS: tuple[Part, ...] = tuple(_STATEMENTS)
PART_NAMES: Mapping[str, str] = {
    "text": "its text, title or headings",
    "chunks": "its chunks",
    "summaries": "its summaries",
    "knowledge": "its facts or mentions",
    "vectors": "the list of its vectors",
    "sources": "the list of its files",
    "log": "the log of its changes",
}
# Tables with a seal for each row: the subject is the table, the part the row's key.
Kept = Literal["meta", "state", "corrections", "decisions"]
SETTINGS: tuple[Kept, ...] = ("meta", "state")
DECIDED: tuple[Kept, ...] = ("corrections", "decisions")
_KEPT: Mapping[Kept, str] = {
    "meta": "settings",
    "state": "notes",
    "corrections": "corrections",
    "decisions": "decisions",
}
_BYTES = 8
_JSON = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Broken:
    """A seal that does not match."""

    subject: str  # a document, or a table with a seal for each row
    part: str  # of it; the key of a row
    only_seal: bool = False  # whether the seal itself is damaged, and the data may be intact


def seal_documents(
    connection: sqlite3.Connection, doc_ids: Iterable[str], parts: Sequence[Part] = PARTS
) -> None:
    """Seal parts of documents at the end of the running transaction.

    Of a deleted document only the log is kept and sealed.
    """
    for doc_id in doc_ids:
        held = run(connection, "is_held", doc_id).fetchone()
        if held is None:
            run(connection, "delete_seals", doc_id)
        sealed: Sequence[Part] = parts if held else ("log",)
        rows = [(doc_id, p, _seal(doc_id, p, part_sum(connection, doc_id, p))) for p in sealed]
        run_each(connection, "put_seal", rows)


def seal_settings(connection: sqlite3.Connection, tables: Sequence[Kept] = SETTINGS) -> None:
    """Seal the rows of tables that changed."""
    for table in tables:
        rows = _kept(connection, table).items()
        wanted = {key: _seal(table, key, _of([row])) for key, row in rows}
        known = _seals_of(connection, table)
        if wanted == known:
            continue
        run(connection, "delete_seals", table)
        run_each(connection, "put_seal", [(table, key, seal) for key, seal in wanted.items()])


def seal_of_vector(key: str, blob: bytes) -> int:
    """Return the checksum stored with a vector."""
    checksum = blake2b(key.encode(), digest_size=_BYTES)
    checksum.update(blob)
    return int.from_bytes(checksum.digest(), signed=True)


def sealed(connection: sqlite3.Connection, subject: str, part: str) -> bytes | None:
    """Return the seal of a part; None where it is missing or damaged."""
    seal = _seals_of(connection, subject).get(part)
    is_sound = isinstance(seal, bytes) and seal == _seal(subject, part, seal[:_BYTES])
    return seal if is_sound and isinstance(seal, bytes) else None


def broken_seals(connection: sqlite3.Connection) -> Iterator[Broken]:
    """Yield the parts of documents that do not match their seals, in order."""
    sealed: defaultdict[str, dict[str, object]] = defaultdict(dict)
    for subject, part, seal in run(connection, "seals"):
        sealed[str(subject)][str(part)] = seal
    held = {d for (d,) in run(connection, "doc_ids")}
    gone = {d for (d,) in run(connection, "logged_documents")} - held
    for doc_id in sorted({*held, *gone, *sealed} - {*_KEPT}, key=str):
        seals = sealed[doc_id]
        # A lost document has seals of all parts, a deleted one of its log only.
        due: Sequence[Part] = PARTS if doc_id in held or len(seals) > 1 else ("log",)
        for part in due:
            yield from _compared(doc_id, part, _seen(connection, doc_id, part), seals.get(part))
        for part in sorted({*seals} - {*due}):
            yield from _compared(doc_id, part, None, seals[part])


def broken_settings(connection: sqlite3.Connection, *tables: Kept) -> Iterator[Broken]:
    """Yield rows of `tables` (default `SETTINGS`) that do not match their seals or are missing."""
    for table in tables or SETTINGS:
        seals = _seals_of(connection, table)
        for key, row in _kept(connection, table).items():
            seen = _of([row]) if all(isinstance(value, str) for value in row) else None
            yield from _compared(table, key, seen, seals.pop(key, None))
        for key, seal in sorted(seals.items(), key=str):
            yield from _compared(table, key, None, seal)


def intact_rows(
    connection: sqlite3.Connection, table: Kept
) -> tuple[dict[str, tuple[object, ...]], list[str]]:
    """Return the undamaged rows of a table by key, and the keys of lost ones.

    A row with a damaged seal counts as intact, unless a seal lacks its row: then the row's key is
    probably damaged.
    """
    rows = _kept(connection, table)
    broken = list(broken_settings(connection, table))
    lost = {b.part for b in broken if not b.only_seal}
    strange = {b.part for b in broken} if lost - rows.keys() else lost
    return {key: row for key, row in rows.items() if key not in strange}, sorted(lost)


def refuse_damaged_settings(connection: sqlite3.Connection, *tables: Kept) -> None:
    """Raise StoreError for a damaged row, which must not be sealed again."""
    for broken in broken_settings(connection, *tables):
        row = _kept(connection, broken.subject).get(broken.part)
        raise damaged_setting(broken.part, row and row[-1])


def broken_vectors(connection: sqlite3.Connection, table: str = "embeddings") -> list[str]:
    """Return the keys of damaged vectors, in order."""
    # A damaged key may be invalid UTF-8, and a damaged vector a text.
    rows = connection.execute(
        "SELECT CAST(key AS BLOB), iif(typeof(vector) = 'blob', vector, x''), seal"
        f" FROM {table} ORDER BY key"
    )
    keyed = ((key.decode(errors="replace"), blob, seal) for key, blob, seal in rows)
    return [key for key, blob, seal in keyed if seal != seal_of_vector(key, blob)]


def _kept(connection: sqlite3.Connection, table: str) -> dict[str, tuple[object, ...]]:
    """Return the rows of a table by key, in order."""
    rows = run(connection, _KEPT[cast("Kept", table)]).fetchall()
    if table in SETTINGS:
        return {str(row[0]): row for row in rows}
    # Of a correction, (document, field); of a decision, (kind, name, into).
    n = 2 if table == "corrections" else 3
    return {_JSON([str(value) for value in row[:n]]): row for row in rows}


def _seals_of(connection: sqlite3.Connection, subject: str) -> dict[str, object]:
    rows = run(connection, "seals_of", subject)
    return dict(rows.fetchall())


def _compared(subject: str, part: str, seen: bytes | None, seal: object) -> Iterator[Broken]:
    """Compare a checksum (None if unreadable or missing) with a stored seal; yield the mismatch."""
    if isinstance(seal, bytes) and seal == _seal(subject, part, seal[:_BYTES]):
        if seen != seal[:_BYTES]:
            yield Broken(subject, part)
    else:  # a second bit flip in the data is very unlikely
        yield Broken(subject, part, only_seal=True)


def _seen(connection: sqlite3.Connection, doc_id: str, part: Part) -> bytes | None:
    try:
        return part_sum(connection, doc_id, part)
    except (sqlite3.DatabaseError, TypeError, UnicodeError) as exc:
        if not is_damage(exc):
            raise
        return None


def part_sum(connection: sqlite3.Connection, doc_id: str, part: Part) -> bytes:
    """Return the checksum of a part of a document."""
    found = [(name, run(connection, name, doc_id).fetchall()) for name in _STATEMENTS[part]]
    return _of([rows for name, rows in found if rows or name not in _LATER])


def _of(rows: object) -> bytes:
    """Return the checksum of rows; TypeError for a value of an unexpected type."""
    return blake2b(_JSON(rows).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def _seal(subject: str, part: str, checksum: bytes) -> bytes:
    """Return a checksum followed by a checksum of itself and of what it is for."""
    whose = f"{subject}/{part}/".encode("utf-8", "surrogatepass")
    return checksum + blake2b(whose + checksum, digest_size=_BYTES).digest()
