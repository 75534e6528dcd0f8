"""What is said of a quoted number that its source writes with a gap: 0. 75亿吨."""

from collections.abc import Mapping
from dataclasses import replace

from kgrag.language.broken_numbers import broken_numbers
from kgrag.language.text import question_language
from kgrag.results import Answer
from kgrag.types import Language

_NOTE: Mapping[Language, str] = {
    "zh": "引文[{number}]里的数字在原文中带有空格（{written}），按 {read} 理解，请核对",
    "en": "a number in citation [{number}] is written with a gap in the source ({written}), read as"
    " {read}; compare the original",
}


def with_broken_numbers(answer: Answer) -> Answer:
    """Return an answer with a note for each quoted number that is broken by a gap.

    Args:
        answer: With its citations; the quotes stay as they are.
    """
    language = question_language(answer.question)
    notes = dict.fromkeys(
        _NOTE[language].format(number=c.number, written=written, read="".join(written.split()))
        for c in answer.citations
        for start, end in broken_numbers(c.quote)
        for written in [c.quote[start:end]]
    )
    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer
