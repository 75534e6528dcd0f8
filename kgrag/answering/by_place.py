"""What is asked of all provinces or cities, and is no figure: the best sentences of each."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answering.copies import naming_copies
from kgrag.answering.intents import complete
from kgrag.answering.listed import Place
from kgrag.answering.quotes import quoted
from kgrag.answering.rows import Complete, Stated
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.question.query import analyse, like
from kgrag.question.question import ANYWHERE, CITIES, PROVINCES, Question, question_of
from kgrag.results import ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.search import Search
from kgrag.text.facets import place_rank
from kgrag.text.words import normalize_name, sentence_spans
from kgrag.types import Document, Query

# Results of the question, those that each place keeps, and sentences of each.
_WIDE, _PASSAGES, _SENTENCES = 150, 3, 2


def listed_for(search: Search, knowledge: SearchContext, pipeline: Pipeline) -> Complete | None:
    """Return the rows that answer a question completely or place by place; None for others.

    Args:
        search: For the question.
        knowledge: Documents to list.
        pipeline: Finds what no statement tells; one without a plan lists nothing.
    """
    if not pipeline.planned or search.query.unread or question_of(search.query).abroad:
        return None
    return complete(search, knowledge) or by_place(search, knowledge, pipeline)


def by_place(search: Search, knowledge: SearchContext, pipeline: Pipeline) -> Complete | None:
    """Return the best sentences of each place, if a question asks for all of a level.

    What is found for such a question is mostly of the few documents that are most like it; of more
    results each place keeps its own. A sentence, or a heading above it, must have the word of the
    question that is rarest in the documents, and its passage half of the other rare ones. None
    where fewer than two places have any.

    Args:
        search: For the question.
        knowledge: Documents to list.
        pipeline: The retrieval preset.
    """
    query, asked = search.query, question_of(search.query)
    if asked.level not in (PROVINCES, CITIES, ANYWHERE) or query.titles:
        return None
    rare = knowledge.rare_words(" ".join(asked.pieces))
    if not rare:
        return None
    about = asked.topic if "figure" in asked.asks else " ".join(asked.pieces)
    topic = like(query, analyse(about, known_places=()))

    cards = knowledge.cards()

    def lead(place: str, cited: Citation) -> str:
        own = cards[cited.doc_id].metadata.regions[-1]
        return place if own == place else f"{place}（{own}）"  # a city's rule is no province's

    placed = _placed(asked, knowledge)
    best = _of_places(placed, knowledge.best(pipeline, [search], top_k=_WIDE), rare)
    rows = []
    for place, doc_ids in placed.items():
        results = best[place] or _having(knowledge.with_phrase(rare[0], doc_ids, _WIDE), rare)
        found = quote_results(topic, results, knowledge, _SENTENCES, sure=True)[0]
        rows += [
            Stated(Place(c.doc_id, c.start, c.end, c.chunk_id), label=place, lead=lead(place, c))
            for c in (found.citations if found.found else ())
        ]
    shown = {row.label for row in rows}
    if len(shown) < 2:
        return None
    told = note("by-place", query.language, n=len(shown), most=_SENTENCES, word=rare[0])
    return Complete(tuple(rows), (told,), "places")


def _placed(asked: Question, knowledge: SearchContext) -> dict[str, list[str]]:
    """Return the documents about each place, the places in order."""
    placed: dict[str, list[str]] = {}
    for doc_id, card in knowledge.cards().items():
        around = card.metadata.regions
        rows = (asked.row_of(around[:n]) for n in range(len(around), 0, -1))
        if place := next(filter(None, rows), ""):
            placed.setdefault(place, []).append(doc_id)
    return {place: placed[place] for place in sorted(placed, key=place_rank)}


def _of_places(
    placed: dict[str, list[str]], found: Sequence[ScoredChunk], rare: Sequence[str]
) -> dict[str, list[ScoredChunk]]:
    """Return what `_having` does for the best results of each place."""
    place_of = {doc_id: place for place, doc_ids in placed.items() for doc_id in doc_ids}
    kept: dict[str, list[ScoredChunk]] = {place: [] for place in placed}
    for hit in found:
        if place := place_of.get(hit.chunk.doc_id):
            kept[place].append(hit)
    return {place: _having(hits, rare) for place, hits in kept.items()}


def _having(results: Sequence[ScoredChunk], rare: Sequence[str]) -> list[ScoredChunk]:
    """Return the sentences with the first of several words, of the first results that have any.

    A result, with its title and headings, must have half of the other words. All of it is kept if a
    heading has the first.
    """
    word, *others = rare
    kept: list[list[ScoredChunk]] = []
    for hit in results:
        chunk, text = hit.chunk, hit.chunk.text
        around = normalize_name("".join((hit.title, *chunk.heading_path, text)))
        if 2 * sum(other in around for other in others) < len(others):
            continue
        spans = [(a, b) for a, b in sentence_spans(text) if word in normalize_name(text[a:b])]
        if word in normalize_name("".join(chunk.heading_path)):
            spans = [(0, len(text))]
        own = (
            replace(chunk, start=chunk.start + a, end=chunk.start + b, text=text[a:b])
            for a, b in spans
        )
        kept += [[replace(hit, chunk=piece) for piece in own]] if spans else []
    return list(chain.from_iterable(kept[:_PASSAGES]))


def quote_results(
    query: Query,
    results: Sequence[ScoredChunk],
    knowledge: SearchContext,
    most: int,
    *,
    sure: bool = False,
) -> tuple[Answer, dict[str, Document]]:
    """Return at most so many sentences of results by rule, and the documents of the results.

    With `sure`, the results are known to be about it, and the best are quoted whatever they score.
    """
    results = [*results, *knowledge.defining(query, results)]
    found = ResultsWithDocuments.of(results, knowledge.store)
    told = quoted(
        query,
        found.results,
        documents=found.documents,
        headings=found.headings,
        embedder=knowledge.embedder(),
        max_sentences=most,
        facts=facts_in(found.results, knowledge.store, leaf=knowledge.settings().leaf),
        absent=lambda: knowledge.absent(query),
        apart=cache(lambda: knowledge.apart(query)),
        sure=sure,
    )
    return naming_copies(told, found.results), found.documents
