"""What is asked of all provinces or cities, and is no figure: the best sentences of each."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.answer.notes import note
from kgrag.answering.copies import naming_copies
from kgrag.answering.intents import complete
from kgrag.answering.listed import Place
from kgrag.answering.quotes import Quoted, quoted
from kgrag.answering.rows import Complete, Stated
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.question.query import analyse, like
from kgrag.question.question import ANYWHERE, CITIES, PROVINCES, Question, question_of
from kgrag.results import ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.search import Search
from kgrag.text.facets import place_rank
from kgrag.text.words import normalize_name
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
    if not pipeline.planned or search.query.unread:
        return None
    return complete(search, knowledge) or by_place(search, knowledge, pipeline)


def by_place(search: Search, knowledge: SearchContext, pipeline: Pipeline) -> Complete | None:
    """Return the best sentences of each place, if a question asks for all of a level.

    What is found for such a question is mostly of the few documents that are most like it; of more
    results each place keeps its own. A sentence, or a heading above it, must have the word of the
    question that is rarest in the documents. None where fewer than two places have any.

    Args:
        search: For the question.
        knowledge: Documents to list.
        pipeline: The retrieval preset.
    """
    query, asked = search.query, question_of(search.query)
    if asked.level not in (PROVINCES, CITIES, ANYWHERE) or query.titles:
        return None
    word = knowledge.rarest(" ".join(asked.pieces))
    if not word:
        return None
    about = asked.topic if "figure" in asked.asks else " ".join(asked.pieces)
    topic = like(query, analyse(about, known_places=()))

    def rows_of(place: str, results: Sequence[ScoredChunk]) -> list[Stated]:
        found = quote_results(topic, results, knowledge, _SENTENCES)[0].answer
        return [
            Stated(Place(c.doc_id, c.start, c.end, c.chunk_id), label=place, lead=place)
            for c in (found.citations if found.found else ())
            if word in normalize_name("".join((*c.heading_path, c.quote)))
        ]

    placed = _placed(asked, knowledge)
    results = _results(placed, knowledge.best(pipeline, [search], top_k=_WIDE), word)
    rows = [
        row
        for place, doc_ids in placed.items()
        for row in rows_of(place, results[place])
        or rows_of(place, knowledge.with_phrase(word, doc_ids, _PASSAGES))
    ]
    shown = {row.label for row in rows}
    if len(shown) < 2:
        return None
    language = query.language
    notes = [note("by-place", language, n=len(shown), most=_SENTENCES, word=word)]
    if silent := [place for place in placed if place not in shown]:
        notes.append(note("not-by-place", language, word=word, names=tuple(silent)))
    return Complete(tuple(rows), tuple(notes), "places")


def _placed(asked: Question, knowledge: SearchContext) -> dict[str, list[str]]:
    """Return the documents about each place, the places in order."""
    placed: dict[str, list[str]] = {}
    for doc_id, card in knowledge.cards().items():
        around = card.metadata.regions
        rows = (asked.row_of(around[:n]) for n in range(len(around), 0, -1))
        if place := next(filter(None, rows), ""):
            placed.setdefault(place, []).append(doc_id)
    return {place: placed[place] for place in sorted(placed, key=place_rank)}


def _results(
    placed: dict[str, list[str]], found: Sequence[ScoredChunk], word: str
) -> dict[str, list[ScoredChunk]]:
    """Return the best results of each place that have a word, themselves or in a heading."""
    place_of = {doc_id: place for place, doc_ids in placed.items() for doc_id in doc_ids}
    kept: dict[str, list[ScoredChunk]] = {place: [] for place in placed}
    for hit in found:
        place = place_of.get(hit.chunk.doc_id, "")
        told = normalize_name("".join((*hit.chunk.heading_path, hit.chunk.text)))
        if place and word in told and len(kept[place]) < _PASSAGES:
            kept[place].append(hit)
    return kept


def quote_results(
    query: Query, results: Sequence[ScoredChunk], knowledge: SearchContext, most: int
) -> tuple[Quoted, dict[str, Document]]:
    """Return at most so many sentences of results by rule, and the documents of the results."""
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
    )
    return replace(told, answer=naming_copies(told.answer, found.results)), found.documents
