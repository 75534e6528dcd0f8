"""Turn one document into everything that is stored of it except vectors."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.entity_types import typed
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.references import EXTRACTOR, references
from kgrag.ingestion.structure import structure
from kgrag.language.issued import issue_year
from kgrag.language.places import document_places
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.types import Chunk, Document, Evidence, Fact, Mention, Summary

Extraction = tuple[list[Fact], list[Mention], list[Summary]]


def prepare(
    document: Document,
    *,
    fingerprint: Fingerprint,
    held: Fingerprint | None = None,
    sizes: ChunkSizes,
    store: Store,
) -> DocumentBundle:
    """Return the bundle of a document: headings, chunks, facts by rule, places, year.

    Facts and summaries that were imported for the same text before, or that a model gave, are
    kept, tied to the new chunks.

    Args:
        document: As loaded.
        fingerprint: Of its content and the settings.
        held: That of the document of this id in the store; None where there is none.
        sizes: Chunk sizes.
        store: Asked for what was imported or read by a model before.
    """
    document = replace(document, properties={**document.properties, **_read_by_rule(document)})
    headings = structure(document.text)
    chunks = chunk(document, headings, sizes)
    leaves = [c for c in chunks if c.size == sizes.leaf]
    facts, mentions = references(document, leaves)
    kept: Extraction = ([], [], [])
    if held is not None and _text_of(document.doc_id, store) == document.text:
        kept = kept_knowledge(document.doc_id, chunks, leaves, store)
        # What a model read stays, and the fingerprint says so. Not where passages failed: their
        # positions were among the old chunks, and the next run with a model reads it again.
        if not fingerprint.model and not held.failed:
            fingerprint = replace(fingerprint, model=held.model)
    kept_facts, kept_mentions, summaries = kept
    return DocumentBundle(
        document=document,
        fingerprint=str(fingerprint),
        headings=headings,
        chunks=chunks,
        summaries=summaries,
        facts=[*facts, *kept_facts],
        mentions=[*mentions, *kept_mentions],
    )


def _read_by_rule(document: Document) -> dict[str, str]:
    """Return what rules read of a document for its properties."""
    places = "、".join(document_places(document.title, document.text))
    # What a `.jsonl` record says, or the date of a page, where the text does not.
    told = document.properties.get("year") or document.properties.get("date", "")[:4]
    year = issue_year(document.text) or told
    return {key: value for key, value in (("places", places), ("year", year)) if value}


def target_ids(parents: Sequence[Chunk], start: int, end: int) -> tuple[str, ...]:
    """Return the parents that a span touches, in reading order."""
    return tuple(p.chunk_id for p in parents if p.start < end and start < p.end)


def _text_of(doc_id: str, store: Store) -> str | None:
    before = store.documents([doc_id])
    return before[0].text if before else None


def kept_knowledge(
    doc_id: str, chunks: Sequence[Chunk], leaves: Sequence[Chunk], store: Store
) -> Extraction:
    """Return what was imported or read by a model for the same text, on the present chunks.

    Args:
        doc_id: The document, as the store holds it.
        chunks: All of its chunks, as they are now.
        leaves: The smallest of these.
        store: Where it is held.
    """
    facts, mentions, summaries = store.knowledge_of(doc_id)
    parents = [c for c in chunks if c.parent_id is None]
    kept_facts = []
    for fact in facts:
        evidence = _anchored(fact.evidence, leaves)
        if evidence:
            subject, object_ = typed(fact.subject), typed(fact.object)
            kept_facts.append(replace(fact, subject=subject, object=object_, evidence=evidence))
    kept_mentions = [
        Mention(typed(m.entity), evidence)
        for m in mentions
        for evidence in _anchored([m.evidence], leaves)
    ]
    kept_summaries = [replace(s, target_ids=target_ids(parents, s.start, s.end)) for s in summaries]
    return kept_facts, list(dict.fromkeys(kept_mentions)), kept_summaries


def _anchored(evidence: Sequence[Evidence], leaves: Sequence[Chunk]) -> tuple[Evidence, ...]:
    """Return evidence on the present leaves; what rules found is found anew."""
    spans = dict.fromkeys(replace(e, chunk_id="") for e in evidence if e.extractor != EXTRACTOR)
    return tuple(
        replace(found, qualifiers=e.qualifiers)
        for e in spans
        for found in evidence_for(
            leaves, e.start, e.end, extractor=e.extractor, confidence=e.confidence
        )
    )
