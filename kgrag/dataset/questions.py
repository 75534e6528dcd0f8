"""Generated questions: their wording, their file format, and sampling by kind."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from kgrag.evaluation.lines import write_lines
from kgrag.evaluation.queries import GoldQuery
from kgrag.json_ready import as_dict
from kgrag.text.messages import catalogue
from kgrag.text.official_terms import everyday_wordings

_OFTEN = 0.5  # of the questions that may be said in everyday words, so many are


def worded(template: str, draw: Random, **fields: str) -> str:
    """Fill a random template of a name in `templates.toml`."""
    said: Sequence[str] = catalogue("kgrag.dataset", "templates.toml")[template]
    return draw.choice(said).format(**fields)


def everyday(text: str, draw: Random) -> str:
    """Replace one official term of a name by a colloquial one, at random in half of the cases.

    Table 1 of GRIM asks for questions of a passage; one that repeats its terms favours lexical
    search more than questions of people who do not know them.
    """
    found = everyday_wordings(text)
    if not found or draw.random() >= _OFTEN:
        return text
    start, end, words = draw.choice(found)
    return text[:start] + draw.choice(words) + text[end:]


def quoted(name: str, draw: Random) -> str:
    """Return a document's name, at random with title marks or without."""
    return f"《{name}》" if draw.random() < _OFTEN else name


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
        gold = as_dict(self.gold, without=("query_id",))
        record = {"id": self.gold.query_id, **gold, "parent": self.parent}
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
