"""Retrieval with several wordings of one question."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.question.question import question_of
from kgrag.question.sides import WHOLE
from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.ranking import drop_nested, in_turn, reciprocal_rank_fusion
from kgrag.retrieval.search import Search

# Weight of all further wordings together; the question's own is 1 and must outweigh them, as they
# may be of another question (benchmarks/decisions.md).
_FURTHER = 0.7
_SHOWN = 40  # characters of a wording in a reason


def retrieve_several(
    pipeline: Pipeline, searches: Sequence[Search], *, top_k: int
) -> list[ScoredChunk]:
    """Return at most `top_k` chunks for a question and its paraphrases.

    Chats-Grid, section III: paraphrases are searched as the question is. Their candidates are fused
    by reciprocal ranks and postprocessed once, so that neighbours found by different wordings
    merge. Scores are fused ranks. Each side of a comparison is searched in the wordings that name
    it; what concerns the whole question, in every wording.

    Raises:
        ValueError: If there is no search, or top_k < 1.
    """
    if not searches:
        raise ValueError("searches must hold the question's own, got none")
    own, *further = searches
    if not further:
        return pipeline.retrieve(own, top_k=top_k)
    sides = question_of(own.query).sides if pipeline.planned else ()
    if not sides:
        return pipeline.beside_cited(own, _fused(pipeline, searches, top_k=top_k))[:top_k]
    whole = replace(pipeline, planned=False)
    reworded = [
        (search, {WHOLE: search.query} | {s.label: s.query for s in asked.sides})
        for search in further
        for asked in [question_of(search.query)]
    ]
    found = {}
    for side in sides:
        others = [search.asked(of[side.label]) for search, of in reworded if side.label in of]
        asked = [own.asked(side.query, alone=side.alone), *others]
        found[side.label] = retrieve_several(whole, asked, top_k=top_k)
    return drop_nested(in_turn(found))[:top_k]


def _fused(pipeline: Pipeline, searches: Sequence[Search], *, top_k: int) -> list[ScoredChunk]:
    own, *further = searches
    rankings = [pipeline.candidates(search, top_k=top_k) for search in searches]
    fused = reciprocal_rank_fusion(
        [[(r.chunk.chunk_id, r.score) for r in ranking] for ranking in rankings],
        weights=[1.0, *(_FURTHER / len(further) for _ in further)],
    )
    found: dict[str, ScoredChunk] = {}
    reasons: dict[str, list[str]] = {}
    for number, (search, ranking) in enumerate(zip(searches, rankings, strict=True)):
        for result in ranking:
            found.setdefault(result.chunk.chunk_id, result)
            if number:
                reason = Reason("wording", what=f"《{search.query.text[:_SHOWN]}》")
                reasons.setdefault(result.chunk.chunk_id, []).append(reason)
    candidates = [
        ScoredChunk(found[c].chunk, score, (*found[c].via, *reasons.get(c, ())))
        for c, score in fused
    ]
    return pipeline.conclude(own, candidates, top_k=top_k)
