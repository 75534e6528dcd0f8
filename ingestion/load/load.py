"""Load a file as a document: read the bytes, choose the format's reader, assign an id."""

import hashlib
import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import MappingProxyType

from kgrag.config import IngestConfig
from kgrag.errors import IngestionError, UnsupportedFormatError
from kgrag.ids import document_id
from kgrag.ingestion.load.formats import Reader, plugin_reader
from kgrag.ingestion.load.jsonl import read_records
from kgrag.ingestion.load.legible import illegible
from kgrag.ingestion.load.ocr.engine import why_unread
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.source import Failure, Source, open_regular, unsupported_reason
from kgrag.ingestion.load.statement import stated_title
from kgrag.text.messages import without_start
from kgrag.text.visible import shown_path
from kgrag.types import Document

DEFAULT_MAX_BYTES = IngestConfig().max_bytes
_BLOCK = 1 << 20


_OFFICE = "docx:read_office"  # by LibreOffice; it is told the suffix, too
_SHEETS = "spreadsheet:read_sheets"  # as well
# By media type of `formats.py`; imported when a file needs them: docx, lxml and PDFium take time.
_READERS = {
    "txt": "plain:read_plain",
    "md": "plain:read_markdown",
    "html": "html:read_html",
    "docx": "docx:read_docx",
    "pdf": "pdf:read_pdf",
    "picture": "picture:read_picture_file",
    "pptx": "slides:read_slides",
    "eml": "mail:read_mail",
    "msg": "mail:read_msg",
    "mht": "mail:read_page",
    "csv": "spreadsheet:read_separated",
    "ofd": "ofd:read_ofd",
    "epub": "epub:read_epub",
    **dict.fromkeys(("doc", "wps", "rtf", "odt"), _OFFICE),
    **dict.fromkeys(("xlsx", "xls", "et", "ods"), _SHEETS),
}


def load(
    source: Source,
    *,
    stated: Mapping[str, str] = MappingProxyType({}),
    max_bytes: int = DEFAULT_MAX_BYTES,
    data: bytes | None = None,
) -> Document:
    """Return the document in a file.

    Its id is a function of the file's name and bytes.

    Args:
        source: A file of a supported format other than `.jsonl`.
        stated: Metadata from `Sidecars`, preferred to what is read.
        max_bytes: The largest file that is read.
        data: From `file_bytes`; None to read them here.

    Raises:
        UnsupportedFormatError: No loader reads such files.
        PluginError: The plugin that is to read it cannot be used.
        IngestionError: The file cannot be read, is too large, damaged, locked, or has no text.
    """
    media_type = source.media_type
    if media_type is None:
        raise UnsupportedFormatError(
            "{file}: {what}", file=source.name, what=unsupported_reason(source.path)
        )
    if media_type == "jsonl":
        raise IngestionError("{source}: holds many documents; use load_all", source=source.name)
    data = file_bytes(source, max_bytes=max_bytes) if data is None else data
    read = plugin_reader(media_type) or _reader(media_type)
    parsed = read(data, name=source.name, stem=shown_path(source.path.stem))
    if not parsed.text.strip():
        raise IngestionError(
            "{source}: has no text; check that it opens and shows some", source=source.name
        )
    content_hash = hashlib.sha256(data).hexdigest()
    why = why_unread() if media_type == "pdf" else ""
    return Document(
        doc_id=document_id(shown_path(source.path.name), content_hash),
        title=stated_title(stated) or parsed.title,
        text=parsed.text,
        file=source.name,
        media_type=media_type,
        content_hash=content_hash,
        segments=parsed.segments,
        warnings=(*parsed.warnings, *illegible(parsed.text, parsed.segments, why)),
        properties={**parsed.properties, **stated},
    )


def load_all(
    source: Source,
    *,
    stated: Mapping[str, str] = MappingProxyType({}),
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Iterator[Document | Failure]:
    """Yield the documents of a file, and failures where they cannot be read.

    A file gives one of them, a `.jsonl` one for each line that is not blank; for the arguments see
    `load`, where `max_bytes` is that of a line of a `.jsonl`.
    """
    try:
        if source.media_type == "jsonl":
            yield from read_records(source, max_bytes=max_bytes)
        else:
            yield load(source, stated=stated, max_bytes=max_bytes)
    except IngestionError as exc:
        # The file is named apart, so that a report need not say it twice.
        yield Failure(source.name, without_start(exc, source.name))


def fingerprint(source: Source, *, max_bytes: int = DEFAULT_MAX_BYTES) -> tuple[str, str]:
    """Return (doc_id, content_hash) of a file's document without parsing the file.

    Args:
        source: A file other than a `.jsonl`, where each line has its own identity.
        max_bytes: The largest file that is read.

    Raises:
        IngestionError: The file cannot be read, is empty or too large.
    """
    hashed = hashlib.sha256()
    for block in _blocks(source, max_bytes):
        hashed.update(block)
    content_hash = hashed.hexdigest()
    return document_id(shown_path(source.path.name), content_hash), content_hash


def file_bytes(source: Source, *, max_bytes: int = DEFAULT_MAX_BYTES) -> bytes:
    """Return a file's bytes.

    Raises:
        IngestionError: The file cannot be read, is empty or too large.
    """
    return b"".join(_blocks(source, max_bytes))


def page_pictures(
    source: Source, *, max_bytes: int = DEFAULT_MAX_BYTES, most: int = 200
) -> dict[int, bytes]:
    """Return the first pages of a PDF or picture file as JPEG files by number; else none.

    Args:
        source: A file that was read.
        max_bytes: The largest file that is read.
        most: Number of pages.

    Raises:
        IngestionError: The file cannot be read, is empty or too large.
        MissingDependencyError: If the extra `vision` is not installed.
    """
    from kgrag.ingestion.load.pdf import page_pictures
    from kgrag.ingestion.load.picture import as_jpeg, open_pictures

    if source.media_type not in ("pdf", "picture"):
        return {}
    data = file_bytes(source, max_bytes=max_bytes)
    if source.media_type == "pdf":
        return dict(islice(page_pictures(data), most))
    return dict(islice(enumerate(map(as_jpeg, open_pictures(data)), 1), most))


def _reader(media_type: str) -> Reader:
    name = _READERS[media_type]
    read: Callable[..., Parsed] = pkgutil.resolve_name(f"kgrag.ingestion.load.{name}")
    return partial(read, suffix=media_type) if name in (_OFFICE, _SHEETS) else read


def _blocks(source: Source, max_bytes: int) -> Iterator[bytes]:
    """Yield a file's bytes; no more than are allowed, even if it grows meanwhile."""
    size = 0
    try:
        with open_regular(source.path, within=source.within, max_bytes=max_bytes) as file:
            told = os.fstat(file.fileno()).st_size
            while told <= max_bytes and size <= max_bytes and (block := file.read(_BLOCK)):
                size += len(block)
                yield block
    except OSError as exc:
        raise IngestionError(
            "{source}: cannot be read: {strerror}", source=source.name, strerror=exc.strerror
        ) from exc
    if max(size, told) > max_bytes:
        raise IngestionError(
            "{source}: has {size:,} bytes, more than {max_bytes:,}; raise ingest.max_file_mb, "
            "or split it",
            source=source.name,
            size=max(size, told),
            max_bytes=max_bytes,
        )
    if not size:
        raise IngestionError(
            "{source}: is empty (0 bytes); check that it was copied whole", source=source.name
        )
