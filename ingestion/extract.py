"""Read the facts of a model's answer: each tied to the words that state it, or dropped."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from kgrag.config import ExtractFacts
from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.fact_rows import Statement, Told
from kgrag.ingestion.facts import NO_VALUES, Stated, facts_of
from kgrag.ingestion.locate import Match, Place, locate, locate_all
from kgrag.ingestion.meta_model import MetaModel, TypedTriple
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.statements.target_phrases import bound_of, value_qualifiers
from kgrag.ingestion.statements.target_values import as_text, values
from kgrag.qualifiers import NONE, Comparator, Qualifiers
from kgrag.text.quantities import narrow
from kgrag.text.words import normalize
from kgrag.types import Chunk, Evidence, Fact, Language

_SIGNS: Mapping[str, Comparator] = {
    **{sign: sign for sign in cast(tuple[Comparator, ...], get_args(Comparator)) if sign},
    **dict.fromkeys(["达到", "等于", "为", "＝", "=="], "="),
    **dict.fromkeys(["≥", "不低于", "不少于", "以上", "至少", "大于等于", "at least"], ">="),
    **dict.fromkeys(
        ["≤", "不高于", "不超过", "不多于", "以内", "以下", "小于等于", "at most"], "<="
    ),
    **dict.fromkeys(["超过", "大于", "高于", "突破", "more than"], ">"),
    **dict.fromkeys(["低于", "小于", "少于", "less than"], "<"),
    **dict.fromkeys(["左右", "约", "≈", "大约", "about"], "~"),
    **dict.fromkeys(["提高", "增长", "增加", "上升", "提升", "up by"], "+"),
    **dict.fromkeys(["下降", "降低", "减少", "down by"], "-"),
}

_CONFIDENCE: Mapping[Match, float] = {"exact": 1.0, "normalised": 0.9, "near": 0.8}
_LONGEST_NAME = 120  # characters; a longer one is a clause
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Source:
    """What statements are read against.

    Attributes:
        passage: That the model was given.
        leaves: The document's smallest chunks in reading order.
        names: Resolves the names of the document.
        extractor: Name of the model.
        language: Of the passage.
        facts: What was asked for.
        meta_model: Types and relations; None for open triples.
    """

    passage: Passage
    leaves: Sequence[Chunk]
    names: NameResolver
    extractor: str
    language: Language
    facts: ExtractFacts
    meta_model: MetaModel | None


def read_facts(statements: Sequence[Statement], source: Source) -> tuple[list[Fact], Counter[str]]:
    """Return the facts that statements make, and how many could not be used, by reason.

    A statement is dropped where its quote is not in the passage, a number of it is in neither
    passage nor headings, a name of it names nothing, or the meta-model, if it alone is asked
    for, does not allow it.

    Returns:
        Facts unique by id with all their evidence, in the statements' order; counts by reason.
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
            continue
        found = facts_of([_stated(statement, place, numbers, source)], source.names)
        if not found:
            dropped["subject is object"] += 1
            continue
        (fact,) = found
        known = facts.get(fact.fact_id)
        if known and set(fact.evidence) <= set(known.evidence):
            dropped["repeated"] += 1
        elif known:
            facts[fact.fact_id] = with_evidence(known, fact.evidence)
        else:
            facts[fact.fact_id] = fact
    return list(facts.values()), dropped


def with_evidence(fact: Fact, evidence: Iterable[Evidence]) -> Fact:
    """Return a fact with further evidence, each record once, in order."""
    records = dict.fromkeys((*fact.evidence, *evidence))
    return replace(fact, evidence=tuple(sorted(records, key=_order)))


def _places(statements: Sequence[Statement], text: str) -> dict[int, Place | None]:
    """Return where each item's quote stands, by the item's number."""
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
    """Return why a statement is dropped; empty where it is not."""
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
    """Return the numbers in texts, also those that blanks or thousands' commas divide."""
    found: set[str] = set()
    for text in map(normalize, texts):
        found.update(_NUMBER.findall(text))
        found.update(_NUMBER.findall("".join(text.split()).replace(",", "")))
    return frozenset(found)


def _stated(statement: Statement, place: Place, numbers: frozenset[str], source: Source) -> Stated:
    triple, start = statement.triple, source.passage.start
    predicate = _predicate(triple, source)
    told = _told_qualifiers(
        statement.told,
        predicate=predicate,
        phrase=triple.object,
        quote=statement.quote,
        numbers=numbers,
        text=source.passage.text,
        names=source.names,
    )
    evidence = evidence_for(
        source.leaves,
        start + place.start,
        start + place.end,
        extractor=source.extractor,
        confidence=_CONFIDENCE[place.match],
        qualifiers=told,
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
    """Return a predicate as written, or the meta-model's word where the triple follows it."""
    if source.meta_model is None or source.meta_model.check(triple):
        return triple.predicate
    relation = source.meta_model.relation_of(triple.predicate)
    if relation is None:
        return triple.predicate
    return relation.zh if source.language == "zh" else relation.en


def _order(evidence: Evidence) -> tuple[str, int, int, str]:
    return evidence.doc_id, evidence.start, evidence.end, evidence.extractor


def _told_qualifiers(
    told: Told,
    *,
    predicate: str,
    phrase: str,
    quote: str,
    numbers: frozenset[str],
    text: str,
    names: NameResolver,
) -> Qualifiers:
    """Return what a model tells beside a fact; `NONE` for nothing that the text bears out.

    What the words of the fact say of a value goes before what is told beside them, then what the
    quote says of it; what they leave open is filled in. A value that is no target (a subsidy, a
    fine) is kept without being one. Numbers and years that neither passage, headings nor title
    hold, a condition that does not stand in the passage, and a region that is no place are left
    out.

    Args:
        told: As written.
        predicate: Of the fact.
        phrase: Its object.
        quote: The words that it was taken from.
        numbers: That the model was given.
        text: Of the passage.
        names: Of the document.
    """
    if told == Told():
        return NONE
    value = _held(told.value, numbers)
    sign = _SIGNS.get(narrow(told.comparator).strip().lower(), "")
    is_target = predicate not in NO_VALUES
    said = value_qualifiers(predicate, phrase, written=names.year) if is_target else NONE
    if not said and value:
        if is_target:
            said = value_qualifiers(predicate, f"{value}{told.unit}", written=names.year)
        said = said or _bare(value, told.unit)
    year = _held(narrow(told.year).strip().removesuffix("年"), numbers)
    return replace(
        said,
        comparator=_comparator(said, (phrase, quote), sign),
        year=said.year or (year if len(year) == 4 else ""),
        region=_region(told.region, names),
        condition=told.condition if told.condition and locate(told.condition, text) else "",
    )


def _comparator(said: Qualifiers, texts: Iterable[str], sign: Comparator) -> Comparator:
    """Return how a value is meant: 达到 and = leave open what 不低于 or a sign tells elsewhere."""
    if not said.value or said.comparator not in ("", "="):
        return said.comparator
    bounds = (bound_of(text, said.value) for text in texts)
    return next(filter(None, bounds), sign or said.comparator)


def _held(said: str, numbers: frozenset[str]) -> str:
    """Return a number without blanks and thousands' commas, if the text holds it; else nothing."""
    plain = narrow(said).replace(",", "").replace(" ", "")
    return plain if plain in numbers or all(n in numbers for n in _ends(plain)) else ""


def _ends(number: str) -> list[str]:
    """Return the numbers of a range, or what is written as one; never none."""
    for dash in ("-", "~", "–", "—", "至"):
        parts = number.split(dash)
        if len(parts) == 2 and all(parts):
            return parts
    return [number]


def _bare(value: str, unit: str) -> Qualifiers:
    """Return a value with its unit, normalised where it can be."""
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
