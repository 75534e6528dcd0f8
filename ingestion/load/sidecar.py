"""Metadata of files, from a `metadata.csv` or `metadata.jsonl` in their folder or above it."""

import csv
import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.files.foreign_json import read_foreign
from kgrag.ingestion.load.remote import names_in
from kgrag.ingestion.load.source import SIDECARS, Discovery, Failure, Source, open_regular
from kgrag.ingestion.load.statement import field_of, statement
from kgrag.store.folders import is_remote
from kgrag.text.messages import message, said_by, without_start
from kgrag.text.visible import shown_path

_DELIMITERS = ",;\t"
_NO_COLUMN = "no column says which file a row is about; call one file (文件)"
_NO_KEY = 'names no file; give it "file" (文件), or rename the file if it holds documents'

_MOST_BYTES = 50_000_000
_SHOWN = 200  # characters of a name that a problem shows
_MOST_TOLD = 20  # problems of one sidecar file that are told one by one


@dataclass(frozen=True, slots=True)
class SidecarRow:
    """A row as written.

    Attributes:
        line: Where it begins, from 1.
        file: The file that it names; empty where it cannot be read.
        values: Its other columns or keys, in order.
        problem: Why it cannot be read, with the remedy.
    """

    line: int
    file: str = ""
    values: tuple[tuple[str, object], ...] = ()
    problem: str = ""


def sidecar_rows(data: bytes, *, name: str) -> Iterator[SidecarRow]:
    """Yield the rows of a `.csv` or `.jsonl` that are not blank.

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
    """Yield (line, cells, or what is wrong) of each record, which may have several lines.

    Where one cannot be read, only its first line is lost: its others are read one by one.
    """
    reader = csv.reader((f"{text}\n" for text in lines), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            yield line, f"cannot be read ({exc}); see to its quotation marks"
            for number in range(line + 1, reader.line_num + 1):
                for _, cells in _records([lines[number - 1]], delimiter):
                    yield number, cells


def _row(line: int, values: Sequence[tuple[str, object]], nameless: str) -> SidecarRow:
    files = [str(value).strip() for key, value in values if field_of(key) == "file" and value]
    if not any(files):
        return SidecarRow(line, problem=nameless)
    others = tuple((key, value) for key, value in values if field_of(key) != "file")
    return SidecarRow(line, next(filter(None, files)), others)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A row about a file: its place as shown (`metadata.csv:3`), properties and problems."""

    place: str
    properties: Mapping[str, str]
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Table:
    """A sidecar file: rows by absolute path of their file, and rows that name none."""

    stated: dict[Path, _Statement] = field(default_factory=dict)
    broken: list[Failure] = field(default_factory=list)


@dataclass(slots=True)
class _Names:
    """The files of a folder by normalised name, with and without ending."""

    whole: dict[str, Path] = field(default_factory=dict)
    stems: defaultdict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))


class Sidecars:
    """The sidecar files of a run, each read once, at first use.

    Those of a file's folder and of all folders above count, so that a file is the same document
    whether it is ingested alone or with its folder. The nearest that names it applies, and of two
    in one folder `metadata.csv`.
    """

    def __init__(self, walked: Iterable[Source] = ()) -> None:
        """Create it for the sidecar files found in folders.

        Args:
            walked: With the folder that must contain each when it is opened; those of other
                folders must be in their own.
        """
        self._walked = {_absolute(source.path): source for source in walked}
        self._tables: dict[Path, _Table] = {}
        self._names: dict[Path, _Names] = {}

    def stated(self, path: Path) -> Mapping[str, str]:
        """Return the stated properties of a file, which need not exist any more, or none."""
        found = self._statement(_absolute(path))
        return found.properties if found else {}

    def failures(self, found: Discovery) -> Iterator[Failure]:
        """Yield the problems of the sidecar files found in folders.

        Of sidecar files outside them, those of rows about files that are to be read.
        """
        for path, source in self._walked.items():
            told = sorted(self._problems(path, source), key=_line)
            yield from told[:_MOST_TOLD]
            if len(told) > _MOST_TOLD:
                yield Failure(
                    source.name,
                    message("{n} further problems of the kind", n=len(told) - _MOST_TOLD),
                )
        ours = {row.place for path in self._walked for row in self._table(path).stated.values()}
        for source in found.sources:
            row = self._statement(_absolute(source.path))
            if row and row.place not in ours:
                yield from (Failure(row.place, problem) for problem in row.problems)

    def _problems(self, path: Path, source: Source) -> Iterator[Failure]:
        table = self._table(path)
        yield from table.broken
        for file, row in table.stated.items():
            holds = self._statement(file)
            if holds and holds is not row:
                yield Failure(
                    row.place,
                    message(
                        "{file} is told of in {place}; keep one row",
                        file=shown_path(file.name),
                        place=holds.place,
                    ),
                )
            yield from (Failure(row.place, problem) for problem in row.problems)
        if path.name not in SIDECARS and not path.with_name(path.name.lower()).exists():
            yield Failure(
                source.name, message("is not read; call it {value}", value=path.name.lower())
            )

    def _statement(self, file: Path) -> _Statement | None:
        if file.suffix.lower() == ".jsonl":
            return None
        for folder in file.parents:
            for name in SIDECARS:
                row = self._table(folder / name).stated.get(file)
                if row is not None:
                    return row
        return None

    def _table(self, path: Path) -> _Table:
        if path not in self._tables:
            self._tables[path] = self._read(path)
        return self._tables[path]

    def _read(self, path: Path) -> _Table:
        source = self._walked.get(path)
        within = source.within if source else Path(os.path.realpath(path.parent))
        name = source.name if source else shown_path(path)
        table = _Table()
        try:
            with open_regular(path, within=within, max_bytes=_MOST_BYTES) as file:
                data = file.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise IngestionError(
                    "{name}: has more than {most_bytes:,} bytes; split it",
                    name=name,
                    most_bytes=_MOST_BYTES,
                )
            for row in sidecar_rows(data, name=name):
                self._take(row, f"{name}:{row.line}", path.parent, table)
        except IngestionError as exc:
            table.broken.append(Failure(name, without_start(exc, name)))
        except OSError as exc:
            table.broken.append(
                Failure(name, message("cannot be read: {strerror}", strerror=exc.strerror))
            )
        return table

    def _take(self, row: SidecarRow, place: str, folder: Path, table: _Table) -> None:
        try:
            if row.problem:
                raise ValueError(row.problem)
            file = self._named(row.file, folder)
            if file in table.stated:
                was = table.stated[file].place.rpartition(":")[2]
                name = shown_path(file.name)
                raise ValueError(
                    message(
                        "{name} is told of in line {was} already; keep one row", name=name, was=was
                    )
                )
        except ValueError as exc:
            table.broken.append(Failure(place, said_by(exc)))
            return
        properties, problems = statement(row.values)
        table.stated[file] = _Statement(place, properties, tuple(problems))

    def _named(self, name: str, folder: Path) -> Path:
        """Return the file that a row names.

        Raises:
            ValueError: If there is none, or several; names the remedy.
        """
        told = shown_path(name[:_SHOWN])
        whole = self._in(folder).whole.get(_key(name))
        parts = PurePosixPath(name if whole else name.replace("\\", "/")).parts
        if not parts or ".." in parts or parts[0].endswith(("/", ":")):
            raise ValueError(
                message("{told}: is no file of this folder; name it as seen from here", told=told)
            )
        for part in parts[:-1]:
            folder = self._in(folder).whole.get(_key(part), folder / part)
        file = self._in(folder).whole.get(_key(parts[-1]))
        if file is None:
            like = self._in(folder).stems.get(_key(parts[-1]), [])
            like = [path for path in like if Source(path).media_type] or like
            if not like:
                raise ValueError(
                    message(
                        "{told}: no such file; correct its name, or take the row out", told=told
                    )
                )
            if len(like) > 1:
                several = " and ".join(shown_path(path.name) for path in like[:3])
                raise ValueError(
                    message(
                        "{told}: may be {several}; write its ending, too",
                        told=told,
                        several=several,
                    )
                )
            file = like[0]
        if file.suffix.lower() == ".jsonl":
            raise ValueError(
                message("{told}: holds records; state it in fields of theirs", told=told)
            )
        if file.is_dir():
            raise ValueError(message("{told}: is a folder; name files in it, one a row", told=told))
        return file

    def _in(self, folder: Path) -> _Names:
        if folder not in self._names:
            found = self._names[folder] = _Names()
            try:
                paths = names_in(folder) if is_remote(folder) else sorted(folder.iterdir())
            except (OSError, ValueError):  # gone, no folder, or no name that a system has
                paths = []
            for path in paths:
                found.whole[_key(shown_path(path.name))] = path
                found.stems[_key(shown_path(path.stem))].append(path)
        return self._names[folder]


def _line(failure: Failure) -> int:
    line = failure.file.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name)  # Macs write other forms


def _absolute(path: Path) -> Path:
    if is_remote(path):
        return path
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they are
