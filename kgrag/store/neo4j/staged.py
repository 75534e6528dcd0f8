"""Vectors of another encoder as nodes of their own, and how they take over, some at a time."""

from collections.abc import Mapping, Sequence

from kgrag.store.checks import check_vectors
from kgrag.store.contents import NodeVector
from kgrag.store.neo4j.base import Base, begun, lock, read_base
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.embeddings import (
    embed_nodes,
    embedding_rows,
    keys_of,
    to_vector,
    unembed,
)
from kgrag.store.neo4j.schema import ensure_vector_indexes
from kgrag.store.neo4j.write import finish, set_meta
from kgrag.store.staged import all_given, check_staging, is_kept
from kgrag.store.texts import to_json
from kgrag.vectors.vector import KINDS, Vector

_ROWS = 250  # vectors in a statement: about 1 MB
_DOCUMENTS = 16  # that take over in one transaction
_DELETED = 5000  # nodes deleted in one transaction


class Neo4jStagedVectors:
    """Staged vectors of a database; see `kgrag.store.staged.StagedVectors`.

    One transaction cannot change a million nodes, so staged vectors take over some documents at a
    time. Until the last, a mark in the knowledge base's node keeps searches by vectors and
    writers out (StoreUnavailableError); searches by words go on. If it is cut off, whoever opens
    the knowledge base next finishes it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def meta(self) -> dict[str, str] | None:
        return begun(read_base(self._database))

    def begin(self, meta: Mapping[str, str]) -> None:
        finish_switch(self._database)
        begun_before = self.meta()
        if begun_before == meta:
            return
        if not is_kept(begun_before, meta):
            # Nothing can be staged until it has begun again; cut off here, nothing is kept.
            self._database.write(lambda tx: tx.run("change_base", values={"staged": ""}))
            _delete_staged(self._database)
            self._database.define("constrain_staged_document", "constrain_staged_embedding")
            self._database.await_indexes()
        self._database.write(
            lambda tx: tx.run("change_base", values={"staged": to_json(dict(meta))})
        )

    def doc_ids(self) -> set[str]:
        return {row["id"] for row in self._database.read("staged_documents")}

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        rows = self._database.read("staged_vectors", keys=sorted(keys)) if keys else []
        return {row["key"]: to_vector(row["vector"]) for row in rows}

    def put(
        self,
        vectors: Mapping[str, Sequence[NodeVector]],
        *,
        meta: Mapping[str, str],
        as_of: int,
    ) -> None:
        given = all_given(vectors)
        self._database.write(lambda tx: _put(tx, vectors, given, meta=meta, as_of=as_of))

    def switch(self, meta: Mapping[str, str]) -> bool:
        if not self._database.write(lambda tx: _begin_switch(tx, meta)):
            return False
        finish_switch(self._database)
        return True

    def drop(self) -> None:
        finish_switch(self._database)
        self._database.write(lambda tx: tx.run("change_base", values={"staged": ""}))
        _delete_staged(self._database)


def finish_switch(database: Database) -> None:
    """Let staged vectors take over to the end, where that has begun; else do nothing.

    Several processes may do this at once.
    """
    if not read_base(database)["switching"]:
        return
    for kind in KINDS:  # or every embedding that takes over would be put into an index alone
        database.define(f"drop_{kind}_vectors")
    while database.write(_switch_some):
        pass
    database.write(_end_switch)
    _delete_staged(database)
    ensure_vector_indexes(database, renew=False)


def _put(
    tx: Transaction,
    vectors: Mapping[str, Sequence[NodeVector]],
    given: Mapping[str, Vector],
    *,
    meta: Mapping[str, str],
    as_of: int,
) -> None:
    check_staging(meta, lock(tx).begun)
    check_vectors(given, next((row["n"] for row in tx.run("staged_dimension")), None))
    tx.run_rows("stage_embeddings", embedding_rows(given), size=_ROWS)
    if tx.run("base")[0]["seq"] != as_of:
        return
    held = {row["id"] for row in tx.run("cards", ids=list(vectors))}
    documents = [
        {
            "id": doc_id,
            "nodes": [v.node_id for v in group],
            "kinds": [v.kind for v in group],
            "keys": [v.key for v in group],
        }
        for doc_id, group in vectors.items()
        if doc_id in held
    ]
    tx.run_rows("stage_documents", documents, size=_DOCUMENTS)


def _begin_switch(tx: Transaction, meta: Mapping[str, str]) -> bool:
    base = lock(tx)
    if True in tx.earlier and base.begun is None:
        return True  # this call began it, though nobody heard of it, and another finished it
    check_staging(meta, base.begun)
    if not base.switching and tx.run("documents_not_staged"):
        return False
    # Whoever ends it records what is to be told of the encoder, too.
    tx.run("change_base", values={"switching": True, "staged": to_json(dict(meta))})
    return True


def _switch_some(tx: Transaction) -> bool:
    """Let some documents take over; return whether there were any."""
    base = lock(tx)
    rows = tx.run("some_staged_documents", limit=_DOCUMENTS) if base.switching else []
    if not rows:
        return False
    for row in rows:
        _switch_document(tx, base, row)
    tx.run("unstage_documents", ids=[row["id"] for row in rows])
    finish(tx, base)
    return True


def _switch_document(tx: Transaction, base: Base, row: Row) -> None:
    nodes = list(zip(row["kinds"], row["nodes"], row["keys"], strict=True))
    tx.run("promote_embeddings", keys=sorted(set(row["keys"])))
    for kind in KINDS:
        of_kind = sorted({key for k, _, key in nodes if k == kind})
        if of_kind:
            tx.run(f"mark_{kind}_embeddings", keys=of_kind)
    wanted = {node: key for _, node, key in nodes}
    unembed(tx, base, row["id"], keys_of(tx, row["id"]), wanted)
    embed_nodes(tx, row["id"], nodes)
    tx.run("revise_document", id=row["id"])


def _end_switch(tx: Transaction) -> None:
    base = lock(tx)
    if not base.switching:
        return  # another process was faster
    set_meta(tx, base.begun or {})
    dimension = next((row["n"] for row in tx.run("any_dimension")), None)
    values = {"staged": "", "switching": False, "dimension": dimension, "indexed": 0}
    tx.run("count_change", values=values)


def _delete_staged(database: Database) -> None:
    """Delete what is left of staging, unless it has begun again."""

    def some(tx: Transaction) -> bool:
        if lock(tx).begun is not None:
            return False
        if tx.run("delete_some_staged_documents", limit=_DELETED)[0]["n"]:
            return True
        return bool(tx.run("delete_some_staged_embeddings", limit=_DELETED)[0]["n"])

    while database.write(some):
        pass
