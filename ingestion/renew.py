"""Rebuild stored documents from their text after a correction or a decision on names."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kgrag.config import IngestConfig
from kgrag.ingestion.agreement import agreed
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.embed import embed, texts_to_embed
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Failure, Sidecars, Source
from kgrag.ingestion.load.archive import archive_of_member
from kgrag.ingestion.load.statement import stated_digest
from kgrag.ingestion.pipeline import rules_digest
from kgrag.ingestion.prepare import kept_knowledge, prepare, resolver_of
from kgrag.ingestion.target import IngestTarget
from kgrag.ingestion.workers.pool import read_within
from kgrag.store.contents import DocumentBundle
from kgrag.store.folders import is_remote
from kgrag.store.store import Store
from kgrag.text.visible import parted, place_shown
from kgrag.types import Document

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision


def renew(doc_ids: Iterable[str], target: IngestTarget) -> int:
    """Rebuild, store and link documents with the present rules and decisions; return how many.

    No file is read and no model is called: model results are kept with names resolved again, and
    unchanged texts keep their vectors. Ids without a stored document are ignored.
    """
    store, embedder, sizes = target.store, target.embedder, target.sizes
    curation = Curation.of(store)
    states = {state.doc_id: state for state in store.sources()}
    n = 0
    for doc_id in sorted(set(doc_ids) & states.keys()):
        for document in store.documents([doc_id]):
            held = Fingerprint.parse(states[doc_id].fingerprint)
            bundle = prepare(
                document, fingerprint=held, held=held, sizes=sizes, store=store, curation=curation
            )
            nodes = embed(texts_to_embed(bundle, sizes.leaf), embedder=embedder, store=store)
            made = replace(bundle, vectors=nodes, embedder=embedder.name)
            store.upsert_document(made, source=states[doc_id].source)
            n += 1
    connect(store)
    return n


def reread(
    doc_id: str,
    sources: Iterable[str],
    limits: IngestConfig = IngestConfig(),  # noqa: B008 - frozen
    vision: "Vision | None" = None,
) -> Document | None:
    """Load a document from one of its files; None where none contains it any more.

    `sources` are absolute paths, `#id` appended for a record; for the rest see `read_within`.
    """
    for name in sources:
        source = Source(place_shown(parted(name)[0]))
        is_there = is_remote(source.path) or archive_of_member(source.path)[0].is_file()
        if source.media_type is None or not is_there:
            continue
        for item in read_within([(source, Sidecars().stated(source.path))], limits, vision):
            if not isinstance(item, Failure) and item.doc_id == doc_id:
                return item
    return None


def rebuilt(
    document: Document,
    *,
    store: Store,
    curation: Curation,
    sizes: ChunkSizes,
    fingerprint: str,
    seen: str = "",
) -> DocumentBundle:
    """Return a document rebuilt by rules, with the knowledge that is kept; without vectors.

    The document itself may be missing in the store. `fingerprint` is the former one, which names
    the model that read it; empty where model results were lost, so that it is read again. `seen`
    is the mark of the vision model (`Vision.mark`).
    """
    wanted = Fingerprint.of(
        document.content_hash,
        document.media_type,
        settings=rules_digest(sizes),
        stated=stated_digest(document.properties),
    )
    held = Fingerprint.parse(fingerprint) if fingerprint else wanted
    wanted = replace(wanted, model="" if held.failed else held.model, seen=seen)
    made = prepare(document, fingerprint=wanted, sizes=sizes, store=store, curation=curation)
    facts, mentions, summaries = kept_knowledge(
        made, made.document.doc_id, sizes=sizes, store=store, curation=curation
    )
    names = resolver_of(made.document, curation)
    return replace(
        made,
        facts=agreed([*made.facts, *facts], names, document.text),
        mentions=[*made.mentions, *mentions],
        summaries=summaries,
    )
