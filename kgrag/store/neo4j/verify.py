"""Check every invariant of a knowledge base; each problem names its invariant and a remedy."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kgrag.store.checks import check_chunks, check_places
from kgrag.store.contents import Problem
from kgrag.store.neo4j import schema
from kgrag.store.neo4j.base import lock
from kgrag.store.neo4j.caption import caption
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.document_knowledge import (
    DocumentKnowledge,
    StatedEvidence,
    evidence_in,
    fact_properties,
    is_whole,
    shown_name,
    shown_type,
)
from kgrag.store.neo4j.documents import Documents, batches
from kgrag.store.neo4j.embeddings import checksum, to_vector
from kgrag.store.neo4j.nodes import described, layout_of
from kgrag.store.neo4j.typed import TypedGraph, decided_names, typed_graph
from kgrag.store.texts import NOTHING, metadata_of, qualifiers_of
from kgrag.text.titles import CITING_PREDICATES
from kgrag.text.words import normalize_name
from kgrag.types import Entity
from kgrag.vectors.vector import check_vector

_Places = dict[str, tuple[str, int, int]]

logger = logging.getLogger(__name__)

_NAMES = frozenset({"title", "name", "caption", "title_key", "name_key"})
# What keeps from reading what typed nodes follow from.
_UNREADABLE = frozenset({"evidence-qualifiers", "fact-has-evidence"})
_REINGEST = "ingest the document again"
_ANEW = "delete the document, then ingest it again"
_AGAIN = "run the ingestion again"
_TYPED_KINDS = ('"kind":"target"', '"kind":"duty"', '"kind":"reference"')
# What is wrong with typed nodes and relationships, by their invariant.
_TYPED_DETAILS = {
    "statement-follows-facts": f"is not what {{}} states: {_REINGEST}",
    "link-follows-facts": f"its {{}} is not what it says: {_REINGEST}",
    "shared-node": f"{{!r}} is not what documents lead to: {_AGAIN}",
}

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

    What was written meanwhile can look like a problem: then it looks again, while writers wait.
    """
    base = database.read("base")
    if not base:
        return [Problem("knowledge-base", "kgrag", f"its node is missing: {_AGAIN}")]
    problems = _problems(database)
    if not problems or database.read("base") == base:
        return problems

    def alone(tx: Transaction) -> list[Problem]:
        lock(tx)
        return _problems(database)

    return database.write(alone)


def _problems(database: Database) -> list[Problem]:
    if problems := _checked(database, _FIRST):
        return problems
    problems = _checked(database, _CHECKS)
    problems += _base(database)
    problems += _names(database)
    problems += _vectors(database)
    problems += _check_graph(database)
    if any(p.invariant == "document-metadata" for p in problems):
        return problems
    if not any(p.invariant in _UNREADABLE for p in problems):
        problems += _typed(database)
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
    for name in sorted(schema.indexes_of(base, database.address.base)):
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
    for row in database.stream("every_embedding"):
        vector = to_vector(row["vector"])
        try:
            check_vector(vector, row["key"])
        except ValueError as exc:
            yield Problem("vector-length", row["key"], f"{exc}; {_REINGEST}")
        if not np.array_equal(vector.astype(np.float64), np.asarray(row["vector"])):
            detail = f"its numbers are not those of float32: {_REINGEST}"
            yield Problem("vector-numbers", row["key"], detail)
        if row["checksum"] != checksum(row["key"], vector):
            detail = f"its numbers are not those that were stored: {_ANEW}"
            yield Problem("vector-checksum", row["key"], detail)


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


def _check_graph(database: Database) -> Iterator[Problem]:
    """Yield what is wrong with the graph of facts."""
    places: _Places = {
        row["id"]: (row["doc_id"], row["start"], row["end"])
        for row in database.stream("chunk_places")
    }
    stated: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in database.stream("every_fact"):
        yield from _fact(row, places)
        for chunk_id in row["chunk_ids"]:
            stated[chunk_id, row["subject_id"]].add(row["id"])
            stated[chunk_id, row["object_id"]].add(row["id"])
    yield from _mentions(database, places, stated)
    yield from _entities(database)
    yield from _citations(database)


def _fact(row: Row, places: _Places) -> Iterator[Problem]:
    if not row["doc_ids"] or not is_whole(row):
        detail = f"nothing supports it, or its lists differ in length ({row['predicate']})"
        yield Problem("fact-has-evidence", row["id"], f"{detail}: {_REINGEST}")
        return
    stated = evidence_in(row)
    if fact_properties(row["id"], stated)["predicate"] != row["predicate"]:
        detail = f"most documents word it otherwise than {row['predicate']}: {_REINGEST}"
        yield Problem("fact-wording", row["id"], detail)
    if stated != sorted(set(stated)):
        detail = f"its evidence is out of order or doubled: {_REINGEST}"
        yield Problem("fact-order", row["id"], detail)
    for s in stated:
        yield from _evidence("evidence", row["id"], s, places)


def _evidence(what: str, subject: str, s: StatedEvidence, places: _Places) -> Iterator[Problem]:
    doc_id, start, end = places.get(s.chunk_id, ("", 0, 0))
    if doc_id != s.doc_id or s.start > end or s.end < start or s.end < s.start:
        detail = f"its chunk {s.chunk_id} is missing or does not touch {s.start}..{s.end}"
        yield Problem(f"{what}-chunk", subject, f"{detail}: {_REINGEST}")
    try:
        qualifiers_of(s.qualifiers)
    except (ValueError, TypeError, AttributeError):
        detail = f"its qualifiers at {s.start}..{s.end} cannot be read: {_REINGEST}"
        yield Problem(f"{what}-qualifiers", subject, detail)
    if not 0 < s.confidence <= 1:
        detail = f"its confidence {s.confidence} is not in (0, 1]: {_REINGEST}"
        yield Problem(f"{what}-confidence", subject, detail)


def _mentions(
    database: Database, places: _Places, stated: dict[tuple[str, str], set[str]]
) -> Iterator[Problem]:
    met = set()
    for row in database.stream("every_mention_link"):
        pair = (row["chunk_id"], row["entity_id"])
        if pair in met:
            detail = f"{pair[0]} mentions it twice: {_REINGEST}"
            yield Problem("mention-once", pair[1], detail)
        met.add(pair)
        if set(row["fact_ids"]) != stated.get(pair, set()):
            detail = f"{pair[0]} does not name the facts that it states: {_REINGEST}"
            yield Problem("mention-facts", pair[1], detail)
        has_qualifiers = row["qualifiers"] is not None and len(row["qualifiers"]) == row["n"]
        if row["qualifiers"] is not None and not has_qualifiers:
            detail = f"its qualifiers in {pair[0]} are not those of its places: {_REINGEST}"
            yield Problem("mention-places", pair[1], detail)
        if not row["fact_ids"] and not row["n"]:
            yield Problem("mention-supported", pair[1], f"nothing in {pair[0]}: {_REINGEST}")
        doc_id, _, _ = places.get(pair[0], ("", 0, 0))
        told = row["qualifiers"] if has_qualifiers else [NOTHING] * row["n"]
        columns = (row["starts"], row["ends"], told, row["confidences"])
        for start, end, qualifiers, confidence in zip(*columns, strict=True):
            place = StatedEvidence(doc_id, start, end, "", pair[0], qualifiers, confidence, "")
            yield from _evidence("mentions", pair[1], place, places)
    for chunk_id, entity_id in sorted(stated.keys() - met):
        detail = f"{chunk_id} states a fact of it, but does not mention it: {_REINGEST}"
        yield Problem("mention-facts", entity_id, detail)


def _entities(database: Database) -> Iterator[Problem]:
    names: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    types: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in database.stream("every_name"):
        for doc_id, name, type_ in row["ways"]:
            names[row["id"]][name].add(doc_id)
            types[row["id"]][type_].add(doc_id)
    for row in database.stream("entity_keys"):
        if row["caption"] != caption(row["name"]):
            detail = f"{row['name']!r} is drawn as {row['caption']!r}: {_REINGEST}"
            yield Problem("entity-caption", row["id"], detail)
        if normalize_name(row["name"]) != row["normalized"]:
            detail = f"{row['name']!r} is kept for searching as {row['normalized']!r}: {_REINGEST}"
            yield Problem("entity-name", row["id"], detail)
        if row["id"] not in names:
            continue
        name = shown_name({n: len(docs) for n, docs in names[row["id"]].items()})
        type_ = shown_type({t: len(docs) for t, docs in types[row["id"]].items()})
        if (name, type_) != (row["name"], row["type"]):
            detail = f"most documents name or class it otherwise than {row['name']}: {_REINGEST}"
            yield Problem("entity-wording", row["id"], detail)


def _citations(database: Database) -> Iterator[Problem]:
    wanted: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in database.read("every_citing_fact", predicates=sorted(CITING_PREDICATES)):
        wanted[row["citing"], row["cited"]].add(row["predicate"])
    drawn = {
        (row["citing"], row["cited"]): set(row["predicates"])
        for row in database.read("every_citation")
    }
    for citing, cited in sorted(wanted.keys() | drawn.keys()):
        if wanted.get((citing, cited)) != drawn.get((citing, cited)):
            detail = f"its citation of {cited} is not what its facts say: {_REINGEST}"
            yield Problem("citation-follows-facts", citing, detail)


class _TypedRow(NamedTuple):
    """A typed node or relationship as it is compared.

    Attributes:
        invariant: That it breaks where it should not exist, or does not.
        subject: Id of the node, or of the document that a relationship starts from.
        about: What its problem names: the document, the type or the name.
        text: Everything that is compared, as JSON.
    """

    invariant: str
    subject: str
    about: str
    text: str


def _typed(database: Database) -> Iterator[Problem]:
    """Compare typed nodes and relationships with those that documents should have."""
    counted: Counter[_TypedRow] = Counter(_wanted_rows(database))
    counted.subtract(
        _typed_row(row["invariant"], row["subject"], row["about"], *row["compared"])
        for row in database.stream("every_typed")
    )
    for invariant, subject, about in sorted({row[:3] for row, n in counted.items() if n}):
        yield Problem(invariant, subject, _TYPED_DETAILS[invariant].format(about))


def _wanted_rows(database: Database) -> Iterator[_TypedRow]:
    """Yield the typed nodes and relationships that documents should have."""
    decisions, known = decided_names(database.read), _qualified(database)
    rows = sorted(database.read("document_names"), key=lambda row: str(row["id"]))
    stored: dict[str, str] = {}
    for row in rows:
        stored.setdefault(row["properties"]["node_id"], row["id"])
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    regions: dict[str, Mapping[str, object]] = {}
    for row in rows:
        metadata = metadata_of(row["properties"]["metadata"])
        own = known.get(row["id"], DocumentKnowledge())
        graph = typed_graph(row["id"], row["title"], metadata, own, decisions)
        yield from _own_rows(row["id"], graph, stored)
        regions |= graph.regions
        for organ_id, name in graph.organ_names():
            names[organ_id][name] += 1
    for region_id, region in regions.items():
        yield _typed_row("shared-node", region_id, region["name"], region)
    for organ_id, counted in names.items():
        name = shown_name(counted)
        organ = {"id": organ_id, "name": name, "caption": caption(name)}
        yield _typed_row("shared-node", organ_id, name, organ)


def _own_rows(doc_id: str, graph: TypedGraph, stored: Mapping[str, str]) -> Iterator[_TypedRow]:
    """Yield what is a document's own.

    Args:
        doc_id: The document.
        graph: Its typed nodes and relationships.
        stored: The document by the id of its entity.
    """

    def of_node(node_id: object, *compared: object) -> _TypedRow:
        return _typed_row("statement-follows-facts", node_id, doc_id, *compared)

    def of_document(type_: object, *compared: object) -> _TypedRow:
        return _typed_row("link-follows-facts", doc_id, type_, *compared)

    for target in graph.targets:
        node_id = target["properties"]["id"]
        yield of_node(node_id, target["properties"])
        yield of_node(node_id, "STATES", doc_id)
        yield of_node(node_id, "OF", target["indicator_id"])
        if target["region_id"]:
            yield of_node(node_id, "APPLIES_TO", target["region_id"])
    for duty in graph.duties:
        node_id = duty["properties"]["id"]
        yield of_node(node_id, duty["properties"])
        yield of_node(node_id, "ASSIGNS", doc_id)
        yield of_node(node_id, "OF", duty["task_id"])
    for row in graph.assigned:
        yield of_node(row["duty_id"], "ASSIGNED_TO", row["organ_id"], row["properties"])
    for issuer in graph.issued:
        properties = {key: value for key, value in issuer.items() if key != "organ_id"}
        yield of_document("ISSUED_BY", issuer["organ_id"], properties)
    for region_id in graph.applied:
        yield of_document("APPLIES_TO", region_id, {})
    for row in graph.references:
        object_id = row["object_id"]
        yield of_document(row["type"], stored.get(object_id, object_id), row["properties"])


def _typed_row(invariant: str, subject: object, about: object, *compared: object) -> _TypedRow:
    """Return a row; a property that is None is none."""
    parts = [
        {key: value for key, value in part.items() if value is not None}
        if isinstance(part, Mapping)
        else part
        for part in compared
    ]
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return _TypedRow(invariant, str(subject), str(about), text)


def _qualified(database: Database) -> dict[str, DocumentKnowledge]:
    """Return the facts of documents that have targets, duties or references, and their names."""
    found: defaultdict[str, DocumentKnowledge] = defaultdict(DocumentKnowledge)
    ends: defaultdict[str, set[str]] = defaultdict(set)
    for row in database.stream("every_fact"):
        texts = row["qualifiers"] or ()
        if not is_whole(row) or not any(kind in text for text in texts for kind in _TYPED_KINDS):
            continue
        pair = (row["subject_id"], row["object_id"])
        for s in evidence_in(row):
            own = found[s.doc_id]
            own.ends[row["id"]] = pair
            own.stated[row["id"], s.place] = (s.predicate, s.confidence)
            ends[s.doc_id].update(pair)
    for row in database.stream("every_name"):
        for doc_id, name, type_ in row["ways"]:
            if row["id"] in ends.get(doc_id, ()):
                found[doc_id].names.add(Entity(row["id"], name, type_))
    return found
