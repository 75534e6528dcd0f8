"""Find documents and entities by what people call them, and what is around an entity."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.errors import NotFoundError
from kgrag.limits import MOST_HOPS, MOST_RESULTS, checked_count, checked_text
from kgrag.results import Hits, ScoredChunk
from kgrag.retrieval.filter import document_called
from kgrag.store.store import Store
from kgrag.types import Document, Entity, Fact


def find_document(store: Store, name: str) -> Document:
    """Return the card of the one document with this id, file, file name or title.

    Raises:
        NotFoundError: If no document, or more than one, is called so.
    """
    return document_called(name, store.document_cards())


def facts_around(
    store: Store, name: str, *, hops: int = 1, limit: int = 50
) -> tuple[Entity, list[Fact]]:
    """Return an entity and the facts around it, nearest first.

    Args:
        store: The knowledge base.
        name: The entity's name, or a part of it.
        hops: Steps away from it, from 1 to `limits.MOST_HOPS`.
        limit: Facts at most, around each entity on the way, from 1 to `limits.MOST_RESULTS`.

    Raises:
        NotFoundError: If no entity is called so; names those that are like it.
        OutOfRangeError: If hops or limit are outside, or the name is too long.
    """
    checked_count("hops", hops, most=MOST_HOPS)
    checked_count("limit", limit, most=MOST_RESULTS)
    center = _entity(store, checked_text("name", name))
    facts: dict[str, Fact] = {}
    frontier, met = [center.entity_id], {center.entity_id}
    for _ in range(hops):
        around = store.facts_around(frontier, limit=limit)
        facts.update((fact.fact_id, fact) for fact in around if fact.fact_id not in facts)
        ends = dict.fromkeys(e.entity_id for f in around for e in (f.subject, f.object))
        frontier = [entity_id for entity_id in ends if entity_id not in met]
        met.update(frontier)
    return center, list(facts.values())


def _entity(store: Store, name: str) -> Entity:
    exact = store.find_entities([name])
    if exact:
        return exact[0]
    like = store.entities([e for e, _ in store.search_entities(name, top_k=5)])
    if len(like) == 1:
        return like[0]
    hint = f"; like it: {'、'.join(e.name for e in like)}" if like else ""
    raise NotFoundError(f"no entity is called {name!r}{hint}")


def with_documents(found: Sequence[ScoredChunk], store: Store) -> Hits:
    """Return results with title and file of their documents; empty for one that is gone.

    Args:
        found: Best first.
        store: Where the documents are.
    """
    doc_ids = list(dict.fromkeys(hit.chunk.doc_id for hit in found))
    cards = {card.doc_id: card for card in store.document_cards(doc_ids)} if doc_ids else {}
    return Hits(
        replace(hit, title=card.title, file=card.file)
        if (card := cards.get(hit.chunk.doc_id))
        else hit
        for hit in found
    )
