"""Check an answer offline: each claim must be contained in the text that it cites."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kgrag.answer.answer import Answer, Problem
from kgrag.answer.blocks import Block, Claim
from kgrag.answer.citation import Citation, SentenceCheck
from kgrag.answer.notes import note
from kgrag.text.answer_text import Statement, inherited, marks, without_denials
from kgrag.text.quantities import legible
from kgrag.verification.claims import Clause, findings
from kgrag.verification.parts import claims_something

_CHECKED = (
    "按规则核对，所引文段不支持这样说；请改为文段中的说法，或删去。",
    "Checked by rule: the passages cited do not say so; say what they do, or leave it out.",
)
_QUOTED = re.compile(r"《[^《》]*》|[“「][^“”「」]+[”」]")  # or a title, whose quotes belong to it
_NEGATION = "[未不无非没禁严]"
_MOST_TOLD = 4  # sentences


def checked(answer: Answer, cited: Mapping[int, Clause]) -> Answer:
    """Return an answer with the findings on each sentence of a model, without a model.

    Each part of a sentence (`findings`) must stand in the clause that it cites: in 福建65%[1]，
    全国40%[2] each half in its own. A sentence without [n] is checked against the citations of the
    next cited sentence of its paragraph or list. Headings are skipped; lead-ins that end in a
    colon, statements that documents say nothing and a closing summary need no citation. Answers
    that found nothing are not checked, nor is what is verbatim: quotes and rows, spans in quotation
    marks that the cited text has, and sentences of the quote.

    Args:
        answer: The answer.
        cited: What each [n] cites.
    """
    if not answer.found:
        return answer
    claims = inherited([_statement(b) for b in answer.blocks if isinstance(b, Claim)])
    compared, own = _Compared(answer, cited, claims), iter(claims)

    def with_checks(block: Block) -> Block:
        if not isinstance(block, Claim):
            return block
        said, written = next(own), block.text(answer.language, _number)
        return replace(
            block, check=None if said.form == "heading" else compared.check(said, written)
        )

    return replace(answer, blocks=tuple(map(with_checks, answer.blocks)))


def _number(cited: Citation) -> str:
    return f"[{cited.number}]"


def _statement(claim: Claim) -> Statement:
    """Return a claim as a sentence, each [n] blanked out."""
    written = bare = claim.text("zh", _number)
    for start, end, _ in marks(written):
        bare = bare[:start] + " " * (end - start) + bare[end:]
    numbers = tuple(dict.fromkeys(c.number for c in claim.citations))
    return Statement(0, len(written), bare, numbers, numbers, claim.form, claim.paragraph)


class _Compared:
    """An answer with its cited clauses."""

    def __init__(
        self, answer: Answer, cited: Mapping[int, Clause], said: Iterable[Statement]
    ) -> None:
        self._cited, self._asked = cited, answer.question
        self._whole = Clause.joined([*cited.values()]) if cited else Clause("")
        self._blocks: dict[int, list[str]] = {}
        for statement in said:
            if statement.form != "heading":
                self._blocks.setdefault(statement.block, []).append(statement.text)

    def check(self, statement: Statement, written: str) -> SentenceCheck:
        """Return the findings on a sentence at its place in the block."""
        numbers = tuple(n for n in statement.rests_on if n in self._cited)
        found: dict[str, dict[str, None]] = defaultdict(dict)
        if numbers:
            for text, own in _parts(statement, written, numbers):
                told = without_denials(text)
                clause = Clause.joined([self._cited[n] for n in own])
                for finding in findings(
                    _besides_verbatim(told, clause.own),
                    clause,
                    asked=self._asked,
                    around=self._blocks[statement.block],
                    whole=self._whole,
                ):
                    found[finding.verdict][finding.words] = None
        bare = not numbers and statement.form == "claim" and claims_something(statement.text)
        return SentenceCheck(
            start=statement.start,
            end=statement.end,
            numbers=numbers,
            missing=tuple(found["missing"]),
            cited=not bare,
            elsewhere=tuple(found["elsewhere"]),
            contrary=tuple(found["contrary"]),
            computed=tuple(found["computed"]),
        )


def _besides_verbatim(said: str, cited: str) -> str:
    """Return a part of a sentence with blanks in place of its quotes of a text, or of all of it."""
    if _is_verbatim(said, cited):
        return ""

    def blanked(match: re.Match[str]) -> str:
        is_quote = match[0][0] != "《" and _is_verbatim(match[0][1:-1], cited)
        return " " * len(match[0]) if is_quote else match[0]

    return _QUOTED.sub(blanked, said)


def _is_verbatim(said: str, cited: str) -> bool:
    """Return whether a text has words, with no digit or negation before them or digit behind."""
    letters = "".join(legible(said).casefold().split()).strip("。，；：、.,;:")
    words = r"\s*".join(map(re.escape, letters))
    found = rf"(?<!{_NEGATION})(?<![\d.]){words}(?![\d.%‰])"
    return bool(letters) and re.search(found, legible(cited).casefold()) is not None


def _parts(
    statement: Statement, block: str, numbers: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the parts of a sentence with the [n] behind each.

    A part without [n], at the end or as the whole sentence, is checked against all of them.
    """
    written = block[statement.start : statement.end]
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


def notes_of(answer: Answer) -> list[str]:
    """Return notes on the number of sentences with findings."""
    checks = answer.checks
    unsupported = sum(not c.supported for c in checks)
    return [note("unsupported", n=unsupported)] if unsupported else []


def problem_of(answer: Answer) -> Problem | None:
    """Return what the cited texts lack or contradict, as feedback for the writer.

    Uncited sentences are left out: they may be true.
    """
    language = answer.language
    told = [
        " ".join(block.text(language, lambda _: "").split()) + block.check.remark(language)
        for block in answer.blocks
        if isinstance(block, Claim) and block.check
        if block.check.unstated
    ][:_MOST_TOLD]
    if not told:
        return None
    why = "\n".join([_CHECKED[language == "en"], *told[1:]])
    return Problem("unsupported", told[0], why)
