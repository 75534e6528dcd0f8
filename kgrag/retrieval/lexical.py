"""Lexical routes: BM25 over the text, over title and headings, and quoted titles as phrases.

Two routes as in EasyRAG (section on dual-route sparse retrieval): text blocks and paths.
"""

import math
from collections.abc import Mapping

from kgrag.ids import document_of
from kgrag.retrieval.search import Ranking, Reasons, Search
from kgrag.types import TextField
from kgrag.vectors.vector import Hit


def words_in_text(search: Search) -> Ranking:
    """Return leaf chunks by BM25 of the question's words in their text."""
    return _words(search, field="text", size=search.settings.leaf)


def words_in_path(search: Search) -> Ranking:
    """Return leaf chunks by BM25 of the question's words in title and headings."""
    return _words(search, field="path", size=search.settings.leaf)


def words_in_path_above_cut(search: Search) -> Ranking:
    """Return what `words_in_path` finds, by how much each exceeds the last hit.

    A chunk that the route cut off scored up to the last hit, so that both count from there. A
    title gives all chunks of its document the same; what is left is what their headings add. A
    route that found fewer than it might has cut off nothing: its scores stay.
    """
    found = words_in_path(search)
    above = tuple((c, max(score - found.unseen_score_bound, 0.0)) for c, score in found.hits)
    return Ranking(above, found.reasons)


def words_in_coarse_text(search: Search) -> Ranking:
    """Return coarse chunks by BM25 of the question's words in their text."""
    return _words(search, field="text", size=search.settings.coarse)


def words_in_coarse_path(search: Search) -> Ranking:
    """Return coarse chunks by BM25 of the question's words in title and headings."""
    return _words(search, field="path", size=search.settings.coarse)


def titles_in_text(search: Search) -> Ranking:
    """Return leaf chunks that hold a title that the question quotes, as one phrase."""
    return _phrases(search, size=search.settings.leaf)


def titles_in_coarse_text(search: Search) -> Ranking:
    """Return coarse chunks that hold a title that the question quotes, as one phrase."""
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
    label = "words" if field == "text" else "path"
    return _ranking(hits, Reasons(hits, f"{label} {{:.1f}}".format), unseen_score_bound)


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
            reasons[chunk_id] = f"holds 《{title}》"
    return _ranking(hits, reasons)


def _ranking(
    hits: Mapping[str, float], reasons: Mapping[str, str], unseen_score_bound: float = math.inf
) -> Ranking:
    ordered: list[Hit] = sorted(hits.items(), key=lambda hit: (-hit[1], hit[0]))
    return Ranking(tuple(ordered), reasons, unseen_score_bound)
