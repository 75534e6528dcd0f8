"""What a model tells beside a fact, checked against the text and typed as rules type it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast, get_args

from kgrag.ingestion.fact_rows import Told
from kgrag.ingestion.facts import NO_VALUES
from kgrag.ingestion.locate import locate
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.rules.target_phrases import bound_of, value_qualifiers
from kgrag.ingestion.rules.target_values import as_text, values
from kgrag.language.quantities import narrow
from kgrag.qualifiers import NONE, Comparator, Qualifiers

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


def told_qualifiers(
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
