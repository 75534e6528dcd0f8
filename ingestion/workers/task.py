"""What a worker does with one file: read it, and have rules make of it what they can."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgrag.config import Ocr
from kgrag.errors import IngestionError, KgragError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.load import Failure, Source, load
from kgrag.ingestion.load.ocr.choice import ocr_is
from kgrag.ingestion.load.progress import page_done
from kgrag.ingestion.prepare import derive
from kgrag.store.contents import DocumentBundle
from kgrag.text.visible import shown_path
from kgrag.types import Document

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A file to be read, or a record that is read already.

    Attributes:
        path: The file; None for a record.
        within: As in `Source`.
        stated: What sidecar files say of it.
        document: The record; None for a file.
        formerly: Id of the document that the file held before; empty for none.
    """

    path: Path | None = None
    within: Path | None = None
    stated: Mapping[str, str] = field(default_factory=dict)
    document: Document | None = None
    formerly: str = ""

    @property
    def name(self) -> str:
        """The file or record as the user sees it."""
        return self.document.file if self.document else shown_path(self.path or "")


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all files of a run.

    Attributes:
        max_bytes: The largest file that is read.
        sizes: Chunk sizes; None where a file is only read, and nothing made of it.
        curation: What people decided.
        ocr: Whether pictures are read, as `ingest.ocr` says.
    """

    max_bytes: int
    sizes: ChunkSizes | None = None
    curation: Curation = field(default_factory=Curation)
    ocr: Ocr = "auto"


Made = DocumentBundle | Document | Failure


def made_of(task: Task, setting: Setting) -> Made:
    """Return what a file holds: its bundle without fingerprint and vectors, or only its document.

    What goes wrong with the file is returned, not raised.

    Raises:
        KgragError: If something is wrong with what reads it, as with a plugin, and not with it.
    """
    try:
        document = task.document or _loaded(task, setting)
        page_done()
        if setting.sizes is None:
            return document
        return derive(
            document, sizes=setting.sizes, curation=setting.curation, formerly=task.formerly
        )
    except IngestionError as exc:
        return Failure(task.name, str(exc).removeprefix(f"{task.name}: "))
    except (KgragError, MemoryError):
        raise
    except Exception as exc:
        _log.info("%s: it came about here", task.name, exc_info=exc)
        said = f"{type(exc).__name__}: {exc}"[:200]
        return Failure(
            task.name,
            f"could not be read ({said}); it may be damaged: open it and save it again",
        )


def _loaded(task: Task, setting: Setting) -> Document:
    source = Source(task.path or Path(), within=task.within)
    with ocr_is(setting.ocr):
        document = load(source, stated=task.stated, max_bytes=setting.max_bytes)
    return replace(document, properties=dict(document.properties))  # of a kind that travels
