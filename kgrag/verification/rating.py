"""Models' scores in [0, 1], and ratings by which retrieved chunks are dropped."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel, Request, Schema
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import ScoredChunk
from kgrag.text.answer_text import without_marks
from kgrag.types import Language

_TEN, _PERCENT = 10, 100
_OF = re.compile(r"(?:%|/\s*+(100?))\s*+$")  # behind a score: 90%, 9/10


def scores_schema(names: Sequence[str], **others: Schema) -> Schema:
    """Return the JSON schema of an object with a number for each name, and other properties.

    Ranges are checked by `read_scores`: not every endpoint supports bounds in a schema.
    """
    properties = {name: {"type": "number"} for name in names} | others
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_scores(data: Json, names: Sequence[str]) -> dict[str, float]:
    """Parse scores by name, each in [0, 1].

    Numbers in text are accepted: 0.9, 90%, 9/10. If one is above 10, all are taken as 0 to 100.

    Raises:
        ValueError: If one is missing, or out of range.
    """
    given = as_object(data)
    scores = {name: _score(name, given.get(name)) for name in names}
    scale = _PERCENT if any(score > _TEN for score in scores.values()) else 1
    for name, score in scores.items():
        if not 0 <= score <= scale:
            raise ValueError(f"{name} must be a number from 0 to 1, got {given.get(name)!r}")
    return {name: score / scale for name, score in scores.items()}


def as_object(data: Json) -> Mapping[str, Json]:
    """Parse a JSON object.

    Raises:
        ValueError: If it is something else.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a JSON object is wanted, got {type(data).__name__}")
    return data


def in_words(scores: Mapping[str, float]) -> str:
    """Return scores as text.

    >>> in_words({"answer_relevance": 0.9, "bias": 0.25})
    'answer relevance 0.90, bias 0.25'
    """
    return ", ".join(f"{name.replace('_', ' ')} {score:.2f}" for name, score in scores.items())


def _score(name: str, value: Json) -> float:
    if isinstance(value, str):
        of = _OF.search(value)
        most = int(of[1] or _PERCENT) if of else 1
        return float(_OF.sub("", value)) / most  # a ValueError where it is no number
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
    return float(value)


HIGHEST = 10  # Chats-Grid, Table I: all that is needed to answer
_PERCENT = 100
UNRATED = 1  # what was left out stays, behind what is known to help: only 0 drops a chunk

_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "ratings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "score": {"type": "integer"}},
                "required": ["n", "score"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["ratings"],
    "additionalProperties": False,
}


def rate(
    question: str,
    results: Sequence[ScoredChunk],
    *,
    language: Language,
    model: ChatModel,
    titles: Mapping[str, str],
    call_tokens: int = 8000,
) -> list[tuple[ScoredChunk, int]]:
    """Return the helpful results with their ratings from 1 to 10, best first.

    Chats-Grid, section III.B, Table I and Algorithm 2: results rated 0 are dropped, the others
    sorted by rating, stably. The paper rates one text a call; here, as many as fit. A result
    without a valid rating, or of a failed call, gets the lowest one that is kept, so that model
    errors cost the order but no result. Empty if nothing helps.

    Args:
        question: The question.
        results: Best first; their scores are unchanged.
        language: Of the question.
        model: Rates; stage `verify`.
        titles: Titles of their documents, by id.
        call_tokens: Estimated length of the texts in one call; a longer text gets its own.
    """
    texts = [_text(result, titles) for result in results]
    rated: list[tuple[ScoredChunk, int]] = []
    for numbers in _batches(texts, call_tokens):
        ratings = _ratings(question, [texts[i] for i in numbers], language=language, model=model)
        for i, rating in zip(numbers, ratings, strict=True):
            reason = "not rated" if rating is None else f"rated {rating} of {HIGHEST}"
            result = replace(results[i], via=(reason, *results[i].via))
            rated.append((result, UNRATED if rating is None else rating))
    return sorted((r for r in rated if r[1] > 0), key=lambda r: -r[1])


def _text(result: ScoredChunk, titles: Mapping[str, str]) -> str:
    chunk = result.chunk
    path = " > ".join((f"《{titles.get(chunk.doc_id, chunk.doc_id)}》", *chunk.heading_path))
    return without_marks(f"{path}\n{chunk.text}")


def _batches(texts: Sequence[str], tokens: int) -> Iterator[list[int]]:
    """Yield the indices of texts for one call, in order."""
    batch: list[int] = []
    length = 0
    for i, text in enumerate(texts):
        size = estimate_tokens(text)
        if batch and length + size > tokens:
            yield batch
            batch, length = [], 0
        batch.append(i)
        length += size
    if batch:
        yield batch


def _ratings(
    question: str, texts: Sequence[str], *, language: Language, model: ChatModel
) -> list[int | None]:
    """Return the rating of each text; None where the response has none."""
    passages = (f"[{n}]\n{fence(text, label='passage')}" for n, text in enumerate(texts, 1))
    messages = prompt("ratings", language).fill(
        question=fence(question, label="question"), passages="\n\n".join(passages)
    )
    request = Request(messages, "verify", schema=_SCHEMA, schema_name="ratings")
    try:
        ratings = ask(model, request, _read)
    except ModelError:
        return [None] * len(texts)
    return [ratings.get(n) for n in range(1, len(texts) + 1)]


def _read(data: Json) -> dict[int, int]:
    """Parse ratings by number; the first of a number counts, those out of range do not.

    If most of those above 0 are above 10, all are taken as 0 to 100.

    Raises:
        ValueError: If nothing is a rating.
    """
    items = as_object(data).get("ratings")
    rated = [
        (n, score)
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict)
        for n, score in [(_whole(item.get("n")), _whole(item.get("score")))]
        if n is not None and score is not None
    ]
    high = sum(HIGHEST < score <= _PERCENT for _, score in rated)
    scale = _PERCENT // HIGHEST if 2 * high > sum(score > 0 for _, score in rated) else 1
    found: dict[int, int] = {}
    for n, score in rated:
        if 0 <= score <= HIGHEST * scale:
            found.setdefault(n, round(score / scale))
    if not found:
        raise ValueError('"ratings" must be a list of {"n": number, "score": 0 to 10}')
    return found


def _whole(value: Json) -> int | None:
    """Return a rounded number, also from text; else None."""
    try:
        number = float(value) if isinstance(value, str | int | float) else None
        return None if number is None or isinstance(value, bool) else round(number)
    except (ValueError, OverflowError):  # no number; infinite
        return None
