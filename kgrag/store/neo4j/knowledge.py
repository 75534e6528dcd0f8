"""What one document says, and how the graph keeps it: pure functions between the two."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kgrag.types import Entity, Evidence, Fact, Mention

Properties = dict[str, object]


class Place(NamedTuple):
    """Where something stands in a document: what tells one piece of evidence from another."""

    start: int
    end: int
    extractor: str
    chunk_id: str


_LISTS = ("doc_ids", "starts", "ends", "extractors", "chunk_ids", "confidences")


@dataclass(slots=True)
class Knowledge:
    """What one document says.

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

    def chunk_ids(self) -> set[str]:
        """Return the chunks in which something is said."""
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
        return {
            pair: {
                "fact_ids": sorted(facts.get(pair, ())),
                "starts": [p.start for p, _ in sorted(places.get(pair, ()))],
                "ends": [p.end for p, _ in sorted(places.get(pair, ()))],
                "extractors": [p.extractor for p, _ in sorted(places.get(pair, ()))],
                "confidences": [c for _, c in sorted(places.get(pair, ()))],
            }
            for pair in sorted({*facts, *places})
        }


class Statement(NamedTuple):
    """A piece of evidence as a RELATED relationship keeps it, one item of each of its lists."""

    doc_id: str
    start: int
    end: int
    extractor: str
    chunk_id: str
    confidence: float
    predicate: str

    def evidence(self) -> Evidence:
        """Return it without its wording."""
        return Evidence(
            self.doc_id, self.start, self.end, self.chunk_id, self.extractor, self.confidence
        )


def is_whole(row: Mapping[str, object]) -> bool:
    """Return whether the lists of a relationship tell of the same pieces of evidence."""
    names = [*_LISTS, "predicates"] if row.get("predicates") is not None else _LISTS
    return len({len(value) for name in names if isinstance(value := row[name], list)}) == 1


def statements_in(row: Mapping[str, object]) -> list[Statement]:
    """Return the pieces of evidence of a relationship; `predicates` may be left out of the row."""
    lists: list[Sequence[object]] = []
    for name in _LISTS:
        value = row[name]
        assert isinstance(value, list)
        lists.append(value)
    predicates = row.get("predicates")
    assert predicates is None or isinstance(predicates, list)
    lists.append(predicates if predicates is not None else [""] * len(lists[0]))
    return [Statement(*items) for items in zip(*lists, strict=True)]


def fact_properties(fact_id: str, statements: Iterable[Statement]) -> Properties:
    """Return the properties of a RELATED relationship; its wording is that of most documents."""
    ordered = sorted(statements)
    return {
        "id": fact_id,
        "predicate": most_used((s.predicate, s.doc_id) for s in ordered),
        "doc_ids": [s.doc_id for s in ordered],
        "starts": [s.start for s in ordered],
        "ends": [s.end for s in ordered],
        "extractors": [s.extractor for s in ordered],
        "chunk_ids": [s.chunk_id for s in ordered],
        "confidences": [s.confidence for s in ordered],
        "predicates": [s.predicate for s in ordered],
    }


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
    return Place(e.start, e.end, e.extractor, e.chunk_id)
