"""Comparing figures: which of several places has more, and by how much."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from kgrag.answer.blocks import Claim, Run
from kgrag.answer.citation import Citation
from kgrag.store.graph import Statement
from kgrag.tables.figures import (
    Measured,
    decimal_of,
    figure_words,
    measured_of,
)
from kgrag.text.quantities import scaled
from kgrag.types import Document, Language


def citation_of(statement: Statement, citations: Iterable[Citation]) -> Citation | None:
    """Return the citation whose quote has a statement; None for none."""
    own = (c for c in citations if c.doc_id == statement.doc_id)
    return next((c for c in own if c.start <= statement.start < c.end), None)


_SAID: Mapping[Language, tuple[str, str, str]] = {
    "zh": (
        "{first}{more}：{figures}，相差{gap}。",
        "两者相同：{figures}。",
        "、",
    ),
    "en": (
        "{first} has the {more} figure: {figures}; the difference is {gap}.",
        "They are the same: {figures}.",
        ", ",
    ),
}
_MORE: Mapping[Language, Mapping[tuple[bool, bool], str]] = {  # least, of more than two
    "zh": {
        (False, False): "更高", (True, False): "更低", (False, True): "最高", (True, True): "最低"
    },
    "en": {
        (False, False): "higher", (True, False): "lower",
        (False, True): "highest", (True, True): "lowest",
    },
}  # fmt: skip
_LEAD: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("{}年", "，", "："),
    "en": ("{}", ", ", ": "),
}
_YEAR_SIDE = re.compile(r"20\d\d年")
_Side = tuple[str, Decimal, str, Citation]  # name, value, words


def _sentence(
    sides: Sequence[_Side], unit: str, *, least: bool, language: Language, lead: str = ""
) -> Claim:
    """Return which side has more, and by how much, computed exactly."""
    ordered = sorted(sides, key=lambda side: side[1], reverse=not least)
    told, same, joint = _SAID[language]
    gap = abs(ordered[0][1] - ordered[-1][1])
    gap_unit = {"zh": "个百分点", "en": " percentage points"}[language] if unit == "%" else unit
    before, after = (
        part.format(
            first=ordered[0][0],
            more=_MORE[language][least, len(sides) > 2],
            gap=f"{scaled(gap)}{gap_unit}",
        )
        for part in (told if gap else same).split("{figures}")
    )
    runs = [
        Run(f"{joint if n else lead + before}{words}", (cited,))
        for n, (_, _, words, cited) in enumerate(ordered)
    ]
    return Claim((*runs, Run(after)))


def contrast(
    sides: Mapping[str, Sequence[tuple[Statement, Document, Citation]]],
    *,
    least: bool,
    language: Language,
) -> list[Claim]:
    """Return which side has the larger figure and by how much, a line for each year.

    Figures are compared if each side has one value of the same indicator, unit, year and bound
    (at least, about); of several indicators the line names its own.

    Args:
        sides: Statements of each side, at least one, with document and citation. Sides that are
            years (2025年) are compared with each other.
        least: Whether the smaller one is asked for.
        language: Of the lines.
    """
    if len(sides) < 2:
        return []
    across = all(_YEAR_SIDE.fullmatch(name) for name in sides)
    values = {name: _by_measure(told, across=across) for name, told in sides.items()}
    shared = set.intersection(*(set(of) for of in values.values()))
    subjects = [s.fact.subject for told in sides.values() for s, _, _ in told]
    names = {subject.entity_id: subject.name for subject in subjects}
    in_year, comma, colon = _LEAD[language]
    lines = []
    for key in sorted(shared, key=lambda key: (key[0], key[1].unit, key[1].indicator_id)):
        alike = [values[name][key] for name in sides]
        meant = frozenset[str].intersection(
            *(frozenset(c for c, _, _ in of.values()) for of in alike)
        )
        if meant and all(len(of) == 1 for of in alike):
            told = [
                (name, value, f"{name} {words}", cited)
                for name, of in zip(sides, alike, strict=True)
                for value, (_, words, cited) in of.items()
            ]
            about = [
                names[key[1].indicator_id] if len({k[1].indicator_id for k in shared}) > 1 else "",
                in_year.format(key[0]) if key[0] and len(shared) > 1 else "",
            ]
            lead = comma.join(filter(None, about))
            lead += colon if lead else ""
            unit = key[1].unit
            lines.append(_sentence(told, unit, least=least, language=language, lead=lead))
    return [replace(line, before="\n" * (n > 0)) for n, line in enumerate(dict.fromkeys(lines))]


_Measures = dict[tuple[str, Measured], dict[Decimal, tuple[str, str, Citation]]]


def _by_measure(told: Sequence[tuple[Statement, Document, Citation]], *, across: bool) -> _Measures:
    """Return values with bound and wording, by year and measure."""
    found: _Measures = {}
    for statement, card, cited in told:
        q, value = statement.qualifiers, decimal_of(statement.qualifiers.value)
        if value is not None and not q.value_to:
            key = ("" if across else q.year or q.period, measured_of(statement, card))
            found.setdefault(key, {}).setdefault(
                value, (q.comparator or "=", figure_words(statement), cited)
            )
    return found
