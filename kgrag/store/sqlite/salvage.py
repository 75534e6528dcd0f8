"""Save what can be read of a damaged database into a new one, and put that in its place."""

import logging
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from kgrag.errors import StoreUnavailableError
from kgrag.store.sqlite.changes import Mark, current_mark
from kgrag.store.sqlite.connection import BUSY_TIMEOUT_S, connect
from kgrag.store.sqlite.faults import is_damage
from kgrag.store.sqlite.opening import log_of, mended_header
from kgrag.store.sqlite.reconcile import Affected, reconcile
from kgrag.store.sqlite.statements import run, run_each
from kgrag.text.words import normalize_name

logger = logging.getLogger(__name__)

# Whoever is named comes before who names it. Entities follow from the names that documents write.
_TABLES = (
    *("meta", "state", "commits", "changes", "documents", "sources", "headings", "chunks"),
    *("summaries", "entity_names", "facts", "evidence", "mentions", "embeddings", "node_vectors"),
    *("staged_embeddings", "staged_documents", "staged_nodes", "corrections", "decisions", "seals"),
)
# What an older kgrag called otherwise: table, name now, name then.
_RENAMED = (("documents", "properties", "metadata"),)
_MOST_ROWS = 2**53  # a number above it is none that was counted to


def keep_damaged(file: Path, kept: Path) -> None:
    """Copy a database file and its log, while nobody writes.

    Raises:
        StoreUnavailableError: If another process is writing.
    """
    with closing(sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as exc:
            if not is_damage(exc) and exc.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LO")):
                raise
            # Too damaged to be written by anybody.
        # The log last: what a checkpoint writes meanwhile stands in it still.
        shutil.copyfile(file, kept)
        if log_of(file).is_file():
            shutil.copyfile(log_of(file), log_of(kept))


def salvage(damaged: Path, connection: sqlite3.Connection) -> None:
    """Copy every row that can be read into an empty database of the newest schema.

    Rows that break a rule of their table are left out. What follows from others is made anew:
    indexes, entities, the index of names, and how facts and entities are worded.

    Args:
        damaged: A copy of the database, with its log beside it; a damaged header is mended in it.
        connection: May write the new one.
    """
    mended_header(damaged)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN")
    with closing(reading(damaged)) as source:
        for table in _TABLES:
            for rows in _readings(source, connection, table):
                connection.executemany(*rows)
        _keep_numbers(source, connection)
    _stand_in_for_lost(connection)
    _drop_orphans(connection)
    _rebuild_entities(connection)
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")


def latest_mark(file: Path) -> Mark | None:
    """Return the latest commit of a database; None where that cannot be read."""
    with suppress(sqlite3.DatabaseError), closing(reading(file)) as connection:
        return current_mark(connection)
    return None


def put_in_place(new: Path, file: Path, *, as_of: Mark | None) -> None:
    """Let a database be as another, in one transaction where it still is a database.

    Processes that have it open see the new state in their next transaction.

    Args:
        new: Whole, and open nowhere.
        file: The damaged one.
        as_of: Its latest commit when what is new was read from it.

    Raises:
        StoreUnavailableError: If it has been changed since.
    """
    if latest_mark(file) != as_of:
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


def reading(file: Path) -> sqlite3.Connection:
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


def _readings(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str
) -> Iterator[tuple[str, Iterable[Sequence[object]]]]:
    """Yield (statement, rows) that fill a table: its rows from both ends, up to what is damaged."""
    described = target.execute(f"PRAGMA table_info ({table})").fetchall()
    known = {row[1] for row in _tried(source, f"PRAGMA table_info ({table})")}
    if not known:  # of an older kgrag, or its statement is damaged
        return
    names = {row[1]: row[1] for row in described if row[1] in known}
    for where, name, former in _RENAMED:
        if where == table and name not in known and former in known:
            names = {key: value for key, value in names.items() if key != former} | {name: former}
    columns = [f'"{name}"' for name in names]
    read = [f'"{name}"' for name in names.values()]
    key = [f'"{name}"' for _, name, *_, at in sorted(described, key=lambda r: r[5]) if at]
    without_rowid = "WITHOUT ROWID" in _sql_of(target, table)
    order = key if without_rowid else ["rowid"]
    insert = (
        f"INSERT OR IGNORE INTO {table} ({', '.join(columns)})"
        f" VALUES ({', '.join('?' * len(columns))})"
    )
    select = f"SELECT {', '.join(read)} FROM {table}"
    if not without_rowid:
        select += " NOT INDEXED"
    for direction in ("", " DESC"):
        ordered = ", ".join(column + direction for column in order)
        rows = list(_tried(source, f"{select} ORDER BY {ordered}"))
        yield insert, rows


def _keep_numbers(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Let numbers of the past not be used again: search caches may know them."""
    for table, seq in _tried(source, "SELECT name, seq FROM sqlite_sequence"):
        if isinstance(seq, int) and seq < _MOST_ROWS:
            run(target, "raise_last_number", seq, table)


def _tried(connection: sqlite3.Connection, sql: str) -> Iterator[Sequence[object]]:
    """Yield rows up to the first that cannot be read."""
    try:
        yield from connection.execute(sql)
    except sqlite3.DatabaseError as exc:
        if not is_damage(exc):
            raise
        logger.info("%s: %s", sql, exc)


def _sql_of(connection: sqlite3.Connection, table: str) -> str:
    return str(run(connection, "statement_of", table).fetchone()[0])


def _stand_in_for_lost(connection: sqlite3.Connection) -> None:
    """Let documents whose row is lost have one, so that what else is of them is not lost, too.

    Their seals name them. A row whose id alone is damaged is theirs; others get an empty text,
    which their seal tells from theirs.
    """
    lost = run(connection, "lost_documents").fetchall()
    strange = run(connection, "strange_documents").fetchall()
    for (doc_id,) in lost:
        same = next((s for (s,) in strange if distance(s.encode(), doc_id.encode()) == 1), None)
        if same is not None:
            run(connection, "rename_document", doc_id, same)
        else:
            run(connection, "add_empty_document", doc_id)
    run(connection, "delete_strange_documents")


def distance(ours: bytes, theirs: bytes) -> int:
    """Return in how many bits two texts differ; of other lengths, in all."""
    if len(ours) != len(theirs):
        return 8 * max(len(ours), len(theirs))
    return (int.from_bytes(ours) ^ int.from_bytes(theirs)).bit_count()


def _drop_orphans(connection: sqlite3.Connection) -> None:
    """Delete rows of documents, chunks, facts or vectors that could not be read.

    Each document that they are of has a seal that tells that it lacks something.
    """
    for name in (
        "delete_orphaned_sources",
        "delete_orphaned_headings",
        "delete_orphaned_chunks",
        "delete_orphaned_summaries",
        "delete_orphaned_names",
        "delete_orphaned_evidence",
        "delete_orphaned_mentions",
        "delete_orphaned_vectors",
        "delete_orphaned_staged",
        "delete_chunks_without_parent",
        "delete_evidence_without_chunk",
        "delete_mentions_without_chunk",
        "delete_evidence_without_fact",
        "delete_nodes_without_vector",
        "delete_incomplete_staged_nodes",
    ):
        run(connection, name)


def _rebuild_entities(connection: sqlite3.Connection) -> None:
    """Make the entities that documents name, and word them and facts as most documents do."""
    names = run(connection, "smallest_names").fetchall()
    rows = [(entity, normalize_name(name), name, kind) for entity, name, kind in names]
    run_each(connection, "add_entity", rows)
    for name in (
        "delete_facts_without_entity",
        "delete_evidence_without_fact",
        "delete_mentions_without_entity",
    ):
        run(connection, name)
    entities, facts, keys = (
        {row[0] for row in run(connection, name)} for name in ("entity_ids", "fact_ids", "keys")
    )
    reconcile(connection, Affected(entities=entities, facts=facts, keys=keys))
