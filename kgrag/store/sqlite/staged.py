"""Vectors of another encoder in tables of their own, until one transaction lets them take over."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kgrag.store.checks import damaged_setting
from kgrag.store.contents import NodeVector
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.embeddings import from_blob, sealed_row
from kgrag.store.sqlite.seals import seal_documents, seal_settings
from kgrag.store.sqlite.settle import id_list
from kgrag.store.staged import Kept, all_given, check_staging, kept_of
from kgrag.vectors.vector import Vector, check_vector, other_dimension

_META = "staged_meta"  # key in `state`
_NODES = ("staged_nodes", "staged_documents")  # who names another comes before it
_STAGED = (*_NODES, "staged_embeddings")
_EMPTIED: Mapping[Kept, tuple[str, ...]] = MappingProxyType(
    {"all": (), "vectors": _NODES, "nothing": _STAGED}
)
_SECURE_DELETE = ("OFF", "ON", "FAST")  # as SQLite numbers them


class SQLiteStagedVectors:
    """Staged vectors of a file; see `kgrag.store.staged.StagedVectors`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def meta(self) -> dict[str, str] | None:
        """Return what decides the vectors that are staged."""
        with self._database.read() as connection:
            return _meta(connection)

    def begin(self, meta: Mapping[str, str]) -> None:
        """Make ready for vectors of an encoder."""
        with self._database.write() as connection:
            _empty(connection, _EMPTIED[kept_of(_meta(connection), meta)])
            connection.execute(
                "INSERT OR REPLACE INTO state VALUES (?, ?)", (_META, json.dumps(dict(meta)))
            )
            seal_settings(connection)

    def doc_ids(self) -> set[str]:
        """Return the documents that are staged."""
        with self._database.read() as connection:
            return {d for (d,) in connection.execute("SELECT doc_id FROM staged_documents")}

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return staged vectors by key."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT e.key, e.vector FROM json_each(?) j"
                " CROSS JOIN staged_embeddings e ON e.key = j.value",
                (id_list(keys),),
            )
            return {key: from_blob(blob) for key, blob in rows}

    def put(
        self,
        vectors: Mapping[str, Sequence[NodeVector]],
        *,
        meta: Mapping[str, str],
        as_of: int,
    ) -> None:
        """Stage documents that have not changed."""
        given = all_given(vectors)
        for key, vector in given.items():
            check_vector(vector, key)
        with self._database.write() as connection:
            check_staging(meta, _meta(connection))
            _add_embeddings(connection, given)
            for doc_id in _unchanged(connection, vectors, as_of):
                forget_staged(connection, doc_id)
                connection.execute("INSERT INTO staged_documents VALUES (?)", (doc_id,))
                connection.executemany(
                    "INSERT INTO staged_nodes (doc_id, node_id, kind, key) VALUES (?, ?, ?, ?)",
                    [(doc_id, v.node_id, v.kind, v.key) for v in vectors[doc_id]],
                )

    def switch(self, meta: Mapping[str, str]) -> bool:
        """Let staged vectors take over in one transaction."""
        with self._database.write() as connection:
            check_staging(meta, _meta(connection))
            if connection.execute(
                "SELECT 1 FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM staged_documents)"
                " LIMIT 1"
            ).fetchone():
                return False
            _take_over(connection)
            connection.execute("DELETE FROM state WHERE key = ?", (_META,))
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(meta.items()))
            rows = connection.execute("SELECT doc_id FROM documents ORDER BY doc_id")
            every = [doc_id for (doc_id,) in rows.fetchall()]
            record_change(connection, every, ["vectors"])
            seal_documents(connection, every, ["vectors", "log"])
            seal_settings(connection)
            return True

    def drop(self) -> None:
        """Forget everything that is staged."""
        with self._database.write() as connection:
            empty_staged(connection)
            seal_settings(connection)


def empty_staged(connection: sqlite3.Connection) -> None:
    """Forget everything that is staged; the caller seals what the store notes for itself."""
    connection.execute("DELETE FROM state WHERE key = ?", (_META,))
    _empty(connection, _STAGED)


def forget_staged(connection: sqlite3.Connection, doc_id: str) -> None:
    """Let a document that changes be staged no more; its vectors stay by key."""
    connection.execute("DELETE FROM staged_documents WHERE doc_id = ?", (doc_id,))


def _meta(connection: sqlite3.Connection) -> dict[str, str] | None:
    row = connection.execute("SELECT value FROM state WHERE key = ?", (_META,)).fetchone()
    if row is None:
        return None
    try:
        meta = dict(json.loads(row[0]))
    except (TypeError, ValueError) as exc:
        raise damaged_setting(_META, row[0]) from exc
    return {str(key): str(value) for key, value in meta.items()}


def _add_embeddings(connection: sqlite3.Connection, given: Mapping[str, Vector]) -> None:
    row = connection.execute("SELECT length(vector) / 4 FROM staged_embeddings LIMIT 1").fetchone()
    dimension = row[0] if row else None
    for key, vector in given.items():
        dimension = dimension or vector.size
        if vector.size != dimension:
            raise other_dimension(f"vector {key}", vector, dimension)
    connection.executemany(
        "INSERT INTO staged_embeddings VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [sealed_row(key, vector) for key, vector in given.items()],
    )


def _unchanged(
    connection: sqlite3.Connection, doc_ids: Mapping[str, object], as_of: int
) -> list[str]:
    """Return the documents that are held as they were at a commit."""
    rows = connection.execute(
        "SELECT d.doc_id FROM json_each(?) j CROSS JOIN documents d ON d.doc_id = j.value"
        " WHERE NOT EXISTS (SELECT 1 FROM changes c WHERE c.doc_id = d.doc_id AND c.seq > ?)",
        (id_list(doc_ids), as_of),
    )
    return [doc_id for (doc_id,) in rows]


def _take_over(connection: sqlite3.Connection) -> None:
    """Let staged vectors be those in use, within the caller's transaction.

    Their table is renamed and that of the old ones dropped, which writes next to nothing: rows
    that are deleted and inserted put all the old and all the new vectors into the write-ahead
    log. Only rows of nodes are copied, which are small, and get numbers that were never used.
    """
    create_nodes, *index_nodes = _schema(connection, "node_vectors")
    numbered = connection.execute(
        "SELECT name, seq FROM sqlite_sequence WHERE name = 'node_vectors'"
    ).fetchall()
    create_staged = [sql for table in _STAGED for sql in _schema(connection, table)]
    _run(
        connection,
        # Nodes name embeddings: they go first and come last.
        "DROP TABLE node_vectors",
        "DROP TABLE embeddings",
        "ALTER TABLE staged_embeddings RENAME TO embeddings",
        create_nodes,
    )
    connection.executemany("INSERT INTO sqlite_sequence VALUES (?, ?)", numbered)
    _run(
        connection,
        "INSERT INTO node_vectors (node_id, kind, doc_id, key)"
        " SELECT node_id, kind, doc_id, key FROM staged_nodes ORDER BY doc_id, node_id",
        *index_nodes,  # of rows that are there they are written in order
        # Of documents that changed after they were encoded.
        "DELETE FROM embeddings WHERE rowid IN (SELECT e.rowid FROM embeddings e"
        " WHERE NOT EXISTS (SELECT 1 FROM node_vectors n WHERE n.key = e.key))",
        "DELETE FROM state WHERE key = 'dimension'",
        "INSERT INTO state SELECT 'dimension', length(vector) / 4 FROM embeddings LIMIT 1",
        *(f"DROP TABLE {table}" for table in _NODES),
        *create_staged,
    )


def _empty(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Drop tables and make them anew; who names another comes before it."""
    create = [sql for table in tables for sql in _schema(connection, table)]
    _run(connection, *(f"DROP TABLE {table}" for table in tables), *create)


def _run(connection: sqlite3.Connection, *statements: str) -> None:
    """Run statements, leaving pages that they free as they are.

    Some builds of SQLite (Debian's) fill them with zeros, so that what was deleted cannot be
    read from the file: a dropped table would be written whole. Vectors are no text.
    """
    (before,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = FAST")
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.execute(f"PRAGMA secure_delete = {_SECURE_DELETE[before]}")


def _schema(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the statements that made a table and, after it, its indexes."""
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL"
        " ORDER BY type = 'index', name",
        (table,),
    )
    return [sql for (sql,) in rows]
