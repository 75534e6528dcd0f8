"""Make facts of what rules, imports and models state: names resolved, evidence gathered."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kgrag.ids import fact_id
from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.self_names import DOCUMENT_TYPE
from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.provisions import BEGINS, LASTS, UNTIL
from kgrag.ingestion.statements.target_phrases import value_qualifiers
from kgrag.qualifiers import NONE, Qualifiers
from kgrag.text.quantities import dates
from kgrag.text.titles import CITING_PREDICATES
from kgrag.types import Chunk, Evidence, Fact, Mention

BY_RULE, IMPORTED = "rules", "import"  # extractors of what no model finds
_ROLES = frozenset(["牵头", "负责", "配合"])
# Of the conditions that rules read, with the meta-model's word for amounts that are granted.
CONDITIONS = frozenset(["申请条件", "处罚", "奖励", "补助", "资金标准"])
TIMES = frozenset([BEGINS, UNTIL, LASTS])
NO_VALUES = _ROLES | CITING_PREDICATES | CONDITIONS | TIMES  # what they say is no indicator's value
_OF_ANOTHER = frozenset(["依据", "参照", "修订", "废止"])  # no document's own, whatever its name
# What is done with a document that there is; not 制定, 编制.
_OF_DOCUMENTS = CITING_PREDICATES | frozenset(
    ["发布", "联合发布", "出台", "执行", "实施", "贯彻", "贯彻落实", "参考", "衔接"]
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A triple as a document words it.

    Attributes:
        subject: As written.
        predicate: The relation.
        object: As written.
        evidence: Where it stands; at least one.
        subject_type: Key of the meta-model that is told for the subject; empty for none.
        object_type: The same for the object.
    """

    subject: str
    predicate: str
    object: str
    evidence: tuple[Evidence, ...]
    subject_type: str = ""
    object_type: str = ""


def facts_of(statements: Iterable[Stated], resolver: NameResolver) -> list[Fact]:
    """Return facts, unique by id and in the order first stated, each with all its evidence.

    What comes out as one name twice is left out: it says nothing. Where an entity has another
    name than is written, the evidence keeps what is written; a target without a region is the
    document's region's. What models and imports state has its value, role or citation read from
    its words.

    Args:
        statements: Of one document.
        resolver: For its names.
    """
    facts: dict[str, Fact] = {}
    places: dict[str, dict[Evidence, None]] = {}
    for stated in statements:
        fact, said, written = _resolved(stated, resolver)
        if fact.subject.entity_id == fact.object.entity_id:
            continue
        fid = fact.fact_id
        facts.setdefault(fid, fact)
        place = resolver.place(stated.subject) or resolver.place(stated.object)
        for evidence in stated.evidence:
            own = evidence.qualifiers if evidence.qualifiers.kind else _with(said, evidence)
            around = resolver.region if own.kind == "target" else ""
            qualifiers = replace(
                own,
                subject=written[0],
                object=written[1],
                region=place or resolver.whole(own.region) or around,
            )
            places.setdefault(fid, {})[replace(evidence, qualifiers=qualifiers)] = None
    return [with_evidence(fact, places[fid]) for fid, fact in facts.items()]


def with_evidence(fact: Fact, evidence: Iterable[Evidence]) -> Fact:
    """Return a fact with this evidence, each record once, by place."""
    records = dict.fromkeys(evidence)
    by_place = sorted(records, key=lambda e: (e.start, e.end, e.extractor, e.chunk_id))
    return replace(fact, evidence=tuple(by_place))


def stated_by_rules(findings: Iterable[Finding], leaves: Sequence[Chunk]) -> Iterator[Stated]:
    """Yield what rules found, tied to the chunks that say so.

    Args:
        findings: Of one document.
        leaves: Its smallest chunks in reading order.
    """
    for found in findings:
        evidence = evidence_for(
            leaves,
            found.start,
            found.end,
            extractor=BY_RULE,
            confidence=found.confidence,
            qualifiers=found.qualifiers,
        )
        yield Stated(
            found.subject,
            found.predicate,
            found.object,
            evidence,
            found.subject_type,
            found.object_type,
        )


def stated_before(
    facts: Iterable[Fact], leaves: Sequence[Chunk], *, region: str = ""
) -> Iterator[Stated]:
    """Yield what imports and models stated of a stored document, as it was written.

    What rules found is left out: they find it anew.

    Args:
        facts: As the store has them.
        leaves: The document's smallest chunks, as they are now.
        region: That the document had: targets have it that told none, and get the present one.
    """
    for fact in facts:
        for evidence in _anchored(fact.evidence, leaves):
            own = evidence.qualifiers
            if own.kind == "target" and own.region == region:
                evidence = replace(evidence, qualifiers=replace(own, region=""))
            yield Stated(
                own.subject or fact.subject.name,
                fact.predicate,
                own.object or fact.object.name,
                (evidence,),
                fact.subject.type,
                fact.object.type,
            )


def mentions_before(
    mentions: Iterable[Mention], leaves: Sequence[Chunk], resolver: NameResolver
) -> list[Mention]:
    """Return the mentions that imports and models gave of a stored document, on its chunks now."""
    found: dict[Mention, None] = {}
    for mention in mentions:
        for evidence in _anchored([mention.evidence], leaves):
            name = evidence.qualifiers.subject or mention.entity.name
            found[mention_of(name, evidence, resolver, mention.entity.type)] = None
    return list(found)


def mention_of(name: str, evidence: Evidence, resolver: NameResolver, type_: str = "") -> Mention:
    """Return the mention of a name as written."""
    entity, written = resolver.entity(name, type_)
    return Mention(
        entity, replace(evidence, qualifiers=replace(evidence.qualifiers, subject=written))
    )


def _resolved(stated: Stated, resolver: NameResolver) -> tuple[Fact, Qualifiers, tuple[str, str]]:
    """Return a fact without evidence, its qualifiers, and how subject and object are written."""
    kept = next((e.qualifiers for e in stated.evidence if e.qualifiers.kind), NONE)
    by_rule = all(e.extractor == BY_RULE for e in stated.evidence)
    is_typed = bool(kept) or by_rule
    value = NONE if is_typed else _value(stated, resolver)
    unit = next((q.unit for q in (kept, value) if q.kind == "target"), None)
    subject, subject_written = resolver.entity(
        stated.subject, stated.subject_type, unit=unit, loosely=not by_rule
    )
    is_role = stated.predicate in _ROLES and subject.type == "agency"
    is_duty = kept.kind == "duty" or (is_role and not by_rule)
    means = resolver.task if is_duty else resolver.entity
    object_, object_written = means(stated.object, stated.object_type, loosely=not by_rule)
    if subject == object_ == resolver.document and stated.predicate in _OF_ANOTHER:
        object_, object_written = resolver.other_document(stated.object)
    fid = fact_id(subject.entity_id, stated.predicate, object_.entity_id)
    fact = Fact(fid, subject, stated.predicate, object_, ())
    said = NONE if is_typed else _said(fact, value, resolver)
    return fact, said, (subject_written, object_written)


def _value(stated: Stated, resolver: NameResolver) -> Qualifiers:
    """Return the value that the words of a model's or an import's statement give."""
    if stated.predicate in NO_VALUES:
        return NONE
    return value_qualifiers(stated.predicate, stated.object, written=resolver.year)


def _said(fact: Fact, value: Qualifiers, resolver: NameResolver) -> Qualifiers:
    """Return the qualifiers of a statement that has none of its own, as a model's or an import's.

    They are read from its words: a value, the role of an organ, a condition, a time in force, a
    document that is named, which is connected as those are that rules find.
    """
    if fact.predicate in _ROLES and fact.subject.type == "agency":
        return Qualifiers("duty", role=fact.predicate)
    if fact.predicate in CONDITIONS or (
        fact.predicate in TIMES and fact.subject == resolver.document
    ):
        date = next(iter(dates(fact.object.name)), None)
        return replace(value, kind="condition", year=str(date.year) if date and date.year else "")
    names_one = fact.predicate in _OF_DOCUMENTS and fact.object.type == DOCUMENT_TYPE
    if names_one and fact.object != resolver.document:
        is_role = fact.predicate in CITING_PREDICATES and fact.subject == resolver.document
        return Qualifiers("reference", role=fact.predicate if is_role else "提及")
    return value


def _with(said: Qualifiers, evidence: Evidence) -> Qualifiers:
    """Return what the words of a statement say, and of what is told beside it the rest."""
    told = evidence.qualifiers.to_record()
    return Qualifiers.from_record({**told, **said.to_record()}) if told else said


def _anchored(evidence: Iterable[Evidence], leaves: Sequence[Chunk]) -> Iterator[Evidence]:
    """Yield evidence on the present leaves; what rules found is left out."""
    spans = dict.fromkeys(replace(e, chunk_id="") for e in evidence if e.extractor != BY_RULE)
    for e in spans:
        yield from evidence_for(
            leaves,
            e.start,
            e.end,
            extractor=e.extractor,
            confidence=e.confidence,
            qualifiers=e.qualifiers,
        )
