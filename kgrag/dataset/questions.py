"""Generated questions: their file format, and sampling by kind."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgrag.evaluation.lines import write_lines
from kgrag.evaluation.queries import GoldQuery


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold.

    Attributes:
        gold: Question, documents, spans, kind and answers; its id is set when sampled.
        parent: Id of its parent chunk; empty for an unanswerable one.
    """

    gold: GoldQuery
    parent: str

    def line(self) -> str:
        """Return the line that `kgrag.evaluation.queries.read_queries` parses."""
        gold = self.gold
        record = {
            "id": gold.query_id,
            "question": gold.question,
            "kind": gold.kind,
            "gold_docs": list(gold.gold_docs),
            "gold_spans": {doc: [list(s) for s in spans] for doc, spans in gold.gold_spans.items()},
            "answers": list(gold.answers),
            "parent": self.parent,
        }
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Made:
    """Result of question generation.

    Attributes:
        questions: Those kept.
        dropped: Number of the others by reason.
    """

    questions: tuple[Question, ...]
    dropped: Mapping[str, int]

    @property
    def kinds(self) -> dict[str, int]:
        """Return the number of questions by kind."""
        return dict(Counter(question.gold.kind for question in self.questions))


def write_questions(path: Path, questions: Sequence[Question]) -> None:
    """Write questions as lines.

    Raises:
        EvaluationError: If the file cannot be written.
    """
    write_lines(path, (question.line() for question in questions))


def taken(by_kind: Mapping[str, Iterator[Question]], n: int) -> list[Question]:
    """Return at most `n` questions, one of each kind in turn, numbered within their kind.

    A parent chunk has one question (GRIM, section 3.1.2), and questions are unique. Iterators are
    consumed lazily.
    """
    found: list[Question] = []
    parents, asked = {""}, set()
    left, counts = dict(by_kind), Counter[str]()
    while left and len(found) < n:
        for kind, candidates in list(left.items()):
            fresh = (
                q
                for q in candidates
                if (not q.parent or q.parent not in parents) and q.gold.question not in asked
            )
            question = next(fresh, None)
            if question is None:
                del left[kind]
            elif len(found) < n:
                counts[kind] += 1
                parents.add(question.parent)
                asked.add(question.gold.question)
                gold = replace(question.gold, query_id=f"{kind}-{counts[kind]:03d}")
                found.append(replace(question, gold=gold))
    return found
