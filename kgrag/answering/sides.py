"""Answering a comparison with quotes for each side."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Block, Missing, Side
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answering.extract import METHOD, Quoted
from kgrag.embedding.embedder import Embedder
from kgrag.text.facets import document_facets
from kgrag.text.words import normalize_name
from kgrag.types import Document, Language, Query

_AND: Mapping[Language, str] = {"zh": "、", "en": ", "}
_DIGIT = re.compile(r"\d")
_LEAST = 2  # sentences that each side may have
_SHOWN = 3  # titles of what was found instead
# Sides of one question are answered alike. A side whose sentences are less alike than this to
# those of the side with the best support (cosine), and which are supported by so much less,
# answers something else: benchmarks/decisions.md has what it finds.
_ALIKE, _BEHIND = 0.68, 0.05


def answer_by_sides(
    query: Query,
    sides: Sequence[str],
    quote: Callable[[str, int], Quoted],
    *,
    max_sentences: int,
    embedder: Embedder,
) -> Answer:
    """Return the answers of all sides.

    A side of which nothing is found, or only an answer to something else, says so.

    Args:
        query: The question.
        sides: Names of the sides, at least one.
        quote: Answers one side with at most so many sentences.
        max_sentences: Maximum number of quotes, but two for each side.
        embedder: Measures whether sides are answered alike; the stand-in cannot.
    """
    most = max(_LEAST, max_sentences // len(sides))
    told = {side: quote(side, most) for side in sides}
    beside = set() if embedder.is_stand_in else _beside(told, _asked(query), embedder)
    silent = [side for side in sides if side in beside or not told[side].answer.found]
    if len(silent) == len(sides):
        instead = tuple(dict.fromkeys(note for side in sides for note in told[side].answer.notes))
        return Answer(query.text, (Missing(),), METHOD, notes=instead)
    blocks: list[Block] = []
    notes: dict[str, None] = {}
    for label in sides:
        answer = told[label].answer
        if label in silent:
            blocks.append(Missing(label, _each(answer)))
        else:
            blocks.append(Side(label, answer.blocks))
            notes.update(dict.fromkeys(answer.notes))
    if silent:
        told_of = _AND[query.language].join(silent)
        notes[note("nothing-of", query.language, sides=told_of)] = None
    return Answer(query.text, tuple(blocks), METHOD, notes=tuple(notes))


def _asked(query: Query) -> set[str]:
    """Return the content words of a question, without numbers."""
    return {word for word in query.words if len(word) > 1 and not _DIGIT.search(word)}


def of_side(
    side: Query, told: Quoted, *, titled: Collection[str], documents: Mapping[str, Document]
) -> Quoted:
    """Return the quotes of a side's document or place.

    If there are none, it is not found, and its citations are what was found instead. A quote
    belongs to a place if its document is about it, or it, or a heading above it, names the place.

    Args:
        side: The side.
        told: The quotes.
        titled: Documents that it names.
        documents: Those of the quotes, by id.
    """
    titles = [normalize_name(title) for title in side.titles]

    def is_own(c: Citation) -> bool:
        if titles:
            return c.doc_id in titled or any(t in normalize_name(c.title) for t in titles)
        card = documents[c.doc_id]
        about = set(document_facets(card.title, card.metadata).places)
        said = "\n".join((*c.heading_path, c.quote))
        return not side.places or bool(about & side.places) or any(p in said for p in side.places)

    answer = told.answer
    own = tuple(block for block in answer.blocks if all(map(is_own, block.citations)))
    if len(own) == len(answer.blocks):
        return told
    if not own:
        return replace(told, answer=replace(answer, blocks=(Missing("", answer.citations),)))
    return replace(told, answer=replace(answer, blocks=own, notes=()))


def _beside(told: Mapping[str, Quoted], asked: Collection[str], embedder: Embedder) -> set[str]:
    """Return the sides whose quotes answer something else than those of the best side."""
    found = {side: quoted for side, quoted in told.items() if quoted.answer.found}
    if len(found) < 2:
        return set()
    best = max(found, key=lambda side: found[side].score)
    vectors = {
        side: embedder.embed([c.quote for c in quoted.answer.citations], "passage")
        for side, quoted in found.items()
        if side == best or quoted.score <= found[best].score - _BEHIND
    }
    named = {side: _named(asked, quoted.answer.citations) for side, quoted in found.items()}
    return {
        side
        for side, own in vectors.items()
        if named[side] < named[best] and float((own @ vectors[best].T).max()) < _ALIKE
    }


def _named(asked: Collection[str], citations: Sequence[Citation]) -> int:
    """Return the number of requested words in quotes, titles and headings."""
    told = normalize_name(
        "\n".join(" ".join((c.title, *c.heading_path, c.quote)) for c in citations)
    )
    return sum(word in told for word in asked)


def _each(answer: Answer) -> tuple[Citation, ...]:
    """Return the first citation of each document, a few."""
    cited = (c for block in answer.blocks for c in block.citations)
    first: dict[str, Citation] = {}
    for c in cited:
        first.setdefault(c.title, c)
    return tuple(first.values())[:_SHOWN]
