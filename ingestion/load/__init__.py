"""Loading: files and folders in, documents with text, title, pages and warnings out."""

from kgrag.ingestion.load.load import (
    DEFAULT_MAX_BYTES,
    file_bytes,
    fingerprint,
    load,
    load_all,
    page_pictures,
)
from kgrag.ingestion.load.sidecar import Sidecars
from kgrag.ingestion.load.source import Discovery, Failure, Skipped, Source, discover
from kgrag.ingestion.load.title import guess_title

__all__ = [
    "DEFAULT_MAX_BYTES",
    "Discovery",
    "Failure",
    "Sidecars",
    "Skipped",
    "Source",
    "discover",
    "file_bytes",
    "fingerprint",
    "guess_title",
    "load",
    "load_all",
    "page_pictures",
]
