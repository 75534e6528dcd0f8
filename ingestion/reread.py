"""Make a document anew that is held and damaged: from its file, or from its text."""

from collections.abc import Iterable
from dataclasses import replace

from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Failure, Sidecars, Source, load_all
from kgrag.ingestion.load.statement import stated_digest
from kgrag.ingestion.pipeline import rules_digest
from kgrag.ingestion.prepare import kept_knowledge, prepare, resolver_of
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.text.visible import place_shown
from kgrag.types import Document


def reread(doc_id: str, sources: Iterable[str]) -> Document | None:
    """Return a document as one of its files holds it still; None where none does.

    Args:
        doc_id: Stands for the name and content of the file, or is the id of a record.
        sources: Absolute paths, `#id` appended for a record.
    """
    for name in sources:
        path, _, record = name.rpartition("#")
        source = Source(place_shown(name))
        if record and not source.path.exists():
            source = Source(place_shown(path), record)
        if source.media_type is None or not source.path.is_file():
            continue
        for item in load_all(source, stated=Sidecars().stated(source.path)):
            if not isinstance(item, Failure) and item.doc_id == doc_id:
                return item
    return None


def rebuilt(
    document: Document, *, store: Store, curation: Curation, sizes: ChunkSizes, fingerprint: str
) -> DocumentBundle:
    """Return what rules make of a document, with what is kept of it; without vectors.

    Args:
        document: With its text.
        store: Holds what was imported or read by a model of it; the document itself need not be.
        curation: What people decided.
        sizes: Chunk sizes.
        fingerprint: That it had, which names the model that read it; empty where some of what the
            model read is lost, so that it is read again.
    """
    wanted = Fingerprint.of(
        document.content_hash,
        document.media_type,
        settings=rules_digest(sizes),
        stated=stated_digest(document.properties),
    )
    held = Fingerprint.parse(fingerprint) if fingerprint else wanted
    wanted = replace(wanted, model="" if held.failed else held.model)
    made = prepare(document, fingerprint=wanted, sizes=sizes, store=store, curation=curation)
    leaves = [c for c in made.chunks if c.size == sizes.leaf]
    resolver = resolver_of(made.document, curation)
    facts, mentions, summaries = kept_knowledge(
        document.doc_id, made.chunks, leaves, store, resolver
    )
    return replace(
        made,
        facts=[*made.facts, *facts],
        mentions=[*made.mentions, *mentions],
        summaries=summaries,
    )
