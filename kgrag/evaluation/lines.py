"""Read and write files of lines; errors name file and line."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kgrag.errors import EvaluationError
from kgrag.files.encoding import Utf8Lines
from kgrag.files.foreign_json import read_foreign
from kgrag.files.whole_file import write_whole

_ENDINGS = (".trec", ".run", ".qrels")


def is_trec(path: Path) -> bool:
    """Return whether a file name has a TREC suffix; other files are JSON lines."""
    return path.suffix.lower() in _ENDINGS


def trec_line(*fields: object) -> str:
    """Return fields as a line.

    Raises:
        EvaluationError: If one is empty or has a blank.

    >>> trec_line("q1", 0, "d1", 1)
    'q1 0 d1 1'
    """
    texts = [str(field) for field in fields]
    for text in texts:
        if text.split() != [text]:
            raise EvaluationError(
                f"{text!r} cannot be written in TREC's form, where blanks divide fields. Remedy: "
                "write .jsonl, or name questions and files without blanks"
            )
    return " ".join(texts)


def trec_rows(path: Path, form: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, fields) of every non-blank line; the place is `file:line`.

    Args:
        path: The file.
        form: Names of the fields, separated by blanks.

    Raises:
        EvaluationError: If the file cannot be read or a line has another number of fields.
    """
    for place, line in read_lines(path):
        fields = line.decode(errors="replace").split()
        if len(fields) != len(form.split()):
            raise EvaluationError(
                f"{place}: expected `{form}`, got {' '.join(fields)[:60]!r}. Remedy: correct the "
                "line, or end the file's name in .jsonl if it is JSON lines"
            )
        yield place, fields


def trec_number(text: str, place: str) -> float:
    """Parse a score.

    Raises:
        EvaluationError: If it is no number.
    """
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number:
        raise EvaluationError(f"{place}: expected a number, got {text!r}. Remedy: correct the line")
    return number


Row = Mapping[str, object]


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield (place, object) of every non-blank line; the place is `file:line`.

    Raises:
        EvaluationError: If the file cannot be read or a line is not a JSON object.
    """
    for place, line in read_lines(path):
        yield place, row_of(line, place)


def read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (place, line) of every non-blank line.

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
    """Write lines to a file atomically.

    Raises:
        EvaluationError: If it cannot be written.
    """
    try:
        write_whole(path, lines)
    except OSError as exc:
        raise EvaluationError(f"cannot write {path}: {exc}. Remedy: choose another place") from exc


def row_of(line: bytes, place: str) -> Row:
    """Parse a line as a JSON object.

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
    """Return a required, non-empty text.

    Raises:
        EvaluationError: If it is missing, empty or no text.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise EvaluationError(f"{place}: {key!r} must be a text that is not empty, got {value!r}")
    return value


def texts_of(row: Row, key: str, place: str) -> tuple[str, ...]:
    """Return a list of texts; empty if the key is missing or null.

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
