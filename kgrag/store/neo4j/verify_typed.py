"""Check that typed nodes and relationships are what documents say."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kgrag.store.contents import Problem
from kgrag.store.decisions import DecidedNames, Decision
from kgrag.store.neo4j.caption import caption
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.document_knowledge import (
    DocumentKnowledge,
    evidence_in,
    is_whole,
    shown_name,
)
from kgrag.store.neo4j.typed_rows import Row, Said, TypedGraph, typed_graph
from kgrag.store.texts import metadata_of, told_metadata
from kgrag.types import Entity

_REINGEST = "ingest the document again"
_AGAIN = "run the ingestion again"
_KINDS = ('"kind":"target"', '"kind":"duty"', '"kind":"reference"')
_Graphs = Mapping[str, TypedGraph]


def check_typed(database: Database) -> Iterator[Problem]:
    """Yield what is wrong with targets, duties, organs, places and references.

    What documents say of themselves and of the world can be read: that was checked before.
    """
    held: dict[str, str] = {}
    graphs = _wanted(database, held)
    yield from _nodes(database, graphs)
    yield from _links(database, graphs, held)
    yield from _shared(database, graphs)


def _wanted(database: Database, held: dict[str, str]) -> dict[str, TypedGraph]:
    """Return what each document should have; `held` gets the documents by id of their node."""
    rows = database.read("decisions")
    decided = DecidedNames.of(Decision(r["kind"], r["name"], r["into"]) for r in rows)
    known = _known(database)
    graphs = {}
    for row in database.read("document_names"):
        doc_id = row["id"]
        metadata = told_metadata(metadata_of(row["metadata"]), json.loads(row["told"]))
        said = Said(doc_id, row["title"], metadata, known.get(doc_id, DocumentKnowledge()))
        graphs[doc_id] = typed_graph(said, decided)
        node_id = row["properties"]["node_id"]
        held[node_id] = min(held.get(node_id, doc_id), doc_id)
    return graphs


def _known(database: Database) -> dict[str, DocumentKnowledge]:
    """Return what documents state with qualifiers, and how they write what it is about."""
    found: defaultdict[str, DocumentKnowledge] = defaultdict(DocumentKnowledge)
    ends: defaultdict[str, set[str]] = defaultdict(set)
    for row in database.stream("every_fact"):
        texts = row["qualifiers"] or ()
        if not is_whole(row) or not any(kind in text for text in texts for kind in _KINDS):
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


def _nodes(database: Database, graphs: _Graphs) -> Iterator[Problem]:
    """Check targets and duties, each with what it leads to and the document that it is of."""
    wanted = dict(_own_nodes(graphs))
    drawn: dict[str, str] = {}
    n_drawn = Counter[str]()
    doc_ids: dict[str, str] = {}
    for name in ("every_target", "every_duty"):
        for row in database.stream(name):
            node_id = str(row["properties"].get("id"))
            doc_ids[node_id] = str(row["doc_id"])
            n_drawn[node_id] += 1
            links = (row["documents"], row["entities"], row["others"])
            drawn[node_id] = _text(dict(row["properties"]), *map(_ordered, links))
    for node_id in sorted(wanted.keys() | drawn.keys()):
        if wanted.get(node_id) != drawn.get(node_id) or n_drawn[node_id] > 1:
            detail = f"is not what {doc_ids.get(node_id, 'its document')} states: {_REINGEST}"
            yield Problem("statement-follows-facts", node_id, detail)


def _own_nodes(graphs: _Graphs) -> Iterator[tuple[str, str]]:
    """Yield the id of each target and duty, and all that it should be, as text."""
    for doc_id, graph in graphs.items():
        for row in graph.targets:
            properties = _properties(row)
            regions = [row["region_id"]] if row["region_id"] else []
            entities = [row["indicator_id"]]
            yield str(properties["id"]), _text(properties, [doc_id], entities, regions)
        assigned = defaultdict(list)
        for row in graph.assigned:
            assigned[row["duty_id"]].append([row["organ_id"], row["properties"]])
        for row in graph.duties:
            properties = _properties(row)
            organs = _ordered(assigned[properties["id"]])
            yield str(properties["id"]), _text(properties, [doc_id], [row["task_id"]], organs)


def _links(database: Database, graphs: _Graphs, held: Mapping[str, str]) -> Iterator[Problem]:
    for row in database.stream("every_typed_link"):
        graph = graphs.get(row["id"], TypedGraph())
        wanted = list(_wanted_links(graph, held))
        drawn = row["links"]
        for type_ in sorted({str(link[0]) for link in (*wanted, *drawn)}):
            if _of_type(wanted, type_) != _of_type(drawn, type_):
                detail = f"its {type_} is not what it says: {_REINGEST}"
                yield Problem("link-follows-facts", row["id"], detail)


def _wanted_links(graph: TypedGraph, held: Mapping[str, str]) -> Iterator[list[object]]:
    """Yield type, far end and properties of what leads from a document to nodes of several."""
    for row in graph.issued:
        yield ["ISSUED_BY", row["organ_id"], _without(row, "organ_id")]
    for region_id in graph.applied:
        yield ["APPLIES_TO", region_id, {}]
    for row in graph.references:
        object_id = str(row["object_id"])
        yield [row["type"], held.get(object_id, object_id), row["properties"]]


def _shared(database: Database, graphs: _Graphs) -> Iterator[Problem]:
    """Check the nodes that documents share: organs and places."""
    called: defaultdict[str, Counter[str]] = defaultdict(Counter)
    wanted: dict[str, Row] = {}
    for graph in graphs.values():
        wanted.update(graph.regions)
        for row in graph.issued:
            called[str(row["organ_id"])][str(row["name"])] += 1
        for row in graph.assigned:
            called[str(row["organ_id"])][str(_properties(row)["name"])] += 1
    for organ_id, names in called.items():
        shown = shown_name(names)
        wanted[organ_id] = {"id": organ_id, "name": shown, "caption": caption(shown)}
    drawn: list[Row] = []
    for name in ("every_organ", "every_region"):
        drawn += (dict(row["properties"]) for row in database.stream(name))
    texts = Counter(map(_text, drawn))
    wanted_texts = Counter(_text(_told(row)) for row in wanted.values())
    for text in sorted((wanted_texts - texts).keys() | (texts - wanted_texts).keys()):
        properties, *_ = json.loads(text)
        detail = f"{properties.get('name')!r} is not what documents lead to: {_AGAIN}"
        yield Problem("shared-node", str(properties.get("id")), detail)


def _properties(row: Row) -> Row:
    properties = row["properties"]
    assert isinstance(properties, dict)
    return _told(properties)


def _told(properties: Mapping[str, object]) -> Row:
    """Return the properties that a node has: None takes one away."""
    return {key: value for key, value in properties.items() if value is not None}


def _without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}


def _of_type(links: Iterable[list[object]], type_: str) -> str:
    return _text(*_ordered([link for link in links if link[0] == type_]))


def _ordered(items: Iterable[object]) -> list[object]:
    return sorted(items, key=_text)


def _text(*values: object) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
