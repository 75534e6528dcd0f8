"""Make a document anew that is held and damaged: from its file, or from its text."""

from collections.abc import Collection, Iterable
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
    document: Document, *, store: Store, sizes: ChunkSizes, keep: Collection[str]
) -> DocumentBundle:
    """Return what rules make of a document, with what is kept of it; without vectors.

    Args:
        document: With its text.
        store: Holds what is kept of it.
        sizes: Chunk sizes.
        keep: `knowledge` and `summaries` where the store holds what was imported or read by a
            model; `fingerprint` where it holds the one of what was.
    """
    wanted = Fingerprint.of(
        document.content_hash,
        document.media_type,
        settings=rules_digest(sizes),
        stated=stated_digest(document.properties),
    )
    if "fingerprint" in keep:
        states = {s.doc_id: Fingerprint.parse(s.fingerprint) for s in store.sources()}
        held = states.get(document.doc_id, wanted)
        wanted = replace(wanted, model="" if held.failed else held.model)
    curation = Curation.of(store)
    made = prepare(document, fingerprint=wanted, sizes=sizes, store=store, curation=curation)
    leaves = [c for c in made.chunks if c.size == sizes.leaf]
    if not {"knowledge", "summaries"} & {*keep}:
        return made
    resolver = resolver_of(made.document, curation)
    facts, mentions, summaries = kept_knowledge(
        document.doc_id, made.chunks, leaves, store, resolver
    )
    if "knowledge" in keep:
        made = replace(made, facts=[*made.facts, *facts], mentions=[*made.mentions, *mentions])
    return replace(made, summaries=summaries) if "summaries" in keep else made
