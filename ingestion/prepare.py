"""Turn one document into everything that is stored of it except vectors."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.facts import (
    BY_RULE,
    agreed,
    facts_of,
    mentions_before,
    stated_before,
    stated_by_rules,
)
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load.covering_notice import split_title
from kgrag.ingestion.load.statement import stated_title, with_stated
from kgrag.ingestion.metadata.read import read_metadata
from kgrag.ingestion.resolve import NameResolver, name_resolver
from kgrag.ingestion.statements.definitions import abbreviations
from kgrag.ingestion.statements.findings import findings
from kgrag.ingestion.structure import structure
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.text.words import sentence_spans
from kgrag.types import Chunk, Document, Fact, Heading, Mention, Summary

_LOADED_TITLE = "loaded_title"  # property: the title as the loader gave it

Extraction = tuple[list[Fact], list[Mention], list[Summary]]


def prepare(
    document: Document,
    *,
    fingerprint: Fingerprint,
    held: Fingerprint | None = None,
    sizes: ChunkSizes,
    store: Store,
    curation: Curation | None = None,
    formerly: str = "",
) -> DocumentBundle:
    """Return the bundle of a document: metadata, headings, chunks, facts by rule.

    Facts and summaries that were imported for the same text before, or that a model gave, are
    kept, their names resolved anew, tied to the new chunks.

    Args:
        document: As loaded.
        fingerprint: Of its content and the settings.
        held: That of the document of this id in the store; None where there is none.
        sizes: Chunk sizes.
        store: Asked for what was imported or read by a model before.
        curation: What people decided; None for nothing.
        formerly: Id of the document that its file held before.
    """
    curation = curation or Curation()
    made = derive(document, sizes=sizes, curation=curation, formerly=formerly)
    return completed(
        made, fingerprint=fingerprint, held=held, sizes=sizes, store=store, curation=curation
    )


def derive(
    document: Document, *, sizes: ChunkSizes, curation: Curation, formerly: str = ""
) -> DocumentBundle:
    """Return what rules make of a document, without a fingerprint; no store is asked.

    Args:
        document: As loaded.
        sizes: Chunk sizes.
        curation: What people decided.
        formerly: Id of the document that its file held before.
    """
    document = curation.corrected(described(document), formerly=formerly)
    headings = structure(document.text, document.segments)
    chunks = chunk(document, headings, sizes)
    leaves = [c for c in chunks if c.size == sizes.leaf]
    resolver = resolver_of(document, curation)
    facts, mentions = knowledge_by_rule(document, headings, leaves, resolver)
    return DocumentBundle(
        document=document,
        fingerprint="",
        headings=headings,
        chunks=chunks,
        facts=facts,
        mentions=mentions,
    )


def completed(
    made: DocumentBundle,
    *,
    fingerprint: Fingerprint,
    held: Fingerprint | None,
    sizes: ChunkSizes,
    store: Store,
    curation: Curation,
) -> DocumentBundle:
    """Return what rules made of a document with what is kept of it, and its fingerprint.

    Args:
        made: As `derive` gives it.
        fingerprint: Of its content and the settings.
        held: That of the document of this id in the store; None where there is none.
        sizes: Chunk sizes.
        store: Asked for what was imported or read by a model before.
        curation: What people decided.
    """
    document = made.document
    kept: Extraction = ([], [], [])
    if held is not None and _text_of(document.doc_id, store) == document.text:
        leaves = [c for c in made.chunks if c.size == sizes.leaf]
        resolver = resolver_of(document, curation)
        kept = kept_knowledge(document.doc_id, made.chunks, leaves, store, resolver)
        # What a model read stays, and the fingerprint says so. Not where passages failed: their
        # positions were among the old chunks, and the next run with a model reads it again.
        if not fingerprint.model and not held.failed:
            fingerprint = replace(fingerprint, model=held.model)
    kept_facts, kept_mentions, summaries = kept
    return replace(
        made,
        fingerprint=str(fingerprint),
        summaries=summaries,
        facts=[*made.facts, *agreed(kept_facts, made.facts)],
        mentions=[*made.mentions, *kept_mentions],
    )


def resolver_of(document: Document, curation: Curation) -> NameResolver:
    """Return what resolves the names in a document.

    Args:
        document: With its metadata.
        curation: What people decided.
    """
    short = abbreviations(document.text)
    return name_resolver(document, abbreviations=short, decisions=curation.decisions)


def knowledge_by_rule(
    document: Document,
    headings: Sequence[Heading],
    leaves: Sequence[Chunk],
    resolver: NameResolver,
) -> tuple[list[Fact], list[Mention]]:
    """Return what rules find in a document, and the place where it names itself.

    Args:
        document: With its metadata.
        headings: In text order.
        leaves: Its smallest chunks in reading order.
        resolver: For its names.
    """
    own_names = (document.title, document.metadata.notice)
    found = findings(document.text, headings, own_names=[name for name in own_names if name])
    at = evidence_for(leaves, *_title_span(document), extractor=BY_RULE)
    facts = facts_of(stated_by_rules(found, leaves), resolver)
    return facts, [Mention(resolver.document, evidence) for evidence in at]


def kept_knowledge(
    doc_id: str,
    chunks: Sequence[Chunk],
    leaves: Sequence[Chunk],
    store: Store,
    resolver: NameResolver,
) -> Extraction:
    """Return what was imported or read by a model for the same text, on the present chunks.

    Args:
        doc_id: The document, as the store holds it.
        chunks: All of its chunks, as they are now.
        leaves: The smallest of these.
        store: Where it is held.
        resolver: For its names.
    """
    facts, mentions, summaries = store.knowledge_of(doc_id)
    region = next((name_resolver(card).region for card in store.document_cards([doc_id])), "")
    parents = [c for c in chunks if c.parent_id is None]
    kept_summaries = [replace(s, target_ids=target_ids(parents, s.start, s.end)) for s in summaries]
    return (
        facts_of(stated_before(facts, leaves, region=region), resolver),
        mentions_before(mentions, leaves, resolver),
        kept_summaries,
    )


def target_ids(parents: Sequence[Chunk], start: int, end: int) -> tuple[str, ...]:
    """Return the parents that a span touches, in reading order."""
    return tuple(p.chunk_id for p in parents if p.start < end and start < p.end)


def _text_of(doc_id: str, store: Store) -> str | None:
    before = store.documents([doc_id])
    return before[0].text if before else None


def _title_span(document: Document) -> tuple[int, int]:
    """Return where the document's title stands in its text: its first sentence otherwise."""
    spans = sentence_spans(document.text)
    first = next((s for s in spans if document.text[s[0] : s[1]].strip()), None)
    at = document.text.find(document.title)
    if at >= 0:
        return at, at + len(document.title)
    return first or (0, len(document.text))


def described(document: Document) -> Document:
    """Return a document with the title of its body, and its metadata.

    The loader's title stays among the properties, so that this can be done again.

    Args:
        document: As loaded, or as stored.
    """
    loaded = document.properties.get(_LOADED_TITLE, document.title)
    title, notice = split_title(document.text, loaded)
    metadata = read_metadata(document.text, title=loaded, properties=document.properties)
    return replace(
        document,
        title=stated_title(document.properties) or title,
        properties={**document.properties, _LOADED_TITLE: loaded},
        metadata=with_stated(replace(metadata, notice=notice), document.properties),
    )
