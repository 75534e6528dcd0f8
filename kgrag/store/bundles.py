"""Put what a store keeps of a document back into the facts and mentions that bring it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kgrag.errors import StoreError
from kgrag.store.contents import DocumentBundle
from kgrag.store.records import (
    Record,
    chunk_record,
    document_record,
    entity_name_record,
    evidence_record,
    mention_record,
    summary_record,
    vector_record,
)
from kgrag.store.texts import qualifiers_text
from kgrag.types import Entity, Evidence, Fact, Mention


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A place where a document states a fact, as a store keeps it.

    Attributes:
        fact_id: The fact.
        subject_id: Its subject entity.
        predicate: As worded in this place.
        object_id: Its object entity.
        evidence: The place.
    """

    fact_id: str
    subject_id: str
    predicate: str
    object_id: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class KeptKnowledge:
    """The facts and mentions of one document, as a store keeps them.

    Attributes:
        names: Every way in which the document writes an entity, each (id, name, type) once.
        stated: Its evidence for facts.
        mentioned: (entity_id, evidence) of its mentions.
    """

    names: Iterable[Entity]
    stated: Sequence[StatedFact]
    mentioned: Iterable[tuple[str, Evidence]]

    def every_wording(self) -> tuple[list[Fact], list[Mention]]:
        """Return facts and mentions that, stored, leave exactly these rows.

        A fact comes once for each wording. Where a document writes an entity in several ways (or
        classes it in several), all facts and mentions show the first; each other way comes with one
        mention or fact more, which repeats evidence that is there already.

        Raises:
            StoreError: If an entity of a fact or mention has no name, or a name is of an entity
                that no fact and no mention of the document names: the store is damaged.
        """
        ways = _ways(self.names)
        shown = {entity_id: first for entity_id, (first, *_) in ways.items()}
        facts = list(_facts(self.stated, shown))
        mentions = list(_mentions(self.mentioned, shown))
        carriers = _carriers(facts, mentions)
        for entity_id, (first, *others) in ways.items():
            carrier = carriers.get(entity_id)
            if carrier is None:
                raise _damaged(
                    f"{first.name!r} is kept as a name, but no fact and no mention has it"
                )
            for other in others:
                if isinstance(carrier, Mention):
                    mentions.append(replace(carrier, entity=other))
                else:
                    facts.append(_rewritten(carrier, other))
        return facts, mentions

    def each_once(self) -> tuple[list[Fact], list[Mention]]:
        """Return each fact and mention once, under the smallest of its wordings.

        Of several types of an entity, the smallest other than `entity`.

        Raises:
            StoreError: If an entity of a fact or mention has no name.
        """
        shown = {}
        for entity_id, ways in _ways(self.names).items():
            type_ = min((e.type for e in ways if e.type != "entity"), default="entity")
            shown[entity_id] = Entity(entity_id, ways[0].name, type_)
        worded: dict[str, str] = {}
        for s in self.stated:
            worded[s.fact_id] = min(worded.get(s.fact_id, s.predicate), s.predicate)
        stated = (replace(s, predicate=worded[s.fact_id]) for s in self.stated)
        return list(_facts(stated, shown)), list(_mentions(self.mentioned, shown))


def content_records(bundle: DocumentBundle) -> Iterator[Record]:
    """Yield the records of an export that one document brings by itself, each once.

    Two bundles with the same records, in any order, store the same. Left out are what depends
    on other documents, too (how most of them name an entity or word a fact), and the numbers
    of the vectors: their keys identify these.
    """
    doc_id = bundle.document.doc_id
    yield document_record(bundle.document, bundle.fingerprint, bundle.headings)
    yield from map(chunk_record, bundle.chunks)
    yield from map(summary_record, bundle.summaries)
    entities = [e for f in bundle.facts for e in (f.subject, f.object)]
    entities += [m.entity for m in bundle.mentions]
    yield from (entity_name_record(entity, doc_id) for entity in dict.fromkeys(entities))
    stated = dict.fromkeys((f.fact_id, e, f.predicate) for f in bundle.facts for e in f.evidence)
    yield from (evidence_record(*statement) for statement in stated)
    mentioned = dict.fromkeys((m.entity.entity_id, m.evidence) for m in bundle.mentions)
    yield from (mention_record(*mention) for mention in mentioned)
    for v in bundle.vectors:
        yield vector_record(v.node_id, v.kind, doc_id, v.key)


def _ways(names: Iterable[Entity]) -> dict[str, list[Entity]]:
    ways: defaultdict[str, list[Entity]] = defaultdict(list)
    for entity in sorted(names, key=lambda e: (e.entity_id, e.name, e.type)):
        ways[entity.entity_id].append(entity)
    return dict(ways)


def _facts(stated: Iterable[StatedFact], shown: Mapping[str, Entity]) -> Iterator[Fact]:
    """Yield one fact for each wording, with its evidence, ordered by id and wording."""
    wordings: defaultdict[tuple[str, str], list[StatedFact]] = defaultdict(list)
    for statement in stated:
        wordings[statement.fact_id, statement.predicate].append(statement)
    for (fact_id, predicate), statements in sorted(wordings.items()):
        subject_id, object_id = statements[0].subject_id, statements[0].object_id
        for entity_id in (subject_id, object_id):
            if entity_id not in shown:
                raise nameless(entity_id)
        evidence = tuple(sorted((s.evidence for s in statements), key=by_place))
        yield Fact(fact_id, shown[subject_id], predicate, shown[object_id], evidence)


def _mentions(
    mentioned: Iterable[tuple[str, Evidence]], shown: Mapping[str, Entity]
) -> Iterator[Mention]:
    for entity_id, spot in sorted(mentioned, key=lambda m: (m[0], *by_place(m[1]))):
        if entity_id not in shown:
            raise nameless(entity_id)
        yield Mention(shown[entity_id], spot)


def _carriers(facts: Sequence[Fact], mentions: Sequence[Mention]) -> dict[str, Fact | Mention]:
    """Return for each entity what can be repeated with another of its names."""
    carriers: dict[str, Fact | Mention] = {}
    for fact in facts:
        carriers.setdefault(fact.subject.entity_id, fact)
        carriers.setdefault(fact.object.entity_id, fact)
    return carriers | {m.entity.entity_id: m for m in reversed(mentions)}


def _rewritten(fact: Fact, entity: Entity) -> Fact:
    """Return a fact that repeats one place of another and writes one of its entities so."""
    once = replace(fact, evidence=fact.evidence[:1])
    if entity.entity_id == fact.subject.entity_id:
        return replace(once, subject=entity)
    return replace(once, object=entity)


def by_place(e: Evidence) -> tuple[str, int, int, str, str, str]:
    """Return the sort key of evidence."""
    return (e.doc_id, e.start, e.end, e.extractor, e.chunk_id, qualifiers_text(e.qualifiers))


def nameless(entity_id: str) -> StoreError:
    """Return what to raise where facts or mentions name an entity that has no name."""
    return _damaged(f"no name is kept for {entity_id}, which a fact or mention names")


def _damaged(what: str) -> StoreError:
    return StoreError(f"{what}: the knowledge base is damaged, see `kgrag verify`")
