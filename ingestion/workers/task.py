"""The task of a worker: read a file, and derive everything that rules can."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgrag.config import Ocr
from kgrag.errors import IngestionError, KgragError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.load import Failure, Source, load
from kgrag.ingestion.load.context import Scan, Seeing, ocr_is, page_done
from kgrag.ingestion.prepare import derive
from kgrag.store.contents import DocumentBundle
from kgrag.text.messages import message, without_start
from kgrag.text.visible import shown_path
from kgrag.types import Document

RULES_VERSION = "32"  # raise it when results of loading, structure, chunks or rules change
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read, or a record that is already parsed.

    Attributes:
        path: The file; None for a record.
        within: As in `Source`.
        stated: Properties of sidecar files.
        document: The record; None for a file.
        formerly: Id of the file's previous document; empty for none.
        sight: What vision models read of the file, or are to read.
        data: The file's bytes, where it is read on another machine; None to open it.
    """

    path: Path | None = None
    within: Path | None = None
    stated: Mapping[str, str] = field(default_factory=dict)
    document: Document | None = None
    formerly: str = ""
    sight: Seeing = field(default_factory=Seeing)
    data: bytes | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """Display name of the file or record."""
        return self.document.file if self.document else shown_path(self.path or "")


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings common to all files of a run.

    Attributes:
        max_bytes: Maximum size of a file.
        sizes: Chunk sizes; None if files are only read.
        curation: Decisions of people.
        ocr: As `ingest.ocr`.
    """

    max_bytes: int
    sizes: ChunkSizes | None = None
    curation: Curation = field(default_factory=Curation)
    ocr: Ocr = "auto"


Made = DocumentBundle | Document | Failure | list[Scan]


def made_of(task: Task, setting: Setting) -> Made:
    """Return a file's bundle without fingerprint and vectors, or only its document.

    If pages are to be shown to a vision model first, these are returned. Errors of the file are
    returned, not raised.

    Raises:
        KgragError: For errors that are not the file's, such as a plugin's.
    """
    try:
        document = task.document or _loaded(task, setting)
        page_done()
        if task.sight.scans:
            return task.sight.scans
        if setting.sizes is None:
            return document
        return derive(
            document, sizes=setting.sizes, curation=setting.curation, formerly=task.formerly
        )
    except IngestionError as exc:
        return task.sight.scans or Failure(task.name, without_start(exc, task.name))
    except (KgragError, MemoryError):
        raise
    except Exception as exc:
        _log.info("%s: it came about here", task.name, exc_info=exc)
        said = f"{type(exc).__name__}: {exc}"[:200]
        return Failure(
            task.name,
            message(
                "could not be read ({said}); it may be damaged: open it and save it again",
                said=said,
            ),
        )


def _loaded(task: Task, setting: Setting) -> Document:
    source = Source(task.path or Path(), within=task.within)
    with ocr_is(setting.ocr, task.sight):
        document = load(source, stated=task.stated, max_bytes=setting.max_bytes, data=task.data)
    warnings = (*task.sight.remarks, *document.warnings)
    properties = dict(document.properties)  # of a kind that travels
    return replace(document, properties=properties, warnings=warnings)
