"""A damaged database: what of it is as it was stored, and a new one in its place."""

import json
import logging
import secrets
import shutil
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import cast

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.decisions import Correction, Decision
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import Mark, current_mark
from kgrag.store.sqlite.connection import BUSY_TIMEOUT_S, FILE_NAME, Database, connect
from kgrag.store.sqlite.faults import is_damage, mapped
from kgrag.store.sqlite.opening import log_of, mend_header
from kgrag.store.sqlite.seals import (
    PARTS,
    Part,
    broken_seals,
    broken_vectors,
    intact_rows,
    sealed,
)
from kgrag.store.sqlite.statements import run, run_each
from kgrag.store.sqlite.store import CACHE_FOLDER, SQLiteStore

logger = logging.getLogger(__name__)

# What is read of a damaged database. Entities and indexes follow from the rest.
_TABLES = (
    *("meta", "state", "commits", "changes", "documents", "sources", "headings", "chunks"),
    *("summaries", "entity_names", "facts", "evidence", "mentions", "embeddings", "node_vectors"),
    *("staged_documents", "corrections", "decisions", "seals"),
)
# The tables of each part of a document. Names of its files are kept: whether a file holds it is
# seen in the file.
_TABLES_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text": ("documents", "headings"),
        "chunks": ("chunks",),
        "summaries": ("summaries",),
        "knowledge": ("entity_names", "evidence", "mentions"),
        "vectors": ("node_vectors",),
    }
)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged knowledge base, and the new one that is to take its place.

    Attributes:
        intact: Holds what of documents is as it was stored, and nothing else of them.
        new: An empty knowledge base.
        documents: What of each document is not as it was stored, as in `PARTS`; `vectors` also
            where those of its nodes are gone. Empty for a whole one.
        sources: Names of files by document, as they can be read; of unknown documents, too.
    """

    intact: SQLiteStore
    new: SQLiteStore
    documents: Mapping[str, Collection[str]]
    sources: Mapping[str, list[str]]
    _read: Database
    _made: Database
    _file: Path
    _as_of: Mark | None

    def settings(self) -> tuple[dict[str, str], list[str]]:
        """Return settings and notes that are as they were stored, and the keys of the others."""
        with self._read.read() as connection:
            rows, lost = intact_rows(connection, "meta")
        return {key: str(row[1]) for key, row in rows.items()}, lost

    def embedded_sizes(self) -> list[int]:
        """Return the sizes of chunks that have vectors, largest first."""
        with self._read.read() as connection:
            return [size for (size,) in run(connection, "embedded_sizes")]

    def decided(self) -> tuple[list[Correction], list[Decision], list[str]]:
        """Return what a person decided, and which corrections are lost, in words."""
        with self._read.read() as connection:
            corrected, lost = intact_rows(connection, "corrections")
            decided, gone = intact_rows(connection, "decisions")
        names = [*decided.values(), *map(json.loads, gone)]  # the key of a decision is all of it
        return (
            [cast("Correction", row) for row in corrected.values()],
            [Decision(*name) for name in names],
            [f"the correction of {' of '.join(reversed(json.loads(key)))}" for key in lost],
        )

    def has_staged(self) -> bool:
        """Return whether vectors of another encoder are staged; they are left out."""
        with self._read.read() as connection:
            return run(connection, "staged_documents").fetchone() is not None

    def has_all(self, doc_id: str, parts: Collection[Part]) -> bool:
        """Return whether parts of a document in the new knowledge base are as they once were."""
        with self._read.read() as before, self._made.read() as now:
            return all(sealed(before, doc_id, p) == sealed(now, doc_id, p) for p in parts)

    def replace(self) -> Path:
        """Let the new knowledge base take the place of the damaged one; return where that is kept.

        Search caches, of what was damaged, are forgotten.

        Raises:
            StoreUnavailableError: If it was changed meanwhile.
        """
        self.new.close()
        copied = self._made.file.with_name(f"{FILE_NAME}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        kept = self._file.with_name(copied.name)
        _copy(self._file, copied)
        for of, to in ((copied, kept), (log_of(copied), log_of(kept))):
            if of.is_file():
                shutil.move(of, to)
        _put_in_place(self._made.file, self._file, as_of=self._as_of)
        caches = CacheFolder(self._file.parent / CACHE_FOLDER)
        for name in caches.names(""):
            caches.forget(name)
        return kept


@contextmanager
def damaged(folder: Path) -> Iterator[Damaged]:
    """Give what can be read of a damaged knowledge base; it stays as it is until `replace`.

    Raises:
        StoreError: If nothing of it can be read, or another process is writing to it.
    """
    file = folder / FILE_NAME
    place = folder / f"repair-{secrets.token_hex(4)}"
    place.mkdir()
    try:
        with mapped(file):
            as_of = _latest_mark(file)
            copied = place / "damaged" / FILE_NAME
            copied.parent.mkdir()
            _copy(file, copied)
            mend_header(copied)
            with suppress(StoreError):  # of an older kgrag: its columns have other names
                Database.open(copied.parent).close()
            with (
                closing(Database.open(place / "read")) as read,
                closing(Database.open(place / "new")) as made,
            ):
                documents, sources = _fill(read, copied, file)
                _continue(made, read)
                intact, new = (SQLiteStore(db, CacheFolder(place / "cache")) for db in (read, made))
                yield Damaged(intact, new, documents, sources, read, made, file, as_of)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy(file: Path, to: Path) -> None:
    """Copy a database file and its log, while nobody writes.

    Raises:
        sqlite3.OperationalError: If another process is writing.
    """
    with closing(sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as exc:
            if not is_damage(exc) and exc.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LO")):
                raise
            # Too damaged to be written by anybody.
        # The log last: what a checkpoint writes meanwhile stands in it still.
        shutil.copyfile(file, to)
        if log_of(file).is_file():
            shutil.copyfile(log_of(file), log_of(to))


def _reading(file: Path) -> sqlite3.Connection:
    """Return a connection that changes nothing, and reads what is no UTF-8 all the same."""
    uri = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S)
    try:
        # A table whose statement is damaged hides no other.
        connection.execute("PRAGMA writable_schema = ON")
    except BaseException:
        connection.close()
        raise
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _latest_mark(file: Path) -> Mark | None:
    """Return the latest commit of a database; None where that cannot be read."""
    with suppress(sqlite3.DatabaseError), closing(_reading(file)) as connection:
        return current_mark(connection)
    return None


def _fill(
    read: Database, copied: Path, file: Path
) -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """Fill an empty database with what is as it was stored; see `Damaged` for what is returned."""
    sources: defaultdict[str, list[str]] = defaultdict(list)
    with closing(connect(read.uri)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN")
        with closing(_reading(copied)) as source:
            for table in _TABLES:
                _copy_rows(source, connection, table)
        if not run(connection, "any_seal").fetchone():
            raise StoreError(
                f"{file}: nothing of a knowledge base can be read in it: restore the folder from a "
                "backup, or move the file away and ingest the documents again"
            )
        for doc_id, name in run(connection, "every_source"):
            sources[doc_id].append(name)
        run_each(connection, "delete_vector", [(key,) for key in broken_vectors(connection)])
        documents = _broken(connection, sources)
        for doc_id, parts in documents.items():
            for table in (table for part in parts for table in _TABLES_OF.get(part, ())):
                connection.execute(f"DELETE FROM {table} WHERE doc_id = ?", (doc_id,))
        connection.execute("COMMIT")
    return documents, sources


def _copy_rows(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> None:
    """Copy a table's rows; where a page cannot be read, those on both sides of it."""
    described = target.execute(f"PRAGMA table_info ({table})").fetchall()
    keys = [f'"{name}"' for _, name, *_, at in sorted(described, key=lambda row: row[5]) if at]
    order, option = keys, ""
    if "WITHOUT ROWID" not in run(target, "statement_of", table).fetchone()[0]:
        order, option = ["rowid"], "NOT INDEXED"
    for direction in ("ASC", "DESC"):
        try:
            there = {row[1] for row in source.execute(f"PRAGMA table_info ({table})")}
            names = [f'"{name}"' for _, name, *_ in described if name in there]
            if names:  # none of an older kgrag, or where the table's statement is damaged
                listed, places = ", ".join(names), ", ".join("?" * len(names))
                by = ", ".join(f"{column} {direction}" for column in order)
                rows = source.execute(f"SELECT {listed} FROM {table} {option} ORDER BY {by}")
                insert = f"INSERT OR IGNORE INTO {table} ({listed}) VALUES ({places})"
                target.executemany(insert, rows)
            return
        except sqlite3.DatabaseError as exc:
            if not is_damage(exc):
                raise
            logger.info("%s: %s", table, exc)


def _broken(connection: sqlite3.Connection, sources: Collection[str]) -> dict[str, set[str]]:
    """Return what of each document does not fit its seal; a damaged seal says nothing of it."""
    held = {doc_id for (doc_id,) in run(connection, "doc_ids")}
    parts: defaultdict[str, set[str]] = defaultdict(set, {doc_id: set() for doc_id in held})
    unsealed: Counter[str] = Counter()
    for broken in broken_seals(connection):
        if broken.only_seal:
            unsealed[broken.subject] += 1
        else:
            parts[broken.subject].add(broken.part)
    for (doc_id,) in run(connection, "documents_lacking_vectors"):
        parts[doc_id].add("vectors")
    # A row whose id has changed: its document is known by its seals.
    strange = {d for d in held if unsealed[d] == len(PARTS) and d not in sources}
    return {
        doc_id: of
        for doc_id, of in parts.items()
        if doc_id in held - strange or of - {"log", "vectors"}
    }


def _continue(made: Database, read: Database) -> None:
    """Let a new database count its commits from the latest one: who has it open compares them."""
    with read.read() as connection:
        (seq,) = run(connection, "latest_number").fetchone()
    with made.write() as connection:
        run(connection, "add_commit", seq, secrets.token_hex(8))


def _put_in_place(new: Path, file: Path, *, as_of: Mark | None) -> None:
    """Let a database be as another, in one transaction where it still is a database.

    Processes that have it open see the new state in their next transaction.

    Args:
        new: Whole, and open nowhere.
        file: The damaged one.
        as_of: Its latest commit when what is new was read from it.

    Raises:
        StoreUnavailableError: If it has been changed since.
    """
    if _latest_mark(file) != as_of:
        raise StoreUnavailableError(
            f"{file} was changed while it was repaired; nothing was done: run `kgrag repair` again"
        )
    try:
        with closing(connect(new.absolute().as_uri())) as source:
            with closing(sqlite3.connect(file, timeout=BUSY_TIMEOUT_S)) as target:
                source.backup(target)
            return
    except sqlite3.DatabaseError as exc:
        if not is_damage(exc) and not exc.sqlite_errorname.startswith("SQLITE_READONLY"):
            raise
        logger.info("%s cannot be written (%s) and is replaced", file, exc)
    for beside in ("-wal", "-shm"):
        file.with_name(file.name + beside).unlink(missing_ok=True)
    new.replace(file)
