"""Check all invariants of a knowledge base; each problem names its invariant and a remedy."""

import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.checks import check_chunks, check_places
from kgrag.store.contents import Problem
from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note
from kgrag.store.sqlite.changes import changed_since, current_mark
from kgrag.store.sqlite.connection import VERSION, Seen, connect, make_schema
from kgrag.store.sqlite.documents import Documents
from kgrag.store.sqlite.embeddings import from_blob, stored_dimension
from kgrag.store.sqlite.faults import is_damage
from kgrag.store.sqlite.lexical import (
    IndexDamagedError,
    LexicalIndex,
    open_view,
    raising,
    sums_of,
)
from kgrag.store.sqlite.seals import (
    DECIDED,
    PART_NAMES,
    SETTINGS,
    Broken,
    broken_seals,
    broken_settings,
    broken_vectors,
)
from kgrag.store.sqlite.statements import run
from kgrag.store.sqlite.vectors import VectorIndex, stream
from kgrag.text.words import normalize_name
from kgrag.vectors.blocks import Block
from kgrag.vectors.codes import Reader
from kgrag.vectors.rows import CodedRows, dequantized, quantized
from kgrag.vectors.vector import KINDS, check_vector

_SHADOWS = ("data", "idx", "docsize", "config")  # tables in which FTS5 keeps an index
_REINGEST = "run `kgrag repair`, or ingest the document again"
_RESTORE = "run `kgrag repair`, or restore the folder from a backup"
_MOST_ROWS = 2**53  # of a table; a larger number is damaged


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant checked by one statement."""

    invariant: str  # its name; the statement is called `check_` and the same
    detail: str  # message; `{}` stands for the value seen

    @property
    def statement(self) -> str:
        """Return the name of the statement, which returns a row for each violation, in order."""
        return f"check_{self.invariant.replace('-', '_')}"


_OUTSIDE = f"its span {{}} is outside the text: {_REINGEST}"
_CHECKS = (
    Check("document-has-source", "no file holds it: delete it, or ingest its file again"),
    Check("summary-span", _OUTSIDE),
    Check("summary-targets", f"its chunk {{}} is missing or of another document: {_REINGEST}"),
    Check("fact-has-evidence", f"nothing supports it ({{}}): {_RESTORE}"),
    Check("fact-wording", f"most documents word it otherwise than {{}}: {_RESTORE}"),
    Check("entity-supported", f"no fact and no mention names it ({{}}): {_RESTORE}"),
    Check("entity-wording", f"most documents name or class it otherwise than {{}}: {_RESTORE}"),
    *(
        check
        for table in ("evidence", "mentions")
        for check in (
            Check(f"{table}-span", _OUTSIDE),
            Check(
                f"{table}-chunk",
                f"its chunk {{}} is missing or does not touch its span: {_REINGEST}",
            ),
            Check(f"{table}-confidence", f"its confidence {{}} is not in (0, 1]: {_REINGEST}"),
        )
    ),
    Check("vector-has-node", f"there is no such {{}}: {_REINGEST}"),
    Check("embedding-has-node", f"no node has this vector: {_RESTORE}"),
    Check("change-log", f"the log does not say when its {{}} changed: {_RESTORE}"),
)


def verify(connection: sqlite3.Connection, documents: Documents, seen: Seen) -> list[Problem]:
    """Return the problems of the database; caches and vectors are checked elsewhere.

    A damaged file is only reported as such: its rows are meaningless. All reads use the state that
    the connection sees; `documents` is on the same connection.
    """
    problems = [*_files(seen), *_file(connection), *_check_schema(connection)]
    if is_unreadable(problems):
        return problems
    problems += _check_seals(connection)
    for check in _CHECKS:
        problems += readable(check.invariant, partial(_breaches, connection, check))
    for invariant, found in (
        ("references", _references),
        ("numbers", _numbers),
        ("names", _names),
        ("name-index", _check_name_index),
    ):
        problems += readable(invariant, partial(found, connection))
    return problems + readable("documents", lambda: _check_documents(connection, documents))


def readable(invariant: str, check: Callable[[], Iterable[Problem]]) -> list[Problem]:
    """Return the problems of a check, or that it cannot read its data."""
    problems: list[Problem] = []
    try:
        problems.extend(check())
    except (sqlite3.DatabaseError, TypeError, ValueError, KeyError, AttributeError) as exc:
        if not is_damage(exc):
            raise
        problems.append(Problem(invariant, "kgrag.db", f"cannot be read ({exc}): {_RESTORE}"))
    return problems


def is_unreadable(problems: Iterable[Problem]) -> bool:
    """Return whether the file itself is damaged, which makes its rows meaningless."""
    return any(p.invariant in ("file", "schema") for p in problems)


def _files(seen: Seen) -> Iterator[Problem]:
    """Report what was wrong before SQLite opened the files, which cannot be seen any more."""
    if seen.lost:
        yield Problem("lost", "kgrag.db-wal", seen.lost)
    if seen.wrong_header:
        yield Problem("file", "kgrag.db", f"{seen.wrong_header}: {_RESTORE}")


def _breaches(connection: sqlite3.Connection, check: Check) -> Iterator[Problem]:
    for subject, value in run(connection, check.statement):
        yield Problem(check.invariant, str(subject), check.detail.format(value))


def _file(connection: sqlite3.Connection) -> Iterator[Problem]:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        detail = f"is {version}, expected {VERSION}: {_RESTORE}"
        yield Problem("schema-version", "user_version", detail)
    for message in _integrity(connection):
        # Newer versions of SQLite also check the name index, which is not damage of the file.
        if "entity_search" not in message:
            yield Problem("file", "kgrag.db", f"{message}: {_RESTORE}")
            return


def _references(connection: sqlite3.Connection) -> Iterator[Problem]:
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
        subject = table if row is None else f"{table} {row}"  # None without rowid
        yield Problem("references", subject, f"names a missing row of {parent}: {_RESTORE}")


def _numbers(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that row numbers are never reused: search caches refer to them."""
    for table in ("chunks", "entities", "node_vectors"):
        (most,) = connection.execute(f"SELECT max(number) FROM {table}").fetchone()
        row = run(connection, "last_number", table).fetchone()
        seen = row[0] if row else 0
        if not isinstance(seen, int) or not (most or 0) <= seen <= _MOST_ROWS:
            yield Problem(
                "numbers", table, f"the next would follow {seen!r}, not {most}: {_RESTORE}"
            )


def _integrity(connection: sqlite3.Connection) -> list[str]:
    try:
        rows = connection.execute("PRAGMA integrity_check").fetchall()
    except sqlite3.DatabaseError as exc:
        if not is_damage(exc):
            raise
        return [str(exc)]
    return [message for (message,) in rows if message != "ok"]


def _names(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check normalised names and titles."""
    for invariant, kept in (
        ("entity-name", "entity_names_kept"),
        ("document-title", "document_titles_kept"),
    ):
        for subject, name, normalized in run(connection, kept):
            if normalize_name(name) != normalized:
                detail = f"{name!r} is kept for searching as {normalized!r}: {_RESTORE}"
                yield Problem(invariant, subject, detail)


def _check_name_index(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that the index of names agrees with the entities.

    FTS5's check writes, and would wait for other writers: it gets a copy of the index in memory.
    """
    uri = f"file:names-{secrets.token_hex(8)}?mode=memory&cache=shared"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as copy:
        _copy(connection, copy)
        # FTS5 caches what it read: use a new connection.
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as checked:
            try:
                checked.execute(
                    "INSERT INTO entity_search (entity_search, rank) VALUES ('integrity-check', 1)"
                )
            except sqlite3.DatabaseError as exc:
                if not is_damage(exc):
                    raise
                yield Problem(
                    "name-index", "entity_search", f"disagrees with the entities: {_RESTORE}"
                )


def _copy(connection: sqlite3.Connection, copy: sqlite3.Connection) -> None:
    """Write the names and their index into an empty database."""
    copy.execute("CREATE TABLE entities (number INTEGER PRIMARY KEY, normalized)")
    copy.execute(
        "CREATE VIRTUAL TABLE entity_search USING fts5 (normalized, content = 'entities',"
        " content_rowid = 'number', tokenize = 'trigram')"
    )
    copy.execute("BEGIN")
    copy.executemany(
        "INSERT INTO entities VALUES (?, ?)",
        connection.execute("SELECT number, normalized FROM entities"),
    )
    for shadow in _SHADOWS:
        table = f"entity_search_{shadow}"
        rows = connection.execute(f"SELECT * FROM {table}")
        places = ", ".join("?" * len(rows.description))
        copy.execute(f"DELETE FROM {table}")
        copy.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    copy.execute("COMMIT")


def _check_documents(connection: sqlite3.Connection, documents: Documents) -> Iterator[Problem]:
    """Check documents one by one, with a single text in memory."""
    for doc_id, characters in run(connection, "document_lengths").fetchall():
        try:
            document = documents.documents([doc_id])[0]
        except StoreError as exc:
            yield Problem("documents", doc_id, str(exc))
            continue
        if characters != len(document.text):
            detail = f"says {characters} characters, its text has {len(document.text)}: {_REINGEST}"
            yield Problem("document-characters", doc_id, detail)
        yield from check_places(document, documents.headings([doc_id]).get(doc_id, []))
        yield from check_chunks(document, documents.all_chunks_of(doc_id))


def _check_schema(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that tables, indexes, triggers and views have the expected definition."""
    seen, wanted = _schema(connection), _wanted()
    for name in sorted(seen.keys() | wanted.keys()):
        if seen.get(name) != wanted.get(name):
            yield Problem("schema", name, f"is not as kgrag makes it: {_RESTORE}")


def _check_seals(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check the seals of settings, documents and vectors."""
    yield from readable(
        "checksum", lambda: map(_problem, broken_settings(connection, *SETTINGS, *DECIDED))
    )
    yield from readable("checksum", lambda: map(_problem, broken_seals(connection)))
    for table in ("embeddings", "staged_embeddings"):
        yield from readable("checksum", partial(_vectors, connection, table))


def _vectors(connection: sqlite3.Connection, table: str) -> Iterator[Problem]:
    for key in broken_vectors(connection, table):
        yield Problem("checksum", key, f"this vector is not as it was stored: {_RESTORE}")


def _problem(broken: Broken) -> Problem:
    if broken.only_seal:
        what = f"the checksum of {broken.part} is damaged"
    elif broken.subject in SETTINGS:
        what = f"the setting {broken.part} is not as it was stored"
    elif broken.subject in DECIDED:
        what = f"what was decided on {broken.part} is not as it was stored"
    else:
        what = f"{PART_NAMES.get(broken.part, broken.part)}: not as stored"
    return Problem("checksum", broken.subject, f"{what}: {_RESTORE}")


@cache
def _wanted() -> dict[str, str]:
    with closing(connect(":memory:")) as connection:
        make_schema(connection)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the normalised definition of each object by name."""
    rows = run(connection, "schema")
    return {
        str(name): " ".join(f"{kind} {table} {sql}".replace('"', "").split())
        for kind, name, table, sql in rows
        # SQLite's own; and those of FTS5, which differ with its version
        if not str(name).startswith(("sqlite_", "entity_search_"))
    }


def verify_vectors(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that vectors are finite, of unit length (or zero) and of one dimension."""
    dimension = stored_dimension(connection)
    for key, blob in run(connection, "export_embeddings"):
        if len(blob) != 4 * (dimension or 0):
            detail = f"has {len(blob)} bytes, not those of dimension {dimension}: {_REINGEST}"
            yield Problem("vector-dimension", key, detail)
            continue
        try:
            check_vector(from_blob(blob), key)
        except ValueError as exc:
            yield Problem("vector-length", key, f"{exc}; {_REINGEST}")


def verify_caches(connection: sqlite3.Connection, folder: CacheFolder) -> Iterator[Problem]:
    """Check each cache against the database at the commit that it reflects.

    An older one is no problem: it is updated by the next search.
    """
    for name in folder.names("lexical-"):
        size = name.removeprefix("lexical-")
        if size.isdecimal() and not _lexical_agrees(connection, LexicalIndex(int(size), folder)):
            yield _damaged(folder, name)
    for kind in KINDS:
        if not _vectors_agree(connection, VectorIndex(kind, folder)):
            yield _damaged(folder, f"vectors-{kind}")


def _damaged(folder: CacheFolder, name: str) -> Problem:
    detail = (
        "does not hold what the database holds: run `kgrag repair`, or delete "
        f"{folder.folder}: it is rebuilt"
    )
    return Problem("cache-agrees", name, detail)


def _lexical_agrees(connection: sqlite3.Connection, index: LexicalIndex) -> bool:
    import tantivy

    note = index.note()
    if note is None:
        return True
    if not _files_agree(index):
        return not _can_be_opened(note)
    if note.mark != current_mark(connection):
        return True
    try:
        view = open_view(note.content, note.mark)
        with raising(IndexDamagedError):
            everything = view.searcher.search(tantivy.Query.all_query(), max(view.entries, 1)).hits
            addresses = [address for _, address in everything]
            held = view.searcher.fast_field_values("number", addresses)
    except IndexDamagedError:
        return True  # rebuilt by the next search
    rows = run(connection, "chunk_numbers", index.size)
    return len(held) == len(set(held)) and set(held) == {number for (number,) in rows}


def _can_be_opened(note: Note) -> bool:
    """Return whether an index would be searched; an unreadable one is rebuilt."""
    try:
        open_view(note.content, note.mark)
    except IndexDamagedError:
        return False
    return True


def _files_agree(index: LexicalIndex) -> bool:
    """Return whether the files of an index match their checksums."""
    if _as_noted(index):
        return True
    try:
        with index.cache.exclusive(index.name):  # another process may be writing
            return _as_noted(index)
    except CacheUnwritableError:
        return False


def _as_noted(index: LexicalIndex) -> bool:
    note = index.note()
    if note is None or "files" not in note.details:
        return True
    try:
        return sums_of(note.content, known=None) == note.details["files"]
    except OSError:
        return False


def _vectors_agree(connection: sqlite3.Connection, index: VectorIndex) -> bool:
    state = index.load(connection)
    dimension = stored_dimension(connection)
    if state is None or any(b.segment.rows.shape[1] != dimension for b in state.blocks):
        return True  # rebuilt when it is next searched
    changed = changed_since(connection, state.mark, "vectors")
    blocks = [block.without(changed) for block in state.blocks]
    held = [doc_id for block in blocks for doc_id in block.standing()]
    stored = run(connection, "documents_with_vectors", index.kind)
    known = {doc_id for (doc_id,) in stored} - set(changed)
    if len(held) != len(set(held)) or set(held) != known:
        return False
    try:
        return all(_block_agrees(connection, index, block) for block in blocks)
    except StoreError:
        return False


def _block_agrees(connection: sqlite3.Connection, index: VectorIndex, block: Block) -> bool:
    lengths = np.diff(block.segment.bounds)[block.documents].tolist()
    stored = dict(zip(block.standing(), lengths, strict=True))
    rows, vectors = np.flatnonzero(block.alive), block.segment.rows
    at = 0
    for numbers, node_ids, matrix in stream(connection, index.kind, stored, vectors.shape[1]):
        part = rows[at : at + len(numbers)]
        at += len(numbers)
        if not np.array_equal(numbers, block.segment.numbers[part]):
            return False
        if node_ids.at(np.arange(len(part))) != block.segment.node_ids.at(part):
            return False
        expected, held = matrix.tobytes(), vectors.matrix[part].tobytes()
        if isinstance(vectors, CodedRows):
            expected = b"".join(array.tobytes() for array in quantized(matrix))
            held += vectors.scales[part].tobytes()
        if held != expected:
            return False
    if vectors.codes is None:
        return True
    read: Reader = vectors.matrix.__getitem__
    if isinstance(vectors, CodedRows):
        read = dequantized(vectors.matrix, vectors.scales)
    return vectors.codes.agree(read, len(block.alive))
