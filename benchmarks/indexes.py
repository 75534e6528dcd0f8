"""How well Neo4j's indexes find: full-text analyzers against each other, vectors against exact."""

import re
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from asking import Pair
from storing import Given

from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import RunResult, from_ranking
from kgrag.evaluation.scores import evaluate
from kgrag.question.question import analyse
from kgrag.results import ScoredChunk
from kgrag.store.neo4j.connection import Database, Row
from kgrag.vectors.vector import Hit, Vector

_TOP_K = 20  # chunks
_MEASURES = ("R@1", "R@5", "R@10", "span@2000")
_ANALYZERS = ("cjk", "standard-no-stop-words")
_OPERATORS = re.compile(r'[+\-!(){}\[\]^"~*?:\\/&|]')
_DEPTHS = (10, 200)  # nearest vectors that count
_WIDER = (1, 2, 3, 5)  # times as many asked of the index
_TIE = 1e-6  # cosines this close are one

# The index is over one size only, as that of our words is.
_LABEL = "MATCH (c:Chunk {size: $size}) SET c:Trial"
_UNLABEL = "MATCH (c:Trial) REMOVE c:Trial"
_INDEX = """CREATE FULLTEXT INDEX trial FOR (n:Trial) ON EACH [n.text]
OPTIONS {{indexConfig: {{`fulltext.analyzer`: '{analyzer}'}}}}"""
_DROP = "DROP INDEX trial IF EXISTS"
_SEARCH = """CALL db.index.fulltext.queryNodes('trial', $query, {limit: $limit}) YIELD node, score
RETURN node.id AS id, score"""
_NEAREST = """CALL db.index.vector.queryNodes('kgrag_chunk_embedding', $k, $vector)
YIELD node, score RETURN node.id AS key, score ORDER BY score DESC LIMIT $limit"""

_Rank = Callable[[str], Sequence[Hit]]
_Gold = Mapping[str, Sequence[GoldQuery]]


def compare_analyzers(pair: Pair, gold: _Gold) -> dict[str, object]:
    """Rank chunks by BM25 of our words and of what analyzers make of the text; print and return.

    Args:
        pair: The knowledge bases; that on the server is searched.
        gold: Questions by the name of their file.
    """
    base, database = pair.neo4j, pair.database
    coarse, _ = base.sizes.searched
    report: dict[str, object] = {}
    print(f"\nfull-text search of chunks of {coarse}: best {_TOP_K} by BM25")
    print(f"{'':44}" + "".join(f"{name:>10}" for name in _MEASURES) + "    ms p50")

    knowledge = base._knowledge

    def words(question: str) -> Sequence[Hit]:
        terms = knowledge.search(knowledge.query(question)).terms
        return base.store.search_words(terms, field="text", size=coarse, top_k=_TOP_K)

    def words_and_path(question: str) -> Sequence[Hit]:
        terms = knowledge.search(knowledge.query(question)).terms
        scores: dict[str, float] = {}
        for field in ("text", "path"):
            found = base.store.search_words(terms, field=field, size=coarse, top_k=5 * _TOP_K)
            for chunk_id, score in found:
                scores[chunk_id] = scores.get(chunk_id, 0.0) + score
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:_TOP_K]

    def bm25(question: str) -> Sequence[Hit]:
        found = base.search(question, system="bm25", top_k=_TOP_K)
        return [(result.chunk.chunk_id, result.score) for result in found]

    def trial(question: str) -> Sequence[Hit]:
        rows = _rows(database, _SEARCH, query=escaped(question), limit=_TOP_K)
        return [(row["id"], row["score"]) for row in rows]

    ours = {"words": words, "words + path": words_and_path, "preset bm25": bm25}
    for name, rank in ours.items():
        report[name] = _measure(pair, gold, name, rank)
    for analyzer in _ANALYZERS:
        _rows(database, _LABEL, size=coarse)
        try:
            _rows(database, _INDEX.format(analyzer=analyzer))
            database.await_indexes()
            report[analyzer] = _measure(pair, gold, analyzer, trial)
        finally:
            _rows(database, _DROP)
            _rows(database, _UNLABEL)
    return report


def escaped(text: str) -> str:
    """Return a text as a Lucene query for any of its terms: nothing in it is an operator."""
    return _OPERATORS.sub(lambda match: f"\\{match.group()}", text).lower()


def _measure(pair: Pair, gold: _Gold, name: str, rank: _Rank) -> dict[str, object]:
    base = pair.neo4j
    files = {card.doc_id: card.file for card in base.store.document_cards()}
    report = {}
    for file, queries in gold.items():
        seconds, run = [], {}
        for query in queries:
            started = time.perf_counter()
            hits = rank(query.question)
            seconds.append(time.perf_counter() - started)
            run[query.query_id] = _results(pair, hits, files)
        means = evaluate(run, queries, ks=(1, 5, 10), budgets=(2000,)).groups[0].means
        values = {measure: means[measure] for measure in _MEASURES}
        p50 = 1000 * float(np.median(seconds))
        report[file] = {**values, "ms p50": p50}
        cells = "".join(f"{value:10.3f}" for value in values.values())
        print(f"{name:26} {file:17}{cells}{p50:10.1f}", flush=True)
    return report


def _results(pair: Pair, hits: Sequence[Hit], files: Mapping[str, str]) -> list[RunResult]:
    chunks = {c.chunk_id: c for c in pair.sqlite.store.chunks([chunk_id for chunk_id, _ in hits])}
    return from_ranking(
        [
            ScoredChunk(chunks[i], score, (), file=files.get(chunks[i].doc_id, ""))
            for i, score in hits
        ]
    )


def compare_vector_indexes(
    pair: Pair, given: Given, questions: Sequence[str]
) -> list[dict[str, object]]:
    """Compare the chunks' vector index, as it grew and built anew, with the exact product.

    Cosines of equal size count as one, so that only what is truly nearer can be missed.
    """
    stored = {
        v.key: v.vector
        for _, bundle in given.bundles
        for v in bundle.vectors
        if v.kind == "chunk" and v.vector is not None and v.vector.any()
    }
    keys = sorted(stored)
    matrix = np.stack([stored[key] for key in keys])
    texts = [analyse(q, known_places=frozenset()).text for q in questions]
    vectors = list(pair.embedder.embed(texts, "query"))
    print(f"\nvector index over {len(keys)} vectors, {len(vectors)} questions")
    print(
        f"{'':14} {'nearest':>8} {'asked':>6} {'recall':>8} {'least':>7} {'ms p50':>7} {'p99':>7}"
    )
    report = _recalls(pair, "as it grew", vectors, matrix, keys)
    started = time.perf_counter()
    pair.database.define("drop_chunk_vectors")
    pair.database.define("index_chunk_vectors", dimension=matrix.shape[1])
    pair.database.await_indexes()
    print(f"built anew in {time.perf_counter() - started:.1f} s")
    return report + _recalls(pair, "built anew", vectors, matrix, keys)


def _recalls(
    pair: Pair, state: str, vectors: Sequence[Vector], matrix: Vector, keys: Sequence[str]
) -> list[dict[str, object]]:
    place = {key: row for row, key in enumerate(keys)}
    report: list[dict[str, object]] = []
    for depth in _DEPTHS:
        depth = min(depth, len(keys))
        _nearest(pair, vectors[0], depth, depth)  # warms up
        for wider in _WIDER:
            recalls, seconds = [], []
            for vector in vectors:
                cosines = matrix @ vector
                least = np.partition(cosines, -depth)[-depth] - _TIE
                started = time.perf_counter()
                rows = _nearest(pair, vector, wider * depth, depth)
                seconds.append(time.perf_counter() - started)
                recalls.append(sum(cosines[place[r["key"]]] >= least for r in rows) / depth)
            p50, p99 = map(float, np.percentile(seconds, (50, 99)) * 1000)
            mean, worst = float(np.mean(recalls)), float(min(recalls))
            print(
                f"{state:14} {depth:8} {wider:5}x {mean:8.4f} {worst:7.3f} {p50:7.1f} {p99:7.1f}",
                flush=True,
            )
            row = {"state": state, "nearest": depth, "asked": wider, "recall": mean}
            report.append({**row, "least recall": worst, "ms p50": p50, "ms p99": p99})
    return report


def _nearest(pair: Pair, vector: Vector, k: int, limit: int) -> list[Row]:
    return _rows(pair.database, _NEAREST, k=k, limit=limit, vector=vector.tolist())


def _rows(database: Database, text: str, **parameters: object) -> list[Row]:
    """Return the rows of a statement in one round trip."""
    with database.driver.session(database=database.address.database) as session:
        return list(session.run(text, parameters))
