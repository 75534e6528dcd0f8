"""Staged vectors of another encoder in separate tables, activated in one transaction."""

import json
import sqlite3
from collections.abc import Mapping, Sequence

from kgrag.store.checks import check_vectors, damaged_setting
from kgrag.store.contents import NodeVector
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.embeddings import from_blob, sealed_row
from kgrag.store.sqlite.reconcile import id_list
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.seals import seal_documents, seal_settings
from kgrag.store.sqlite.statements import run, run_each, statements
from kgrag.store.staged import all_given, check_staging, is_kept
from kgrag.vectors.vector import Vector

_META = "staged_meta"  # key in `state`
_NODES = ("staged_nodes", "staged_documents")  # referencing tables first
_STAGED = (*_NODES, "staged_embeddings")
_SECURE_DELETE = ("OFF", "ON", "FAST")  # as SQLite numbers them


class Staged(Role):
    """Staged vectors; implements `kgrag.store.staged.StagedVectors`."""

    def meta(self) -> dict[str, str] | None:
        with self._reading() as connection:
            return _meta(connection)

    def begin(self, meta: Mapping[str, str]) -> None:
        with self._database.write() as connection:
            if not is_kept(_meta(connection), meta):
                _empty(connection, _STAGED)
            run(connection, "put_note", _META, json.dumps(dict(meta)))
            seal_settings(connection)

    def doc_ids(self) -> set[str]:
        return {doc_id for (doc_id,) in self._rows("staged_documents")}

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        return {key: from_blob(blob) for key, blob in self._rows("staged_vectors", id_list(keys))}

    def put(
        self,
        vectors: Mapping[str, Sequence[NodeVector]],
        *,
        meta: Mapping[str, str],
        as_of: int,
    ) -> None:
        given = all_given(vectors)
        with self._database.write() as connection:
            check_staging(meta, _meta(connection))
            (dimension,) = run(connection, "staged_dimension").fetchone() or (None,)
            check_vectors(given, dimension)
            rows = [sealed_row(key, vector) for key, vector in given.items()]
            run_each(connection, "add_staged_embedding", rows)
            unchanged = run(connection, "unchanged_documents", id_list(vectors), as_of)
            for (doc_id,) in unchanged.fetchall():
                run(connection, "delete_staged_document", doc_id)
                run(connection, "add_staged_document", doc_id)
                nodes = [(doc_id, v.node_id, v.kind, v.key) for v in vectors[doc_id]]
                run_each(connection, "add_staged_node", nodes)

    def switch(self, meta: Mapping[str, str]) -> bool:
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
        with self._database.write() as connection:
            run(connection, "delete_note", _META)
            _empty(connection, _STAGED)
            seal_settings(connection)


def _meta(connection: sqlite3.Connection) -> dict[str, str] | None:
    row = run(connection, "note", _META).fetchone()
    if row is None:
        return None
    try:
        meta = dict(json.loads(row[0]))
    except (TypeError, ValueError) as exc:
        raise damaged_setting(_META, row[0]) from exc
    return {str(key): str(value) for key, value in meta.items()}


def _take_over(connection: sqlite3.Connection) -> None:
    """Activate staged vectors within the caller's transaction.

    Their table is renamed and the old one dropped, which writes very little: deleting and inserting
    rows would put all old and new vectors into the write-ahead log. Only rows of nodes, which are
    small, are copied, with numbers that were never used.
    """
    named = statements()
    create_nodes, *index_nodes = _schema(connection, "node_vectors")
    numbered = run(connection, "last_node_number").fetchall()
    create_staged = [sql for table in _STAGED for sql in _schema(connection, table)]
    _change_tables(
        connection,
        # Nodes refer to embeddings: dropped first, created last.
        "DROP TABLE node_vectors",
        "DROP TABLE embeddings",
        named["rename_staged_embeddings"],
        create_nodes,
    )
    run_each(connection, "put_last_number", numbered)
    _change_tables(
        connection,
        named["take_staged_nodes"],
        *index_nodes,  # faster after the rows are inserted
        named["delete_left_embeddings"],
        named["delete_dimension"],
        named["find_dimension"],
        *(f"DROP TABLE {table}" for table in _NODES),
        *create_staged,
    )


def _empty(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Drop and recreate tables, referencing tables first."""
    create = [sql for table in tables for sql in _schema(connection, table)]
    _change_tables(connection, *(f"DROP TABLE {table}" for table in tables), *create)


def _change_tables(connection: sqlite3.Connection, *texts: str) -> None:
    """Run statements without overwriting the pages that they free.

    Some builds of SQLite (Debian's) fill freed pages with zeros, so that deleted data cannot be
    read from the file: a dropped table would be written completely.
    """
    (before,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = FAST")
    try:
        for text in texts:
            connection.execute(text)
    finally:
        connection.execute(f"PRAGMA secure_delete = {_SECURE_DELETE[before]}")


def _schema(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the statements that created a table and, after it, its indexes."""
    return [sql for (sql,) in run(connection, "schema_of", table)]
