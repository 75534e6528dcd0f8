"""The rows of a `metadata.csv` or `metadata.jsonl`, each with its line; a broken one says why."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.files.encoding import decode
from kgrag.files.foreign_json import read_foreign
from kgrag.ingestion.load.stated_values import field_of

_DELIMITERS = ",;\t"
_NO_COLUMN = "no column says which file a row is about; call one file (文件)"
_NO_KEY = 'names no file; give it "file" (文件), or rename the file if it holds documents'


@dataclass(frozen=True, slots=True)
class SidecarRow:
    """A row as written.

    Attributes:
        line: Where it begins, from 1.
        file: What it says that it is about; empty where it is broken.
        values: Its other columns or keys, in order.
        problem: Why it cannot be read, with the remedy; empty for a whole row.
    """

    line: int
    file: str = ""
    values: tuple[tuple[str, object], ...] = ()
    problem: str = ""


def sidecar_rows(data: bytes, *, name: str) -> Iterator[SidecarRow]:
    """Yield the rows of a sidecar file that are not blank.

    Args:
        data: The file, in any encoding that `kgrag.files.encoding.decode` knows.
        name: The file; its ending says what it holds.

    Raises:
        IngestionError: It is not text.
    """
    text = decode(data, name=name).text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    yield from _of_json(lines) if name.lower().endswith(".jsonl") else _of_csv(lines)


def _of_json(lines: Sequence[str]) -> Iterator[SidecarRow]:
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            values = read_foreign(text)
        except ValueError as exc:
            yield SidecarRow(line, problem=f'{exc}; write {{"file": …, "title": …}}')
            continue
        if isinstance(values, dict):
            yield _row(line, list(values.items()), _NO_KEY)
        else:
            yield SidecarRow(line, problem='is no object; write {"file": …, "title": …}')


def _of_csv(lines: Sequence[str]) -> Iterator[SidecarRow]:
    head = next((text for text in lines if text.strip()), "")
    delimiter = max(_DELIMITERS, key=head.count)
    names: list[str] | None = None
    for line, cells in _records(lines, delimiter):
        if isinstance(cells, str):
            yield SidecarRow(line, problem=cells)
        elif not any(cell.strip() for cell in cells):
            continue
        elif names is None:
            names = cells
            if "file" not in map(field_of, names):
                yield SidecarRow(line, problem=_NO_COLUMN)
                return
        elif any(cell.strip() for cell in cells[len(names) :]):
            yield SidecarRow(
                line,
                problem=f"has {len(cells)} values where the first row has {len(names)}; put a "
                f"value that holds {delimiter!r} in quotation marks",
            )
        else:
            yield _row(line, list(zip(names, cells, strict=False)), "names no file; fill it in")


def _records(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield (line, cells, or what is wrong) of each record; one may stand on several lines.

    Where one cannot be read, only its first line is lost: those after it are read one by one.
    """
    reader = csv.reader((f"{text}\n" for text in lines), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            yield line, _broken(exc)
            for number in range(line + 1, reader.line_num + 1):
                try:
                    alone = csv.reader([lines[number - 1]], delimiter=delimiter, strict=True)
                    yield number, next(alone, [])
                except csv.Error as again:
                    yield number, _broken(again)


def _broken(exc: csv.Error) -> str:
    return f"cannot be read ({exc}); see to its quotation marks"


def _row(line: int, values: Sequence[tuple[str, object]], nameless: str) -> SidecarRow:
    files = [str(value).strip() for key, value in values if field_of(key) == "file" and value]
    if not any(files):
        return SidecarRow(line, problem=nameless)
    others = tuple((key, value) for key, value in values if field_of(key) != "file")
    return SidecarRow(line, next(filter(None, files)), others)
