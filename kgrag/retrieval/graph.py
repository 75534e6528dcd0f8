"""Graph retrieval: entities of the question, their facts, the chunks that state them.

GRIM, section 3.2.2: facts within one hop of the question's entities. A second hop, which
questions over two documents need, follows only facts that match the question.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kgrag.ids import chunk_id
from kgrag.results import Reason
from kgrag.retrieval.entities import Anchor
from kgrag.retrieval.ranking import ranked
from kgrag.retrieval.search import Ranking, Reasons, Search
from kgrag.store.graph import Triple
from kgrag.text.titles import CITING_PREDICATES
from kgrag.text.vocabulary import CITING
from kgrag.text.words import normalize, normalize_name
from kgrag.types import Fact

_FACTS = 200  # facts read around each entity
_EVIDENCE = 128  # facts whose evidence is read at once
_CITED = 3  # documents that a question is led on to
_SECOND_HOP = 8  # entities from which a second hop is taken
# Facts read around each of these, those that say most of the question: what a question over 15,000
# chunks has time for.
_FACTS_BEYOND = 25
_NAMED = 0.25  # relevance of a fact about a named entity that shares no word with the question
_DECAY = 0.7  # of an entity's weight for each hop
_CITING = re.compile(CITING)


def chunks_of_facts(search: Search) -> Ranking:
    """Return chunks by the best fact that they state about an entity of the question.

    Scores lie in (0, 1]: the entity's weight times the share of the question or its keywords that
    the fact matches. Questions about citations are directed: 《A》引用了… asks for facts with A as
    subject, …引用了《A》 for those with A as object. Otherwise, and from entities that the question
    does not name, citations score 0 (benchmarks/decisions.md).
    """
    anchors = search.anchors
    scored = _scored_triples(search, anchors, limit=_FACTS)
    reached = _reached(scored, anchors)
    if reached:
        scored += _scored_triples(search, reached, limit=_FACTS_BEYOND, chosen=True)
    return _stating_chunks(search, scored)


def cited_documents(search: Search) -> Ranking:
    """Return the first chunk of at most three documents that a quoted one cites.

    For questions about what 《A》 is based on: who issued it, when. A's stated basis (依据) comes
    first, then citations in order of the text.
    """
    anchors = {a.entity.entity_id: a for a in search.anchors if a.weight == 1.0}
    if not anchors or not _CITING.search(search.query.remainder):
        return Ranking((), {})
    facts = [
        fact
        for fact in search.store.facts_around(list(anchors), limit=_FACTS)
        if fact.subject.entity_id in anchors
        and fact.predicate in CITING_PREDICATES
        and _asked_direction(search, fact, anchors[fact.subject.entity_id])
    ]
    facts.sort(key=lambda f: (f.predicate != "依据", f.evidence[0].start, f.fact_id))
    reasons: dict[str, str] = {}
    for fact in facts:
        doc_id = search.settings.nodes.get(fact.object.entity_id)
        if doc_id is not None and doc_id not in search.titled and len(reasons) < _CITED:
            head = chunk_id(doc_id, search.settings.leaf, 0)
            reasons[head] = Reason("cited", what=triple(fact))
    return Ranking(tuple((head, 1.0) for head in reasons), reasons)


def triple(fact: Fact | Triple) -> str:
    """Format a fact for a reason."""
    return f"{fact.subject.name} —{fact.predicate}→ {fact.object.name}"


def by_facts(best: Mapping[str, tuple[float, Triple]], *, top_k: int | None = None) -> Ranking:
    """Return the ranking of chunks by the score of the best fact that each states."""
    hits = ranked({chunk: score for chunk, (score, _) in best.items()}, top_k=top_k)
    return Ranking(tuple(hits), Reasons(best, _reason))


def _reason(scored: tuple[float, Triple]) -> Reason:
    return Reason("fact", score=f"{scored[0]:.2f}", what=triple(scored[1]))


def _stating_chunks(search: Search, scored: Sequence[tuple[float, Triple]]) -> Ranking:
    """Return the chunks that state the best triples; only their evidence is read."""
    ordered = sorted(scored, key=lambda item: -item[0])
    depth = search.settings.depth
    best: dict[str, tuple[float, Triple]] = {}
    for first in range(0, len(ordered), _EVIDENCE):
        some = ordered[first : first + _EVIDENCE]
        if len(best) >= depth and some[0][0] < list(best.values())[depth - 1][0]:
            break  # scores only fall from here on: no further chunk comes before these
        stating: defaultdict[str, list[str]] = defaultdict(list)
        for fact_id, stated_in in search.store.stating_chunks([t.fact_id for _, t in some]):
            stating[fact_id].append(stated_in)
        for score, found in some:
            for stated_in in stating[found.fact_id]:
                if stated_in not in best:
                    best[stated_in] = score, found
    return by_facts(best, top_k=depth)


def _scored_triples(
    search: Search, anchors: Sequence[Anchor], *, limit: int, chosen: bool = False
) -> list[tuple[float, Triple]]:
    """Return triples around anchors that match the question, best first, ties by id.

    With `chosen`, the store returns those that contain its words first.
    """
    by_id = {a.entity.entity_id: a for a in anchors}
    asked = {e: _besides(search.terms, a.entity.name) for e, a in by_id.items()}
    citing = _CITING.search(search.query.remainder)
    scored = []
    words = {normalize_name(word) for word in search.terms} if chosen else ()
    for found in search.store.triples_around(list(by_id), limit=limit, saying=words):
        anchor = _best_anchor(found, by_id)
        is_citation = found.predicate in CITING_PREDICATES
        if is_citation and not (citing and anchor.at >= 0):
            continue  # the other document's title shares words with any question of its field
        if is_citation:
            relevance = 1.0 if _asked_direction(search, found, anchor) else 0.1
        else:
            relevance = _relevance(found, anchor, asked[anchor.entity.entity_id])
        if relevance > 0:
            scored.append((anchor.weight * relevance, found))
    return sorted(scored, key=lambda item: (-item[0], item[1].fact_id))


def _besides(words: Iterable[str], name: str) -> list[str]:
    own = normalize(name)
    return [word for word in words if word not in own]


def _relevance(found: Triple, anchor: Anchor, asked: Iterable[str]) -> float:
    """Return the share of a question about an anchor that a triple speaks of, in [0, 1]."""
    is_subject = anchor.entity.entity_id == found.subject.entity_id
    other = found.object if is_subject else found.subject
    said = normalize(f"{found.predicate} {other.name}")
    spoken = len([word for word in asked if word in said])
    named = _NAMED if anchor.at >= 0 else 0.0
    return (named + spoken) / (1 + spoken)


def _best_anchor(found: Triple, anchors: dict[str, Anchor]) -> Anchor:
    subject = anchors.get(found.subject.entity_id)
    object_ = anchors.get(found.object.entity_id)
    if subject and object_:
        return max(subject, object_, key=lambda a: (a.weight, a.entity.entity_id))
    return subject or anchors[found.object.entity_id]


def _asked_direction(search: Search, fact: Fact | Triple, anchor: Anchor) -> bool:
    relation = _CITING.search(search.query.text, anchor.at + len(anchor.entity.name))
    is_subject = relation is not None
    return (fact.subject.entity_id == anchor.entity.entity_id) == is_subject


def _reached(scored: Sequence[tuple[float, Triple]], anchors: Sequence[Anchor]) -> list[Anchor]:
    known = {a.entity.entity_id for a in anchors}
    reached: dict[str, Anchor] = {}
    for score, fact in scored:
        for entity in (fact.object, fact.subject):
            if entity.entity_id not in known and entity.entity_id not in reached:
                reached[entity.entity_id] = Anchor(entity, score * _DECAY, -1)
        if len(reached) >= _SECOND_HOP:
            break
    return list(reached.values())
