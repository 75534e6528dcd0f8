"""Answer a comparison by quotes: each side from its own results; who says nothing is named."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kgrag.generation.extract import METHOD
from kgrag.language.answer_text import not_found
from kgrag.results import Answer, Citation
from kgrag.types import Language, Query

_LEAD: Mapping[Language, str] = {"zh": "{}：", "en": "{}:"}
_SILENT: Mapping[Language, str] = {
    "zh": "未找到{}的有关规定",
    "en": "nothing was found for {}",
}
_NUMBER = re.compile(r"\[(\d+)\]")
_LEAST = 2  # sentences that each side may have


def answer_by_sides(
    query: Query,
    sides: Sequence[str],
    quote: Callable[[str, int], Answer],
    *,
    max_sentences: int,
) -> Answer:
    """Return the answers of all sides below each other, their citations numbered on.

    Args:
        query: The question as a whole.
        sides: What each side is called, at least one.
        quote: Answers one side with so many sentences at most.
        max_sentences: Quoted in all, but two for each side.
    """
    most = max(_LEAST, max_sentences // len(sides))
    answers = {side: quote(side, most) for side in sides}
    silent = [label for label, answer in answers.items() if not answer.found]
    if len(silent) == len(answers):
        return Answer(query.text, not_found(query.language), (), False, METHOD)
    lines: list[str] = []
    citations: list[Citation] = []
    notes: dict[str, None] = {}
    for label, answer in answers.items():
        if answer.found:
            lines += [_LEAD[query.language].format(label), _numbered(answer.text, len(citations))]
            citations += [replace(c, number=len(citations) + c.number) for c in answer.citations]
            notes.update(dict.fromkeys(answer.notes))
    if silent:
        notes[_SILENT[query.language].format("、".join(silent))] = None
    text = "\n".join(lines)
    return Answer(query.text, text, tuple(citations), True, METHOD, notes=tuple(notes))


def _numbered(text: str, before: int) -> str:
    """Return a text whose citations count on from those before it."""
    return _NUMBER.sub(lambda match: f"[{before + int(match[1])}]", text)
