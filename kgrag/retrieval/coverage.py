"""Rerank by the share of the question that a chunk with its title and headings covers."""

from collections.abc import Mapping, Sequence

import numpy as np

from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.ranking import best_first
from kgrag.retrieval.search import Search
from kgrag.text.words import normalize
from kgrag.types import Chunk

# What a chunk with all words of the question gains: learnt and measured, benchmarks/decisions.md.
_WEIGHT = 6.0


def by_coverage(search: Search, candidates: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Add to each candidate's score the weighted share of the question's words that it covers.

    The word retrievers score text and path separately, and BM25 lets one frequent word make up for
    a missing one. Here title, headings and text are one text, as for the encoder, and each word
    counts once, by its inverse frequency among the candidates (Robertson and Zaragoza, 2009, "The
    probabilistic relevance framework: BM25 and beyond", eq. 3.2).
    Scores are those of `kgrag.retrieval.weighted_fusion.WeightedFusion`.
    """
    shares = covered(search.terms, [normalize(as_read(search, c.chunk)) for c in candidates])
    return best_first(
        ScoredChunk(
            c.chunk,
            c.score + _WEIGHT * share,
            (*c.via, Reason("coverage", score=f"{share:.2f}")),
        )
        for c, share in zip(candidates, shares, strict=True)
    )


def as_read(search: Search, chunk: Chunk) -> str:
    """Return a chunk's text preceded by its title and headings, a line each."""
    title = search.settings.titles.title_of(chunk.doc_id)
    return "\n".join((title, *chunk.heading_path, chunk.text))


def covered(terms: Mapping[str, float], texts: Sequence[str]) -> list[float]:
    """Return the share of the words' weight that each text contains, in [0, 1]; 0 without words.

    Args:
        terms: Normalised words with their frequency.
        texts: Normalised. Rare words weigh more; a word of Latin letters or digits matches only
            at the start of one: 30 is not in 2030, nor in 300.

    >>> [round(share, 2) for share in covered({"煤": 1.0, "电": 1.0}, ["煤电", "电", "电价"])]
    [1.0, 0.12, 0.12]
    """
    if not (terms and texts):
        return [0.0] * len(texts)
    having = np.array(
        [
            [_has(text, term) for text in texts]
            if term.isascii()
            else [term in text for text in texts]
            for term in terms
        ]
    )
    n_having = having.sum(axis=1)
    rarity = np.log1p((len(texts) - n_having + 0.5) / (n_having + 0.5))
    weights = np.array(list(terms.values())) * rarity
    shares: list[float] = (weights @ having / weights.sum()).tolist()
    return shares


def _has(text: str, term: str) -> bool:
    """Return whether a word of Latin letters or digits begins in a text."""
    at = text.find(term)
    while at >= 0:
        before, after = text[max(at - 1, 0) : at], text[at + len(term) : at + len(term) + 1]
        if not (before.isascii() and before.isalnum()) and not after.isdecimal():
            return True
        at = text.find(term, at + 1)
    return False
