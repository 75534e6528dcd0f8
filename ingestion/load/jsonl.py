"""Files of one JSON record a line: {id, title, text}, each a document with its own id."""

from collections.abc import Iterator
from dataclasses import replace

from kgrag.errors import IngestionError
from kgrag.files.encoding import Utf8Lines
from kgrag.files.foreign_json import read_foreign
from kgrag.ids import digest
from kgrag.ingestion.load.legible import illegible
from kgrag.ingestion.load.parsed import line_segments, replace_unusable
from kgrag.ingestion.load.source import Failure, Source, open_regular
from kgrag.ingestion.load.title import guess_title
from kgrag.text.messages import Message, message
from kgrag.types import Document

# Records are read line by line, and no document comes near this; what it unpacks to is held twice.
_MOST_LINE_BYTES = 32_000_000
_REMEDY = message('each line must be {{"id": ..., "title": ..., "text": ...}}')


def read_records(source: Source, *, max_bytes: int) -> Iterator[Document | Failure]:
    """Yield the document of every line that is not blank, or what is wrong with the line.

    An id is taken verbatim (an integer as its digits); a second record with it is a failure. Other
    fields with a plain value become properties. The file may be larger than memory.

    Args:
        source: The file.
        max_bytes: The longest line that is read, 32 MB at most.

    Raises:
        IngestionError: The file cannot be opened or holds no record.
    """
    file = source.name
    first_line: dict[str, int] = {}
    number = 0
    try:
        with Utf8Lines(open_regular(source.path, within=source.within)) as lines:
            for number, line in _numbered(lines, min(max_bytes, _MOST_LINE_BYTES)):
                yield _record(file, number, line, first_line)
    except OSError as exc:
        raise IngestionError(
            "{file}: cannot be read: {strerror}", file=file, strerror=exc.strerror
        ) from exc
    if not number:
        raise IngestionError("{file}: holds no record; {remedy}", file=file, remedy=_REMEDY)


def _numbered(lines: Utf8Lines, max_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number, line) of every line that is not blank; None for one that is too long."""
    number = 0
    while line := lines.readline(max_bytes + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if len(line) > max_bytes:
            while line and not line.endswith(b"\n"):
                line = lines.readline(max_bytes)
            yield number, None
        elif line.strip():
            yield number, line


def _record(
    file: str, number: int, line: bytes | None, first_line: dict[str, int]
) -> Document | Failure:
    place = f"{file}:{number}"
    if line is None:
        return Failure(
            place,
            message(
                "the line is too long: more than 32 MB, or than ingest.max_file_mb; split the text"
            ),
        )
    try:
        values = read_foreign(line)
    except ValueError as exc:
        return Failure(place, _wrong(exc))
    problem = _problem(values)
    if problem:
        return Failure(place, _wrong(problem))
    document = _document(file, values)
    if document.doc_id in first_line:
        was = first_line[document.doc_id]
        return Failure(
            place,
            message(
                "id {doc_id!r} was on line {was} already; make ids unique",
                doc_id=document.doc_id,
                was=was,
            ),
        )
    first_line[document.doc_id] = number
    return document


def _wrong(what: object) -> Message:
    return message("{what}; {remedy}", what=what, remedy=_REMEDY)


def _problem(values: object) -> str | None:
    if not isinstance(values, dict):
        return message("a record must be an object, not {kind}", kind=type(values).__name__)
    doc_id, title, text = values.get("id"), values.get("title"), values.get("text")
    if isinstance(doc_id, bool) or not isinstance(doc_id, str | int) or not str(doc_id).strip():
        return message("id must be a string or an integer, not {value}", value=repr(doc_id))
    if not isinstance(text, str) or not text.strip():
        return message(
            "text must be a string that is not blank, not {value!r}", value=str(text)[:40]
        )
    if not isinstance(title, str | None):
        return message("title must be a string, not {value}", value=repr(title))
    return None


def _document(file: str, values: dict[str, object]) -> Document:
    doc_id, _ = replace_unusable(str(values["id"]))
    title, _ = replace_unusable(" ".join(str(values.get("title") or "").split()))
    text, warnings = replace_unusable(str(values["text"]))
    properties = {
        name: replace_unusable(str(value))[0]
        for name, value in values.items()
        if name not in ("id", "title", "text") and isinstance(value, str | int | float) and value
    }
    document = Document(
        doc_id=doc_id,
        title=title or guess_title(text, doc_id),
        text=text,
        file=f"{file}#{doc_id}",
        media_type="jsonl",
        content_hash="",
        segments=line_segments(text),
        warnings=(*warnings, *illegible(text, ())),
        properties=properties,
    )
    return replace(document, content_hash=digest("record", document.title, text, length=64))
