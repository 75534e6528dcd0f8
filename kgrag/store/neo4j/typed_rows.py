"""What a document says as typed nodes and relationships: rows that follow from what is stored.

Nothing here is kept elsewhere: targets and duties follow from the qualifiers of evidence, organs
and places from metadata and decisions, so that they can be made anew, and checked, at any time.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from kgrag.ids import digest, entity_id
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.store.decisions import DecidedNames
from kgrag.store.neo4j.caption import caption, target_caption
from kgrag.store.neo4j.document_knowledge import DocumentKnowledge
from kgrag.store.texts import qualifiers_of
from kgrag.text.document_nodes import node_name
from kgrag.text.facets import NATIONAL
from kgrag.text.organs import canonical_organ, is_bare_organ, place_name
from kgrag.text.regions import level_of, path, region_of

Row = dict[str, object]

VERSION = 2  # raise it when the rows come out differently for the same document
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
_TOLD = (
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
        targets: `properties`; `indicator_id`, an entity; `region_id`, None where none is told.
        duties: `properties`; `task_id`, an entity.
        assigned: ASSIGNED_TO: `duty_id`, `organ_id`, `properties`.
        references: `type`, `object_id` (an entity, or the node of a held document), `properties`.
    """

    organs: dict[str, Row] = field(default_factory=dict)
    regions: dict[str, Row] = field(default_factory=dict)
    issued: list[Row] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)
    targets: list[Row] = field(default_factory=list)
    duties: list[Row] = field(default_factory=list)
    assigned: list[Row] = field(default_factory=list)
    references: list[Row] = field(default_factory=list)

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


@dataclass(frozen=True, slots=True)
class Said:
    """What the typed nodes and relationships of a document follow from.

    Attributes:
        doc_id: The document.
        title: Its title.
        metadata: What it says of itself.
        known: What it says of the world.
    """

    doc_id: str
    title: str
    metadata: Metadata
    known: DocumentKnowledge


class _Place(NamedTuple):
    """A statement at one place of a document, whatever chunks it lies over."""

    start: int
    end: int
    extractor: str
    qualifiers: str
    fact_id: str


@dataclass(frozen=True, slots=True)
class _Told:
    """What is told at a place: its ends by their names and, `subject` and `object`, as written."""

    place: _Place
    chunk_id: str
    predicate: str
    confidence: float
    said: Qualifiers
    subject_id: str
    name: str
    subject: str
    object_id: str
    object_name: str
    object: str

    def spot(self) -> Row:
        """Return where it stands."""
        start, end, extractor, *_ = self.place
        return {
            "fact_id": self.place.fact_id,
            "chunk_id": self.chunk_id,
            "start": start,
            "end": end,
            "extractor": extractor,
            "confidence": self.confidence,
        }


def typed_graph(said: Said, decisions: DecidedNames) -> TypedGraph:
    """Return what a document says as typed nodes and relationships.

    Args:
        said: What it says.
        decisions: What a person decided on names.
    """
    doc_id, metadata = said.doc_id, said.metadata
    graph = TypedGraph()
    graph.issued.extend(issuers_of(graph, said.title, metadata, decisions))
    graph.applied.extend(dict.fromkeys(map(graph.place, places_of(metadata))))
    duties: dict[str, Row] = {}
    cited: defaultdict[tuple[str, str], list[_Told]] = defaultdict(list)
    for told in _statements(said.known):
        if told.said.kind == "target":
            graph.targets.append(_target(graph, doc_id, told, metadata))
        elif told.said.kind == "duty":
            duty = _duty(doc_id, told)
            duties.setdefault(str(duty["id"]), {"properties": duty, "task_id": told.object_id})
            graph.assigned.append(_assigned(graph, str(duty["id"]), told))
        elif told.said.kind == "reference":
            cited[told.object_id, told.said.role or told.predicate].append(told)
    graph.duties.extend(duties.values())
    graph.references.extend(_reference(*key, found) for key, found in sorted(cited.items()))
    return graph


def issuers_of(
    graph: TypedGraph, title: str, metadata: Metadata, decisions: DecidedNames
) -> list[Row]:
    """Return the ISSUED_BY relationships of a document, and add the organs to a graph.

    An organ is called as everywhere in the graph: as it is called now, and as a person decided. A
    name that organs of many places have is the document's place's.
    """
    rows: list[Row] = []
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


def _statements(known: DocumentKnowledge) -> Iterator[_Told]:
    """Yield what is stated with qualifiers, each place once, in the order of the text."""
    names = {entity: min(names) for entity, (names, _) in known.name_rows().items()}
    found: dict[_Place, _Told] = {}
    for (fact_id, place), (predicate, confidence) in sorted(known.stated.items()):
        said = qualifiers_of(place.qualifiers)
        if said.kind not in ("target", "duty", "reference"):
            continue
        key = _Place(place.start, place.end, place.extractor, place.qualifiers, fact_id)
        told = found.get(key)
        if told is None:
            subject_id, object_id = known.ends[fact_id]
            name, object_name = names.get(subject_id, ""), names.get(object_id, "")
            found[key] = _Told(
                key, place.chunk_id, predicate, confidence, said,
                subject_id, name, said.subject or name,
                object_id, object_name, said.object or object_name,
            )  # fmt: skip
        elif place.chunk_id < told.chunk_id:
            found[key] = replace(told, chunk_id=place.chunk_id)
    yield from (found[key] for key in sorted(found))


def _target(graph: TypedGraph, doc_id: str, told: _Told, metadata: Metadata) -> Row:
    said = told.said
    properties: Row = {
        "id": "t-" + digest("target", doc_id, *map(str, told.place)),
        "doc_id": doc_id,
        **told.spot(),
        "indicator": told.name,
        "indicator_text": told.subject,
        "predicate": told.predicate,
        "value_text": told.object,
        "value": _number(said.value),
        "value_to": _number(said.value_to),
        "year": _year(said.year),
        "base_year": _year(said.base_year),
        "base_value": _number(said.base_value),
        **{name: getattr(said, name) or None for name in _TOLD},
        "caption": target_caption(told.name, told.object, said),
    }
    region = _place_named(said.region, metadata)
    return {
        "properties": properties,
        "indicator_id": told.subject_id,
        "region_id": graph.place(region) if region else None,
    }


def _duty(doc_id: str, told: _Told) -> Row:
    """Return the node of a duty: organs that have it at one place share it."""
    said = told.said
    limits = (said.deadline, said.year, said.region, said.condition)
    place = (str(told.place.start), str(told.place.end), told.place.extractor)
    return {
        "id": "u-" + digest("duty", doc_id, told.object_id, *place, *limits),
        "doc_id": doc_id,
        "chunk_id": told.chunk_id,
        "start": told.place.start,
        "end": told.place.end,
        "extractor": told.place.extractor,
        "task": told.object_name,
        "deadline": said.deadline or None,
        "year": _year(said.year),
        "region": said.region or None,
        "condition": said.condition or None,
        "caption": caption(told.object_name),
    }


def _assigned(graph: TypedGraph, duty_id: str, told: _Told) -> Row:
    return {
        "duty_id": duty_id,
        "organ_id": graph.organ(told.subject_id, told.name),
        "properties": {
            "role": told.said.role or told.predicate,
            "name": told.name,
            "written": told.subject,
            "fact_id": told.place.fact_id,
            "confidence": told.confidence,
        },
    }


def _reference(object_id: str, role: str, found: Sequence[_Told]) -> Row:
    """Return the relationship of all references of one role to one document."""
    return {
        "type": REFERENCES.get(role, REFERS_TO),
        "object_id": object_id,
        "properties": {
            "object_id": object_id,
            "role": role,
            "titles": [told.object for told in found],
            "numbers": [told.said.number for told in found],
            "matches": [told.said.match for told in found],
            "fact_ids": [told.place.fact_id for told in found],
            "chunk_ids": [told.chunk_id for told in found],
            "starts": [told.place.start for told in found],
            "ends": [told.place.end for told in found],
            "extractors": [told.place.extractor for told in found],
            "confidences": [told.confidence for told in found],
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
