"""Check an answer offline: what each sentence claims must stand in the text that it cites."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from kgrag.results import Answer, Problem, SentenceCheck
from kgrag.text.answer_text import Statement, marks, statements, without_denials
from kgrag.text.words import question_language
from kgrag.verification.claims import Source, missing_claims, numbers_missing, title_line
from kgrag.verification.contradictions import contradictions

_MISSING = ("〔引文中没有：{}〕", " [not in the cited text: {}]")
_ELSEWHERE = ("〔所引句中没有：{}〕", " [not in the quoted sentence: {}]")
_CONTRARY = ("〔与所引文字不符：{}〕", " [the cited text says otherwise: {}]")
_UNCITED = ("〔无引用〕", " [no citation]")
_NOTE = (
    "有 {} 句未得到所引文字的支持，已在句后标出。",
    "{} sentence(s) are not supported by what they cite; they are marked.",
)
_NOTE_ELSEWHERE = (
    "有 {} 句的数字不在所引的句子里，只见于同一文段的别处，已在句后标出，请核对。",
    "{} sentence(s) hold numbers that stand elsewhere in the cited passage, not in the quoted "
    "sentence; they are marked.",
)

_CHECKED = (
    "按规则核对，所引文段不支持这样说；请改为文段中的说法，或删去。",
    "Checked by rule: the passages cited do not say so; say what they do, or leave it out.",
)
_MOST_TOLD = 4  # sentences

_REMARK = re.compile(
    "|".join(
        re.escape(form).replace(re.escape("{}"), r"[^〕\]\n]*")
        for forms in (_MISSING, _ELSEWHERE, _CONTRARY, _UNCITED)
        for form in forms
    )
)


def check(answer: Answer, quoted: Mapping[int, str]) -> tuple[SentenceCheck, ...]:
    """Return what speaks against each sentence of an answer, without a model.

    Numbers with their units, dates and names (titles, agencies, places, Latin names) must stand
    in the text that they cite: in 福建65%[1]，全国40%[2] each half in its own. Numbers must stand
    in the quote, too, where the answer has one. A sentence without [n] rests on those of the next
    cited sentence of its paragraph or list. Headings are left out; lead-ins that end in a colon,
    sentences that say that the documents do not tell and a closing paragraph that sums up need
    no citation.

    Args:
        answer: With resolved citations, not yet marked; nothing is checked where it says that
            nothing was found.
        quoted: The text behind each [n], rather the passage than the quote alone.
    """
    if not answer.found:
        return ()
    compared = _Compared(answer, quoted)
    return tuple(compared.check(s) for s in compared.said)


class _Compared:
    """An answer beside what it cites."""

    def __init__(self, answer: Answer, quoted: Mapping[int, str]) -> None:
        self.said = [s for s in statements(answer.text) if s.form != "heading"]
        self._answer = answer
        self._quoted = quoted
        self._asked = Source.of(answer.question)
        self._quotes = {
            c.number: "\n".join((title_line(c.title), *c.heading_path, c.quote))
            for c in answer.citations
        }
        self._read = lru_cache(maxsize=None)(
            lambda numbers: Source.of("\n".join(quoted[n] for n in numbers))
        )
        self._blocks: dict[int, list[str]] = {}
        for statement in self.said:
            self._blocks.setdefault(statement.block, []).append(statement.text)

    def check(self, statement: Statement) -> SentenceCheck:
        """Return what speaks against a sentence."""
        numbers = tuple(n for n in statement.rests_on if n in self._quoted)
        missing: dict[str, None] = {}
        elsewhere: dict[str, None] = {}
        contrary: dict[str, None] = {}
        if numbers:
            around = self._blocks[statement.block]
            for text, own in self._parts(statement, numbers):
                told = without_denials(text) if statement.form == "claim" else text
                lacking = missing_claims(
                    told,
                    self._read(own),
                    asked=self._asked,
                    around=around,
                    whole=self._read(numbers),
                    names_asked=statement.form == "denial",
                )
                missing.update(dict.fromkeys(lacking))
                if statement.numbers:  # quotes were chosen for nothing else
                    elsewhere.update(dict.fromkeys(self._not_quoted(told, own, around)))
                    text = "\n".join(self._quoted[n] for n in own)
                    contrary.update(dict.fromkeys(contradictions(told, text)))
        return SentenceCheck(
            start=statement.start,
            end=statement.end,
            numbers=numbers,
            missing=tuple(missing),
            cited=bool(numbers) or statement.form != "claim",
            elsewhere=tuple(number for number in elsewhere if number not in missing),
            contrary=tuple(contrary),
        )

    def _parts(
        self, statement: Statement, numbers: tuple[int, ...]
    ) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the parts of a sentence with the [n] behind each.

        What stands behind the last rests on all of them, as does a sentence without any.
        """
        written = self._answer.text[statement.start : statement.end]
        reach, begun, group = 0, 0, list[int]()
        for start, end, number in marks(written):
            if group and written[reach:start].strip():
                yield statement.text[begun:reach], tuple(group)
                begun, group = reach, []
            if number in numbers:
                group.append(number)
            reach = end
        if group:
            yield statement.text[begun:reach], tuple(group)
            begun = reach
        if statement.text[begun:].strip():
            yield statement.text[begun:], numbers

    def _not_quoted(
        self, text: str, numbers: tuple[int, ...], around: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the numbers of a part of a sentence that its quotes do not hold."""
        if not all(n in self._quotes for n in numbers):
            return ()
        quotes = Source.of("\n".join(self._quotes[n] for n in numbers))
        return numbers_missing(text, quotes, asked=self._asked, around=around)


def mark(answer: Answer) -> Answer:
    """Return an answer with a visible mark behind each sentence that its checks speak against.

    Notes tell how many there are. The places of the checks follow the new text.

    Args:
        answer: With checks.
    """
    unsupported = sum(not c.supported for c in answer.checks)
    doubtful = sum(c.supported and bool(c.elsewhere) for c in answer.checks)
    if not unsupported and not doubtful:
        return answer
    latin = question_language(answer.question) == "en"
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
        notes=(
            *answer.notes,
            *([_NOTE[latin].format(unsupported)] if unsupported else []),
            *([_NOTE_ELSEWHERE[latin].format(doubtful)] if doubtful else []),
        ),
    )


def problem_of(answer: Answer) -> Problem | None:
    """Return what the cited texts of an answer do not hold or say otherwise, for its writer.

    Sentences without citation are left out: they may be true.

    Args:
        answer: With checks, not yet marked.
    """
    latin = question_language(answer.question) == "en"
    told = [
        " ".join(_plain(answer.text[c.start : c.end]).split()) + _remark(c, latin=latin)
        for c in answer.checks
        if c.missing or c.contrary
    ][:_MOST_TOLD]
    if not told:
        return None
    return Problem("unsupported", told[0], "\n".join([_CHECKED[latin], *told[1:]]))


def _plain(sentence: str) -> str:
    """Return a sentence without its [n], which count quotes."""
    for start, end, _ in reversed(list(marks(sentence))):
        sentence = sentence[:start] + sentence[end:]
    return sentence


def without_remarks(text: str) -> str:
    """Return the text of an answer without what `mark` put behind its sentences."""
    return _REMARK.sub("", text)


def _before_cell_end(text: str, sentence: SentenceCheck) -> int:
    """Return where a remark may stand: in a table before the bar that ends the row."""
    row = text[sentence.start : sentence.end].rstrip()
    return sentence.start + len(row.rstrip("| ")) if row.endswith("|") else sentence.end


def _remark(sentence: SentenceCheck, *, latin: bool) -> str:
    if not sentence.cited:
        return _UNCITED[latin]
    joint = ", " if latin else "、"
    return "".join(
        form[latin].format(joint.join(found))
        for form, found in (
            (_MISSING, sentence.missing),
            (_CONTRARY, sentence.contrary),
            (_ELSEWHERE, sentence.elsewhere),
        )
        if found
    )
