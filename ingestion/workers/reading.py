"""Reading files within limits, without deriving anything: to print or re-read them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing

from kgrag.config import IngestConfig
from kgrag.ingestion.load import Failure, Source, load_all
from kgrag.ingestion.workers.pool import Pool, is_small
from kgrag.ingestion.workers.task import Setting, Task
from kgrag.types import Document


def read_within(
    sources: Iterable[tuple[Source, Mapping[str, str]]], limits: IngestConfig
) -> Iterator[Document | Failure]:
    """Yield every document of files, or a failure, one file after the other.

    Args:
        sources: Files with the properties of their sidecar files.
        limits: Of time, memory and size.

    Raises:
        PluginError: If the plugin for a file cannot be used.
    """
    for source, stated in sources:
        if source.media_type is None or source.media_type == "jsonl":  # bounded line by line
            yield from load_all(source, stated=stated, max_bytes=limits.max_bytes)
            continue
        pool = Pool(Setting(limits.max_bytes, ocr=limits.ocr), limits, alone=is_small([source]))
        with closing(pool):
            made = pool.submit(Task(source.path, source.within, dict(stated))).result()
        if isinstance(made, Document | Failure):
            yield made
