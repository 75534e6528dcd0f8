"""Check every invariant of a knowledge base; each problem names its invariant and a remedy."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from kgrag.language.text import normalize_name
from kgrag.store.contents import Problem
from kgrag.store.sqlite.connection import known_version
from kgrag.store.sqlite.documents import Documents
from kgrag.store.sqlite.faults import is_damage
from kgrag.store.sqlite.statements import run
from kgrag.store.sqlite.verify_names import check_name_index
from kgrag.store.sqlite.verify_seals import check_schema, check_seals, readable
from kgrag.store.sqlite.verify_text import check_documents

_REINGEST = "run `kgrag repair`, or ingest the document again"
_RESTORE = "run `kgrag repair`, or restore the folder from a backup"
_MOST_ROWS = 2**53  # of a table; a number above it is no number that was counted to


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant that one statement checks.

    Attributes:
        invariant: Its name; the statement is called `check_` and the same.
        detail: What is wrong; `{}` stands for the value seen.
    """

    invariant: str
    detail: str

    @property
    def statement(self) -> str:
        """Return the name of the statement that returns a row for each breach, in order."""
        return f"check_{self.invariant.replace('-', '_')}"


_OUTSIDE = f"its span {{}} is outside the text: {_REINGEST}"
_CHECKS = (
    Check("document-has-source", "no file holds it: delete it, or ingest its file again"),
    Check("source-has-document", "its document {} is missing: ingest the file again"),
    Check("summary-span", _OUTSIDE),
    Check("summary-targets", f"its chunk {{}} is missing or of another document: {_REINGEST}"),
    Check("fact-has-evidence", f"nothing supports it ({{}}): {_RESTORE}"),
    Check("fact-has-entities", f"its entity {{}} is missing: {_RESTORE}"),
    Check("fact-wording", f"most documents word it otherwise than {{}}: {_RESTORE}"),
    Check("entity-supported", f"no fact and no mention names it ({{}}): {_RESTORE}"),
    Check("entity-wording", f"most documents name or class it otherwise than {{}}: {_RESTORE}"),
    Check("mention-has-entity", f"mentioned in {{}}, but missing: {_RESTORE}"),
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
    Check("vector-stored", f"its vector {{}} is missing: {_REINGEST}"),
    Check("embedding-has-node", f"no node has this vector: {_RESTORE}"),
    Check("change-log", f"the log does not say when its {{}} changed: {_RESTORE}"),
)


def verify(connection: sqlite3.Connection, documents: Documents) -> list[Problem]:
    """Return what is wrong with the database; caches and vectors are checked elsewhere.

    A file that is damaged itself is only reported as such: what its rows say means nothing. All is
    read in the one state that the connection sees, whatever others write meanwhile.

    Args:
        connection: Where.
        documents: On the same connection.
    """
    problems = [*_file(connection), *check_schema(connection)]
    if any(p.invariant in ("file", "schema") for p in problems):
        return problems
    problems += check_seals(connection)
    for check in _CHECKS:
        problems += readable(check.invariant, partial(_breaches, connection, check))
    for invariant, found in (
        ("references", _references),
        ("numbers", _numbers),
        ("names", _names),
        ("name-index", check_name_index),
    ):
        problems += readable(invariant, partial(found, connection))
    return problems + readable("documents", lambda: check_documents(connection, documents))


def _breaches(connection: sqlite3.Connection, check: Check) -> Iterator[Problem]:
    for subject, value in run(connection, check.statement):
        yield Problem(check.invariant, str(subject), check.detail.format(value))


def _file(connection: sqlite3.Connection) -> Iterator[Problem]:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != known_version():
        detail = f"is {version}, expected {known_version()}: {_RESTORE}"
        yield Problem("schema-version", "user_version", detail)
    for message in _integrity(connection):
        # Newer versions of SQLite look into the name index, too; it is no damage of the file.
        if "entity_search" not in message:
            yield Problem("file", "kgrag.db", f"{message}: {_RESTORE}")
            return


def _references(connection: sqlite3.Connection) -> Iterator[Problem]:
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
        yield Problem(
            "references", f"{table} {row}", f"names a missing row of {parent}: {_RESTORE}"
        )


def _numbers(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that numbers of the past are not used again: search caches know rows by them."""
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
    """Check what is kept normalised, for searching by name."""
    for invariant, kept in (
        ("entity-name", "entity_names_kept"),
        ("document-title", "document_titles_kept"),
    ):
        for subject, name, normalized in run(connection, kept):
            if normalize_name(name) != normalized:
                detail = f"{name!r} is kept for searching as {normalized!r}: {_RESTORE}"
                yield Problem(invariant, subject, detail)
