"""Make held documents anew from their stored text: after a correction, or a decision on names."""

from collections.abc import Iterable
from dataclasses import replace

from kgrag.embedding.embedder import Embedder
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.embed import embed, texts_to_embed
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.prepare import prepare
from kgrag.ingestion.vector_set import VectorSet
from kgrag.store.store import Store


def settle(*, store: Store, embedder: Embedder, sizes: ChunkSizes, vectors: VectorSet) -> int:
    """Make anew what does not say yet what a person decided; return how many documents.

    Decisions and the list of what they concern are stored at once: whatever cuts this short, the
    list stays, and it is begun again.
    """
    doc_ids = store.unsettled()
    if not doc_ids:
        return 0
    n = renew(doc_ids, store=store, embedder=embedder, sizes=sizes, vectors=vectors)
    connect(store)
    store.settle(doc_ids)
    return n


def renew(
    doc_ids: Iterable[str],
    *,
    store: Store,
    embedder: Embedder,
    sizes: ChunkSizes,
    vectors: VectorSet,
) -> int:
    """Store documents as rules and people's decisions make them now; return how many.

    No file is read and no model asked: what models read stays, names resolved anew; texts that
    are the same as before keep their vectors.

    Args:
        doc_ids: Held documents; others are passed over.
        store: The knowledge base.
        embedder: Its encoder.
        sizes: Its chunk sizes.
        vectors: Which nodes carry vectors.
    """
    curation = Curation.of(store)
    states = {state.doc_id: state for state in store.sources()}
    n = 0
    for doc_id in sorted(set(doc_ids) & states.keys()):
        for document in store.documents([doc_id]):
            held = Fingerprint.parse(states[doc_id].fingerprint)
            bundle = prepare(
                document, fingerprint=held, held=held, sizes=sizes, store=store, curation=curation
            )
            nodes = embed(texts_to_embed(bundle, vectors), embedder=embedder, store=store)
            made = replace(bundle, vectors=nodes, embedder=embedder.name)
            store.upsert_document(made, source=states[doc_id].source)
            n += 1
    return n
