"""Salvage a damaged database, and replace it by a repaired one."""

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

# Tables to salvage; entities and indexes are derived from them.
_TABLES = (
    *("meta", "state", "commits", "changes", "documents", "sources", "headings", "chunks"),
    *("summaries", "entity_names", "facts", "evidence", "mentions", "embeddings", "node_vectors"),
    *("staged_documents", "corrections", "decisions", "seals"),
)
# Tables of each part of a document. Its sources are kept; the files themselves can be checked.
_TABLES_OF: Mapping[str, tuple[str, ...]] = {
    "text": ("documents", "headings"),
    "chunks": ("chunks",),
    "summaries": ("summaries",),
    "knowledge": ("entity_names", "evidence", "mentions"),
    "vectors": ("node_vectors",),
}


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged knowledge base, and the new one that will replace it."""

    intact: SQLiteStore  # the undamaged parts of documents
    new: SQLiteStore  # an empty knowledge base
    documents: Mapping[str, Collection[str]]  # damaged ones of `PARTS`, including missing `vectors`
    sources: Mapping[str, list[str]]  # readable names of files by document, also of unknown ones
    _read: Database
    _made: Database
    _file: Path
    _as_of: Mark | None

    def settings(self) -> tuple[dict[str, str], list[str]]:
        """Return undamaged settings, and the keys of damaged ones."""
        with self._read.read() as connection:
            rows, lost = intact_rows(connection, "meta")
        return {key: str(row[1]) for key, row in rows.items()}, lost

    def decided(self) -> tuple[list[Correction], list[Decision], list[str]]:
        """Return corrections and decisions, and in words the corrections that are lost."""
        with self._read.read() as connection:
            corrected, lost = intact_rows(connection, "corrections")
            decided, gone = intact_rows(connection, "decisions")
        names = [*decided.values(), *map(json.loads, gone)]  # the key contains all fields
        return (
            [cast("Correction", row) for row in corrected.values()],
            [Decision(*name) for name in names],
            [f"the correction of {' of '.join(reversed(json.loads(key)))}" for key in lost],
        )

    def has_staged(self) -> bool:
        """Return whether there are staged vectors, which are not salvaged."""
        with self._read.read() as connection:
            return run(connection, "staged_documents").fetchone() is not None

    def has_all(self, doc_id: str, parts: Collection[Part]) -> bool:
        """Return whether parts of a document are the same in the new knowledge base."""
        with self._read.read() as before, self._made.read() as now:
            return all(sealed(before, doc_id, p) == sealed(now, doc_id, p) for p in parts)

    def replace(self) -> Path:
        """Replace the damaged knowledge base by the new one; return the path of the damaged copy.

        Search caches are invalidated.

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
    """Salvage a damaged knowledge base, which is not changed before `replace`.

    Raises:
        StoreError: If nothing can be read, or another process is writing to it.
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
            with suppress(StoreError):  # takes in what its log holds
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
    """Copy a database file and its log under a write lock.

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
        # The log last: it still contains what a checkpoint writes meanwhile.
        shutil.copyfile(file, to)
        if log_of(file).is_file():
            shutil.copyfile(log_of(file), log_of(to))


def _reading(file: Path) -> sqlite3.Connection:
    """Return a read-only connection that tolerates invalid UTF-8."""
    uri = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S)
    try:
        # Keeps other tables readable where one's schema is damaged.
        connection.execute("PRAGMA writable_schema = ON")
    except BaseException:
        connection.close()
        raise
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _latest_mark(file: Path) -> Mark | None:
    """Return the latest commit of a database; None where it cannot be read."""
    with suppress(sqlite3.DatabaseError), closing(_reading(file)) as connection:
        return current_mark(connection)
    return None


def _fill(
    read: Database, copied: Path, file: Path
) -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """Copy undamaged data into an empty database; for what is returned see `Damaged`."""
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
    """Copy a table's rows; around an unreadable page, from both ends."""
    described = target.execute(f"PRAGMA table_info ({table})").fetchall()
    keys = [f'"{name}"' for _, name, *_, at in sorted(described, key=lambda row: row[5]) if at]
    order, option = keys, ""
    if "WITHOUT ROWID" not in run(target, "statement_of", table).fetchone()[0]:
        order, option = ["rowid"], "NOT INDEXED"
    for direction in ("ASC", "DESC"):
        try:
            there = {row[1] for row in source.execute(f"PRAGMA table_info ({table})")}
            names = [f'"{name}"' for _, name, *_ in described if name in there]
            if names:  # none where the table's schema is damaged
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
    """Return the parts of each document that do not match an undamaged seal."""
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
    # Rows whose id is damaged: their document is known by its seals.
    strange = {d for d in held if unsealed[d] == len(PARTS) and d not in sources}
    return {
        doc_id: of
        for doc_id, of in parts.items()
        if doc_id in held - strange or of - {"log", "vectors"}
    }


def _continue(made: Database, read: Database) -> None:
    """Let a new database continue the commit numbers, which open connections compare."""
    with read.read() as connection:
        (seq,) = run(connection, "latest_number").fetchone()
    with made.write() as connection:
        run(connection, "add_commit", seq, secrets.token_hex(8))


def _put_in_place(new: Path, file: Path, *, as_of: Mark | None) -> None:
    """Replace the content of a database, in one transaction if it is still a database.

    Processes that have it open see the new state in their next transaction. `new` is complete and
    not open; `as_of` is the file's latest commit when it was salvaged.

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
