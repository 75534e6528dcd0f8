"""Check what is stored against its seals, and the schema and the file's header against ours."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache

from kgrag.store.contents import Problem
from kgrag.store.sqlite.connection import connect, make_schema
from kgrag.store.sqlite.faults import is_damage
from kgrag.store.sqlite.seals import (
    DECIDED,
    SETTINGS,
    Broken,
    broken_seals,
    broken_settings,
    broken_vectors,
)
from kgrag.store.sqlite.statements import run

_REMEDY = "run `kgrag repair`, or restore the folder from a backup"
_WORDS = {
    "text": "its text, title or headings are",
    "chunks": "its chunks are",
    "summaries": "its summaries are",
    "knowledge": "its facts or mentions are",
    "vectors": "the list of its vectors is",
    "sources": "the list of its files is",
    "log": "the log of its changes is",
}


def readable(invariant: str, check: Callable[[], Iterable[Problem]]) -> list[Problem]:
    """Return what a check finds; where it cannot read what it looks at, that."""
    problems: list[Problem] = []
    try:
        problems.extend(check())
    except (sqlite3.DatabaseError, TypeError, ValueError, KeyError, AttributeError) as exc:
        if not is_damage(exc):
            raise
        problems.append(Problem(invariant, "kgrag.db", f"cannot be read ({exc}): {_REMEDY}"))
    return problems


def check_file_header(wrong: str) -> Iterator[Problem]:
    """Tell what was wrong in the bytes by which SQLite knows a file; some matter to who writes."""
    if wrong:
        yield Problem("file", "kgrag.db", f"{wrong}: {_REMEDY}")


def check_log(lost: str) -> Iterator[Problem]:
    """Tell what a damaged log lost when the file was opened: what is left contradicts nothing."""
    if lost:
        yield Problem("lost", "kgrag.db-wal", lost)


def check_schema(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that tables, indexes, triggers and views are those that we make."""
    seen, wanted = _schema(connection), _wanted()
    for name in sorted(seen.keys() | wanted.keys()):
        if seen.get(name) != wanted.get(name):
            yield Problem("schema", name, f"is not as kgrag makes it: {_REMEDY}")


def check_seals(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that settings, documents and vectors are as they were stored."""
    yield from readable(
        "checksum", lambda: map(_problem, broken_settings(connection, *SETTINGS, *DECIDED))
    )
    yield from readable("checksum", lambda: map(_problem, broken_seals(connection)))
    for table in ("embeddings", "staged_embeddings"):
        yield from readable("checksum", lambda table=table: _vectors(connection, table))  # type: ignore[misc]


def _vectors(connection: sqlite3.Connection, table: str) -> Iterator[Problem]:
    for key in broken_vectors(connection, table):
        yield Problem("checksum", key, f"this vector is not as it was stored: {_REMEDY}")


def _problem(broken: Broken) -> Problem:
    if broken.only_seal:
        what = f"the checksum of {broken.part} is damaged"
    elif broken.is_setting:
        what = f"the setting {broken.part} is not as it was stored"
    elif broken.subject in DECIDED:
        what = f"what was decided on {broken.part} is not as it was stored"
    else:
        what = f"{_WORDS.get(broken.part, broken.part + ' is')} not as stored"
    return Problem("checksum", broken.subject, f"{what}: {_REMEDY}")


@cache
def _wanted() -> dict[str, str]:
    with closing(connect(":memory:")) as connection:
        make_schema(connection)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the statement of each object by its name, without what SQLite writes as it likes."""
    rows = run(connection, "schema")
    return {
        str(name): " ".join(f"{kind} {table} {sql}".replace('"', "").split())
        for kind, name, table, sql in rows
        # SQLite's own; and those of FTS5, which differ with its version
        if not str(name).startswith(("sqlite_", "entity_search_"))
    }
