"""Writing what documents say as typed nodes and relationships, within the caller's transaction."""

import json
from collections import defaultdict
from collections.abc import Iterable

from kgrag.metadata import Metadata
from kgrag.store.decisions import DecidedNames, Decision
from kgrag.store.neo4j.base import Base
from kgrag.store.neo4j.caption import caption
from kgrag.store.neo4j.connection import Row, Transaction
from kgrag.store.neo4j.document_knowledge import DocumentKnowledge, shown_name
from kgrag.store.neo4j.typed_rows import Said, TypedGraph, issuers_of, typed_graph
from kgrag.store.texts import metadata_of, told_metadata
from kgrag.types import Document

NOBODY = ""  # no document has this id


def said_in(document: Document, known: DocumentKnowledge) -> Said:
    """Return what a document says that is stored just now."""
    metadata = told_metadata(document.metadata, document.properties)
    return Said(document.doc_id, document.title, metadata, known)


def read_said(tx: Transaction, doc_id: str, known: DocumentKnowledge) -> Said:
    """Return what a held document says; only what it says of itself is read."""
    row = tx.run("described", id=doc_id)[0]
    return Said(doc_id, row["title"], metadata_in(row), known)


def write_typed(tx: Transaction, base: Base, said: Said, *, replaces: bool = True) -> None:
    """Replace the typed nodes and relationships of a document; its facts are written already.

    Args:
        tx: The transaction.
        base: State of the knowledge base.
        said: What the document says, which is held.
        replaces: Whether it may have some.
    """
    doc_id, graph = said.doc_id, typed_graph(said, _decided(tx))
    organs, regions = _delete_own(tx, doc_id) if replaces else (set[str](), set[str]())
    organs |= _put_organs(tx, base, graph)
    labels = base.readable("Region")
    tx.run_rows("put_regions", list(graph.regions.values()), labels=labels)
    tx.run_rows("put_issued", [{"id": doc_id, **row} for row in graph.issued])
    tx.run_rows("put_applied", graph.applied, id=doc_id)
    tx.run_rows("put_targets", graph.targets, id=doc_id, labels=base.readable("Target"))
    tx.run_rows("put_duties", graph.duties, id=doc_id, labels=base.readable("Duty"))
    tx.run_rows("put_assigned", graph.assigned)
    tx.run_rows("put_references", graph.references, id=doc_id)
    _update_organs(tx, organs)
    _delete_unused_regions(tx, regions - graph.regions.keys())


def delete_typed(tx: Transaction, doc_id: str) -> None:
    """Delete the typed nodes and relationships of a document, and what nobody else needs."""
    organs, regions = _delete_own(tx, doc_id)
    _update_organs(tx, organs)
    _delete_unused_regions(tx, regions)


def lead_references(tx: Transaction, node_ids: Iterable[str], *, without: str = NOBODY) -> None:
    """Lead references to held documents, or to entities where they are not held any more.

    Args:
        tx: The transaction.
        node_ids: Of documents that came, went or are called otherwise.
        without: A document that is about to be deleted.
    """
    ids = sorted(set(filter(None, node_ids)))
    if ids:
        tx.run("lead_references", ids=ids, without=without)


def issue_anew(tx: Transaction, base: Base) -> None:
    """Lead documents to the organs that issued them, as a person has just decided on names."""
    decided = _decided(tx)
    rows: list[dict[str, object]] = []
    wanted, touched = TypedGraph(), set[str]()
    for row in tx.run("issuers_of_documents"):
        graph = TypedGraph()
        issued = issuers_of(graph, row["title"], metadata_in(row), decided)
        called = [[i["organ_id"], i["name"]] for i in issued]
        if called != row["organs"]:
            rows += ({"id": row["id"], **i} for i in issued)
            touched |= {r["id"] for r in tx.run("delete_issued", id=row["id"])}
            wanted.organs.update(graph.organs)
    if rows:
        touched |= _put_organs(tx, base, wanted)
        tx.run_rows("put_issued", rows)
        _update_organs(tx, touched)


def metadata_in(row: Row) -> Metadata:
    """Return the metadata of a document's row."""
    return told_metadata(metadata_of(row["metadata"]), json.loads(row["properties"]))


def _decided(tx: Transaction) -> DecidedNames:
    rows = tx.run("decisions")
    return DecidedNames.of(Decision(row["kind"], row["name"], row["into"]) for row in rows)


def _delete_own(tx: Transaction, doc_id: str) -> tuple[set[str], set[str]]:
    """Delete what is the document's own; return the organs and the places that it led to."""
    organs = {row["id"] for row in tx.run("delete_duties", id=doc_id)}
    organs |= {row["id"] for row in tx.run("delete_issued", id=doc_id)}
    regions = {row["id"] for row in tx.run("delete_targets", id=doc_id)}
    regions |= {row["id"] for row in tx.run("delete_applied", id=doc_id)}
    tx.run("delete_references", id=doc_id)
    return organs, regions - {None}


def _put_organs(tx: Transaction, base: Base, graph: TypedGraph) -> set[str]:
    """Have the organs of a document be there; return those that are called otherwise."""
    rows = list(graph.organs.values())
    if not rows:
        return set()
    return {row["id"] for row in tx.run("put_organs", rows=rows, labels=base.readable("Organ"))}


def _update_organs(tx: Transaction, organ_ids: set[str]) -> None:
    """Show organs as most call them, and delete those that nothing leads to."""
    if not organ_ids:
        return
    shown: dict[str, str] = {}
    counted: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in tx.run("organs_counted", ids=sorted(organ_ids)):
        shown[row["id"]] = row["shown"]
        if row["name"] is not None:
            counted[row["id"]][row["name"]] = row["n"]
    names = {organ_id: shown_name(found) for organ_id, found in sorted(counted.items())}
    tx.run_rows(
        "show_organs",
        [
            {"id": organ_id, "name": name, "caption": caption(name)}
            for organ_id, name in names.items()
            if name != shown[organ_id]
        ],
    )
    unused = sorted(shown.keys() - counted.keys())
    if unused:
        tx.run("delete_organs", ids=unused)


def _delete_unused_regions(tx: Transaction, region_ids: set[str]) -> None:
    if region_ids:
        tx.run("delete_regions", ids=sorted(region_ids))
