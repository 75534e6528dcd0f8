"""Check every invariant of a knowledge base; each problem names its invariant and a remedy."""

import json
import logging
from collections.abc import Iterator, Sequence

import numpy as np

from kgrag.store.contents import Problem
from kgrag.store.invariants import check_chunks, check_places
from kgrag.store.neo4j import schema
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.documents import Documents, batches
from kgrag.store.neo4j.embeddings import checksum, to_vector
from kgrag.store.neo4j.nodes import described, layout_of
from kgrag.store.neo4j.verify_graph import check_graph
from kgrag.store.neo4j.verify_typed import check_typed
from kgrag.store.texts import metadata_of
from kgrag.vectors.vector import check_vector

logger = logging.getLogger(__name__)

_NAMES = frozenset({"title", "name", "caption", "title_key", "name_key"})
# What keeps from reading what typed nodes follow from.
_UNREADABLE = frozenset({"evidence-qualifiers", "fact-has-evidence"})
_REINGEST = "ingest the document again"
_ANEW = "delete the document, then ingest it again"
_AGAIN = "run the ingestion again"

# What makes the other checks fail rather than report, so that they wait.
_FIRST: tuple[tuple[str, str, str], ...] = (
    ("property-there", "nodes_without_property", f"lacks {{}}: {_REINGEST}"),
    ("property-there", "relationships_without_property", f"its {{}} is missing: {_REINGEST}"),
)
# Invariant, the statement that returns what breaks it, what is wrong; `{}` is the value seen.
_CHECKS: tuple[tuple[str, str, str], ...] = (
    (
        "document-has-source",
        "documents_without_source",
        "no file holds it: delete it, or ingest its file again",
    ),
    (
        "source-has-document",
        "sources_without_document",
        "its document {} is missing: ingest the file again",
    ),
    ("document-layout", "documents_without_layout", f"its headings are missing: {_REINGEST}"),
    ("document-layout", "layouts_without_document", f"there is no such document: {_AGAIN}"),
    ("chunk-has-document", "chunks_without_document", f"its document {{}} is missing: {_AGAIN}"),
    ("node-labels", "nodes_with_wrong_labels", f"is labelled {{}}: {_REINGEST}"),
    ("chunk-links", "parents_not_part_of_document", f"is not part of {{}}: {_REINGEST}"),
    ("chunk-links", "children_without_parent_link", f"is no child of {{}}: {_REINGEST}"),
    ("chunk-links", "chunks_without_neighbour", f"number {{}} does not follow: {_REINGEST}"),
    ("chunk-links", "first_chunks_without_link", f"first of group {{}}: {_REINGEST}"),
    ("summary-span", "summaries_outside_text", f"its span {{}} is outside the text: {_REINGEST}"),
    ("summary-targets", "summaries_without_target", f"its chunk {{}} is missing: {_REINGEST}"),
    ("summary-targets", "summaries_with_other_target", f"{{}} is not its chunk: {_REINGEST}"),
    ("vector-stored", "nodes_without_stored_embedding", f"its vector {{}} is missing: {_REINGEST}"),
    ("vector-has-node", "fact_vectors_without_fact", f"{{}} does not state it: {_REINGEST}"),
    ("embedding-has-node", "embeddings_without_node", f"no node has this vector{{}}: {_AGAIN}"),
    (
        "vector-dimension",
        "embeddings_of_other_dimension",
        f"has {{}} numbers, not those of the others: {_REINGEST}",
    ),
    ("terms-have-chunk", "terms_without_chunk", f"no chunk of size {{}} has it: {_AGAIN}"),
    ("chunk-has-terms", "chunks_without_terms", f"of size {{}} lacks its words: {_AGAIN}"),
    ("entity-supported", "entities_without_document", f"no document names it ({{}}): {_AGAIN}"),
    ("entity-supported", "names_without_use", f"{{}} says nothing of it: {_REINGEST}"),
    ("entity-named", "mentions_without_name", f"{{}} mentions it without a name: {_REINGEST}"),
    ("link-once", "relationships_doubled", f"{{}} is there twice: {_REINGEST}"),
)


def verify(database: Database) -> list[Problem]:
    """Return what is wrong with a knowledge base.

    While another process writes, a problem may be reported that is none: run it again.
    """
    if not database.read("base"):
        return [Problem("knowledge-base", "kgrag", f"its node is missing: {_AGAIN}")]
    if problems := _checked(database, _FIRST):
        return problems
    problems = _checked(database, _CHECKS)
    problems += _base(database)
    problems += _names(database)
    problems += _vectors(database)
    problems += check_graph(database)
    if any(p.invariant == "document-metadata" for p in problems):
        return problems
    if not any(p.invariant in _UNREADABLE for p in problems):
        problems += check_typed(database)
    return [*problems, *_documents(database)]


def _checked(database: Database, checks: Sequence[tuple[str, str, str]]) -> list[Problem]:
    return [
        Problem(invariant, str(row["subject"]), detail.format(row["value"]))
        for invariant, statement, detail in checks
        for row in database.read(statement)
    ]


def _base(database: Database) -> Iterator[Problem]:
    base = database.read("base")[0]
    for doc_id in base["deleting"]:
        detail = f"its deletion was cut off: {_AGAIN}, or delete any document"
        yield Problem("deletion-finished", doc_id, detail)
    states = {row["name"]: row["state"] for row in database.read("index_states")}
    wanted = set(schema.indexes_of(base, database.address.base))
    if not database.read("any_fact_vector")[0]["held"]:
        # Made before facts had vectors: the next ingestion makes their indexes.
        wanted -= schema.fact_indexes(database.address.base)
    for name in sorted(wanted):
        if name not in states:
            yield Problem("index-exists", name, f"is missing: {_AGAIN}, which makes it")
        elif states[name] != "ONLINE":
            detail = f"is {states[name]}: drop it, then ingest again"
            yield Problem("index-online", name, detail)


def _names(database: Database) -> Iterator[Problem]:
    """Check what is kept normalised, for searching by name, and the file shown."""
    smallest: dict[str, str] = {}
    for state in reversed(Documents(database).sources()):
        smallest[state.doc_id] = state.source
    for row in database.read("document_names"):
        try:
            properties, metadata = json.loads(row["told"]), metadata_of(row["metadata"])
            wanted = described(row["title"], properties, metadata)
        except (ValueError, TypeError, AttributeError):
            detail = f"its metadata or properties cannot be read: {_REINGEST}"
            yield Problem("document-metadata", row["id"], detail)
            continue
        if (wanted["name"], wanted["caption"]) != (row["name"], row["caption"]):
            detail = f"is drawn as {row['caption']!r}, not as {wanted['caption']!r}: {_REINGEST}"
            yield Problem("document-caption", row["id"], detail)
        for key in wanted.keys() - _NAMES:
            if wanted[key] != (seen := row["properties"].get(key)):
                detail = f"its {key} is {seen!r}, not {wanted[key]!r}: {_REINGEST}"
                yield Problem("document-property", row["id"], detail)
        if (wanted["title_key"], wanted["name_key"]) != (row["title_key"], row["name_key"]):
            detail = f"{row['title']!r} is kept for searching as {row['title_key']!r}: {_REINGEST}"
            yield Problem("document-title", row["id"], detail)
        if row["file"] != smallest.get(row["id"], row["file"]):
            detail = f"shows the file {row['file']}, not {smallest[row['id']]}: {_REINGEST}"
            yield Problem("document-file", row["id"], detail)


def _vectors(database: Database) -> Iterator[Problem]:
    n_unknown = 0
    for row in database.stream("every_embedding"):
        vector = to_vector(row["vector"])
        try:
            check_vector(vector, row["key"])
        except ValueError as exc:
            yield Problem("vector-length", row["key"], f"{exc}; {_REINGEST}")
        if not np.array_equal(vector.astype(np.float64), np.asarray(row["vector"])):
            detail = f"its numbers are not those of float32: {_REINGEST}"
            yield Problem("vector-numbers", row["key"], detail)
        n_unknown += row["checksum"] is None
        if row["checksum"] not in (None, checksum(row["key"], vector)):
            detail = f"its numbers are not those that were stored: {_ANEW}"
            yield Problem("vector-checksum", row["key"], detail)
    if n_unknown:
        told = "%s: %d vectors are from before vectors had checksums: not compared with theirs"
        logger.warning(told, database.address, n_unknown)


def _documents(database: Database) -> Iterator[Problem]:
    """Check documents a few at a time: not all texts are in memory."""
    documents = Documents(database)
    rows = {row["id"]: row for row in database.read("document_names")}
    for ids in batches(sorted(rows)):
        headings, chunks = documents.headings(ids), documents.all_chunks(ids)
        for document in documents.documents(ids):
            row, own = rows[document.doc_id], chunks.get(document.doc_id, [])
            if row["characters"] != len(document.text):
                detail = (
                    f"says {row['characters']} characters, its parents have "
                    f"{len(document.text)}: {_REINGEST}"
                )
                yield Problem("document-characters", document.doc_id, detail)
            found = [
                *check_places(document, headings.get(document.doc_id, [])),
                *check_chunks(document, own),
            ]
            if not found and row["layout"] != layout_of(document.title, own):
                detail = f"its chunks or their headings are not those that were stored: {_ANEW}"
                found = [Problem("document-chunks", document.doc_id, detail)]
            yield from found
