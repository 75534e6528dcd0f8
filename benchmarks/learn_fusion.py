"""Learn what the routes and coverage count in `grim`, each set of questions left out in turn.

Each question is searched with `grim`; of the 100 candidates that it reranks is recorded what each
route gives at weight 1, whether title and place of the document agree, what share of the question
is covered, and whether it is gold: it touches a gold span or, in a set without spans, is of a gold
document. A linear model learns from pairs of a gold candidate and another one of the same search
(Herbrich, Graepel and Obermayer, 2000, "Large margin rank boundaries for ordinal regression", with
the logistic loss of Burges et al., 2005, "Learning to rank using gradient descent"). Each question
of a set counts the same, and so does each set. Decisive scores (a quoted title, an asked section, a
cited document) are meant to outweigh the others and stay as they are; pairs that differ in one
teach nothing.

Measured are the candidates in the order that the weights give them, those of the sides of a
comparison in turn, before anything is merged, filled or put first as an asked part. Cells are
R@5 / span@2000 / MRR in percent, MRR@10 of documents where a set has no spans:

- by hand: the weights of `grim`, without coverage.
- in force: the same with coverage at the weight that `kgrag.retrieval.coverage` has.
- factor learnt: the same with coverage at a weight learnt from the other sets.
- all learnt: every weight but the decisive ones learnt from the other sets, the encoder's being the
  unit. The second table has these weights.

usage: python benchmarks/learn_fusion.py --set NAME KB QUERIES.jsonl --set … [--factors 2,4,8]
           [--out weights.json]

Needs scikit-learn: pip install scikit-learn
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgrag.api import KnowledgeBase
from kgrag.evaluation.measures import span_reciprocal_rank
from kgrag.evaluation.queries import GoldQuery, read_queries
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import document_key, evaluate
from kgrag.results import ScoredChunk
from kgrag.retrieval import weighted_fusion
from kgrag.retrieval.coverage import _WEIGHT, by_coverage
from kgrag.retrieval.grim import PRESETS
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.weighted_fusion import RetrieverRanking, WeightedFusion, WeightedRetriever

Numbers = npt.NDArray[np.float64]
# The candidates of a search and what each has at weight 1, `float64[len(candidates), len(NAMES)]`.
Found = tuple[Sequence[RunResult], Numbers]

_GRIM = PRESETS["grim"]
_WEIGHTS = {route.retrieve.__name__: route.weight for route in _GRIM.routes} | {
    "title": WeightedFusion().title_weight,
    "place": WeightedFusion().place_weight,
    "coverage": 0.0,
}
NAMES = tuple(_WEIGHTS)
BY_HAND = np.array(list(_WEIGHTS.values()))
COVERAGE = NAMES.index("coverage")
DECISIVE = np.isin(
    NAMES, ("titles_in_text", "chunks_of_asked_sections", "cited_documents", "title")
)
_TOP_K = 20  # results that are measured, as in other figures on retrieval
_UNREGULARISED = 1e6  # scikit-learn's C: a dozen weights and thousands of pairs need no prior


@dataclass(frozen=True)
class Recorder(WeightedFusion):
    """The fusion of `grim`, which keeps what it adds up, search by search."""

    searches: list[Found] = field(default_factory=list)

    def __call__(
        self, search: Search, routes: Sequence[RetrieverRanking], *, top_k: int
    ) -> list[weighted_fusion.Fused]:
        """Return what `WeightedFusion` does.

        Raises:
            ValueError: If what is recorded does not add up to it.
        """
        fused = super().__call__(search, routes, top_k=top_k)
        totals = {f.chunk_id: f.score for f in fused}
        chunks = search.store.chunks(list(totals))
        ids = [c.chunk_id for c in chunks]
        covering = by_coverage(search, [ScoredChunk(c, 0.0, ()) for c in chunks])
        columns = {route.retrieve.__name__: _given(search, route, r, ids) for route, r in routes}
        columns["title"] = _of_documents(search, WeightedFusion(1.0, 0.0), ids)
        columns["place"] = _of_documents(search, WeightedFusion(0.0, 1.0), ids)
        columns["coverage"] = {c.chunk.chunk_id: c.score / _WEIGHT for c in covering}
        rows = [[columns.get(name, {}).get(i, 0.0) for name in NAMES] for i in ids]
        features = np.array(rows).reshape(len(ids), len(NAMES))
        if not np.allclose(features @ BY_HAND, [totals[i] for i in ids]):
            raise ValueError(f"the parts do not add up for {search.query.text!r}")
        files = {card.doc_id: card.file for card in search.store.document_cards()}
        results = [RunResult(c.doc_id, c.chunk_id, files[c.doc_id], c.start, c.end) for c in chunks]
        self.searches.append((results, features))
        return fused


def _given(
    search: Search, route: WeightedRetriever, ranking: Ranking, ids: Sequence[str]
) -> dict[str, float]:
    """Return what a route adds to each chunk at weight 1."""
    alone = [(replace(route, weight=1.0), ranking)]
    fused = WeightedFusion(0.0, 0.0)(search, alone, top_k=max(1, len(ranking.hits)))
    scores = {f.chunk_id: f.score for f in fused}
    if route.unit == "z-score":
        factor = route.weak_factor if search.settings.weak_encoder else 1.0
        cosines = search.store.similarities(search.vector, [i for i in ids if i not in scores])
        scores |= {i: factor * cosine / search.settings.cosine_std for i, cosine in cosines.items()}
    return scores


def _of_documents(search: Search, fuse: WeightedFusion, ids: Sequence[str]) -> dict[str, float]:
    """Return what a fusion adds to each chunk for its document."""
    nothing = replace(_GRIM.routes[0], weight=0.0, unit="present", margin=0.0)
    hits = Ranking(tuple((chunk_id, 0.0) for chunk_id in ids), {})
    return {f.chunk_id: f.score for f in fuse(search, [(nothing, hits)], top_k=len(ids))}


@dataclass(frozen=True)
class Asked:
    """A question with what its searches found: one, or one for each side of a comparison."""

    query: GoldQuery
    searches: Sequence[Found]

    def is_gold(self, result: RunResult) -> bool:
        """Return whether a result touches gold text, or is of a gold document without spans."""
        doc = document_key(result, {*self.query.gold_docs, *self.query.gold_spans})
        if not self.query.gold_spans:
            return doc in self.query.gold_docs
        passage = (doc, result.start or 0, result.end or 0)
        return span_reciprocal_rank([passage], self.query.gold_spans) > 0

    def pairs(self) -> Numbers:
        """Return the pairs of every search, as the function `pairs` does."""
        several = [pairs(features, [*map(self.is_gold, r)]) for r, features in self.searches]
        return np.concatenate([np.zeros((0, len(NAMES))), *several])

    def ranking(self, weights: Numbers) -> list[RunResult]:
        """Return the best results by some weights, those of several searches in turn."""
        orders = [
            [results[i] for i in np.argsort(-(features @ weights), kind="stable")]
            for results, features in self.searches
        ]
        in_turn = chain.from_iterable(zip_longest(*orders))
        return list({r.chunk_id: r for r in in_turn if r is not None}.values())[:_TOP_K]


def pairs(features: Numbers, gold: Sequence[bool]) -> Numbers:
    """Return gold less other candidates, of all pairs whose decisive scores are the same.

    Args:
        features: `float64[len(gold), len(NAMES)]`.
        gold: Whether each candidate is gold.
    """
    is_gold = np.array(gold, dtype=bool)
    differences = features[is_gold][:, None] - features[~is_gold][None]
    flat: Numbers = differences.reshape(-1, len(NAMES))
    return flat[~flat[:, DECISIVE].any(axis=1)]


def learnt(sets: Sequence[Sequence[Numbers]], basis: Numbers) -> Numbers:
    """Return a coefficient of each column of a basis, all up to one scale.

    Args:
        sets: Pairs of each question, by set; a question without any counts for nothing.
        basis: What is learnt, in terms of what is recorded, `float64[len(NAMES), n]`.
    """
    from sklearn.linear_model import LogisticRegression

    rows, counts = [], []
    for questions in sets:
        taught = [question @ basis for question in questions if len(question)]
        rows += taught
        counts += [np.full(len(one), 1000 / len(one) / len(taught)) for one in taught]
    differences = np.concatenate(rows)
    # A pair turned round has the same loss; a classifier wants to see both classes.
    turned = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
    model = LogisticRegression(C=_UNREGULARISED, fit_intercept=False, max_iter=1000)
    model.fit(differences * turned[:, None], turned, sample_weight=np.concatenate(counts))
    coefficients: Numbers = model.coef_[0]
    return coefficients


def with_coverage(factor: float) -> Numbers:
    """Return the weights by hand with coverage at a weight."""
    return np.where(np.arange(len(NAMES)) == COVERAGE, factor, BY_HAND)


def factor_learnt(sets: Sequence[Sequence[Numbers]]) -> Numbers:
    """Return the weights by hand with a learnt one of coverage: the sum by hand is the unit."""
    by_hand, coverage = learnt(sets, np.stack([BY_HAND, np.eye(len(NAMES))[COVERAGE]], axis=1))
    return with_coverage(coverage / by_hand)


def all_learnt(sets: Sequence[Sequence[Numbers]]) -> Numbers:
    """Return learnt weights, the decisive ones as they are: the encoder's weight is the unit."""
    weights, encoder = BY_HAND.copy(), NAMES.index("similar_chunks")
    weights[~DECISIVE] = learnt(sets, np.eye(len(NAMES))[:, ~DECISIVE])
    weights[~DECISIVE] *= BY_HAND[encoder] / weights[encoder]
    return weights


def measured(asked: Sequence[Asked], weights: Numbers) -> str:
    """Return R@5 / span@2000 / MRR of a set in percent."""
    run = {one.query.query_id: one.ranking(weights) for one in asked}
    means = evaluate(run, [one.query for one in asked], ks=(5, 10), budgets=(2000,)).groups[0].means
    values = means["R@5"], means.get("span@2000"), means.get("MRR", means["MRR@10"])
    return " / ".join("-" if value is None else f"{100 * value:.1f}" for value in values)


def report(
    sets: Mapping[str, Sequence[Asked]], factors: Sequence[float]
) -> tuple[str, dict[str, Numbers]]:
    """Return two Markdown tables and the factor learnt from all sets; and the weights learnt so.

    Args:
        sets: At least two.
        factors: Weights of coverage that are measured, too.
    """
    taught = {name: [one.pairs() for one in asked] for name, asked in sets.items()}
    given = ["set", "n", "by hand", "in force", *(f"coverage {f:g}" for f in factors)]
    rows, columns = [[*given, "factor learnt", "factor", "all learnt"]], [["weight", *NAMES]]
    columns.append(["by hand", *(f"{w:g}" for w in BY_HAND)])
    for left_out in (*sets, ""):
        others = [questions for name, questions in taught.items() if name != left_out]
        factor, every = factor_learnt(others), all_learnt(others)
        columns.append([f"without {left_out}" if left_out else "all", *(f"{w:.2f}" for w in every)])
        if left_out:
            asked = sets[left_out]
            weights = [BY_HAND, *map(with_coverage, (_WEIGHT, *factors)), factor]
            cells = [measured(asked, w) for w in weights]
            cells += [f"{factor[COVERAGE]:.2f}", measured(asked, every)]
            rows.append([left_out, str(len(asked)), *cells])
    last = f"factor of coverage learnt from all sets: {factor[COVERAGE]:.2f}"
    text = "\n\n".join((markdown(rows), markdown([*zip(*columns, strict=True)]), last))
    return text, {"factor learnt": factor, "all learnt": every}


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table, the first one as its head."""
    head, *body = rows
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body))


def recorded(kb: str | Path, queries: Sequence[GoldQuery]) -> list[Asked]:
    """Return every question with what its searches found."""
    recorder, asked = Recorder(), []
    systems = {"recorded": replace(_GRIM, fuse=recorder)}
    with KnowledgeBase.open(kb, create=False, systems=systems) as base:
        for query in queries:
            base.search(query.question, system="recorded", top_k=_TOP_K)
            asked.append(Asked(query, tuple(recorder.searches)))
            recorder.searches.clear()
    return asked


def main() -> None:
    """Print what is learnt and measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ("NAME", "KB", "QUERIES")
    parser.add_argument("--set", nargs=3, action="append", required=True, metavar=names)
    parser.add_argument("--factors", default="", help="weights of coverage to measure, too: 2,4")
    parser.add_argument("--out", type=Path, help="file for the weights learnt from all sets")
    given = parser.parse_args()
    if len(given.set) < 2:
        parser.error("one set is left out and the others are learnt from: name at least two")
    sets = {name: recorded(kb, read_queries(Path(file)).queries) for name, kb, file in given.set}
    text, weights = report(sets, [float(factor) for factor in given.factors.split(",") if factor])
    print(text)
    if given.out:
        named = {kind: dict(zip(NAMES, w.tolist(), strict=True)) for kind, w in weights.items()}
        given.out.write_text(json.dumps(named, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
