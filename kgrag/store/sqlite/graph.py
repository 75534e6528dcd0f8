"""Reading the knowledge graph: entities, facts and their evidence."""

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from kgrag.qualifiers import StatementKind
from kgrag.store.bundles import KeptKnowledge, StatedFact, by_place, nameless
from kgrag.store.graph import (
    MOST_AROUND,
    CountedEntity,
    StatedTriple,
    Statement,
    Stating,
    Triple,
)
from kgrag.store.likeness import most_alike
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import Mark, current_mark
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.documents import Documents
from kgrag.store.sqlite.reconcile import id_list
from kgrag.store.sqlite.role import Row
from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.texts import qualifiers_of
from kgrag.text.title_keys import cited_name
from kgrag.text.words import normalize_name
from kgrag.types import DocIds, Entity, Evidence, Fact, Mention, Summary
from kgrag.vectors.vector import Hit

_MOST = 50_000  # cached entities, some 10 MB

_TRIGRAM = 3  # shortest key of FTS5's trigram index
_CANDIDATES = 10  # names compared for each one wanted; FTS5's ranking is coarser than Dice


class Named(dict[str, Entity]):
    """Entities by id; a missing one means damage."""

    def __missing__(self, entity_id: str) -> Entity:
        """Raise StoreError."""
        raise nameless(entity_id)


class KnownEntities:
    """A cache of entities by id, valid for one commit."""

    def __init__(self) -> None:
        """Start empty."""
        self._mark = Mark()
        self._known = Named()
        self._lock = threading.Lock()

    def of(self, connection: sqlite3.Connection, entity_ids: Collection[str]) -> Named:
        """Return entities by id, maybe with others; looking up a missing one raises."""
        mark = current_mark(connection)
        with self._lock:
            if self._mark != mark or len(self._known) > _MOST:
                self._mark, self._known = mark, Named()
            known = self._known
        missing = [entity_id for entity_id in entity_ids if entity_id not in known]
        if missing:
            rows = run(connection, "entities", json_list(missing))
            known.update((row[0], Entity(*row)) for row in rows)
        return known


class Graph(Documents):
    """Reading the knowledge graph; implements part of `kgrag.store.graph`."""

    def __init__(self, database: Database, cache: CacheFolder) -> None:
        super().__init__(database, cache)
        self._known_entities = KnownEntities()

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        normalized = {normalize_name(name) for name in {*names, *map(cited_name, names)}}
        return self._read(Entity, "find_entities", id_list(normalized))

    def search_entities(self, text: str, *, top_k: int) -> list[Hit]:
        wanted = normalize_name(text)
        if not wanted or top_k < 1:
            return []
        with self.snapshot() as here:
            if len(wanted) < _TRIGRAM:
                names = here._short_names(wanted, top_k)
            else:
                names = dict(here._rows("names_containing", _quoted(wanted), top_k))
                if len(names) < top_k:
                    # by BM25 of three-character pieces
                    limit = top_k * _CANDIDATES
                    names |= dict(here._rows("names_sharing", _any_piece(wanted), limit))
        return most_alike(wanted, names, top_k)

    def entities(self, entity_ids: Sequence[str]) -> list[Entity]:
        return self._read(Entity, "entities", json_list(entity_ids))

    def facts_around(
        self, entity_ids: Sequence[str], *, limit: int, doc_ids: DocIds = None
    ) -> list[Fact]:
        with self.snapshot() as here:
            return here._with_evidence(here._around(entity_ids, limit, doc_ids))

    def triples_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: DocIds = None,
        saying: Collection[str] = (),
    ) -> list[Triple]:
        with self.snapshot() as here:
            return here._named(here._around(entity_ids, limit, doc_ids, saying))

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        stating: dict[str, list[str]] = {fact_id: [] for fact_id in fact_ids}
        found: dict[str, Row] = {}
        with self.snapshot() as here:
            for *row, chunk_id in here._rows("stated_triples", json_list(stating)):
                found[row[0]] = tuple(row)
                stating[row[0]].append(chunk_id)
            triples = here._named([found[f] for f in stating if f in found])
        return [(t, tuple(stating[t.fact_id])) for t in triples]

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Return facts with all their evidence, in the given order, each once."""
        ids = list(dict.fromkeys(fact_ids))
        with self.snapshot() as here:
            by_id = {row[0]: row for row in here._rows("facts", json_list(ids))}
            return here._with_evidence([by_id[f] for f in ids if f in by_id])

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        return self._read(
            lambda fact_id, chunk_id: (fact_id, chunk_id), "stating_chunks", json_list(fact_ids)
        )

    def facts_of_chunks(self, chunk_ids: Sequence[str]) -> list[Fact]:
        with self.snapshot() as here:
            return here.facts(f for (f,) in here._rows("facts_of_chunks", json_list(chunk_ids)))

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        return dict(self._rows("entity_degrees", json_list(entity_ids)))

    def knowledge_of(self, doc_id: str) -> tuple[list[Fact], list[Mention], list[Summary]]:
        with self.snapshot() as here:
            return *here._knowledge(doc_id).each_once(), here.summaries_of(doc_id)

    def entity_uses(self, entity_ids: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for entity_id, doc_id in self._rows("naming_documents", id_list(set(entity_ids))):
            found.setdefault(entity_id, []).append(doc_id)
        return found

    def entity_page(self, *, after: str = "", limit: int) -> list[CountedEntity]:
        return self._read(
            lambda *row: CountedEntity(Entity(*row[:3]), row[3]),
            "entity_page",
            after,
            max(limit, 0),
        )

    def statements(
        self,
        kind: StatementKind,
        doc_ids: Sequence[str] | None = None,
        *,
        predicates: Collection[str] | None = None,
        around: Collection[str] | None = None,
    ) -> list[Statement]:
        if around is not None:
            found = self._read(_statement, "statements_around", id_list(set(around)), kind)
        elif predicates is not None:
            found = self._read(_statement, "statements_saying", id_list(set(predicates)), kind)
        elif doc_ids is not None:
            return self._read(_statement, "statements_of", id_list(set(doc_ids)), kind)
        else:
            return self._read(_statement, "statements", kind)
        if predicates is not None:
            found = [s for s in found if s.fact.predicate in predicates]
        within = None if doc_ids is None else set(doc_ids)
        return [s for s in found if within is None or s.doc_id in within]

    def _knowledge(self, doc_id: str) -> KeptKnowledge:
        return KeptKnowledge(
            self._read(Entity, "names_of_document", doc_id),
            self._read(
                lambda f, s, p, o, *place: StatedFact(f, s, p, o, evidence(place)),
                "facts_of_document",
                doc_id,
            ),
            self._read(lambda e, *place: (e, evidence(place)), "mentions_of_document", doc_id),
        )

    def _short_names(self, wanted: str, top_k: int) -> dict[str, str]:
        """Return the shortest names with the text as a prefix; if too few, that contain it."""
        beyond = wanted + chr(0x10FFFF)
        names: dict[str, str] = dict(self._rows("names_beginning", wanted, beyond, top_k))
        if len(names) >= top_k:
            return names
        return names | dict(self._rows("short_names_containing", wanted, top_k))

    def _around(
        self,
        entity_ids: Sequence[str],
        limit: int,
        doc_ids: DocIds,
        saying: Collection[str] = (),
    ) -> list[Row]:
        """Return at most `limit` facts around each entity, in order, each once."""
        within = None if doc_ids is None else id_list(doc_ids)
        name = "facts_around"
        options: tuple[object, ...] = (within,)
        if saying:
            name, options = "facts_around_saying", (within, id_list(saying), MOST_AROUND)
        found: dict[str, Row] = {}
        with self._reading() as connection:
            for entity_id in entity_ids:
                for row in run(connection, name, entity_id, max(limit, 0), *options):
                    found.setdefault(row[0], row)
        return list(found.values())

    def _named(self, rows: Sequence[Row], known: KnownEntities | None = None) -> list[Triple]:
        """Return triples with the entities at both ends."""
        ends = {end for _, subject, _, object_ in rows for end in (subject, object_)}
        with self._reading() as connection:
            named = (known or self._known_entities).of(connection, ends)
        return [
            Triple(fact_id, named[subject], predicate, named[object_])
            for fact_id, subject, predicate, object_ in rows
        ]

    def _with_evidence(self, rows: Sequence[Row]) -> list[Fact]:
        found: defaultdict[str, list[Evidence]] = defaultdict(list)
        for fact_id, *place in self._rows("evidence", json_list(row[0] for row in rows)):
            found[fact_id].append(evidence(place))
        for several in found.values():
            if len(several) > 1:
                several.sort(key=by_place)
        named = self._named(rows, KnownEntities())
        return [Fact(*triple, tuple(found[triple.fact_id])) for triple in named]


def evidence(place: Sequence[Any]) -> Evidence:
    """Convert the columns of evidence, which all statements return in the same order."""
    doc_id, start, end, chunk_id, extractor, confidence, text = place
    return Evidence(doc_id, start, end, chunk_id, extractor, confidence, qualifiers_of(text))


def _statement(*row: Any) -> Statement:
    doc_id, start, end, extractor, text, chunk_id, confidence, *triple = row
    fact_id, predicate, *ends = triple
    fact = Triple(fact_id, Entity(*ends[:3]), predicate, Entity(*ends[3:]))
    return Statement(doc_id, start, end, fact, qualifiers_of(text), extractor, chunk_id, confidence)


def _any_piece(wanted: str) -> str:
    """Return an FTS5 query for any three consecutive characters."""
    pieces = sorted({wanted[i : i + _TRIGRAM] for i in range(len(wanted) - _TRIGRAM + 1)})
    return " OR ".join(map(_quoted, pieces))


def _quoted(text: str) -> str:
    """Return an FTS5 string, without operators."""
    return '"' + text.replace('"', '""') + '"'
