"""Read and write files of lines; errors name file and line."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from annotated_types import MinLen

from kgrag.errors import EvaluationError
from kgrag.files.encoding import Utf8Lines
from kgrag.files.foreign_json import read_foreign
from kgrag.files.whole_file import write_whole

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_T = TypeVar("_T")

Text = Annotated[str, MinLen(1)]
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


def checked(kind: type[_T], values: object, place: str) -> _T:
    """Return values as a dataclass.

    Raises:
        EvaluationError: If one is missing, or of another type; names it.
    """
    from pydantic import ValidationError  # takes longer than many a command

    try:
        found: _T = _adapter(kind).validate_python(values)  # type: ignore[arg-type]
    except ValidationError as exc:
        wrong = exc.errors()[0]
        name = ".".join(map(str, wrong["loc"]))
        raise EvaluationError(
            f"{place}: {name!r}: {wrong['msg']}, got {wrong['input']!r}. Remedy: correct the line"
        ) from exc
    return found


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def check_span(start: int | None, end: int | None, place: str) -> None:
    """Refuse a span of characters that has one end only, or ends before it starts.

    Raises:
        EvaluationError: If so.
    """
    if (start, end) != (None, None) and (start is None or end is None or not 0 <= start <= end):
        raise EvaluationError(
            f"{place}: a span must be two offsets with 0 <= start <= end, got {start!r}, {end!r}"
        )
