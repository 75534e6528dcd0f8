"""Writing facts, mentions, names, and the citations that follow from them."""

from collections import defaultdict
from collections.abc import Mapping

from kgrag.store.neo4j.base import Base, begin
from kgrag.store.neo4j.caption import caption
from kgrag.store.neo4j.connection import Transaction
from kgrag.store.neo4j.document_knowledge import (
    DocumentKnowledge,
    Properties,
    StatedEvidence,
    evidence_in,
    fact_properties,
    shown_name,
    shown_type,
)
from kgrag.text.titles import CITING_PREDICATES
from kgrag.text.words import normalize_name


def write_knowledge(
    tx: Transaction,
    base: Base,
    doc_id: str,
    known: DocumentKnowledge,
    wanted: DocumentKnowledge,
    linked: Mapping[tuple[str, str], Properties],
) -> None:
    """Replace the facts, mentions and names of a document; only differences are written.

    Args:
        tx: The transaction.
        base: State of the knowledge base.
        doc_id: The document.
        known: What is stored.
        wanted: What is to be stored.
        linked: MENTIONS relationships that its chunks have.
    """
    names, old_names = wanted.name_rows(), known.name_rows()
    new_entities = sorted(names.keys() - old_names.keys())
    rows = [_entity_row(e, names[e][0][0], names[e][1][0]) for e in new_entities]
    tx.run_rows("put_entities", rows, labels=base.readable("Entity"))
    _write_facts(tx, doc_id, known, wanted)
    _write_mentions(tx, linked, wanted.mention_rows())
    changed = [e for e in sorted(names) if old_names.get(e) != names[e]]
    tx.run_rows(
        "put_names",
        [{"entity_id": e, "names": names[e][0], "types": names[e][1]} for e in changed],
        id=doc_id,
    )
    gone = sorted(old_names.keys() - names.keys())
    if gone:
        tx.run("delete_names", ids=gone, id=doc_id)
    base.touched.update(changed, gone)


def update_entities(tx: Transaction, entity_ids: set[str]) -> None:
    """Show each entity as most documents write it; delete those that none names any more."""
    if not entity_ids:
        return
    ids = sorted(entity_ids)
    rows: list[dict[str, object]] = []
    unnamed: list[str] = []
    for row in sorted(tx.run("names_counted", ids=ids), key=lambda row: row["id"]):
        if not row["names"]:
            unnamed.append(row["id"])
            continue
        name, type_ = shown_name(dict(row["names"])), shown_type(dict(row["types"]))
        if (name, type_) != (row["name"], row["type"]):
            rows.append(_entity_row(row["id"], name, type_))
    tx.run_rows("show_entities", rows)
    if unnamed:
        tx.run("delete_entities", ids=unnamed)


def _entity_row(entity_id: str, name: str, type_: str) -> dict[str, object]:
    return {
        "id": entity_id,
        "name": name,
        "normalized": normalize_name(name),
        "type": type_,
        "caption": caption(name),
    }


def cite(tx: Transaction, doc_id: str, *, replaces: bool = True) -> None:
    """Write the citations between a document and the other stored ones, from the facts.

    Args:
        tx: The transaction.
        doc_id: The document.
        replaces: Whether it may have some.
    """
    if replaces:
        tx.run("delete_cites", id=doc_id)
    predicates: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in tx.run("cites", id=doc_id, predicates=sorted(CITING_PREDICATES)):
        predicates[row["citing"], row["cited"]].add(row["predicate"])
    rows = [
        {"citing": citing, "cited": cited, "predicates": sorted(found)}
        for (citing, cited), found in sorted(predicates.items())
    ]
    tx.run_rows("put_cites", rows)


def _write_facts(
    tx: Transaction, doc_id: str, known: DocumentKnowledge, wanted: DocumentKnowledge
) -> None:
    own: defaultdict[str, list[StatedEvidence]] = defaultdict(list)
    for (fact_id, place), (predicate, confidence) in wanted.stated.items():
        own[fact_id].append(StatedEvidence(doc_id, *place, confidence, predicate))
    ends = known.ends | wanted.ends
    rows = tx.run("facts_by_id", ids=sorted(ends))
    held = {row["id"]: evidence_in(row) for row in rows}
    new: list[Properties] = []
    changed: list[Properties] = []
    gone: list[str] = []
    for fact_id in sorted(ends):
        before = held.get(fact_id, [])
        after = [s for s in before if s.doc_id != doc_id] + own.get(fact_id, [])
        if not after:
            gone.append(fact_id)
        elif sorted(after) != before:
            subject_id, object_id = ends[fact_id]
            row: Properties = {"id": fact_id, "subject_id": subject_id, "object_id": object_id}
            row["properties"] = fact_properties(fact_id, after)
            (changed if fact_id in held else new).append(row)
    tx.run_rows("create_facts", new)
    tx.run_rows("change_facts", changed)
    if gone:
        tx.run("delete_facts", ids=gone)


def _write_mentions(
    tx: Transaction,
    linked: Mapping[tuple[str, str], Properties],
    wanted: Mapping[tuple[str, str], Properties],
) -> None:
    def row(pair: tuple[str, str], properties: Properties | None = None) -> Properties:
        return {"chunk_id": pair[0], "entity_id": pair[1], "properties": properties}

    changed = [p for p in sorted(wanted) if linked.get(p) != wanted[p]]
    tx.run_rows("put_mentions", [row(p, wanted[p]) for p in changed])
    tx.run_rows("delete_mentions", [row(p) for p in sorted(linked.keys() - wanted.keys())])


def release(tx: Transaction, source: str) -> str:
    """Forget a source of several; return the document of one that is its last, which stays."""
    doc_id = tx.run("source", source=source)[0]["doc_id"]
    if doc_id is None:
        return ""
    others = {row["source"] for row in tx.run("sources_of", id=doc_id)} - {source}
    if not others:
        return str(doc_id)
    begin(tx)
    tx.run("delete_source", source=source)
    tx.run("show_file", id=doc_id)
    return ""
