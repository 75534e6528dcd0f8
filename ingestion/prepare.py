"""Turn one document into everything that is stored of it, but for vectors."""

from collections.abc import Sequence
from dataclasses import replace

from ingestion.anchor import evidence_for
from ingestion.chunk import ChunkSizes, chunk
from ingestion.references import EXTRACTOR, references
from ingestion.structure import structure
from kgrag.places import document_places
from kgrag.store.store import DocumentBundle, Store
from kgrag.types import Chunk, Document, Evidence, Fact, Mention, Summary

Knowledge = tuple[list[Fact], list[Mention], list[Summary]]


def prepare(
    document: Document, *, fingerprint: str, sizes: ChunkSizes, store: Store
) -> DocumentBundle:
    """Return the bundle of a document: headings, chunks, facts by rule, places.

    Facts and summaries that were imported for the same text before are kept, tied to the new
    chunks.

    Args:
        document: As loaded.
        fingerprint: Of its content and the settings.
        sizes: Chunk sizes.
        store: Asked for what was imported before.
    """
    places = document_places(document.title, document.text)
    if places:
        document = replace(document, metadata={**document.metadata, "places": "、".join(places)})
    headings = structure(document.text)
    chunks = chunk(document, headings, sizes)
    leaves = [c for c in chunks if c.size == sizes.leaf]
    facts, mentions = references(document, leaves)
    kept_facts, kept_mentions, summaries = _imported(document, chunks, leaves, store)
    return DocumentBundle(
        document=document,
        fingerprint=fingerprint,
        headings=headings,
        chunks=chunks,
        summaries=summaries,
        facts=[*facts, *kept_facts],
        mentions=[*mentions, *kept_mentions],
    )


def target_ids(parents: Sequence[Chunk], start: int, end: int) -> tuple[str, ...]:
    """Return the parents that a span touches, in reading order."""
    return tuple(p.chunk_id for p in parents if p.start < end and start < p.end)


def _imported(
    document: Document, chunks: Sequence[Chunk], leaves: Sequence[Chunk], store: Store
) -> Knowledge:
    before = store.documents([document.doc_id])
    if not before or before[0].text != document.text:
        return [], [], []
    facts, mentions, summaries = store.knowledge_of(document.doc_id)
    parents = [c for c in chunks if c.parent_id is None]
    kept_facts = []
    for fact in facts:
        evidence = _anchored(fact.evidence, leaves)
        if evidence:
            kept_facts.append(replace(fact, evidence=evidence))
    kept_mentions = [
        Mention(m.entity, evidence)
        for m in mentions
        for evidence in _anchored([m.evidence], leaves)
    ]
    kept_summaries = [replace(s, target_ids=target_ids(parents, s.start, s.end)) for s in summaries]
    return kept_facts, list(dict.fromkeys(kept_mentions)), kept_summaries


def _anchored(evidence: Sequence[Evidence], leaves: Sequence[Chunk]) -> tuple[Evidence, ...]:
    """Return imported evidence on the present leaves; what rules found is found anew."""
    spans = dict.fromkeys(
        (e.start, e.end, e.extractor, e.confidence) for e in evidence if e.extractor != EXTRACTOR
    )
    return tuple(
        found
        for start, end, extractor, confidence in spans
        for found in evidence_for(leaves, start, end, extractor=extractor, confidence=confidence)
    )
