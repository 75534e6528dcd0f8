"""An answer: blocks, verdict, and the steps that led to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Literal, Self

from kgrag.answer.blocks import (
    Block,
    Change,
    Claim,
    Mark,
    Missing,
    leaves,
    numbered,
)
from kgrag.answer.citation import Citation, SentenceCheck, with_bold
from kgrag.answer.render import escaped, footnote, html, markdown, page, word
from kgrag.answer.word import WordFile
from kgrag.ids import digest
from kgrag.json_ready import JsonReady, as_dict
from kgrag.notebook import list_html
from kgrag.text.words import question_language
from kgrag.types import Language

VerdictStatus = Literal["passed", "failed", "unverified"]
ProblemKind = Literal["wrong", "unsupported", "citation", "missing"]


@dataclass(frozen=True, slots=True)
class Step(JsonReady):
    """One step of answering, for `--explain`.

    Attributes:
        name: E.g. `analyse`, `retrieve`, `generate`, `verify`, `revise`.
        detail: Its result, on one or more lines.
        calls: Number of calls of a model.
        failed: Whether a model failed, so that it was left out or done by rule.
    """

    name: str
    detail: str
    calls: int = 0
    failed: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping; failures are in the answer's notes."""
        return as_dict(self, without=("failed",))


@dataclass(frozen=True, slots=True)
class Problem(JsonReady):
    """A problem that verification found in an answer.

    Attributes:
        kind: `wrong` (contradicts its references, or is about another place, year or document),
            `unsupported` (not in them), `citation` (right, but cites another one), `missing` (a
            requested part).
        sentence: Of the answer; empty for a missing part.
        why: In words.
    """

    kind: ProblemKind
    sentence: str
    why: str


@dataclass(frozen=True, slots=True)
class Verdict(JsonReady):
    """Result of verification.

    Attributes:
        method: `cov`, `cov-paper`, `chats-grid` or `none`.
        status: `passed`, `failed`, or `unverified` if it could not be checked.
        scores: By measure, each in [0, 1].
        reason: In words.
        revised_question: A better question for retrieval; may be empty.
        rounds: Number of answers, at least 1.
        problem: What is wrong, if the check names it.
    """

    method: str
    status: VerdictStatus
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    revised_question: str = ""
    rounds: int = 1
    problem: Problem | None = None

    @property
    def passed(self) -> bool:
        """Return whether the answer passed."""
        return self.status == "passed"

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with `passed` instead of the status."""
        told = {"method": self.method, "passed": self.passed}
        return told | as_dict(self, without=("method", "status"))


@dataclass(frozen=True, slots=True)
class Answer(JsonReady):
    """An answer with its citations.

    Attributes:
        question: As asked.
        blocks: Its content; citations are numbered when it is created, a place once.
        method: `extractive`, or a model's name.
        notes: Notes for the reader, e.g. that the stand-in encoder was used.
        verdict: Result of verification; None if it was not requested.
        steps: How it was made.
        fallback: Whether sentences were quoted by rule because the model failed.
    """

    question: str
    blocks: tuple[Block, ...]
    method: str
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None
    steps: tuple[Step, ...] = ()
    fallback: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", numbered(self.blocks))

    @property
    def found(self) -> bool:
        """Whether the documents have an answer, not only what is nearest to the question."""
        return not any(isinstance(block, Missing) for block in self.blocks)

    @property
    def text(self) -> str:
        """The answer as text, with [n] and remarks of the checks after sentences."""
        return "".join(before + self._remarked(block) for before, block in self._laid_out())

    def written(self, mark: Mark = lambda c: f"[{c.number}]") -> str:
        """Return the answer as text without remarks of the checks.

        Args:
            mark: Returns the mark of a citation.
        """
        return "".join(
            before + with_bold(block.text(self.language, mark))
            for before, block in self._laid_out()
        )

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations in the order of their numbers."""
        by_number = {c.number: c for block in self.blocks for c in block.citations}
        return tuple(by_number[number] for number in sorted(by_number))

    @property
    def cited_titles(self) -> tuple[str, ...]:
        """Titles of the documents cited, in the order of the citations."""
        return tuple(dict.fromkeys(citation.title for citation in self.citations))

    @property
    def checks(self) -> tuple[SentenceCheck, ...]:
        """Results of the offline checks by sentence, with its place in the text."""
        found, reach = [], 0
        for before, block in self._laid_out():
            start = reach + len(before)
            reach = start + len(self._remarked(block))
            if isinstance(block, Claim) and block.check:
                found.append(replace(block.check, start=start, end=reach))
        return tuple(found)

    @property
    def repointed(self) -> tuple[int, ...]:
        """Numbers of citations that replace another passage that the writer had named."""
        runs = (run for b in self.blocks if isinstance(b, Claim) for run in b.runs)
        cited = (c.number for run in runs if run.origin == "repointed" for c in run.citations)
        return tuple(dict.fromkeys(cited))

    @property
    def language(self) -> Language:
        """Language of the question, and of generated words."""
        return question_language(self.question)

    def citing(self, change: Change) -> Self:
        """Return the answer with every citation mapped."""
        return replace(self, blocks=tuple(block.citing(change) for block in self.blocks))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as `kgrag ask --json` prints it."""
        return {
            "question": self.question,
            "text": self.text,
            "citations": [citation.to_dict() for citation in self.citations],
            "found": self.found,
            "method": self.method,
            "notes": list(self.notes),
            "checks": [check.to_dict() for check in self.checks],
            "verdict": self.verdict.to_dict() if self.verdict else None,
            "steps": [step.to_dict() for step in self.steps],
            "repointed": list(self.repointed),
            "blocks": [block.to_dict() for block in self.blocks],
        }

    def _laid_out(self) -> Iterator[tuple[str, Block]]:
        """Yield each block behind the layout that stands before it."""
        for n, block in enumerate(leaves(self.blocks)):
            yield block.before if isinstance(block, Claim) else "\n" * (n > 0), block

    def _remarked(self, block: Block) -> str:
        return with_bold(block.remarked(self.language, lambda c: f"[{c.number}]"))

    def to_markdown(self) -> str:
        """Return Markdown; citations are footnotes, which pandoc turns into those of Word."""
        notes = [f"> {escaped(note)}" for note in self.notes]
        foot = [footnote(cited, self.language) for cited in self.citations]
        body = markdown(self.blocks, self.language)
        return "\n\n".join([f"## {escaped(self.question)}", body, *notes, *foot]) + "\n"

    def to_html(self) -> str:
        """Return an HTML page in which each [n] links to its quote."""
        return page(self.question, self._repr_html_())

    def to_docx(self) -> bytes:
        """Return a Word file, in which each [n] is a footnote with its source."""
        file = WordFile(self.question, self.language)
        self.write_into(file)
        return file.data()

    def write_into(self, file: WordFile) -> None:
        """Write question, answer and notes as a section of a Word file, in their language."""
        file.language = self.language
        file.heading(self.question)
        word(file, self.blocks, self.language, level=1)
        for note in self.notes:
            file.note(note)

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        anchor = f"cite-{digest('answer', self.question, self.text)}-"  # a notebook shows several
        cited = (
            (c.number, f'<div id="{anchor}{c.number}">{c._repr_html_()}</div>')
            for c in self.citations
        )
        told = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        body = html(self.blocks, self.language, lambda n: f'href="#{anchor}{n}"')
        head = f"<p><b>{escape(self.question)}</b></p>"
        return f"<div>{head}{body}{list_html(cited)}{told}</div>"
