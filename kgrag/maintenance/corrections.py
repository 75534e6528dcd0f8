"""Decisions of people: corrected metadata, entities merged and kept apart."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.ingestion.curation import TITLE, Curation
from kgrag.ingestion.duplicates import Proposal, proposals
from kgrag.ingestion.load.statement import (
    METADATA_FIELDS,
    check_regions,
    field_of,
    stated_value,
)
from kgrag.ingestion.renew import renew
from kgrag.ingestion.target import IngestTarget
from kgrag.json_ready import JsonReady
from kgrag.limits import check_whole
from kgrag.retrieval.filter import document_called
from kgrag.store.decisions import Correction, Decision
from kgrag.store.graph import CountedEntity
from kgrag.store.store import Store
from kgrag.text.messages import message
from kgrag.text.title_keys import cited_name
from kgrag.text.words import normalize_name
from kgrag.types import Document

FIELDS = (TITLE, *sorted(METADATA_FIELDS))  # that can be corrected
_PAGE = 500  # entities read at once
_FACTS = 1_000  # of an entity in which other wordings are looked for


@dataclass(frozen=True, slots=True)
class Named(JsonReady):
    """An entity and its spellings.

    Attributes:
        name: Its name in the graph.
        type: Its type.
        facts: Number of facts about it.
        documents: Number of documents that mention it.
        written: Number of occurrences by other spelling, most frequent first.
    """

    name: str
    type: str
    facts: int
    documents: int
    written: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Curator:
    """Records decisions and applies them at once.

    Decisions are stored separately from documents: they survive a deletion and apply when a
    document is ingested again. No model is called; extracted facts keep their evidence under the
    corrected names.

    Attributes:
        target: The knowledge base.
    """

    target: IngestTarget

    @property
    def store(self) -> Store:
        """The store of the knowledge base."""
        return self.target.store

    def correct(self, document: str, told: Mapping[str, str]) -> Document:
        """Correct fields of a document; return its card afterwards.

        Args:
            document: Its id, file, file name or title.
            told: Values by field (`FIELDS`, or a column name of metadata.csv); several values are
                separated by 、, an empty value means that there is none.

        Raises:
            NotFoundError: If no document, or more than one, matches.
            OutOfRangeError: If a field is unknown, or its value not allowed.
        """
        for value in told.values():
            check_whole("correction", value)
        fields = checked_corrections(told)
        card = document_called(document, self.store.document_cards())
        return self._corrected(card, fields)

    def reset(self, document: str, fields: Iterable[str] = ()) -> Document:
        """Take back corrections of a document (all, if no fields are given); return its card."""
        card = document_called(document, self.store.document_cards())
        kept = self.store.corrections().get(card.doc_id, {})
        return self._corrected(card, dict.fromkeys(tuple(fields) or tuple(kept)))

    def merge(self, names: Sequence[str], into: str) -> int:
        """Rename entities to `into` from now on; return the number of documents that mention them.

        Raises:
            NotFoundError: If an entity is unknown.
            OutOfRangeError: If a name would lead back to itself.
        """
        for name in (*names, into):
            check_whole("name", name)
        known = Curation.of(self.store).decisions
        if normalize_name(into) in map(normalize_name, names) or any(
            normalize_name(known.called(into, written=into)) == normalize_name(n) for n in names
        ):
            raise OutOfRangeError(
                "{into!r} is, or is called, one of {names} already",
                into=into,
                names="、".join(names),
            )
        decided = [Decision("merge", name, into) for name in names]
        return self._decide(
            decisions=decided,
            taken_back=[replace(d, kind="split") for d in decided],
            concerns=self._documents(self._undecided(decided)),
        )

    def split(self, name: str, from_: str) -> int:
        """Separate a name from an entity; return the number of documents affected.

        A merger that a person decided is taken back; names that the rules unify are kept apart.

        Args:
            name: As documents write it, or as a merger was decided.
            from_: The entity that it is part of now.

        Raises:
            NotFoundError: If no entity is named `from_`.
        """
        for text in (name, from_):
            check_whole("name", text)
        merger, apart = Decision("merge", name, from_), Decision("split", name, from_)
        is_merger = merger in self.store.decisions()
        affected = self._documents([from_] if is_merger or self._undecided([apart]) else [])
        if is_merger:
            return self._decide(taken_back=[merger], concerns=affected)
        return self._decide(decisions=[apart], concerns=affected)

    def _corrected(self, card: Document, fields: Mapping[str, str | None]) -> Document:
        """Correct fields (None takes a correction back); return the document's card afterwards."""
        told = [(card.doc_id, name, value) for name, value in fields.items()]
        self._decide(corrections=told, concerns=[card.doc_id])
        return self.store.document_cards([card.doc_id])[0]

    def _decide(
        self,
        *,
        corrections: Sequence[Correction] = (),
        decisions: Sequence[Decision] = (),
        taken_back: Sequence[Decision] = (),
        concerns: Sequence[str],
    ) -> int:
        """Record a decision and update the documents affected; return their number.

        All of it is stored, or nothing.
        """

        def work() -> int:
            self.store.decide(corrections=corrections, decisions=decisions, taken_back=taken_back)
            return renew(concerns, self.target)

        n = self.store.in_one(work)
        self.store.refresh(sizes=self.target.sizes.searched)
        return n

    def _undecided(self, decisions: Iterable[Decision]) -> list[str]:
        """Return the names whose decision is new.

        Names decided before may no longer exist, where a command is given again.
        """
        known = self.store.decisions()
        return [d.name for d in decisions if d not in known]

    def _documents(self, names: Sequence[str]) -> list[str]:
        """Return the documents that mention entities."""
        found = self.store.find_entities(names)
        known = {normalize_name(e.name) for e in found}
        missing = [n for n in names if not known & {*map(normalize_name, (n, cited_name(n)))}]
        if missing:
            raise NotFoundError(
                "no entity is called {missing}; `kgrag entities` lists them",
                missing="、".join(missing),
            )
        uses = self.store.entity_uses([e.entity_id for e in found])
        return sorted({doc_id for doc_ids in uses.values() for doc_id in doc_ids})


def named_entities(
    store: Store, *, limit: int, type_: str | None = None, merged: bool = False
) -> list[Named]:
    """Return entities with their spellings, those with most facts first.

    Args:
        store: The knowledge base.
        limit: Maximum number.
        type_: Only of this type.
        merged: Only entities with other spellings.
    """
    counted = sorted(
        (c for c in _every(store) if type_ in (None, c.entity.type)),
        key=lambda c: (-c.facts, c.entity.name, c.entity.entity_id),
    )
    return list(islice(_named(counted, store, merged=merged), limit))


def likely_duplicates(store: Store, *, limit: int, type_: str | None = None) -> list[Proposal]:
    """Return pairs of entities that may be one; see `kgrag.ingestion.duplicates.proposals`.

    Pairs that a person decided to keep apart are left out.

    Args:
        store: The knowledge base.
        limit: Maximum number.
        type_: Only of this type.
    """
    entities = ((c.entity, c.facts) for c in _every(store) if type_ in (None, c.entity.type))
    return proposals(entities, apart=Curation.of(store).decisions.apart)[:limit]


def _every(store: Store) -> Iterator[CountedEntity]:
    after = ""
    while page := store.entity_page(after=after, limit=_PAGE):
        yield from page
        after = page[-1].entity.entity_id


def _named(counted: Iterable[CountedEntity], store: Store, *, merged: bool) -> Iterator[Named]:
    rest = iter(counted)
    while some := list(islice(rest, _PAGE)):
        ids = [c.entity.entity_id for c in some]
        written = spellings(ids, store)
        uses = store.entity_uses(ids)
        for entity, n_facts in some:
            other = written.get(entity.entity_id, {})
            if other or not merged:
                n_documents = len(uses.get(entity.entity_id, ()))
                yield Named(entity.name, entity.type, n_facts, n_documents, other)


def spellings(entity_ids: Sequence[str], store: Store) -> dict[str, dict[str, int]]:
    """Return the number of occurrences by spelling of each entity, most frequent first."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    wanted = set(entity_ids)
    facts = {f.fact_id: f for f in store.facts_around(entity_ids, limit=_FACTS)}
    for fact in facts.values():
        places = {(e.doc_id, e.start, e.end, e.qualifiers) for e in fact.evidence}
        for entity, names in (
            (fact.subject, [q.subject for *_, q in places]),
            (fact.object, [q.object for *_, q in places]),
        ):
            if entity.entity_id in wanted:
                found[entity.entity_id].update(filter(None, names))
    return {e: dict(sorted(n.items(), key=lambda w: (-w[1], w[0]))) for e, n in found.items()}


def checked_corrections(told: Mapping[str, str]) -> dict[str, str]:
    """Return normalized corrections by field.

    Raises:
        OutOfRangeError: If a field is unknown, or its value not allowed.
    """
    found = {}
    for name, value in told.items():
        field_name = field_of(name)
        if field_name not in FIELDS:
            raise OutOfRangeError(
                "there is no field {name!r}; there are {fields}",
                name=name,
                fields=", ".join(FIELDS),
            )
        try:
            found[field_name] = stated_value(field_name, value) if value.strip() else ""
            if field_name == "regions":
                check_regions(found[field_name])
        except ValueError as exc:
            raise OutOfRangeError(f"{name}: {exc}") from exc
        if field_name == TITLE and not found[field_name]:
            raise OutOfRangeError(message("a title is not empty; --reset takes a correction back"))
    return found
