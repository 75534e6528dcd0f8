"""Facts and mentions of one document, and their storage in lists of relationships."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kgrag.store.bundles import KeptKnowledge, StatedFact
from kgrag.store.neo4j.connection import Row
from kgrag.store.texts import NOTHING, qualifiers_of, qualifiers_text
from kgrag.types import Entity, Evidence, Fact, Mention

Properties = dict[str, object]
Run = Callable[..., list[Row]]

_READINGS = 10  # of facts that are written just now


class Place(NamedTuple):
    """A place in a document, which identifies a piece of evidence."""

    start: int
    end: int
    extractor: str
    chunk_id: str
    qualifiers: str = NOTHING

    def evidence(self, doc_id: str, confidence: float) -> Evidence:
        """Return it as evidence of a document."""
        qualifiers = qualifiers_of(self.qualifiers)
        place = (self.start, self.end, self.chunk_id, self.extractor)
        return Evidence(doc_id, *place, confidence, qualifiers)


_LISTS = ("doc_ids", "starts", "ends", "extractors", "chunk_ids", "confidences")
# In the order of `StatedEvidence`.
_COLUMNS = (
    *("doc_ids", "starts", "ends", "extractors", "chunk_ids", "qualifiers", "confidences"),
    "predicates",
)
_OPTIONAL = ("predicates", "qualifiers")  # qualifiers are not there where none says anything


@dataclass(slots=True)
class DocumentKnowledge:
    """Facts and mentions of one document.

    Attributes:
        ends: (subject id, object id) of each fact.
        stated: (predicate as worded, confidence) of each place of a fact, by (fact id, place).
        mentioned: Confidence by (entity id, place).
        names: How it writes its entities.
    """

    ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    stated: dict[tuple[str, Place], tuple[str, float]] = field(default_factory=dict)
    mentioned: dict[tuple[str, Place], float] = field(default_factory=dict)
    names: set[Entity] = field(default_factory=set)

    def add(self, facts: Iterable[Fact], mentions: Iterable[Mention]) -> None:
        """Add facts and mentions; a place that is known keeps its wording and confidence."""
        for fact in facts:
            self.ends.setdefault(fact.fact_id, (fact.subject.entity_id, fact.object.entity_id))
            self.names |= {fact.subject, fact.object}
            for e in fact.evidence:
                self.stated.setdefault((fact.fact_id, _place(e)), (fact.predicate, e.confidence))
        for mention in mentions:
            e = mention.evidence
            self.names.add(mention.entity)
            self.mentioned.setdefault((mention.entity.entity_id, _place(e)), e.confidence)

    def is_named(self) -> bool:
        """Return whether there is a written name for each entity."""
        used = {entity_id for fact_id, _ in self.stated for entity_id in self.ends[fact_id]}
        used |= {entity_id for entity_id, _ in self.mentioned}
        return used <= {entity.entity_id for entity in self.names}

    def chunk_ids(self) -> set[str]:
        """Return the chunks with evidence or mentions."""
        return {place.chunk_id for _, place in (*self.stated, *self.mentioned)}

    def name_rows(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return parallel names and types by entity id: a NAMES relationship each."""
        rows: dict[str, tuple[list[str], list[str]]] = {}
        for entity in sorted(self.names, key=lambda e: (e.entity_id, e.name, e.type)):
            names, types = rows.setdefault(entity.entity_id, ([], []))
            names.append(entity.name)
            types.append(entity.type)
        return rows

    def mention_rows(self) -> dict[tuple[str, str], Properties]:
        """Return properties by (chunk id, entity id): a MENTIONS relationship each."""
        facts: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for fact_id, place in self.stated:
            for entity_id in self.ends[fact_id]:
                facts[place.chunk_id, entity_id].add(fact_id)
        places: defaultdict[tuple[str, str], list[tuple[Place, float]]] = defaultdict(list)
        for (entity_id, place), confidence in self.mentioned.items():
            places[place.chunk_id, entity_id].append((place, confidence))
        rows: dict[tuple[str, str], Properties] = {}
        for pair in sorted({*facts, *places}):
            ordered = sorted(places.get(pair, ()))
            rows[pair] = {
                "fact_ids": sorted(facts.get(pair, ())),
                "starts": [p.start for p, _ in ordered],
                "ends": [p.end for p, _ in ordered],
                "extractors": [p.extractor for p, _ in ordered],
                "confidences": [c for _, c in ordered],
                **_told(p.qualifiers for p, _ in ordered),
            }
        return rows

    def kept(self, doc_id: str) -> KeptKnowledge:
        """Return it as what is kept of a document."""
        return KeptKnowledge(
            self.names,
            [
                StatedFact(fact_id, subject_id, predicate, object_id, place.evidence(doc_id, c))
                for (fact_id, place), (predicate, c) in self.stated.items()
                for subject_id, object_id in (self.ends[fact_id],)
            ],
            [
                (entity_id, place.evidence(doc_id, confidence))
                for (entity_id, place), confidence in self.mentioned.items()
            ],
        )


class StatedEvidence(NamedTuple):
    """A piece of evidence as a RELATED relationship keeps it, one item of each of its lists."""

    doc_id: str
    start: int
    end: int
    extractor: str
    chunk_id: str
    qualifiers: str
    confidence: float
    predicate: str

    @property
    def place(self) -> Place:
        """Return its place in the document."""
        return Place(self.start, self.end, self.extractor, self.chunk_id, self.qualifiers)

    def evidence(self) -> Evidence:
        """Return it without its wording."""
        return self.place.evidence(self.doc_id, self.confidence)


def is_whole(row: Mapping[str, object]) -> bool:
    """Return whether the lists of two relationships have the same pieces of evidence."""
    names = [*_LISTS, *(name for name in _OPTIONAL if row.get(name) is not None)]
    return len({len(value) for name in names if isinstance(value := row[name], list)}) == 1


def evidence_in(row: Mapping[str, object]) -> list[StatedEvidence]:
    """Return the pieces of evidence of a relationship; `predicates` may be left out of the row."""
    lists = {name: _items(row[name]) for name in _LISTS}
    n = len(lists["doc_ids"])
    for name, missing in (("predicates", ""), ("qualifiers", NOTHING)):
        value = row.get(name)
        lists[name] = [missing] * n if value is None else _items(value)
    ordered = [lists[name] for name in _COLUMNS]
    return [StatedEvidence(*items) for items in zip(*ordered, strict=True)]


def fact_properties(fact_id: str, stated: Iterable[StatedEvidence]) -> Properties:
    """Return the properties of a RELATED relationship; its wording is that of most documents."""
    ordered = sorted(stated)
    lists: Properties = dict(zip(_COLUMNS, map(list, zip(*ordered, strict=True)), strict=True))
    lists |= {"id": fact_id, "predicate": most_used((s.predicate, s.doc_id) for s in ordered)}
    if all(s.qualifiers == NOTHING for s in ordered):
        del lists["qualifiers"]
    return lists


def read_knowledge(run: Run, doc_id: str) -> DocumentKnowledge:
    """Return the facts and mentions of a document in the graph.

    It is read in three statements: where a writer comes between, an entity may lack its name, and
    all is read again.

    Args:
        run: Runs a statement by name, in the caller's transaction or outside of any.
        doc_id: The document.
    """
    found = _read_once(run, doc_id)
    for _ in range(_READINGS):
        if found.is_named():
            break
        found = _read_once(run, doc_id)
    return found


def _read_once(run: Run, doc_id: str) -> DocumentKnowledge:
    found = DocumentKnowledge()
    for row in read_consistent(lambda: run("facts_of_document", id=doc_id)):
        found.ends[row["id"]] = (row["subject_id"], row["object_id"])
        for s in evidence_in(row):
            if s.doc_id == doc_id:
                found.stated[row["id"], s.place] = (s.predicate, s.confidence)
    for row in run("mentions_of_document", id=doc_id):
        told = row["qualifiers"] or [NOTHING] * len(row["starts"])
        columns = (row["starts"], row["ends"], row["extractors"], told, row["confidences"])
        for start, end, extractor, qualifiers, confidence in zip(*columns, strict=True):
            place = Place(start, end, extractor, row["chunk_id"], qualifiers)
            found.mentioned[row["entity_id"], place] = confidence
    for row in run("names_of_document", id=doc_id):
        pairs = zip(row["names"], row["types"], strict=True)
        found.names |= {Entity(row["entity_id"], name, type_) for name, type_ in pairs}
    return found


def read_consistent(read: Callable[[], list[Row]]) -> list[Row]:
    """Return rows of facts, each with its evidence whole.

    A server reads the lists of a relationship one after the other: where a writer comes between,
    they are of different lengths, and are read again.
    """
    rows = read()
    for _ in range(_READINGS):
        if all(is_whole(row) for row in rows):
            break
        rows = read()
    return rows


def most_used(uses: Iterable[tuple[str, str]]) -> str:
    """Return the wording that most documents use, of equals the smallest.

    Args:
        uses: (wording, document).
    """
    documents: defaultdict[str, set[str]] = defaultdict(set)
    for wording, doc_id in uses:
        documents[wording].add(doc_id)
    return min(documents, key=lambda wording: (-len(documents[wording]), wording))


def shown_name(counted: Mapping[str, int]) -> str:
    """Return the name that most documents write, of equals the smallest."""
    return min(counted, key=lambda name: (-counted[name], name))


def shown_type(counted: Mapping[str, int]) -> str:
    """Return the type that most documents give; any is better than `entity`."""
    typed = {name: n for name, n in counted.items() if name != "entity"}
    return shown_name(typed) if typed else "entity"


def _place(e: Evidence) -> Place:
    return Place(e.start, e.end, e.extractor, e.chunk_id, qualifiers_text(e.qualifiers))


def _told(qualifiers: Iterable[str]) -> Properties:
    """Return the property for the qualifiers of a relationship; none if all are empty."""
    told = list(qualifiers)
    return {"qualifiers": told} if any(text != NOTHING for text in told) else {}


def _items(value: object) -> list[object]:
    assert isinstance(value, list)
    return value
