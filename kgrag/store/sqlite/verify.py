"""Check every invariant of a knowledge base; each problem names its invariant and a remedy."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from kgrag.store.contents import Problem
from kgrag.store.sqlite.connection import known_version
from kgrag.store.sqlite.faults import is_damage
from kgrag.store.sqlite.verify_names import check_name_index
from kgrag.store.sqlite.verify_seals import check_schema, check_seals, readable
from kgrag.store.sqlite.verify_text import check_documents
from kgrag.text import normalize_name

_REINGEST = "run `kgrag repair`, or ingest the document again"
_RESTORE = "run `kgrag repair`, or restore the folder from a backup"
_MOST_ROWS = 2**53  # of a table; a number above it is no number that was counted to


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant that one statement checks.

    Attributes:
        invariant: Its name.
        sql: Returns a row (subject, value seen) for each breach, in order.
        detail: What is wrong; `{}` stands for the value seen.
    """

    invariant: str
    sql: str
    detail: str


# Spans may be empty; one that touches a chunk's edge still belongs to it.
_EVIDENCE_CHECKS = tuple(
    check
    for table, subject in (("evidence", "fact_id"), ("mentions", "entity_id"))
    for check in (
        Check(
            f"{table}-span",
            f"SELECT x.{subject}, x.doc_id || ' ' || x.start || '..' || x.end FROM {table} x"
            " JOIN documents d USING (doc_id)"
            " WHERE x.start < 0 OR x.end < x.start OR x.end > d.characters ORDER BY 1, 2",
            f"its span {{}} is outside the text: {_REINGEST}",
        ),
        Check(
            f"{table}-chunk",
            f"SELECT x.{subject}, x.chunk_id FROM {table} x"
            " LEFT JOIN chunks c USING (chunk_id) WHERE c.chunk_id IS NULL"
            " OR c.doc_id <> x.doc_id OR x.start > c.end OR x.end < c.start ORDER BY 1, 2",
            f"its chunk {{}} is missing or does not touch its span: {_REINGEST}",
        ),
        Check(
            f"{table}-confidence",
            f"SELECT {subject}, confidence FROM {table}"
            " WHERE NOT (confidence > 0 AND confidence <= 1) ORDER BY 1, 2",
            f"its confidence {{}} is not in (0, 1]: {_REINGEST}",
        ),
    )
)

_CHECKS = (
    Check(
        "document-has-source",
        "SELECT doc_id, NULL FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM sources)"
        " ORDER BY 1",
        "no file holds it: delete it, or ingest its file again",
    ),
    Check(
        "source-has-document",
        "SELECT source, doc_id FROM sources WHERE doc_id NOT IN (SELECT doc_id FROM documents)"
        " ORDER BY 1",
        "its document {} is missing: ingest the file again",
    ),
    Check(
        "summary-span",
        "SELECT s.summary_id, s.start || '..' || s.end FROM summaries s"
        " JOIN documents d USING (doc_id)"
        " WHERE s.start < 0 OR s.end < s.start OR s.end > d.characters ORDER BY 1",
        f"its span {{}} is outside the text: {_REINGEST}",
    ),
    Check(
        "summary-targets",
        "SELECT s.summary_id, t.value FROM summaries s, json_each(s.target_ids) t"
        " LEFT JOIN chunks c ON c.chunk_id = t.value"
        " WHERE c.chunk_id IS NULL OR c.doc_id <> s.doc_id ORDER BY 1, t.key",
        f"its chunk {{}} is missing or of another document: {_REINGEST}",
    ),
    Check(
        "fact-has-evidence",
        "SELECT fact_id, predicate FROM facts"
        " WHERE fact_id NOT IN (SELECT fact_id FROM evidence) ORDER BY 1",
        f"nothing supports it ({{}}): {_RESTORE}",
    ),
    Check(
        "fact-has-entities",
        "SELECT f.fact_id, x.entity_id FROM facts f"
        " JOIN (SELECT fact_id, subject_id AS entity_id FROM facts"
        "       UNION SELECT fact_id, object_id FROM facts) x USING (fact_id)"
        " WHERE x.entity_id NOT IN (SELECT entity_id FROM entities) ORDER BY 1, 2",
        f"its entity {{}} is missing: {_RESTORE}",
    ),
    Check(
        "fact-wording",
        "SELECT fact_id, predicate FROM facts f WHERE EXISTS ("
        "SELECT 1 FROM evidence e WHERE e.fact_id = f.fact_id)"
        " AND predicate IS NOT ("
        "SELECT predicate FROM evidence e WHERE e.fact_id = f.fact_id"
        " GROUP BY predicate ORDER BY count(DISTINCT doc_id) DESC, predicate LIMIT 1) ORDER BY 1",
        f"most documents word it otherwise than {{}}: {_RESTORE}",
    ),
    Check(
        "entity-supported",
        "SELECT entity_id, name FROM entities"
        " WHERE entity_id NOT IN (SELECT entity_id FROM mentions)"
        " AND entity_id NOT IN (SELECT subject_id FROM facts)"
        " AND entity_id NOT IN (SELECT object_id FROM facts) ORDER BY 1",
        f"no fact and no mention names it ({{}}): {_RESTORE}",
    ),
    Check(
        "entity-wording",
        "SELECT entity_id, name FROM entities e WHERE name IS NOT ("
        "SELECT name FROM entity_names n WHERE n.entity_id = e.entity_id"
        " GROUP BY name ORDER BY count(DISTINCT doc_id) DESC, name LIMIT 1)"
        " OR type IS NOT coalesce((SELECT type FROM entity_names n"
        " WHERE n.entity_id = e.entity_id AND type <> 'entity'"
        " GROUP BY type ORDER BY count(DISTINCT doc_id) DESC, type LIMIT 1), 'entity') ORDER BY 1",
        f"most documents name or class it otherwise than {{}}: {_RESTORE}",
    ),
    Check(
        "mention-has-entity",
        "SELECT entity_id, doc_id FROM mentions"
        " WHERE entity_id NOT IN (SELECT entity_id FROM entities) ORDER BY 1, 2",
        f"mentioned in {{}}, but missing: {_RESTORE}",
    ),
    *_EVIDENCE_CHECKS,
    Check(
        "vector-has-node",
        "SELECT v.node_id, v.kind FROM node_vectors v WHERE NOT CASE v.kind"
        " WHEN 'chunk' THEN EXISTS"
        " (SELECT 1 FROM chunks c WHERE c.chunk_id = v.node_id AND c.doc_id = v.doc_id)"
        " WHEN 'summary' THEN EXISTS"
        " (SELECT 1 FROM summaries s WHERE s.summary_id = v.node_id AND s.doc_id = v.doc_id)"
        " WHEN 'fact' THEN EXISTS"
        " (SELECT 1 FROM evidence e WHERE e.fact_id = v.node_id AND e.doc_id = v.doc_id)"
        " ELSE v.node_id = v.doc_id"
        " AND EXISTS (SELECT 1 FROM documents d WHERE d.doc_id = v.doc_id) END ORDER BY 1",
        f"there is no such {{}}: {_REINGEST}",
    ),
    Check(
        "vector-stored",
        "SELECT node_id, key FROM node_vectors WHERE key NOT IN (SELECT key FROM embeddings)"
        " ORDER BY 1",
        f"its vector {{}} is missing: {_REINGEST}",
    ),
    Check(
        "embedding-has-node",
        "SELECT key, NULL FROM embeddings WHERE key NOT IN (SELECT key FROM node_vectors)"
        " ORDER BY 1",
        f"no node has this vector: {_RESTORE}",
    ),
    Check(
        "change-log",
        "SELECT d.doc_id, p.part FROM documents d,"
        " (SELECT 'chunks' AS part UNION SELECT 'vectors' UNION SELECT 'knowledge') p"
        " LEFT JOIN changes c ON c.doc_id = d.doc_id AND c.part = p.part"
        " WHERE c.seq IS NULL OR c.seq NOT IN (SELECT seq FROM commits) ORDER BY 1, 2",
        f"the log does not say when its {{}} changed: {_RESTORE}",
    ),
)


def verify(connection: sqlite3.Connection) -> list[Problem]:
    """Return what is wrong with the database; caches and vectors are checked elsewhere.

    A file that is damaged itself is only reported as such: what its rows say means nothing. All is
    read in the one state that the connection sees, whatever others write meanwhile.
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
        ("documents", check_documents),
    ):
        problems += readable(invariant, partial(found, connection))
    return problems


def _breaches(connection: sqlite3.Connection, check: Check) -> Iterator[Problem]:
    for subject, value in connection.execute(check.sql):
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
        row = connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)
        ).fetchone()
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
    for invariant, sql in (
        ("entity-name", "SELECT entity_id, name, normalized FROM entities ORDER BY 1"),
        ("document-title", "SELECT doc_id, title, normalized_title FROM documents ORDER BY 1"),
    ):
        for subject, name, normalized in connection.execute(sql):
            if normalize_name(name) != normalized:
                detail = f"{name!r} is kept for searching as {normalized!r}: {_RESTORE}"
                yield Problem(invariant, subject, detail)
