"""A file in, a document out: reads the bytes, picks the format's reader, gives identity."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from kgrag.config import IngestConfig
from kgrag.errors import IngestionError, UnsupportedFormatError
from kgrag.ids import document_id
from kgrag.ingestion.load.formats import Reader, plugin_reader
from kgrag.ingestion.load.jsonl import read_records
from kgrag.ingestion.load.opening import open_regular
from kgrag.ingestion.load.source import Failure, Source, unsupported_reason
from kgrag.ingestion.load.statement import stated_title
from kgrag.text.visible import shown_path
from kgrag.types import Document

DEFAULT_MAX_BYTES = IngestConfig().max_bytes
_BLOCK = 1 << 20


# The readers are imported when a file needs them: docx, lxml and PDFium take time to load.
def _plain() -> Reader:
    from kgrag.ingestion.load.plain import read_plain

    return read_plain


def _markdown() -> Reader:
    from kgrag.ingestion.load.markdown import read_markdown

    return read_markdown


def _html() -> Reader:
    from kgrag.ingestion.load.html import read_html

    return read_html


def _docx() -> Reader:
    from kgrag.ingestion.load.docx import read_docx

    return read_docx


def _office(suffix: str) -> Reader:
    from kgrag.ingestion.load.libreoffice import office_reader

    return office_reader(_docx(), suffix)


def _pdf() -> Reader:
    from kgrag.ingestion.load.pdf import read_pdf

    return read_pdf


def _picture() -> Reader:
    from kgrag.ingestion.load.picture import read_picture_file

    return read_picture_file


_READERS: dict[str, Callable[[], Reader]] = {
    "txt": _plain,
    "md": _markdown,
    "html": _html,
    "docx": _docx,
    **{suffix: partial(_office, suffix) for suffix in ("doc", "wps", "rtf", "odt")},
    "pdf": _pdf,
    "picture": _picture,
}


def load(
    source: Source,
    *,
    stated: Mapping[str, str] = MappingProxyType({}),
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Document:
    """Return the document that a file, or one record of a `.jsonl`, holds.

    Args:
        source: A file of a supported format; a `.jsonl` needs its `record`.
        stated: What `Sidecars` say of the file: wins over what is read. Records have fields of
            their own.
        max_bytes: The largest file that is read.

    Returns:
        Its id is a function of the file's name and bytes; a record keeps its own.

    Raises:
        UnsupportedFormatError: No loader reads such files.
        PluginError: The plugin that is to read it cannot be used.
        IngestionError: The file cannot be read, is too large, damaged, locked, or has no text.
    """
    media_type = source.media_type
    if media_type is None:
        raise UnsupportedFormatError(f"{source.name}: {unsupported_reason(source.path)}")
    if media_type == "jsonl":
        return _one_record(source, max_bytes)
    data = _read_bytes(source, max_bytes)
    read = plugin_reader(media_type) or _READERS[media_type]()
    parsed = read(data, name=source.name, stem=shown_path(source.path.stem))
    if not parsed.text.strip():
        raise IngestionError(f"{source.name}: has no text; check that it opens and shows some")
    content_hash = hashlib.sha256(data).hexdigest()
    return Document(
        doc_id=document_id(shown_path(source.path.name), content_hash),
        title=stated_title(stated) or parsed.title,
        text=parsed.text,
        file=source.name,
        media_type=media_type,
        content_hash=content_hash,
        segments=parsed.segments,
        warnings=parsed.warnings,
        properties={**parsed.properties, **stated},
    )


def load_all(
    source: Source,
    *,
    stated: Mapping[str, str] = MappingProxyType({}),
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Iterator[Document | Failure]:
    """Yield every document of a source; what cannot be read is yielded as a failure, not raised.

    A file gives one document or failure, a `.jsonl` one for each line that is not blank.

    Args:
        source: A file.
        stated: As for `load`.
        max_bytes: The largest file, or line of a `.jsonl`, that is read.
    """
    try:
        if source.media_type == "jsonl" and source.record is None:
            yield from read_records(source, max_bytes=max_bytes)
        else:
            yield load(source, stated=stated, max_bytes=max_bytes)
    except IngestionError as exc:
        # The file is named apart, so that a report need not say it twice.
        yield Failure(source.name, str(exc).removeprefix(f"{source.name}: "))


def fingerprint(source: Source, *, max_bytes: int = DEFAULT_MAX_BYTES) -> tuple[str, str]:
    """Return (doc_id, content_hash) of a file's document without parsing the file.

    A batch that is run again uses it to pass over files that are held already.

    Args:
        source: A file other than a `.jsonl`: there each line has its own identity.
        max_bytes: The largest file that is read.

    Raises:
        IngestionError: The file cannot be read, is empty or too large.
    """
    hashed = hashlib.sha256()
    for block in _blocks(source, max_bytes):
        hashed.update(block)
    content_hash = hashed.hexdigest()
    return document_id(shown_path(source.path.name), content_hash), content_hash


def _read_bytes(source: Source, max_bytes: int) -> bytes:
    return b"".join(_blocks(source, max_bytes))


def _blocks(source: Source, max_bytes: int) -> Iterator[bytes]:
    """Yield a file's bytes; no more than are allowed, though it may grow meanwhile."""
    size = 0
    try:
        with open_regular(source.path, within=source.within) as file:
            told = os.fstat(file.fileno()).st_size
            while told <= max_bytes and size <= max_bytes and (block := file.read(_BLOCK)):
                size += len(block)
                yield block
    except OSError as exc:
        raise IngestionError(f"{source.name}: cannot be read: {exc.strerror}") from exc
    if max(size, told) > max_bytes:
        raise IngestionError(
            f"{source.name}: has {max(size, told):,} bytes, more than {max_bytes:,}; raise "
            "ingest.max_file_mb, or split it"
        )
    if not size:
        raise IngestionError(f"{source.name}: is empty (0 bytes); check that it was copied whole")


def _one_record(source: Source, max_bytes: int) -> Document:
    if source.record is None:
        raise IngestionError(f"{source.name}: holds many documents; name a record or use load_all")
    for item in read_records(source, max_bytes=max_bytes):
        if isinstance(item, Document) and item.doc_id == source.record:
            return item
    raise IngestionError(f"{source.name}: no such record; check the id")
