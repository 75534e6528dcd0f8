"""Lines of files, read and written, with the file and line in every complaint."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kgrag.errors import EvaluationError
from kgrag.files.encoding import Utf8Lines
from kgrag.files.foreign_json import read_foreign
from kgrag.files.whole_file import write_whole

Row = Mapping[str, object]


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield (place, object) of every line that is not blank; the place is `file:line`.

    Raises:
        EvaluationError: If the file cannot be read or a line is not a JSON object.
    """
    for place, line in read_lines(path):
        yield place, row_of(line, place)


def read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (place, line) of every line that is not blank.

    Raises:
        EvaluationError: If the file cannot be read.
    """
    try:
        with Utf8Lines(path.open("rb")) as lines:
            for number, line in enumerate(lines, 1):
                data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if data.strip():
                    yield f"{path}:{number}", data
    except OSError as exc:
        raise EvaluationError(
            f"cannot read {path}: {exc}. Remedy: give a UTF-8 file of JSON lines"
        ) from exc


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file; an old one stays until all are written.

    Raises:
        EvaluationError: If it cannot be written.
    """
    try:
        write_whole(path, lines)
    except OSError as exc:
        raise EvaluationError(f"cannot write {path}: {exc}. Remedy: choose another place") from exc


def row_of(line: bytes, place: str) -> Row:
    """Return the object on a line.

    Raises:
        EvaluationError: If it is not one.
    """
    try:
        row = read_foreign(line)
    except ValueError as exc:
        raise EvaluationError(f"{place}: {exc}. Remedy: one object a line") from exc
    if not isinstance(row, dict):
        raise EvaluationError(
            f"{place}: expected an object, got {str(row)[:60]}. Remedy: one object a line"
        )
    return row


def text_of(row: Row, key: str, place: str) -> str:
    """Return a text that must be there and not empty.

    Raises:
        EvaluationError: If it is not.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise EvaluationError(f"{place}: {key!r} must be a text that is not empty, got {value!r}")
    return value


def texts_of(row: Row, key: str, place: str) -> tuple[str, ...]:
    """Return a list of texts; empty where the key is missing or null.

    Raises:
        EvaluationError: If it is anything else.
    """
    value = row.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise EvaluationError(f"{place}: {key!r} must be a list of texts, got {value!r}")
    return tuple(value)


def span_of(start: object, end: object, place: str) -> tuple[int, int]:
    """Return (start, end) of a span of characters.

    Raises:
        EvaluationError: If they are not whole numbers with `0 <= start <= end`.
    """
    if type(start) is int and type(end) is int and 0 <= start <= end:
        return start, end
    raise EvaluationError(
        f"{place}: a span must be two offsets with 0 <= start <= end, got {start!r}, {end!r}"
    )
