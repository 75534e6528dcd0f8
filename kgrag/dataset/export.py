"""Training samples from questions with gold: for encoders, generators and verification."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from kgrag.evaluation.queries import GoldQuery
from kgrag.llm.prompts import prompt
from kgrag.results import Passage, ScoredChunk
from kgrag.store.store import Store
from kgrag.text.answer_text import NOT_FOUND
from kgrag.text.official_terms import in_official_terms, official_terms
from kgrag.text.words import normalize, question_language
from kgrag.types import Chunk, Language
from kgrag.verification.attempt import material_of
from kgrag.verification.cov import MEASURES

Sample = dict[str, object]
Search = Callable[[str], Sequence[ScoredChunk]]

RANKS = (3, 30)
_NEGATIVES = 7  # of a query, as FlagEmbedding's groups of 8 have beside a positive
_POSITIVES = 4
_REFERENCES = 5  # of a question: CoV-RAG, Table 6
_LORA: dict[Language, str] = {
    "zh": "你是双碳政策领域的专家，请直接回答问题。",
    "en": "You are an expert in policies of the field. Answer the question.",
}


@dataclass(frozen=True, slots=True)
class Exporting:
    """Exports training samples.

    Attributes:
        store: The knowledge base.
        queries: Questions with gold; instructions and verification need answers.
        search: Results of a question, best first; at least as many as the last of `ranks`.
        size: Of positive chunks: the smallest.
        ranks: First and last rank, from 1, of negatives.
        seed: For sampling.
    """

    store: Store
    queries: Sequence[GoldQuery]
    search: Search
    size: int
    ranks: tuple[int, int] = RANKS
    seed: int = 0

    def pairs(self) -> Iterator[Sample]:
        """Yield {query, pos, neg, neg_ranks} of each question that has gold spans.

        QCG-Rerank, section 3.1: training data of the form query, pos, neg, after Xiao et al. 2023
        (C-Pack). There negatives are answers of other questions; here, as in C-Pack's fine-tuning,
        results of retrieval that are not gold: seven of the ranks 3 to 30 by default. No negative
        touches a gold span, nor contains an answer in a gold document. Texts are the encoder's
        input: title, headings, text.
        """
        first, last = self.ranks
        for query in self.queries:
            positives = self._gold_chunks(query)[:_POSITIVES]
            if not positives:
                continue
            ranked = list(enumerate(self.search(query.question), start=1))[first - 1 : last]
            hard = [(rank, r.chunk) for rank, r in ranked if not _is_right(query, r.chunk)]
            draw = Random(f"{self.seed} {query.query_id}")
            drawn = sorted(draw.sample(hard, min(_NEGATIVES, len(hard))), key=lambda pair: pair[0])
            yield {
                "query": query.question,
                "pos": [self._read(chunk) for chunk in positives],
                "neg": [self._read(chunk) for _, chunk in drawn],
                "neg_ranks": [rank for rank, _ in drawn],
            }

    def instructions(self) -> Iterator[Sample]:
        """Yield {instruction, input, output} of each question: data of GRIM's LoRA baseline.

        GRIM, section 4.2, group 4: a tuned model that answers without retrieval; so there are no
        passages. The output of an unanswerable question is the denial.
        """
        for query in self.queries:
            language = question_language(query.question)
            if query.answers or not query.gold_docs:
                output = query.answers[0] if query.answers else NOT_FOUND[language]
                yield {"instruction": _LORA[language], "input": query.question, "output": output}

    def verification(self) -> Iterator[Sample]:
        """Yield {task, label, instruction, input, output}: samples to answer, and to verify.

        CoV-RAG, section 2.2 and Table 6: a model learns to answer from five references, and to
        score, judge and reword (equation 2: the sum of both losses). Answers have the paper's form;
        verification the prompt of `--verify cov-paper`, which the tuned model can then serve. The
        paper had GPT-4 label real answers; here labels follow from construction: the right answer,
        one of another question, the right one with a wrong citation, a wrong denial, and a right
        one.
        """
        by_kind: dict[str, list[str]] = {}
        for query in self.queries:
            by_kind.setdefault(query.kind, []).extend(query.answers[:1])
        for query in self.queries:
            draw = Random(f"{self.seed} {query.query_id}")
            others = [a for a in by_kind[query.kind] if a not in query.answers]
            passages, gold = self._references(query, draw)
            if query.answers and gold:
                yield _answering(query, query.answers[0] + _cited(gold), passages)
                yield from _verified(query, passages, gold, others, draw)
            elif not query.gold_docs:
                nothing = NOT_FOUND[question_language(query.question)]
                yield _answering(query, nothing, passages)
                yield _verifying(query, "nothing there", nothing, passages, (0, 0, 1, 1, 1, 1))

    def _references(self, query: GoldQuery, draw: Random) -> tuple[list[Passage], list[int]]:
        gold = self._gold_chunks(query)
        gold = gold if len(gold) < _REFERENCES else []
        found = [r.chunk for r in self.search(query.question) if not _is_right(query, r.chunk)]
        chunks = [*gold, *found[: _REFERENCES - len(gold)]]
        draw.shuffle(chunks)
        titles = self._titles([chunk.doc_id for chunk in chunks])
        passages = [
            Passage(
                number=number,
                doc_id=chunk.doc_id,
                title=titles[chunk.doc_id],
                heading_path=chunk.heading_path,
                start=chunk.start,
                end=chunk.end,
                text=chunk.text,
                chunk_id=chunk.chunk_id,
            )
            for number, chunk in enumerate(chunks, start=1)
        ]
        return passages, [number for number, c in enumerate(chunks, start=1) if c in gold]

    def _gold_chunks(self, query: GoldQuery) -> list[Chunk]:
        """Return the leaf chunks in which gold spans begin, the first of each document first."""
        ranked = []
        for doc_id in query.gold_docs:
            spans = query.gold_spans.get(doc_id, ())
            chunks = self.store.chunks_of([doc_id], size=self.size)
            held = [c for c in chunks if any(c.start <= start < c.end for start, _ in spans)]
            ranked += [(rank, chunk) for rank, chunk in enumerate(held)]
        return [chunk for _, chunk in sorted(ranked, key=lambda pair: pair[0])]

    def _titles(self, doc_ids: Sequence[str]) -> dict[str, str]:
        return {card.doc_id: card.title for card in self.store.document_cards(doc_ids)}

    def _read(self, chunk: Chunk) -> str:
        title = self._titles([chunk.doc_id])[chunk.doc_id]
        return f"{title}\n{' '.join(chunk.heading_path)}\n{chunk.text}"


def sample_line(sample: Sample) -> str:
    """Return a sample as a line of JSON."""
    return json.dumps(sample, ensure_ascii=False)


def _cited(numbers: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _is_right(query: GoldQuery, chunk: Chunk) -> bool:
    if chunk.doc_id not in query.gold_docs:
        return False
    spans = query.gold_spans.get(chunk.doc_id, ())
    said = normalize(chunk.text)
    touches = any(chunk.start < end and start < chunk.end for start, end in spans)
    return touches or any(normalize(answer) in said for answer in query.answers)


def _verified(
    query: GoldQuery, passages: list[Passage], gold: list[int], others: list[str], draw: Random
) -> Iterator[Sample]:
    """Yield verifications of the right answer, and of each wrong one that can be made.

    Scores are those of `kgrag.verification.cov.MEASURES`, in order.
    """
    right = query.answers[0]
    yield _verifying(query, "true", right + _cited(gold), passages, (1, 1, 1, 1, 0, 1))
    if others:
        wrong = draw.choice(others) + _cited(gold)
        yield _verifying(query, "wrong answer", wrong, passages, (1, 0, 0, 1, 1, 1))
    astray = [passage.number for passage in passages if passage.number not in gold]
    if astray:
        miscited = right + _cited([draw.choice(astray)])
        yield _verifying(query, "wrong citation", miscited, passages, (1, 1, 0, 1, 0, 1))
    nothing = NOT_FOUND[question_language(query.question)]
    yield _verifying(query, "not answered", nothing, passages, (1, 0, 1, 1, 1, 1))


_JUDGED = {"true": "true", "wrong citation": "unclear", "nothing there": "unclear"}


def _verifying(
    query: GoldQuery, label: str, answer: str, passages: list[Passage], scores: tuple[int, ...]
) -> Sample:
    judgement = _JUDGED.get(label, "false")
    revised = "" if judgement == "true" else _revised(query.question)
    output = dict(zip(MEASURES, map(float, scores), strict=True))
    system, user = prompt("cov_paper", question_language(query.question)).fill(
        **material_of(query.question, answer, passages)
    )
    return {
        "task": "verification",
        "label": label,
        "instruction": system.content,
        "input": user.content,
        "output": json.dumps(
            {**output, "judgement": judgement, "revised_question": revised}, ensure_ascii=False
        ),
    }


def _answering(query: GoldQuery, answer: str, passages: list[Passage]) -> Sample:
    """Return a sample of answering in the form of CoV-RAG, Table 6."""
    references = "\\".join(f"Reference [{p.number}]: {p.text}" for p in passages)
    return {
        "task": "qa",
        "label": "true",
        "instruction": "#Question-Answering-in-Context-Task#",
        "input": f"{references}\\Question: {query.question}\\Answer:",
        "output": answer,
    }


def _revised(question: str) -> str:
    """Return a question in official terms, if it has others."""
    return in_official_terms(question, official_terms(question))
