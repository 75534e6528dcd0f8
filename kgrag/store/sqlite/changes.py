"""The change log, by which search caches find what changed since they were written."""

import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kgrag.store.sqlite.statements import run, run_each

Part = Literal["chunks", "vectors", "knowledge"]
ALL_PARTS: tuple[Part, ...] = ("chunks", "vectors", "knowledge")


@dataclass(frozen=True, slots=True)
class Mark:
    """The commit that a search cache reflects."""

    seq: int = 0  # its number, from 1; 0 before the first
    stamp: str = ""  # random, so that a cache of another database is not mistaken for this one's


def record_change(
    connection: sqlite3.Connection, doc_ids: Iterable[str], parts: Iterable[Part] = ALL_PARTS
) -> None:
    """Log in the running transaction that parts of documents change."""
    seq = current_mark(connection).seq + 1
    # Random, not a clock: two copies of a folder must differ.
    run(connection, "add_commit", seq, secrets.token_hex(8))
    rows = [(doc_id, part, seq) for doc_id in doc_ids for part in parts]
    run_each(connection, "put_change", rows)


def current_mark(connection: sqlite3.Connection) -> Mark:
    """Return the latest commit that the connection sees."""
    row = run(connection, "latest_mark").fetchone()
    return Mark(*row) if row else Mark()


def is_known(connection: sqlite3.Connection, mark: Mark) -> bool:
    """Return whether the mark is a commit of this database."""
    row = run(connection, "stamp", mark.seq).fetchone()
    return mark == Mark() if row is None else row[0] == mark.stamp


def changed_since(connection: sqlite3.Connection, mark: Mark, part: Part) -> list[str]:
    """Return the documents whose part changed after the mark, deleted ones included, in order."""
    return [doc_id for (doc_id,) in run(connection, "changed_since", part, mark.seq)]
