"""Ask again for the passages that a model could not read, of documents that are held."""

import random
import time
from collections.abc import Generator, Sequence
from pathlib import Path

from kgrag.embedding.embedder import Embedder
from kgrag.ingestion.change_detection import PreparedDocument
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.enrich import Enricher, Numbered
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.pipeline import Progress, store_all
from kgrag.ingestion.report import IngestReport, Outcome
from kgrag.ingestion.vector_set import VectorSet
from kgrag.store.contents import SourceState
from kgrag.store.store import Store
from kgrag.text.visible import shown_path


def retry_failed(
    paths: Sequence[Path] = (),
    *,
    store: Store,
    embedder: Embedder,
    sizes: ChunkSizes,
    vectors: VectorSet,
    enricher: Enricher,
    progress: Progress | None = None,
) -> IngestReport:
    """Read the passages that failed, add what comes, and take back their marks.

    The text is the stored one: the files need not be there any more. A document is written in
    one transaction. Documents, and passages of each, are asked in another order each time: where
    a run gives up because answers are of no use, those at the end have their turn in another.

    Args:
        paths: Only documents of these files or folders; of all for none.
        store: The knowledge base.
        embedder: Its encoder.
        sizes: Its chunk sizes.
        vectors: Which nodes carry vectors.
        enricher: Has the models read.
        progress: As for `kgrag.ingestion.pipeline.ingest`, with documents for files.

    Raises:
        StoreError: If the store itself fails; what was stored before stays.
        ModelError: If the encoder fails.
    """
    started = time.monotonic()
    states = {
        state.doc_id: state
        for state in store.sources()
        if Fingerprint.parse(state.fingerprint).failed and _is_in(state.source, paths)
    }
    outcomes = store_all(
        _items(random.sample(list(states.values()), len(states)), store, enricher),
        n_files=len(states),
        store=store,
        embedder=embedder,
        vectors=vectors,
        enricher=enricher,
        progress=progress,
    )
    seconds = time.monotonic() - started
    outcomes.sort(key=lambda outcome: outcome.source)
    return IngestReport(tuple(outcomes), seconds, model=enricher.report())


def _items(
    states: Sequence[SourceState], store: Store, enricher: Enricher
) -> Generator[Numbered, None, None]:
    for number, state in enumerate(states):
        if Fingerprint.parse(state.fingerprint).model != enricher.identity:
            detail = (
                "was read by another model or with other settings; ingest the file again, and "
                "all of it is read as is set now"
            )
            yield number, Outcome(state.source, "skipped", state.doc_id, detail)
            continue
        bundle = store.bundle(state.doc_id)
        if bundle is not None:  # else deleted by another process meanwhile
            yield (
                number,
                PreparedDocument(
                    state.source, Outcome(state.source, "retried", state.doc_id), bundle
                ),
            )


def _is_in(source: str, paths: Sequence[Path]) -> bool:
    """Return whether a source is one of some files, a record of one, or below a folder."""
    file, _, _ = source.rpartition("#")
    places = {Path(source), *Path(source).parents, Path(file)}
    return not paths or any(Path(shown_path(path.absolute())) in places for path in paths)
