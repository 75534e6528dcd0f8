"""Rerank by the share of the question that a chunk with its title and headings covers."""

import math
import re
from collections.abc import Mapping, Sequence

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
    texts = [normalize(as_read(search, candidate.chunk)) for candidate in candidates]
    shares = covered(search.terms, texts)
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
    having = {term: _having(term, texts) for term in terms}
    weights = {
        term: terms[term] * math.log1p((len(texts) - sum(has) + 0.5) / (sum(has) + 0.5))
        for term, has in having.items()
    }
    whole = sum(weights.values())
    if not whole:
        return [0.0] * len(texts)
    return [
        sum(weights[term] for term, has in having.items() if has[i]) / whole
        for i in range(len(texts))
    ]


def _having(term: str, texts: Sequence[str]) -> list[bool]:
    if not term.isascii():
        return [term in text for text in texts]
    begins = re.compile(rf"(?<![a-z\d]){re.escape(term)}(?!\d)")
    return [term in text and begins.search(text) is not None for text in texts]
