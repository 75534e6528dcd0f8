"""Vectors of another encoder in tables of their own, until one transaction lets them take over."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kgrag.store.checks import damaged_setting
from kgrag.store.contents import NodeVector
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.embeddings import from_blob, sealed_row
from kgrag.store.sqlite.reconcile import id_list
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.seals import seal_documents, seal_settings
from kgrag.store.sqlite.statements import run, run_each, statements
from kgrag.store.staged import Kept, all_given, check_staging, kept_of
from kgrag.vectors.vector import Vector, check_vector, other_dimension

_META = "staged_meta"  # key in `state`
_NODES = ("staged_nodes", "staged_documents")  # who names another comes before it
_STAGED = (*_NODES, "staged_embeddings")
_EMPTIED: Mapping[Kept, tuple[str, ...]] = MappingProxyType(
    {"all": (), "vectors": _NODES, "nothing": _STAGED}
)
_SECURE_DELETE = ("OFF", "ON", "FAST")  # as SQLite numbers them


class Staged(Role):
    """Staged vectors of a file; see `kgrag.store.staged.StagedVectors`."""

    def meta(self) -> dict[str, str] | None:
        """Return what decides the vectors that are staged."""
        with self._reading() as connection:
            return _meta(connection)

    def begin(self, meta: Mapping[str, str]) -> None:
        """Make ready for vectors of an encoder."""
        with self._database.write() as connection:
            _empty(connection, _EMPTIED[kept_of(_meta(connection), meta)])
            run(connection, "put_note", _META, json.dumps(dict(meta)))
            seal_settings(connection)

    def doc_ids(self) -> set[str]:
        """Return the documents that are staged."""
        return {doc_id for (doc_id,) in self._rows("staged_documents")}

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return staged vectors by key."""
        return {key: from_blob(blob) for key, blob in self._rows("staged_vectors", id_list(keys))}

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
                run(connection, "add_staged_document", doc_id)
                nodes = [(doc_id, v.node_id, v.kind, v.key) for v in vectors[doc_id]]
                run_each(connection, "add_staged_node", nodes)

    def switch(self, meta: Mapping[str, str]) -> bool:
        """Let staged vectors take over in one transaction."""
        with self._database.write() as connection:
            check_staging(meta, _meta(connection))
            if run(connection, "unstaged_document").fetchone():
                return False
            _take_over(connection)
            run(connection, "delete_note", _META)
            run_each(connection, "put_setting", meta.items())
            every = [doc_id for (doc_id,) in run(connection, "doc_ids").fetchall()]
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
    run(connection, "delete_note", _META)
    _empty(connection, _STAGED)


def forget_staged(connection: sqlite3.Connection, doc_id: str) -> None:
    """Let a document that changes be staged no more; its vectors stay by key."""
    run(connection, "delete_staged_document", doc_id)


def _meta(connection: sqlite3.Connection) -> dict[str, str] | None:
    row = run(connection, "note", _META).fetchone()
    if row is None:
        return None
    try:
        meta = dict(json.loads(row[0]))
    except (TypeError, ValueError) as exc:
        raise damaged_setting(_META, row[0]) from exc
    return {str(key): str(value) for key, value in meta.items()}


def _add_embeddings(connection: sqlite3.Connection, given: Mapping[str, Vector]) -> None:
    row = run(connection, "staged_dimension").fetchone()
    dimension = row[0] if row else None
    for key, vector in given.items():
        dimension = dimension or vector.size
        if vector.size != dimension:
            raise other_dimension(f"vector {key}", vector, dimension)
    run_each(connection, "add_staged_embedding", [sealed_row(k, v) for k, v in given.items()])


def _unchanged(
    connection: sqlite3.Connection, doc_ids: Mapping[str, object], as_of: int
) -> list[str]:
    """Return the documents that are held as they were at a commit."""
    rows = run(connection, "unchanged_documents", id_list(doc_ids), as_of)
    return [doc_id for (doc_id,) in rows]


def _take_over(connection: sqlite3.Connection) -> None:
    """Let staged vectors be those in use, within the caller's transaction.

    Their table is renamed and that of the old ones dropped, which writes next to nothing: rows
    that are deleted and inserted put all the old and all the new vectors into the write-ahead
    log. Only rows of nodes are copied, which are small, and get numbers that were never used.
    """
    named = statements()
    create_nodes, *index_nodes = _schema(connection, "node_vectors")
    numbered = run(connection, "last_node_number").fetchall()
    create_staged = [sql for table in _STAGED for sql in _schema(connection, table)]
    _change_tables(
        connection,
        # Nodes name embeddings: they go first and come last.
        "DROP TABLE node_vectors",
        "DROP TABLE embeddings",
        named["rename_staged_embeddings"],
        create_nodes,
    )
    run_each(connection, "put_last_number", numbered)
    _change_tables(
        connection,
        named["take_staged_nodes"],
        *index_nodes,  # of rows that are there they are written in order
        named["delete_left_embeddings"],
        named["delete_dimension"],
        named["find_dimension"],
        *(f"DROP TABLE {table}" for table in _NODES),
        *create_staged,
    )


def _empty(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Drop tables and make them anew; who names another comes before it."""
    create = [sql for table in tables for sql in _schema(connection, table)]
    _change_tables(connection, *(f"DROP TABLE {table}" for table in tables), *create)


def _change_tables(connection: sqlite3.Connection, *texts: str) -> None:
    """Run statements, leaving pages that they free as they are.

    Some builds of SQLite (Debian's) fill them with zeros, so that what was deleted cannot be
    read from the file: a dropped table would be written whole. Vectors are no text.
    """
    (before,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = FAST")
    try:
        for text in texts:
            connection.execute(text)
    finally:
        connection.execute(f"PRAGMA secure_delete = {_SECURE_DELETE[before]}")


def _schema(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the statements that made a table and, after it, its indexes."""
    return [sql for (sql,) in run(connection, "schema_of", table)]
