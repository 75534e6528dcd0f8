"""Hold an answer to so many quotes, however it came about: sentences, lists, tables, sides."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from kgrag.language.places import names_place
from kgrag.language.text import question_language
from kgrag.results import Answer
from kgrag.types import Language

_MARK = re.compile(r"\[(\d+)\]")
# 江苏省：2025年达到18%， begins a row of a table; a side of which nothing is found says so.
_LEAD = re.compile(r"([^：:《\[]{2,30})[：:] ?(未找到|not found)?")
_NOTE: Mapping[Language, str] = {
    "zh": "列出前{shown}条，共{n}条",
    "en": "the first {shown} of {n} quotes",
}


def shortened(answer: Answer, most: int | None) -> Answer:
    """Return an answer of at most so many quoted lines; those of its sides in turn.

    Args:
        answer: Made of quotes, a line each; a line without [n] is the head of those below it.
        most: Lines at most; None leaves the answer as it is.
    """
    if most is None or not answer.found:
        return answer
    lines = answer.text.split("\n")
    groups = _groups(lines)
    ordered = [n for n in chain.from_iterable(zip_longest(*groups.values())) if n is not None]
    if len(ordered) <= most:
        return answer
    kept = set(ordered[:most])
    heads = {head for head, own in groups.items() if isinstance(head, int) and kept & set(own)}
    text = "\n".join(line for n, line in enumerate(lines) if n in kept or n in heads)
    told = _NOTE[question_language(answer.question)].format(shown=most, n=len(ordered))
    return _renumbered(replace(answer, text=text, notes=(*answer.notes, told)))


def _groups(lines: Sequence[str]) -> dict[int | str, list[int]]:
    """Return the quoted lines of each side: below a head, by its place, or of a place, by name."""
    groups: dict[int | str, list[int]] = {}
    head = -1
    for n, line in enumerate(lines):
        lead = _LEAD.match(line)
        if not _MARK.search(line):
            head = n
        elif lead and (names_place(lead[1]) or lead[2]):
            groups.setdefault(lead[1], []).append(n)
        else:
            groups.setdefault(head, []).append(n)
    return groups


def _renumbered(answer: Answer) -> Answer:
    """Return an answer with the citations that its text has, counted from 1."""
    numbers: Iterable[int] = map(int, _MARK.findall(answer.text))
    new = {old: n for n, old in enumerate(dict.fromkeys(numbers), 1)}
    return replace(
        answer,
        text=_MARK.sub(lambda match: f"[{new[int(match[1])]}]", answer.text),
        citations=tuple(
            replace(c, number=new[c.number])
            for c in sorted(answer.citations, key=lambda c: new.get(c.number, 0))
            if c.number in new
        ),
    )
