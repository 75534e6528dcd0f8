"""Whether a citation that was moved to another passage is noticed, and a right one left alone.

Answers are made of gold: the gold answer, clause by clause, and the gold sentences as quotes, each
clause with the [n] of a passage that holds its gold text, in the context that `kgrag ask` sends.
Then one [n] of an answer is moved to another passage of that context, drawn at random among those
that hold no gold text of the question, and citations are resolved and checked as in `ask`.

- moved: of the [n] moved, how many are led back to a passage that holds the gold text, how many
  are marked for the reader, how many are let through.
- left: of the [n] not moved, in the same answers before anything is moved, how many are led
  elsewhere or marked: false alarms.

usage: python benchmarks/moved.py --kb KB --queries Q.jsonl [--n 200] [--seed 1] [--show 20]

Lines of Q.jsonl: `question`, `answers`, `gold_spans` {document: [[start, end], ...]}; a document is
known by its file's name without the ending. No model is asked.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.answering.attempts import Attempts
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.generate import Draft
from kgrag.answering.models import QuestionModels
from kgrag.answering.options import AskOptions
from kgrag.answering.search_context import SearchContext
from kgrag.api import KnowledgeBase
from kgrag.config import Config
from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel
from kgrag.results import Context
from kgrag.retrieval.systems import preset
from kgrag.testing import ScriptedChat
from kgrag.text.answer_text import NOT_FOUND, marks, without_marks
from kgrag.text.quantities import narrow
from kgrag.text.words import character_pairs, normalize_name
from kgrag.types import Document, Heading, Query
from kgrag.verification.checks import checked

_CLAUSE = re.compile(r"[；;\n]+")
_NUMBER = re.compile(r"\d[\d.]+")
_SHORTEST = 2  # characters of a clause
_NEW = 0.15  # of a clause's pairs of characters that a gold sentence must add
_Place = tuple[str, int, int]  # document, first character, offset after the last


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a gold answer.

    Attributes:
        text: Without [n].
        numbers: Of the passages that it is given, one for each gold sentence that it rests on.
        right: Of all that hold its gold text.
    """

    text: str
    numbers: tuple[int, ...]
    right: frozenset[int]

    @property
    def written(self) -> str:
        """Return it with its [n]."""
        return self.text + "".join(f"[{n}]" for n in self.numbers)

    def moved(self, place: int, number: int) -> "Clause":
        """Return it with another passage in a place."""
        return replace(self, numbers=(*self.numbers[:place], number, *self.numbers[place + 1 :]))


@dataclass(frozen=True, slots=True)
class Gold:
    """An answer made of gold.

    Attributes:
        question: As asked.
        source: `answer` or `quotes`.
        clauses: In order.
        wrong: Numbers of the passages that hold no gold text of the question.
    """

    question: str
    source: str
    clauses: tuple[Clause, ...]
    wrong: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what `ask` sends for it."""

    query: Query
    context: Context
    documents: Mapping[str, Document]
    headings: Mapping[str, Sequence[Heading]]

    def checked(self, clauses: Sequence[Clause]) -> Answer:
        """Return the answer that comes of clauses, its citations resolved and checked."""
        text = "\n".join(f"{c.written}。" for c in clauses)
        answer = resolve(
            self.query,
            Draft(text, "gold"),
            self.context,
            documents=self.documents,
            headings=self.headings,
        )
        texts = cited_texts(
            answer.citations, documents=self.documents, passages=self.context.passages
        )
        return checked(answer, texts)

    def outcomes(self, clauses: Sequence[Clause]) -> Iterator[tuple[Clause, set[int], bool]]:
        """Yield each clause, the passages that it cites in the end, whether it is marked."""
        answer = self.checked(clauses)
        cited = {c.number: c for c in answer.citations}
        reach = 0
        for clause, line in zip(clauses, answer.text.split("\n"), strict=True):
            start, end = reach, reach + len(line)
            reach = end + 1
            here = {self._passage(cited[n]) for s, _, n in marks(answer.text) if start <= s < end}
            marked = any(
                (not found.supported or found.elsewhere) and start <= found.start < end
                for found in answer.checks
            )
            yield clause, here, marked

    def _passage(self, citation: Citation) -> int:
        return next(
            p.number
            for p in self.context.passages
            if p.doc_id == citation.doc_id and p.start <= citation.start < p.end
        )


class Silent:
    """Has no model but one that answers nothing."""

    def of(self, stage: str) -> ChatModel:
        """Return the model of the answer.

        Raises:
            ModelError: For every other stage.
        """
        if stage != "answer":
            raise ModelError("no model reads questions here")
        return ScriptedChat(lambda _: NOT_FOUND["zh"])

    def are_together(self, one: str, other: str) -> bool:
        """Return False: the answer is asked for though nobody read the question."""
        return False


def main() -> None:
    """Print what became of right and of moved citations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="failures to print")
    given = parser.parse_args()
    lines = given.queries.read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("gold_spans")]
    with KnowledgeBase.open(given.kb, create=False) as base:
        knowledge = base._current.knowledge()
        answers = [(gold, asked) for row in rows for gold, asked in golden(row, knowledge)]
    print(f"{len(answers)} answers, {sum(len(gold.clauses) for gold, _ in answers)} citations")
    left_alone(answers, given.show)
    led_back(answers, given.n, given.seed, given.show)


def attempts_at(
    question: str, knowledge: SearchContext, *, context_tokens: int | None = None
) -> Attempts:
    """Return what `ask` tries for a question, with a model that says that nothing was found.

    Args:
        question: As asked.
        knowledge: What is asked.
        context_tokens: Longest context; as configured for None.
    """
    options = AskOptions.from_config(Config(), has_model=True, verify="none")
    if context_tokens:
        answer = replace(options.answer, context_tokens=context_tokens)
        options = replace(options, answer=answer)
    models = QuestionModels(Silent(), options.verify)
    query = knowledge.query(question)
    return Attempts(query, knowledge, preset(options.search.system), options, models)


def asked_of(
    question: str, knowledge: SearchContext, *, context_tokens: int | None = None
) -> Asked:
    """Return a question with the context that `ask` sends to a model; see `attempts_at`."""
    attempts = attempts_at(question, knowledge, context_tokens=context_tokens)
    return beside(question, attempts(question).context, knowledge)


def beside(question: str, context: Context, knowledge: SearchContext) -> Asked:
    """Return a question beside a context."""
    doc_ids = list({p.doc_id for p in context.passages})
    documents = {d.doc_id: d for d in knowledge.store.documents(doc_ids)}
    return Asked(knowledge.query(question), context, documents, knowledge.store.headings(doc_ids))


def golden(row: Mapping[str, Any], knowledge: SearchContext) -> Iterator[tuple[Gold, Asked]]:
    """Yield the answers that can be made of a question's gold and its context."""
    asked = asked_of(row["question"], knowledge)
    held = {  # (gold text, passages that hold it)
        (doc, start, end): holding(asked, doc, start, end)
        for doc, spans in row["gold_spans"].items()
        for start, end in spans
    }
    texts = {place: text for place, (text, _) in held.items() if text}
    gold = {normalize_name(text) for text in texts.values()}
    wrong = tuple(
        p.number
        for p in asked.context.passages
        if not any(text in normalize_name(_whole(asked, p.number)) for text in gold)
    )
    passages = {place: numbers for place, (_, numbers) in held.items() if numbers}
    if not passages or not wrong:
        return
    quotes = tuple(
        Clause(_one_line(texts[place]), (min(numbers),), numbers)
        for place, numbers in passages.items()
    )
    titled = {place: f"{_place_of(asked, place[0])}\n{text}" for place, text in texts.items()}
    answer = tuple(_of_answer(row["answers"][0], passages, titled))
    for source, clauses in (("quotes", quotes), ("answer", answer)):
        if clauses:
            yield Gold(row["question"], source, clauses, wrong), asked


def left_alone(answers: Sequence[tuple[Gold, Asked]], show: int) -> None:
    """Print what becomes of right citations."""
    told: Counter[str] = Counter()
    for gold, asked in answers:
        for clause, cited, marked in asked.outcomes(gold.clauses):
            here = cited and cited <= clause.right
            what = "marked" if marked else "left" if here else "led elsewhere"
            told[f"{gold.source} {what}"] += 1
            if what != "left" and told["shown"] < show:
                told["shown"] += 1
                print(f"- {what}: {gold.question}\n  {clause.written} → {cited}")
    for source in ("quotes", "answer"):
        n = sum(count for name, count in told.items() if name.startswith(source))
        shares = ", ".join(
            f"{what} {100 * told[f'{source} {what}'] / max(1, n):.1f} %"
            for what in ("left", "led elsewhere", "marked")
        )
        print(f"right [n], {source} ({n}): {shares}")
    all_of = sum(count for name, count in told.items() if name != "shown")
    wrong = all_of - told["quotes left"] - told["answer left"]
    print(f"false alarms: {wrong} of {all_of}, {100 * wrong / all_of:.1f} %")


def led_back(answers: Sequence[tuple[Gold, Asked]], n: int, seed: int, show: int) -> None:
    """Print what becomes of moved citations."""
    moves = [
        (gold, asked, i, place, number)
        for gold, asked in answers
        for i, clause in enumerate(gold.clauses)
        for place in range(len(clause.numbers))
        for number in gold.wrong
    ]
    drawn = random.Random(seed).sample(moves, min(n, len(moves)))
    told: Counter[str] = Counter()
    for gold, asked, i, place, number in drawn:
        clauses = list(gold.clauses)
        clauses[i] = clauses[i].moved(place, number)
        _, cited, marked = list(asked.outcomes(clauses))[i]
        back = cited and cited <= gold.clauses[i].right
        what = "led back" if back else "marked" if marked else "let through"
        told[f"{gold.source} {what}"] += 1
        if what == "let through" and told["shown"] < show:
            told["shown"] += 1
            right = f"right {set(clauses[i].right)}"
            print(f"- {gold.question}\n  {clauses[i].written} → {cited}, {right}")
            print(f"  {_one_line(_whole(asked, number))[:150]}")
    for source in ("quotes", "answer", ""):
        count = {
            what: sum(
                told[name] for name in told if name.startswith(source) and name.endswith(what)
            )
            for what in ("led back", "marked", "let through")
        }
        total = max(1, sum(count.values()))
        shares = ", ".join(f"{what} {100 * c / total:.1f} %" for what, c in count.items())
        print(f"moved [n], {source or 'all'} ({total}): {shares}")


def holding(asked: Asked, doc: str, start: int, end: int) -> tuple[str, frozenset[int]]:
    """Return the gold text and the numbers of the passages that hold all of it."""
    documents = (d for d in asked.documents.values() if Path(d.file).stem == doc)
    document = next(documents, None)
    if document is None:
        return "", frozenset()
    numbers = frozenset(
        p.number
        for p in asked.context.passages
        if p.doc_id == document.doc_id and p.start <= start and end <= p.end
    )
    return document.text[start:end], numbers


def _of_answer(
    answer: str,
    passages: Mapping[_Place, frozenset[int]],
    texts: Mapping[_Place, str],
) -> Iterator[Clause]:
    """Yield the clauses of a gold answer whose gold sentences are all in the context."""
    for clause in _CLAUSE.split(answer.rstrip("。")):
        bare = clause.strip("。，, ")
        rests_on = _rests_on(bare, texts)
        if len(bare) >= _SHORTEST and rests_on and all(place in passages for place in rests_on):
            numbers = dict.fromkeys(min(passages[place]) for place in rests_on)
            right = frozenset[int]().union(*(passages[place] for place in rests_on))
            yield Clause(bare, tuple(numbers), right)


def _rests_on(clause: str, texts: Mapping[_Place, str]) -> list[_Place]:
    """Return the gold sentences that a clause rests on: each adds wording, or a number."""
    held = {place: _features(text) for place, text in texts.items()}
    left, found = _features(clause), list[_Place]()
    rare = {f: 1 / max(1, sum(f in its for its in held.values())) for f in left}
    fewest = _NEW * len(left)
    while True:
        new = {place: left & its for place, its in held.items()}
        best = max(new, key=lambda place: sum(rare[f] for f in sorted(new[place])))
        if not new[best] or (
            len(new[best]) < fewest and not any(f[0].isdigit() for f in new[best])
        ):
            return found
        found.append(best)
        left -= new[best]


def _features(text: str) -> set[str]:
    """Return the pairs of characters of a text, and its numbers of more than one digit."""
    bare = narrow(text)
    pairs = {pair for pair in character_pairs(bare) if not any(c.isdigit() for c in pair)}
    return pairs | set(_NUMBER.findall(bare))


def _place_of(asked: Asked, doc: str) -> str:
    """Return the title and the regions of a document: clauses begin with whose they are."""
    document = next(d for d in asked.documents.values() if Path(d.file).stem == doc)
    return "\n".join((document.title, *document.metadata.regions))


def _whole(asked: Asked, number: int) -> str:
    passage = asked.context.passages[number - 1]
    return asked.documents[passage.doc_id].text[passage.start : passage.end]


def _one_line(text: str) -> str:
    return without_marks(re.sub(r"\s*\n\s*", "", text)).strip("。；; ")


if __name__ == "__main__":
    main()
