"""The graph of facts: entities, what is stated of them, and by which document."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter

from kgrag.qualifiers import StatementKind
from kgrag.store.bundles import by_place
from kgrag.store.graph import (
    MOST_AROUND,
    CountedEntity,
    StatedTriple,
    Statement,
    Stating,
    Triple,
)
from kgrag.store.likeness import most_alike
from kgrag.store.neo4j.connection import Row
from kgrag.store.neo4j.document_knowledge import (
    evidence_in,
    read_consistent,
    read_knowledge,
)
from kgrag.store.neo4j.documents import Documents, in_order, summaries_of
from kgrag.store.neo4j.search import any_of
from kgrag.store.texts import qualifiers_of, qualifiers_text
from kgrag.text.title_keys import cited_name
from kgrag.text.words import character_pairs, normalize_name
from kgrag.types import DocIds, Entity, Fact, Mention, Summary
from kgrag.vectors.vector import Hit

_LEAST_PIECE = 3  # characters of a text that is compared piece by piece
_CANDIDATES = 10  # names compared for each one wanted


class Graph(Documents):
    """Entities and facts of the documents; see `kgrag.store.graph.GraphStore`."""

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        normalized = sorted({normalize_name(name) for name in {*names, *map(cited_name, names)}})
        rows = self._database.read("find_entities", names=normalized) if normalized else []
        return sorted((Entity(*row) for row in rows), key=lambda e: e.entity_id)

    def search_entities(self, text: str, *, top_k: int) -> list[Hit]:
        """Return (entity_id, likeness in (0, 1]) of names that contain or resemble a text.

        Likeness is as in `kgrag.store.likeness`; best first, ties by entity id.
        """
        wanted = normalize_name(text)
        if not wanted or top_k < 1:
            return []
        rows: list[Row] = []
        if len(wanted) < _LEAST_PIECE:
            rows = self._database.read("entities_beginning", name=wanted, limit=top_k)
        if len(rows) < top_k:
            rows += self._database.read("entities_containing", name=wanted, limit=top_k)
        names = {row["id"]: row["normalized"] for row in rows}
        if len(wanted) >= _LEAST_PIECE and len(names) < top_k:
            query = any_of(sorted(set(character_pairs(wanted))))
            limit = top_k * _CANDIDATES
            rows = self._database.read("entities_like", query=query, limit=limit)
            names |= {row["id"]: row["normalized"] for row in rows}
        return most_alike(wanted, names, top_k)

    def entities(self, entity_ids: Sequence[str]) -> list[Entity]:
        rows = self._database.read("entities", ids=list(entity_ids)) if entity_ids else []
        return in_order({row["id"]: Entity(*row) for row in rows}, entity_ids)

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        rows = self._database.read("entity_degrees", ids=list(entity_ids)) if entity_ids else []
        return {row["id"]: row["degree"] for row in rows}

    def facts_around(
        self, entity_ids: Sequence[str], *, limit: int, doc_ids: DocIds = None
    ) -> list[Fact]:
        return self._around(entity_ids, limit, doc_ids)

    def triples_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: DocIds = None,
        saying: Collection[str] = (),
    ) -> list[Triple]:
        facts = self._around(entity_ids, limit, doc_ids, saying)
        return [_triple(fact) for fact in facts]

    def _around(
        self,
        entity_ids: Sequence[str],
        limit: int,
        doc_ids: DocIds,
        saying: Collection[str] = (),
    ) -> list[Fact]:
        ids = list(dict.fromkeys(entity_ids))
        if not ids or limit < 1:
            return []
        place = {entity_id: n for n, entity_id in enumerate(ids)}
        asked: dict[str, object] = {
            "ids": ids,
            "limit": limit,
            "within": None if doc_ids is None else sorted(doc_ids),
        }
        name = "facts_around_saying" if saying else "facts_around"
        if saying:
            asked |= {"saying": sorted(saying), "most": MOST_AROUND}
        rows = read_consistent(lambda: self._database.read(name, **asked))
        said = itemgetter("said") if saying else lambda _: 0
        rows.sort(key=lambda row: (place[row["around"]], -said(row), row["id"]))
        return _facts({row["id"]: row for row in reversed(rows)}, (row["id"] for row in rows))

    def facts(self, fact_ids: Sequence[str]) -> list[Fact]:
        if not fact_ids:
            return []
        rows = read_consistent(lambda: self._database.read("facts", ids=sorted(set(fact_ids))))
        by_id = {row["id"]: row for row in rows}
        return _facts(by_id, (fact_id for fact_id in fact_ids if fact_id in by_id))

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        return [(f.fact_id, e.chunk_id) for f in self.facts(fact_ids) for e in f.evidence]

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        facts = self.facts(fact_ids)
        return [(_triple(f), tuple(e.chunk_id for e in f.evidence)) for f in facts]

    def facts_of_chunks(self, chunk_ids: Sequence[str]) -> list[Fact]:
        if not chunk_ids:
            return []
        ids = list(chunk_ids)
        rows = read_consistent(lambda: self._database.read("facts_of_chunks", ids=ids))
        by_id = {row["id"]: row for row in rows}
        return _facts(by_id, sorted(by_id))

    def knowledge_of(self, doc_id: str) -> tuple[list[Fact], list[Mention], list[Summary]]:
        facts, mentions = read_knowledge(self._database.read, doc_id).kept(doc_id).each_once()
        return facts, mentions, summaries_of(self._database, doc_id)

    def entity_uses(self, entity_ids: Sequence[str]) -> dict[str, list[str]]:
        ids = sorted(set(entity_ids))
        found: dict[str, list[str]] = {}
        for row in self._database.read("naming_documents", ids=ids) if ids else []:
            found.setdefault(row["id"], []).append(row["doc_id"])
        return found

    def entity_page(self, *, after: str = "", limit: int) -> list[CountedEntity]:
        rows = self._database.read("entity_page", after=after, limit=max(limit, 0))
        return [
            CountedEntity(Entity(row["id"], row["name"], row["type"]), row["facts"]) for row in rows
        ]

    def statements(
        self,
        kind: StatementKind,
        doc_ids: Sequence[str] | None = None,
        *,
        predicates: Collection[str] | None = None,
        around: Collection[str] | None = None,
    ) -> list[Statement]:
        ids = None if doc_ids is None else sorted(set(doc_ids))
        said = None if predicates is None else sorted(set(predicates))
        wanted = {"ids": ids, "told": f'"kind":"{kind}"', "predicates": said}
        if around is None:
            rows = read_consistent(lambda: self._database.read("stating_facts", **wanted))
        else:
            ends = sorted(set(around))
            rows = read_consistent(
                lambda: self._database.read("stating_facts_around", around=ends, **wanted)
            )
        return sorted(_statements(rows, kind, ids), key=_stated_place)


def _statements(rows: Iterable[Row], kind: StatementKind, doc_ids: DocIds) -> Iterator[Statement]:
    """Yield each place once: evidence over several chunks is one."""
    for row in rows:
        triple = _triple(_fact(row))
        places: defaultdict[tuple[str, int, int, str, str], list[tuple[str, float]]]
        places = defaultdict(list)
        for s in evidence_in(row.data()):
            if doc_ids is None or s.doc_id in doc_ids:
                place = (s.doc_id, s.start, s.end, s.extractor, s.qualifiers)
                places[place].append((s.chunk_id, s.confidence))
        for (doc_id, start, end, extractor, text), chunks in places.items():
            qualifiers = qualifiers_of(text)
            if qualifiers.kind == kind:
                chunk_id, confidence = min(c for c, _ in chunks), max(c for _, c in chunks)
                yield Statement(
                    doc_id, start, end, triple, qualifiers, extractor, chunk_id, confidence
                )


def _stated_place(s: Statement) -> tuple[str, int, int, str, str, str]:
    return (s.doc_id, s.start, s.end, s.fact.fact_id, s.extractor, qualifiers_text(s.qualifiers))


def _triple(fact: Fact) -> Triple:
    return Triple(fact.fact_id, fact.subject, fact.predicate, fact.object)


def _facts(rows: dict[str, Row], fact_ids: Iterable[str]) -> list[Fact]:
    """Return facts in the order of first mention, each once."""
    return [_fact(rows[fact_id]) for fact_id in dict.fromkeys(fact_ids)]


def _fact(row: Row) -> Fact:
    evidence = sorted((s.evidence() for s in evidence_in(row.data())), key=by_place)
    subject = Entity(row["subject_id"], row["subject"], row["subject_type"])
    object_ = Entity(row["object_id"], row["object"], row["object_type"])
    return Fact(row["id"], subject, row["predicate"], object_, tuple(evidence))
