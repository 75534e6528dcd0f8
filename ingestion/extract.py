"""Turn the statements of a model's answer into facts with evidence, dropping unsupported ones."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from kgrag.config import ExtractFacts
from kgrag.ingestion.agreement import OWN_WORDS, Known, stands, written
from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.fact_rows import Correction, Statement, Told
from kgrag.ingestion.facts import NO_VALUES, Stated, facts_of, with_evidence
from kgrag.ingestion.locate import Match, Place, locate, locate_all
from kgrag.ingestion.meta_model import MetaModel, TypedTriple
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.statements.target_grammar import as_text, values
from kgrag.ingestion.statements.target_phrases import bound_of, value_qualifiers
from kgrag.qualifiers import NONE, Comparator, Qualifiers
from kgrag.text.quantities import narrow, quantities
from kgrag.text.words import normalize, normalize_name
from kgrag.types import Chunk, Fact, Language

_CONFIDENCE: Mapping[Match, float] = {"exact": 1.0, "normalised": 0.9, "near": 0.8}
_LONGEST_NAME = 120  # characters; a longer one is a clause
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_VALUE = re.compile(rf"{_NUMBER.pattern}(?:[-~–—至]{_NUMBER.pattern})?")


@dataclass(frozen=True, slots=True)
class Source:
    """The passage and settings that statements are checked against."""

    passage: Passage
    leaves: Sequence[Chunk]  # the document's smallest chunks in reading order
    names: NameResolver
    known: Sequence[Known]  # what the model was told that rules read
    extractor: str  # name of the model
    language: Language
    facts: ExtractFacts
    meta_model: MetaModel | None  # types and relations; None for open triples


def read_facts(
    statements: Sequence[Statement], source: Source, corrections: Sequence[Correction] = ()
) -> tuple[list[Fact], Counter[str]]:
    """Return the facts of statements, and the number of dropped statements by reason.

    A statement is dropped where its quote is not in the passage, one of its numbers is in neither
    passage nor headings, a name means nothing, or, with facts restricted to the meta-model, where
    that does not allow it. Facts are unique by id with all their evidence, in input order.
    A correction is the statement of rules under another name, if the passage has that.
    """
    places = _places(statements, source.passage.text)
    numbers = _numbers_held(source.passage.text, *source.passage.heading_path, *source.names.titles)
    facts: dict[str, Fact] = {}
    dropped: Counter[str] = Counter()
    for statement in statements:
        place = places[statement.item]
        reason = _refused(statement.triple, place, numbers, source)
        if reason or place is None:
            dropped[reason] += 1
        else:
            _add(facts, _stated(statement, place, numbers, source), dropped, source)
    by_key = {known.key: known for known in source.known}
    for correction in corrections:
        stated = _corrected(correction, by_key.get(correction.key), numbers, source)
        dropped["correction without support"] += not stated
        for one in stated:
            _add(facts, one, dropped, source)
    return list(facts.values()), +dropped


def _add(facts: dict[str, Fact], stated: Stated, dropped: Counter[str], source: Source) -> None:
    """Add a statement to facts by id; what is no fact is counted."""
    found = facts_of([stated], source.names)
    if not found:
        dropped["subject is object"] += 1
        return
    (fact,) = found
    known = facts.get(fact.fact_id)
    if known and set(fact.evidence) <= set(known.evidence):
        dropped["repeated"] += 1
        return
    has = known.evidence if known else ()
    facts[fact.fact_id] = with_evidence(fact, (*has, *fact.evidence))


def _corrected(
    correction: Correction, known: Known | None, numbers: frozenset[str], source: Source
) -> list[Stated]:
    """Return the statements of rules under the names that a model gives them.

    Those of several subjects keep them; of a figure the object may only tell the year besides. A
    name has to be made of words of the passage, its headings and titles.
    """
    stated = known.stated if known else ()
    names, passage = source.names, source.passage
    held = normalize_name("".join((*passage.heading_path, passage.text, *names.titles, OWN_WORDS)))
    found = []
    for fact, evidence in stated:
        own = evidence[0].qualifiers
        new = correction.subject if len(stated) == 1 else "", correction.object
        said = value_qualifiers(fact.predicate, new[1], written=names.year)
        if own.kind == "target" and (said.value, said.unit) != (own.value, own.unit):
            new, said = (new[0], ""), NONE
        subject, object_ = (
            one or old for one, old in zip(new, written(fact, evidence[0], names), strict=True)
        )
        triple = TypedTriple(subject, "", fact.predicate, object_, "")
        is_said = all(stands(name, held) for name in new if name)
        if not any(new) or not is_said or _refused(triple, Place(0, 0, "exact"), numbers, source):
            continue
        told = replace(own, year=own.year or said.year)
        here = (replace(e, extractor=source.extractor, qualifiers=told) for e in evidence)
        found.append(Stated(subject, fact.predicate, object_, tuple(here), fact.subject.type))
    return found


def _places(statements: Sequence[Statement], text: str) -> dict[int, Place | None]:
    """Return the place of each item's quote, by the item's number."""
    quotes: dict[int, str] = {}
    names: dict[int, list[str]] = {}
    for s in statements:
        quotes[s.item] = s.quote
        names.setdefault(s.item, []).extend(
            name for name in (s.triple.subject, s.triple.object) if name not in s.quote
        )
    found = locate_all(list(quotes.values()), text, names=[names[item] for item in quotes])
    return dict(zip(quotes, found, strict=True))


def _refused(
    triple: TypedTriple, place: Place | None, numbers: frozenset[str], source: Source
) -> str:
    """Return why a statement is dropped; empty where it is kept."""
    parts = (triple.subject, triple.predicate, triple.object)
    if not all(parts):
        return "empty"
    if place is None:
        return "quote not in the text"
    if any(map(source.names.names_nothing, (triple.subject, triple.object))):
        return "stop word"
    if max(map(len, parts)) > _LONGEST_NAME:
        return "name too long"
    if not numbers.issuperset(_NUMBER.findall(normalize(" ".join(parts)))):
        return "number not in the text"
    if source.facts == "schema" and source.meta_model is not None:
        return source.meta_model.check(triple) or ""
    return ""


def _numbers_held(*texts: str) -> frozenset[str]:
    """Return the numbers in texts, also without blanks and separators, and as values are stored."""
    found = {as_text(value) for text in texts for q in quantities(text) for value in q.values}
    for text in map(normalize, texts):
        found.update(_NUMBER.findall(text))
        found.update(_NUMBER.findall("".join(text.split()).replace(",", "")))
    return frozenset(found)


def _stated(statement: Statement, place: Place, numbers: frozenset[str], source: Source) -> Stated:
    triple, start = statement.triple, source.passage.start
    predicate = _predicate(triple, source)
    evidence = evidence_for(
        source.leaves,
        start + place.start,
        start + place.end,
        extractor=source.extractor,
        confidence=_CONFIDENCE[place.match],
        qualifiers=_qualifiers(statement, predicate, numbers, source),
    )
    return Stated(
        triple.subject,
        predicate,
        triple.object,
        evidence,
        _type(triple.subject_type, source),
        _type(triple.object_type, source),
    )


def _type(told: str, source: Source) -> str:
    known = source.meta_model.type_of(told) if source.meta_model and told else None
    return known or ""


def _predicate(triple: TypedTriple, source: Source) -> str:
    """Return the meta-model's word for a triple that conforms to it, otherwise the predicate."""
    if source.meta_model is None or source.meta_model.check(triple):
        return triple.predicate
    relation = source.meta_model.relation_of(triple.predicate)
    if relation is None:
        return triple.predicate
    return relation.zh if source.language == "zh" else relation.en


def _qualifiers(
    statement: Statement, predicate: str, numbers: frozenset[str], source: Source
) -> Qualifiers:
    """Return the qualifiers that a model gave for a fact, as far as the text supports them.

    The wording of the fact takes precedence over the model's fields, then the quote; gaps are
    filled in. A value that is not a target (a subsidy, a fine) is kept without being one. Numbers
    and years that are in neither passage, headings nor title, a condition that is not in the
    passage, and a region that is not a place are dropped.
    """
    told, phrase, names = statement.told, statement.triple.object, source.names
    if told == Told():
        return NONE
    value = _held(told.value, numbers)
    is_target = predicate not in NO_VALUES
    said = value_qualifiers(predicate, phrase, written=names.year) if is_target else NONE
    if not said and value:
        if is_target:
            said = value_qualifiers(predicate, f"{value}{told.unit}", written=names.year)
        said = said or _bare(value, told.unit)
    year = _held(narrow(told.year).strip().removesuffix("年"), numbers)
    is_there = told.condition and locate(told.condition, source.passage.text)
    return replace(
        said,
        comparator=_comparator(said, (phrase, statement.quote), narrow(told.comparator).strip()),
        year=said.year or (year if len(year) == 4 else ""),
        region=_region(told.region, names),
        condition=told.condition if is_there else "",
    )


def _comparator(said: Qualifiers, texts: Sequence[str], sign: str) -> Comparator:
    """Return the comparator of a value; 达到 and = give way to 不低于, before or as the sign."""
    if not said.value or said.comparator not in ("", "="):
        return said.comparator
    value = f"{said.value}{said.unit}"
    bounds = (bound_of(text, said.value) for text in (*texts, f"{sign}{value}", f"{value}{sign}"))
    told = next((known for known in get_args(Comparator) if known == sign), said.comparator)
    return next(filter(None, bounds), told or said.comparator)


def _held(said: str, numbers: frozenset[str]) -> str:
    """Return a number, or a range, without separators if the text contains it; else ""."""
    plain = narrow(said).replace(",", "").replace(" ", "")
    is_held = _VALUE.fullmatch(plain) and numbers.issuperset(_NUMBER.findall(plain))
    return plain if is_held else ""


def _bare(value: str, unit: str) -> Qualifiers:
    """Return a value with its unit, normalised if possible."""
    found = values(f"{value}{unit}")
    if len(found) != 1 or found[0].start:
        return Qualifiers(value=value, unit=unit)
    (one,) = found
    to = as_text(one.number_to) if one.number_to is not None else ""
    return Qualifiers(value=as_text(one.number), value_to=to, unit=one.unit)


def _region(told: str, names: NameResolver) -> str:
    if not told:
        return ""
    entity, _ = names.entity(told)
    return entity.name if entity.type == "region" else ""
