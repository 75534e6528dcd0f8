"""Typed nodes and relationships of documents: targets, duties, organs, places, references.

They are derived from the qualifiers of evidence, from metadata and from decisions, and nowhere
else stored, so that they can be made again, and checked, at any time.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from kgrag.ids import digest, entity_id
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.store.decisions import DecidedNames, Decision
from kgrag.store.neo4j.base import Base
from kgrag.store.neo4j.caption import caption, target_caption
from kgrag.store.neo4j.connection import Transaction
from kgrag.store.neo4j.document_knowledge import DocumentKnowledge, Run, shown_name
from kgrag.store.texts import metadata_of, qualifiers_of
from kgrag.text.document_nodes import node_name
from kgrag.text.facets import NATIONAL
from kgrag.text.organs import canonical_organ, is_bare_organ, place_name
from kgrag.text.regions import level_of, path, region_of

_Row = dict[str, Any]

# Relationships of references by their role; other roles are REFERS_TO.
REFERENCES: Mapping[str, str] = MappingProxyType(
    {
        "依据": "BASED_ON",
        "落实": "IMPLEMENTS",
        "修订": "AMENDS",
        "废止": "REPEALS",
        "转发": "FORWARDS",
        "印发": "ISSUES",
    }
)
REFERS_TO = "REFERS_TO"
_NUMBER = re.compile(r"[-+]?\d{1,300}(?:\.\d+)?")
_YEAR = re.compile(r"\d{4}")
_DEPTH = ("省", "市", "县")
_COPIED = (
    "unit", "comparator", "bound", "period", "scope", "standing", "binding", "condition", "region",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TypedGraph:
    """The typed nodes and relationships of one document, a mapping of properties each.

    Attributes:
        organs: Nodes that issue, or have duties, by id.
        regions: Nodes of places by id.
        issued: ISSUED_BY: `organ_id`, and the relationship's `name`, `written`, `index`.
        applied: Ids of the places that the document itself is for.
        targets: `properties`; `indicator_id`, an entity; `region_id`, None where there is none.
        duties: `properties`; `task_id`, an entity.
        assigned: ASSIGNED_TO: `duty_id`, `organ_id`, `properties`.
        references: `type`, `object_id` (an entity, or the node of a stored document), `properties`.
    """

    organs: dict[str, _Row] = field(default_factory=dict)
    regions: dict[str, _Row] = field(default_factory=dict)
    issued: list[_Row] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)
    targets: list[_Row] = field(default_factory=list)
    duties: list[_Row] = field(default_factory=list)
    assigned: list[_Row] = field(default_factory=list)
    references: list[_Row] = field(default_factory=list)

    def organ_names(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the name of an organ for each relationship that leads to it."""
        for row in self.issued:
            yield row["organ_id"], row["name"]
        for row in self.assigned:
            yield row["organ_id"], row["properties"]["name"]

    def place(self, names: Sequence[str]) -> str:
        """Add the node of a place, and return its id.

        Args:
            names: Full names of the place and what lies around it, the outermost first.
        """
        region_id = "r-" + digest("region", *names)
        self.regions[region_id] = {
            "id": region_id,
            "name": names[-1],
            "caption": caption(names[-1]),
            "path": list(names),
            "level": "国家" if names[-1] == NATIONAL else level_of(names[-1]),
            "province": names[0] if level_of(names[0]) == "省" else None,
        }
        return region_id

    def organ(self, organ_id: str, name: str) -> str:
        """Add the node of an organ, and return its id."""
        self.organs[organ_id] = {"id": organ_id, "name": name, "caption": caption(name)}
        return organ_id


class _Place(NamedTuple):
    """A statement at one place of a document, over any number of chunks."""

    start: int
    end: int
    extractor: str
    qualifiers: str
    fact_id: str


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement with qualifiers: its ends by name and, `subject` and `object`, as written."""

    place: _Place
    chunk_id: str
    predicate: str
    confidence: float
    qualifiers: Qualifiers
    subject_id: str
    name: str
    subject: str
    object_id: str
    object_name: str
    object: str

    def spot(self) -> _Row:
        """Return its position and origin."""
        start, end, extractor, *_ = self.place
        return {
            "fact_id": self.place.fact_id,
            "chunk_id": self.chunk_id,
            "start": start,
            "end": end,
            "extractor": extractor,
            "confidence": self.confidence,
        }


def typed_graph(
    doc_id: str,
    title: str,
    metadata: Metadata,
    known: DocumentKnowledge,
    decisions: DecidedNames,
) -> TypedGraph:
    """Return the typed nodes and relationships of a document.

    Args:
        doc_id: The document.
        title: Its title.
        metadata: Its metadata, from its file as well as its text.
        known: Its facts and names.
        decisions: Decisions of a person on names.
    """
    graph = TypedGraph()
    graph.issued.extend(_issuers(graph, title, metadata, decisions))
    graph.applied.extend(dict.fromkeys(map(graph.place, places_of(metadata))))
    duties: dict[str, _Row] = {}
    cited: defaultdict[tuple[str, str], list[_Statement]] = defaultdict(list)
    for statement in _statements(known):
        if statement.qualifiers.kind == "target":
            graph.targets.append(_target(graph, doc_id, statement, metadata))
        elif statement.qualifiers.kind == "duty":
            duty = _duty(doc_id, statement)
            duties.setdefault(str(duty["id"]), {"properties": duty, "task_id": statement.object_id})
            graph.assigned.append(_assigned(graph, str(duty["id"]), statement))
        elif statement.qualifiers.kind == "reference":
            cited[statement.object_id, statement.qualifiers.role or statement.predicate].append(
                statement
            )
    graph.duties.extend(duties.values())
    graph.references.extend(_reference(*key, found) for key, found in sorted(cited.items()))
    return graph


def _issuers(
    graph: TypedGraph, title: str, metadata: Metadata, decisions: DecidedNames
) -> list[_Row]:
    """Return the ISSUED_BY relationships of a document, and add the organs to a graph.

    An organ is called as everywhere in the graph: as it is called now, and as a person decided. A
    name that organs of many places have is the document's place's.
    """
    rows: list[_Row] = []
    for index, written in enumerate(metadata.issuers):
        name = decisions.called(canonical_organ(written, regions=metadata.regions), written=written)
        if is_bare_organ(name):
            name = f"{name}（{place_name(metadata.regions) or node_name(title)}）"
        organ_id = graph.organ(entity_id(name), name)
        rows.append({"organ_id": organ_id, "name": name, "written": written, "index": index})
    return rows


def places_of(metadata: Metadata) -> Iterator[tuple[str, ...]]:
    """Yield the innermost places that a document governs, each with what lies around it.

    >>> list(places_of(Metadata(regions=("四川省", "成都市", "绵阳市"))))
    [('四川省', '成都市'), ('四川省', '绵阳市')]
    """
    if not metadata.regions and metadata.level in ("国家", "部门"):
        yield (NATIONAL,)
    around: list[str] = []
    for name in metadata.regions:
        depth = _DEPTH.index(level_of(name))
        if around and _DEPTH.index(level_of(around[-1])) >= depth:
            yield tuple(around)
            around = [n for n in around if _DEPTH.index(level_of(n)) < depth]
        around.append(name)
    if around:
        yield tuple(around)


def write_typed(
    tx: Transaction,
    base: Base,
    doc_id: str,
    known: DocumentKnowledge,
    *,
    described: tuple[str, Metadata] | None = None,
    replaces: bool = True,
) -> None:
    """Replace the typed nodes and relationships of a stored document.

    Args:
        tx: The transaction.
        base: State of the knowledge base.
        doc_id: The document, whose facts and metadata are written already.
        known: Its facts and names.
        described: Its title and metadata; None to have them read.
        replaces: Whether it may have some.
    """
    if described is None:
        row = tx.run("described", id=doc_id)[0]
        described = (row["title"], metadata_of(row["metadata"]))
    graph = typed_graph(doc_id, *described, known, decided_names(tx.run))
    touched = _delete_own(tx, doc_id) if replaces else set()
    touched |= _put_organs(tx, base, graph)
    labels = base.readable("Region")
    tx.run_rows("put_regions", list(graph.regions.values()), labels=labels)
    tx.run_rows("put_issued", [{"id": doc_id, **row} for row in graph.issued])
    tx.run_rows("put_applied", graph.applied, id=doc_id)
    tx.run_rows("put_targets", graph.targets, id=doc_id, labels=base.readable("Target"))
    tx.run_rows("put_duties", graph.duties, id=doc_id, labels=base.readable("Duty"))
    tx.run_rows("put_assigned", graph.assigned)
    tx.run_rows("put_references", graph.references, id=doc_id)
    _update_shared(tx, touched)


def delete_typed(tx: Transaction, doc_id: str) -> None:
    """Delete the typed nodes and relationships of a document, and the shared nodes left unused."""
    _update_shared(tx, _delete_own(tx, doc_id))


def redirect_references(
    tx: Transaction, node_ids: Iterable[str | None], *, without: str = ""
) -> None:
    """Point references at stored documents, or at entities where there is no such document.

    Args:
        tx: The transaction.
        node_ids: Of documents that were added, removed or renamed.
        without: A document that is about to be deleted.
    """
    ids = sorted(set(filter(None, node_ids)))
    if ids:
        tx.run("redirect_references", ids=ids, without=without)


def rewrite_issuers(tx: Transaction, base: Base) -> None:
    """Rewrite the ISSUED_BY relationships that decisions on names have changed."""
    decisions = decided_names(tx.run)
    rows: list[_Row] = []
    wanted, touched = TypedGraph(), set[str]()
    for row in tx.run("issuers_of_documents"):
        graph = TypedGraph()
        issued = _issuers(graph, row["title"], metadata_of(row["metadata"]), decisions)
        if [[i["organ_id"], i["name"]] for i in issued] != row["organs"]:
            rows += ({"id": row["id"], **i} for i in issued)
            touched |= {r["id"] for r in tx.run("delete_issued", id=row["id"])}
            wanted.organs.update(graph.organs)
    touched |= _put_organs(tx, base, wanted)
    tx.run_rows("put_issued", rows)
    _update_shared(tx, touched)


def decided_names(run: Run) -> DecidedNames:
    """Return the decisions on names.

    Args:
        run: Runs a statement by name.
    """
    return DecidedNames.of(Decision(r["kind"], r["name"], r["into"]) for r in run("decisions"))


def _delete_own(tx: Transaction, doc_id: str) -> set[str]:
    """Delete a document's own nodes and relationships; return the organs and places they had."""
    tx.run("delete_references", id=doc_id)
    return {row["id"] for row in tx.run("delete_typed", id=doc_id)}


def _put_organs(tx: Transaction, base: Base, graph: TypedGraph) -> set[str]:
    """Store the organs of a document; return those that exist under another name."""
    rows = list(graph.organs.values())
    if not rows:
        return set()
    return {row["id"] for row in tx.run("put_organs", rows=rows, labels=base.readable("Organ"))}


def _update_shared(tx: Transaction, ids: set[str]) -> None:
    """Name organs as most documents do; delete organs and places without relationships."""
    if not ids:
        return
    shown: dict[str, str] = {}
    counted: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in tx.run("organs_counted", ids=sorted(ids)):
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
    tx.run("delete_unused", ids=sorted(ids))


def _statements(known: DocumentKnowledge) -> Iterator[_Statement]:
    """Yield the statements with qualifiers, each place once, in the order of the text."""
    names = {entity: min(names) for entity, (names, _) in known.name_rows().items()}
    found: dict[_Place, _Statement] = {}
    for (fact_id, place), (predicate, confidence) in sorted(known.stated.items()):
        qualifiers = qualifiers_of(place.qualifiers)
        if qualifiers.kind not in ("target", "duty", "reference"):
            continue
        key = _Place(place.start, place.end, place.extractor, place.qualifiers, fact_id)
        statement = found.get(key)
        if statement is None:
            subject_id, object_id = known.ends[fact_id]
            name, object_name = names.get(subject_id, ""), names.get(object_id, "")
            found[key] = _Statement(
                key, place.chunk_id, predicate, confidence, qualifiers,
                subject_id, name, qualifiers.subject or name,
                object_id, object_name, qualifiers.object or object_name,
            )  # fmt: skip
        elif place.chunk_id < statement.chunk_id:
            found[key] = replace(statement, chunk_id=place.chunk_id)
    yield from (found[key] for key in sorted(found))


def _target(graph: TypedGraph, doc_id: str, statement: _Statement, metadata: Metadata) -> _Row:
    qualifiers = statement.qualifiers
    properties: _Row = {
        "id": "t-" + digest("target", doc_id, *map(str, statement.place)),
        "doc_id": doc_id,
        **statement.spot(),
        "indicator": statement.name,
        "indicator_text": statement.subject,
        "predicate": statement.predicate,
        "value_text": statement.object,
        "value": _number(qualifiers.value),
        "value_to": _number(qualifiers.value_to),
        "year": _year(qualifiers.year),
        "base_year": _year(qualifiers.base_year),
        "base_value": _number(qualifiers.base_value),
        **{name: getattr(qualifiers, name) or None for name in _COPIED},
        "caption": target_caption(statement.name, statement.object, qualifiers),
    }
    region = _place_named(qualifiers.region, metadata)
    return {
        "properties": properties,
        "indicator_id": statement.subject_id,
        "region_id": graph.place(region) if region else None,
    }


def _duty(doc_id: str, statement: _Statement) -> _Row:
    """Return the node of a duty: organs that have it at one place share it."""
    qualifiers = statement.qualifiers
    limits = (qualifiers.deadline, qualifiers.year, qualifiers.region, qualifiers.condition)
    place = (str(statement.place.start), str(statement.place.end), statement.place.extractor)
    return {
        "id": "u-" + digest("duty", doc_id, statement.object_id, *place, *limits),
        "doc_id": doc_id,
        "chunk_id": statement.chunk_id,
        "start": statement.place.start,
        "end": statement.place.end,
        "extractor": statement.place.extractor,
        "task": statement.object_name,
        "deadline": qualifiers.deadline or None,
        "year": _year(qualifiers.year),
        "region": qualifiers.region or None,
        "condition": qualifiers.condition or None,
        "caption": caption(statement.object_name),
    }


def _assigned(graph: TypedGraph, duty_id: str, statement: _Statement) -> _Row:
    return {
        "duty_id": duty_id,
        "organ_id": graph.organ(statement.subject_id, statement.name),
        "properties": {
            "role": statement.qualifiers.role or statement.predicate,
            "name": statement.name,
            "written": statement.subject,
            "fact_id": statement.place.fact_id,
            "confidence": statement.confidence,
        },
    }


def _reference(object_id: str, role: str, found: Sequence[_Statement]) -> _Row:
    """Return the relationship of all references of one role to one document."""
    return {
        "type": REFERENCES.get(role, REFERS_TO),
        "object_id": object_id,
        "properties": {
            "object_id": object_id,
            "role": role,
            "titles": [statement.object for statement in found],
            "numbers": [statement.qualifiers.number for statement in found],
            "matches": [statement.qualifiers.match for statement in found],
            "fact_ids": [statement.place.fact_id for statement in found],
            "chunk_ids": [statement.chunk_id for statement in found],
            "starts": [statement.place.start for statement in found],
            "ends": [statement.place.end for statement in found],
            "extractors": [statement.place.extractor for statement in found],
            "confidences": [statement.confidence for statement in found],
        },
    }


def _place_named(name: str, metadata: Metadata) -> tuple[str, ...]:
    if not name:
        return ()
    region = region_of(name, within=metadata.regions)
    return path(region) if region else (name,)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _year(text: str) -> int | None:
    return int(text) if _YEAR.fullmatch(text) else None
