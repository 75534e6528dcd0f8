"""Check an answer offline: what each sentence claims must stand in the text that it cites."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from kgrag.answer_text import Statement, statements
from kgrag.text import is_latin
from kgrag.types import Answer, SentenceCheck
from kgrag.verification.claims import Source, missing_claims

_MISSING = ("〔引文中没有：{}〕", " [not in the cited text: {}]")
_UNCITED = ("〔无引用〕", " [no citation]")
_NOTE = (
    "有 {} 句未得到所引文字的支持，已在句后标出。",
    "{} sentence(s) are not supported by what they cite; they are marked.",
)


def check(answer: Answer, quoted: Mapping[int, str]) -> tuple[SentenceCheck, ...]:
    """Return what speaks against each sentence of an answer, without a model.

    Numbers with their units, dates and names (titles, agencies, places, Latin names) must stand
    in the text that the sentence cites. A sentence without [n] rests on those of the next cited
    sentence of its paragraph or list. Headings are left out; lead-ins that end in a colon and
    sentences that say that the documents do not tell need no citation.

    Args:
        answer: With resolved citations, not yet marked; nothing is checked where it says that
            nothing was found.
        quoted: The text behind each [n], rather the passage than the quote alone.
    """
    if not answer.found:
        return ()
    read = lru_cache(maxsize=None)(lambda numbers: Source.of("\n".join(quoted[n] for n in numbers)))
    asked = Source.of(answer.question)
    said = [s for s in statements(answer.text) if s.form != "heading"]
    checks = []
    for statement in said:
        numbers = tuple(n for n in statement.rests_on if n in quoted)
        missing: tuple[str, ...] = ()
        if numbers:
            around = [other.text for other in said if other.block == statement.block]
            missing = missing_claims(statement.text, read(numbers), asked=asked, around=around)
        checks.append(_checked(statement, numbers, missing))
    return tuple(checks)


def _checked(
    statement: Statement, numbers: tuple[int, ...], missing: tuple[str, ...]
) -> SentenceCheck:
    return SentenceCheck(
        start=statement.start,
        end=statement.end,
        numbers=numbers,
        missing=missing,
        cited=bool(numbers) or statement.form != "claim",
    )


def mark(answer: Answer) -> Answer:
    """Return an answer with a visible mark behind each sentence that its checks do not support.

    A note tells how many there are. The places of the checks follow the new text.

    Args:
        answer: With checks.
    """
    unsupported = sum(not c.supported for c in answer.checks)
    if not unsupported:
        return answer
    latin = is_latin(answer.question)
    parts: list[str] = []
    checks: list[SentenceCheck] = []
    reach = added = 0
    for sentence in answer.checks:
        end = _before_cell_end(answer.text, sentence)
        remark = _remark(sentence, latin=latin)
        parts += [answer.text[reach:end], remark]
        checks.append(
            replace(sentence, start=sentence.start + added, end=sentence.end + added + len(remark))
        )
        reach, added = end, added + len(remark)
    return replace(
        answer,
        text="".join([*parts, answer.text[reach:]]),
        checks=tuple(checks),
        notes=(*answer.notes, _NOTE[latin].format(unsupported)),
    )


def _before_cell_end(text: str, sentence: SentenceCheck) -> int:
    """Return where a remark may stand: in a table before the bar that ends the row."""
    row = text[sentence.start : sentence.end].rstrip()
    return sentence.start + len(row.rstrip("| ")) if row.endswith("|") else sentence.end


def _remark(sentence: SentenceCheck, *, latin: bool) -> str:
    if not sentence.cited:
        return _UNCITED[latin]
    if not sentence.missing:
        return ""
    joint = ", " if latin else "、"
    return _MISSING[latin].format(joint.join(sentence.missing))
