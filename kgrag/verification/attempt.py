"""An answer with its context, and its presentation to a model that verifies it."""

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
    """An answer and its origin.

    Attributes:
        question: The query that was used for retrieval.
        answer: To the original question; `steps` are those of this attempt.
        context: The passages that it was generated from.
        results: The retrieval results behind the context, best first.
    """

    question: str
    answer: Answer
    context: Context
    results: tuple[ScoredChunk, ...] = ()


class Try(Protocol):
    """Generates further attempts at the original question."""

    def __call__(self, wording: str) -> Attempt:
        """Retrieve with a query and answer from the results."""
        ...

    def again(self, attempt: Attempt, problem: Problem) -> Attempt:
        """Answer again from the same context, given the problem of the last answer."""
        ...

    def with_more(self, attempt: Attempt, problem: Problem, wording: str) -> Attempt:
        """Answer from the context and the results of a further query."""
        ...


@dataclass(frozen=True, slots=True)
class Verified:
    """The best answer with its verdict.

    Attributes:
        answer: As generated.
        verdict: On this answer.
        steps: What was done after the first answer, in order, with the steps of later attempts.
    """

    answer: Answer
    verdict: Verdict
    steps: tuple[Step, ...] = ()


def material(question: str, attempt: Attempt) -> dict[str, str]:
    """Return the prompt fields `question`, `answer` and `references`, each text fenced.

    The references are all passages; the answer shows their numbers in place of its citations'.

    Args:
        question: The original one.
        attempt: The answer to check.
    """
    context = attempt.context
    answer = by_reference(attempt.answer, context)
    return material_of(question, answer, context.passages, context.facts)


def cited_material(question: str, attempt: Attempt) -> dict[str, str]:
    """Return the prompt fields of `material` with the cited clauses as references.

    What stands elsewhere in a passage supports no sentence. All passages are there if nothing is
    cited: the answer may be that nothing was found.
    """
    cited = {c.number: c for c in attempt.answer.citations}
    if not cited:
        return material(question, attempt)
    marks = {passage.doc_id: passage.mark for passage in attempt.context.passages}
    clauses = [
        Passage(
            n,
            c.doc_id,
            c.title,
            c.heading_path,
            c.start,
            c.end,
            text="\n".join(filter(None, (c.lead, c.columns, c.quote))),
            chunk_id=c.chunk_id,
            mark=marks.get(c.doc_id, ""),
        )
        for n, c in sorted(cited.items())
    ]
    return material_of(question, attempt.answer.written(), clauses)


def material_of(
    question: str, answer: str, passages: Sequence[Passage], facts: Sequence[str] = ()
) -> dict[str, str]:
    """Return the prompt fields of `material` for an answer with the passages' numbers."""
    references = [passage_block(passage, "reference") for passage in passages]
    if facts:  # they keep their [n]: it names the passage that states them
        references.append(fence("\n".join(facts), label="facts"))
    return {
        "question": fence(question, label="question"),
        "answer": fence(answer, label="answer"),
        "references": "\n\n".join(references) or fence("", label="references"),
    }


def supported_share(answer: Answer) -> float:
    """Return the share of sentences that the offline checks support; 1 without any."""
    checks = answer.checks
    return sum(check.supported for check in checks) / len(checks) if checks else 1.0


def passage_block(passage: Passage, label: str = "passage") -> str:
    """Return a passage for a model: its [n], then title, sections and text, fenced.

    Title and sections are inside the fence, too, as they are a document's words; anything like a
    citation in them (a footnote's [7]) is written 〔7〕, so that no document can claim another's
    number. Documents and quotes keep their [7].
    """
    path = " > ".join((f"《{passage.title}》{passage.mark}", *passage.heading_path))
    return f"[{passage.number}]\n" + fence(without_marks(f"{path}\n{passage.text}"), label=label)


def by_reference(answer: Answer, context: Context) -> str:
    """Return an answer's text with passage numbers in place of citation numbers."""
    return answer.written(lambda cited: _passage_mark(cited, context))


def _passage_mark(citation: Citation, context: Context) -> str:
    for passage in context.passages:
        same = passage.doc_id == citation.doc_id
        if same and passage.start <= citation.start < passage.end:
            return f"[{passage.number}]"
    return _ASTRAY
