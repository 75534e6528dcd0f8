"""One answer with what it was drawn from, and how it is shown to a model that checks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kgrag.answer.answer import Answer, Problem, Step, Verdict
from kgrag.answer.citation import Citation
from kgrag.llm.prompts import fence
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.text.answer_text import without_marks

NOT_VERIFIED = "not verified: "  # begins the reason of such a verdict, for a reader
_ASTRAY = "[?]"  # a citation that leads to none of the references


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer and how it came.

    Attributes:
        question: The wording that was retrieved with.
        answer: To the original question; its `steps` are those of this attempt.
        context: What it was drawn from.
        results: What that was packed from, best first.
    """

    question: str
    answer: Answer
    context: Context
    results: tuple[ScoredChunk, ...] = ()


class Try(Protocol):
    """Gives further attempts at the original question."""

    def __call__(self, wording: str) -> Attempt:
        """Retrieve with a wording and answer from what that finds."""
        ...

    def again(self, attempt: Attempt, problem: Problem) -> Attempt:
        """Answer once more from the same context, told what is wrong with an answer."""
        ...

    def with_more(self, attempt: Attempt, problem: Problem, wording: str) -> Attempt:
        """Answer from what was found, the gaps in it, and what a wording finds."""
        ...


@dataclass(frozen=True, slots=True)
class Verified:
    """The best answer and what is known of it.

    Attributes:
        answer: As its attempt gave it.
        verdict: On this answer.
        steps: What was done after the first answer, in order; the steps of later attempts
            stand among them.
    """

    answer: Answer
    verdict: Verdict
    steps: tuple[Step, ...] = ()


def material(question: str, attempt: Attempt) -> dict[str, str]:
    """Return the places `question`, `answer` and `references` of a prompt, each text fenced.

    The answer is shown with the numbers of the references: those of its citations count quotes.

    Args:
        question: The original one.
        attempt: What is to be checked.
    """
    context = attempt.context
    answer = by_reference(attempt.answer, context)
    return material_of(question, answer, context.passages, context.facts)


def material_of(
    question: str, answer: str, passages: Sequence[Passage], facts: Sequence[str] = ()
) -> dict[str, str]:
    """Return the places of a prompt as `material` does, of an answer with the passages' numbers."""
    references = [_reference(passage) for passage in passages]
    if facts:  # they keep their [n]: it names the passage that states them
        references.append(fence("\n".join(facts), label="facts"))
    return {
        "question": fence(question, label="question"),
        "answer": fence(answer, label="answer"),
        "references": "\n\n".join(references) or fence("", label="references"),
    }


def supported_share(answer: Answer) -> float:
    """Return the share of an answer's sentences that the offline checks support; 1 without any."""
    checks = answer.checks
    return sum(check.supported for check in checks) / len(checks) if checks else 1.0


def _reference(passage: Passage) -> str:
    """Return a passage under its [n], which nothing in it can write."""
    path = " > ".join((f"《{passage.title}》{passage.mark}", *passage.heading_path))
    text = without_marks(f"{path}\n{passage.text}")
    return f"[{passage.number}]\n{fence(text, label='reference')}"


def by_reference(answer: Answer, context: Context) -> str:
    """Return an answer's text with the numbers of passages in place of those of quotes."""
    return answer.written(lambda cited: _passage_mark(cited, context))


def _passage_mark(citation: Citation, context: Context) -> str:
    for passage in context.passages:
        same = passage.doc_id == citation.doc_id
        if same and passage.start <= citation.start < passage.end:
            return f"[{passage.number}]"
    return _ASTRAY
