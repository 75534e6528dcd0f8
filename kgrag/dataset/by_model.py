"""Generate questions by a model, one per parent chunk, kept if retrieval finds it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from kgrag.dataset.questions import Made, Question
from kgrag.errors import ModelOutputError
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.wording import token_f1, word_tokens
from kgrag.ingestion.locate import locate
from kgrag.llm.chat import ChatModel, Request, Schema
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask, one_question
from kgrag.results import ScoredChunk
from kgrag.store.store import Store
from kgrag.text.quantities import quantities
from kgrag.text.words import normalize, question_language
from kgrag.types import Chunk, Document
from kgrag.verification.rating import as_object, scores_schema

FOUND_WITHIN = 20  # results of a search among which the parent has to be
_SHORTEST = 120  # characters of a parent that says enough to be asked about
_AGREE = 0.5  # of the characters of two answers that state the same figures (F1)

Search = Callable[[str], Sequence[ScoredChunk]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A model's output for a passage."""

    question: str
    answer: str
    evidence: str


def by_model(
    store: Store,
    *,
    parent_size: int,
    n: int,
    writer: ChatModel,
    checker: ChatModel,
    search: Search,
    seed: int = 0,
    progress: Progress | None = None,
) -> Made:
    """Generate questions by a model from random parent chunks.

    GRIM, section 3.1.2: one question of each parent node. Dropped and counted are questions whose
    evidence is not in the parent, whose parent is not among the first 20 results, and those that
    the model answers differently from the parent alone.

    Args:
        store: The knowledge base.
        parent_size: Of its parent chunks.
        n: Maximum number.
        writer: Writes them; stage `answer`.
        checker: Answers them from their parent; stage `verify`.
        search: Results of a question, best first.
        seed: For the order of the parents.
        progress: Called with (questions kept, questions wanted).
    """
    cards = {card.doc_id: card for card in store.document_cards()}
    parents = [
        (chunk.chunk_id, doc_id)
        for doc_id in sorted(cards)
        for chunk in store.chunks_of([doc_id], size=parent_size)
        if len(chunk.text) >= _SHORTEST
    ]
    Random(seed).shuffle(parents)
    kept: list[Question] = []
    dropped: Counter[str] = Counter()
    for chunk_id, doc_id in parents:
        if len(kept) >= n:
            break
        (chunk,) = store.chunks([chunk_id])
        try:
            draft = _drafted(chunk, cards[doc_id], writer)
            reason, question = _checked(draft, chunk, checker, search)
        except ModelOutputError:
            reason, question = "no answer of the model could be used", None
        if question is None:
            dropped[reason] += 1
            continue
        gold = replace(question.gold, query_id=f"lookup-{len(kept) + 1:03d}")
        kept.append(replace(question, gold=gold))
        if progress:
            progress(len(kept), n)
    return Made(tuple(kept), dict(dropped))


def _drafted(chunk: Chunk, card: Document, model: ChatModel) -> _Draft:
    language = question_language(chunk.text)
    messages = prompt("dataset_question", language).fill(
        title=fence(card.title, label="title"), passage=fence(chunk.text, label="passage")
    )
    request = Request(messages, "answer", schema=_DRAFT, schema_name="dataset_question")
    return ask(model, request, _read_draft)


def _checked(
    draft: _Draft, chunk: Chunk, model: ChatModel, search: Search
) -> tuple[str, Question | None]:
    """Return the question with its gold, or the reason to drop it."""
    if not draft.question:
        return "nothing to ask", None
    place = locate(draft.evidence, chunk.text)
    if place is None:
        return "the evidence does not stand in the passage", None
    if not _is_found(chunk, search(draft.question)):
        return f"its parent is not among the first {FOUND_WITHIN} results", None
    if not agree(draft.answer, _answered(draft.question, chunk, model)):
        return "answered otherwise from the passage", None
    span = (chunk.start + place.start, chunk.start + place.end)
    gold = GoldQuery(
        query_id="",
        question=draft.question,
        gold_docs=(chunk.doc_id,),
        gold_spans={chunk.doc_id: (span,)},
        kind="lookup",
        answers=(draft.answer,),
    )
    return "", Question(gold, chunk.chunk_id)


def _is_found(parent: Chunk, results: Sequence[ScoredChunk]) -> bool:
    """Return whether a parent, or a part of it, is among results."""
    return any(
        r.chunk.doc_id == parent.doc_id
        and r.chunk.start < parent.end
        and parent.start < r.chunk.end
        for r in results[:FOUND_WITHIN]
    )


def _answered(question: str, chunk: Chunk, model: ChatModel) -> str:
    messages = prompt("dataset_check", question_language(question)).fill(
        question=fence(question, label="question"), passage=fence(chunk.text, label="passage")
    )
    request = Request(messages, "verify", schema=_ANSWER, schema_name="dataset_check")
    return ask(model, request, lambda data: _texts(data, "answer")[0])


def agree(one: str, other: str) -> bool:
    """Return whether two answers state the same figures in similar words.

    >>> agree("500家", "建成500家"), agree("500家", "600家"), agree("500家", "")
    (True, False, False)
    """
    values = [{v for q in quantities(text) for v in q.values} for text in (one, other)]
    if not other.strip() or values[0] != values[1]:
        return False
    said, known = ("".join(word_tokens(text)) for text in (one, other))
    return normalize(one) in normalize(other) or token_f1(said, known) >= _AGREE


def _read_draft(data: Json) -> _Draft:
    question, answer, evidence = _texts(data, "question", "answer", "evidence")
    if not question:
        return _Draft("", "", "")
    if not (answer and evidence):
        raise ValueError("a question needs an answer and its evidence")
    return _Draft(one_question(question), answer, evidence)


def _texts(data: Json, *names: str) -> list[str]:
    values = [as_object(data).get(name) for name in names]
    texts = [value.strip() for value in values if isinstance(value, str)]
    if len(texts) < len(names):
        raise ValueError(f"{', '.join(names)} must be texts")
    return texts


def _schema(*names: str) -> Schema:
    return scores_schema((), **{name: {"type": "string"} for name in names})


_DRAFT, _ANSWER = _schema("question", "answer", "evidence"), _schema("answer")
