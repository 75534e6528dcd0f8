"""Lexical retrieval: BM25 over text and over headings, and phrase search for quoted titles.

The two BM25 retrievers are EasyRAG's dual-route sparse retrieval: text blocks and paths.
"""

import math
from collections.abc import Mapping

from kgrag.ids import document_of
from kgrag.results import Reason
from kgrag.retrieval.ranking import ranked
from kgrag.retrieval.search import Ranking, Reasons, Search
from kgrag.types import TextField


def words_in_text(search: Search) -> Ranking:
    """Return leaf chunks by BM25 over their text."""
    return _words(search, field="text", size=search.settings.leaf)


def words_in_path(search: Search) -> Ranking:
    """Return leaf chunks by BM25 over title and headings."""
    return _words(search, field="path", size=search.settings.leaf)


def words_in_path_above_cut(search: Search) -> Ranking:
    """Return the hits of `words_in_path`, scored by the excess over the last hit.

    Chunks below the cut-off scored up to the last hit. A title scores the same for all chunks of
    its document; what remains is the score of the headings. Scores stay if there was no cut-off.
    """
    found = words_in_path(search)
    above = tuple((c, max(score - found.unseen_score_bound, 0.0)) for c, score in found.hits)
    return Ranking(above, found.reasons)


def words_in_coarse_text(search: Search) -> Ranking:
    """Return coarse chunks by BM25 over their text."""
    return _words(search, field="text", size=search.settings.coarse)


def words_in_coarse_path(search: Search) -> Ranking:
    """Return coarse chunks by BM25 over title and headings."""
    return _words(search, field="path", size=search.settings.coarse)


def titles_in_text(search: Search) -> Ranking:
    """Return leaf chunks that contain a quoted title as a phrase."""
    return _phrases(search, size=search.settings.leaf)


def titles_in_coarse_text(search: Search) -> Ranking:
    """Return coarse chunks that contain a quoted title as a phrase."""
    return _phrases(search, size=search.settings.coarse)


def _words(search: Search, *, field: TextField, size: int) -> Ranking:
    if not search.terms:
        return Ranking((), {})
    top_k = search.settings.depth
    hits = dict(search.store.search_words(search.terms, field=field, size=size, top_k=top_k))
    unseen_score_bound = min(hits.values()) if len(hits) >= top_k else 0.0
    if search.titled:  # what the question names is searched to the bottom
        of_titled = search.store.search_words(
            search.terms, field=field, size=size, top_k=top_k, doc_ids=list(search.titled)
        )
        hits.update(of_titled)
    reasons = Reasons(hits, lambda score: Reason(field, score=f"{score:.1f}"))
    return _ranking(hits, reasons, unseen_score_bound)


def _phrases(search: Search, *, size: int) -> Ranking:
    hits: dict[str, float] = {}
    reasons: dict[str, str] = {}
    titles = search.settings.titles
    named = {t: titles.cited_as(ids) for t, ids in search.query.named if ids}
    for title in [phrase for t in search.query.titles for phrase in named.get(t, (t,))]:
        found = search.store.search_phrase(
            title, field="text", size=size, top_k=search.settings.depth
        )
        for chunk_id, score in found:
            if document_of(chunk_id) in search.titled:
                continue  # its document bears the title: that it names itself says no more
            hits[chunk_id] = max(score, hits.get(chunk_id, 0.0))
            reasons[chunk_id] = Reason("mention", what=f"《{title}》")
    return _ranking(hits, reasons)


def _ranking(
    hits: Mapping[str, float], reasons: Mapping[str, str], unseen_score_bound: float = math.inf
) -> Ranking:
    return Ranking(tuple(ranked(hits)), reasons, unseen_score_bound)
