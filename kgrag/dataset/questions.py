"""A question that was made of documents, its line in a file, and which of many are taken."""

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
        gold: Question, documents, spans, kind and answers; without an id until it is taken.
        parent: Id of the parent chunk that it was made of; empty for one that nothing answers.
    """

    gold: GoldQuery
    parent: str

    def line(self) -> str:
        """Return it as `kgrag.evaluation.queries.read_queries` reads it."""
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
    """What came of making questions.

    Attributes:
        questions: Those that are kept.
        dropped: How many were not, by reason.
    """

    questions: tuple[Question, ...]
    dropped: Mapping[str, int]

    @property
    def kinds(self) -> dict[str, int]:
        """Return how many there are of each kind."""
        return dict(Counter(question.gold.kind for question in self.questions))


def write_questions(path: Path, questions: Sequence[Question]) -> None:
    """Write questions, a line each.

    Raises:
        EvaluationError: If the file cannot be written.
    """
    write_lines(path, (question.line() for question in questions))


def taken(by_kind: Mapping[str, Iterator[Question]], n: int) -> list[Question]:
    """Return at most `n` questions, one of each kind in turn, numbered within their kind.

    A parent chunk has one question (GRIM, section 3.1.2: one for each parent node), and no
    question is there twice. No more of an iterator is read than is needed.
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
