"""Derive everything that is stored of a document, except vectors."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.ids import summary_id
from kgrag.ingestion.agreement import agreed
from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.facts import BY_RULE, facts_of, mentions_before, stated_before, stated_by_rules
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load.statement import stated_title, with_stated
from kgrag.ingestion.load.title import split_title
from kgrag.ingestion.metadata.read import read_metadata
from kgrag.ingestion.resolve import NameResolver, name_resolver
from kgrag.ingestion.statements.definitions import abbreviations
from kgrag.ingestion.statements.findings import findings
from kgrag.ingestion.structure import structure
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.text.words import sentence_spans
from kgrag.types import Chunk, Document, Fact, Mention, Summary

_LOADED_TITLE = "loaded_title"  # property: the loader's title

Extraction = tuple[list[Fact], list[Mention], list[Summary]]


def prepare(
    document: Document,
    *,
    fingerprint: Fingerprint,
    held: Fingerprint | None = None,
    sizes: ChunkSizes,
    store: Store,
    curation: Curation | None = None,
) -> DocumentBundle:
    """Return the bundle of a document: metadata, headings, chunks, facts by rule.

    Imported and model-made facts and summaries of the same text are kept, with names resolved again
    and mapped to the new chunks. `held` is the fingerprint of the stored document with this id.
    """
    curation = curation or Curation()
    made = derive(document, sizes=sizes, curation=curation)
    return completed(
        made, fingerprint=fingerprint, held=held, sizes=sizes, store=store, curation=curation
    )


def derive(
    document: Document, *, sizes: ChunkSizes, curation: Curation, formerly: str = ""
) -> DocumentBundle:
    """Return the result of rules for a document, without a fingerprint and without any store.

    `formerly` is the id of the document that its file contained before.
    """
    document = curation.corrected(described(document), formerly=formerly)
    headings = structure(document.text, document.segments)
    chunks = chunk(document, headings, sizes)
    leaves = [c for c in chunks if c.size == sizes.leaf]
    resolver = resolver_of(document, curation)
    own_names = (document.title, document.metadata.notice)
    found = findings(document.text, headings, own_names=[name for name in own_names if name])
    at = evidence_for(leaves, *_title_span(document), extractor=BY_RULE)
    return DocumentBundle(
        document=document,
        fingerprint="",
        headings=headings,
        chunks=chunks,
        facts=facts_of(stated_by_rules(found, leaves), resolver),
        mentions=[Mention(resolver.document, evidence) for evidence in at],
    )


def completed(
    made: DocumentBundle,
    *,
    fingerprint: Fingerprint,
    held: Fingerprint | None,
    sizes: ChunkSizes,
    store: Store,
    curation: Curation,
    is_read: bool = False,
    formerly: str = "",
) -> DocumentBundle:
    """Add the fingerprint and the knowledge that is kept to a result of `derive`.

    For the arguments see `prepare`. Facts of rules and others stay apart where a model `is_read`
    next: it is told what rules alone know. `formerly` is the id that a stored document has which
    becomes this one, if that is another: its file was renamed.
    """
    document, before = made.document, formerly or made.document.doc_id
    kept: Extraction = ([], [], [])
    stored = store.documents([before]) if held else []
    if held and [d.text for d in stored] == [document.text]:
        kept = kept_knowledge(made, before, sizes=sizes, store=store, curation=curation)
        # Model results are kept, and so is their fingerprint; except where passages failed: their
        # positions referred to the old chunks, and the next run with a model reads all again.
        if not fingerprint.model and not held.failed:
            fingerprint = replace(fingerprint, model=held.model)
    kept_facts, kept_mentions, summaries = kept
    facts = [*made.facts, *kept_facts]
    if kept_facts and not is_read:
        facts = agreed(facts, resolver_of(document, curation), document.text)
    return replace(
        made,
        fingerprint=str(fingerprint),
        summaries=summaries,
        facts=facts,
        mentions=[*made.mentions, *kept_mentions],
    )


def resolver_of(document: Document, curation: Curation) -> NameResolver:
    """Return the resolver of a document's names; the document has its metadata."""
    short = abbreviations(document.text)
    return name_resolver(document, abbreviations=short, decisions=curation.decisions)


def kept_knowledge(
    made: DocumentBundle, doc_id: str, *, sizes: ChunkSizes, store: Store, curation: Curation
) -> Extraction:
    """Return imported and model-made knowledge of the same text, mapped to the new chunks.

    `doc_id` is that of the stored document.
    """
    facts, mentions, summaries = store.knowledge_of(doc_id)
    resolver = resolver_of(made.document, curation)
    region = next((name_resolver(card).region for card in store.document_cards([doc_id])), "")
    leaves = [c for c in made.chunks if c.size == sizes.leaf]
    parents = [c for c in made.chunks if c.parent_id is None]
    return (
        facts_of(stated_before(facts, leaves, region=region), resolver),
        mentions_before(mentions, leaves, resolver),
        [_summary(s, made.document.doc_id, parents) for s in summaries],
    )


def _summary(summary: Summary, doc_id: str, parents: Sequence[Chunk]) -> Summary:
    """Return a summary as that of a document with these parents."""
    start, end = summary.start, summary.end
    return replace(
        summary,
        summary_id=summary_id(doc_id, start, end, summary.text),
        doc_id=doc_id,
        target_ids=target_ids(parents, start, end),
    )


def target_ids(parents: Sequence[Chunk], start: int, end: int) -> tuple[str, ...]:
    """Return the ids of parents that a span overlaps, in reading order."""
    return tuple(p.chunk_id for p in parents if p.start < end and start < p.end)


def _title_span(document: Document) -> tuple[int, int]:
    """Return the span of the document's title in its text, or of its first sentence."""
    spans = sentence_spans(document.text)
    first = next((s for s in spans if document.text[s[0] : s[1]].strip()), None)
    at = document.text.find(document.title)
    if at >= 0:
        return at, at + len(document.title)
    return first or (0, len(document.text))


def described(document: Document) -> Document:
    """Return a document with the title of its body, and its metadata.

    The loader's title is kept in the properties, so that this can be repeated for a stored
    document.
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
