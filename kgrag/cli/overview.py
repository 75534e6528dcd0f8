"""The command that says what is in an archive, and what to do next in a folder."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.cli.chinese import padded, said, width
from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command
from kgrag.cli.printing import echo, echo_text, print_json, say
from kgrag.cli.query import shortened
from kgrag.cli.tables import OutputOptions
from kgrag.text.visible import visible_line

if TYPE_CHECKING:
    from kgrag.statements.table import Cell, Column, Row, Table
    from kgrag.types import Language

_COLUMNS = 100  # of a line
_TITLE = 68  # columns of a title in a list
_BAR = 40  # columns of the longest bar
_BARS = 6  # regions with bars; the others stand on a line
_YEARS = 12  # the latest ones
_SHOWN: Mapping[str, int] = {"gaps": 4, "cited": 3, "lacking": 5, "outdated": 3}  # rows
_FOLDERS = 500  # entries of a folder that are looked at


@command()
def overview(*, kb: str = KB, output: OutputOptions) -> None:
    """Say what is held and what is missing: by year, region, issuer; gaps, citations, validity."""
    from kgrag.answer.notes import note
    from kgrag.files.whole_file import written_whole
    from kgrag.statements.export import as_page, as_workbook

    language = output.language
    with opened(kb) as base:
        tables = base.overview(language=language)
    if output.as_json:
        print_json({"tables": [_record(table, language) for table in tables]})
    elif not (output.xlsx or output.html):
        for line in _lines({table.name: table for table in tables}, language):
            echo_text(line)
    title = note("overview-title", language)
    for path, data in (
        (output.xlsx, partial(as_workbook, tables, language)),
        (output.html, partial(as_page, tables, title, language)),
    ):
        if path:
            with written_whole(path) as file:
                file.write(data())
            say("{path}: {n} tables", path=path, n=len(tables), err=True)


def _record(table: "Table", language: "Language") -> dict[str, object]:
    from kgrag.statements.table import worded

    notes = worded(table.notes, language)
    return {"name": table.name, "rows": table.records(), "notes": notes}


def _lines(tables: "Mapping[str, Table]", language: "Language") -> Iterator[str]:
    """Yield the lines of a terminal, counts first."""
    from kgrag.answer.notes import note
    from kgrag.statements.table import worded

    yield _notes(tables["status"], language)
    for name in ("status", "level", "kind", "issuer"):
        yield _heading(tables[name], language) + "  " + _on_a_line(tables[name].rows)
    for name, most in (("year", _YEARS), ("region", _BARS)):
        rows = tables[name].rows
        first = rows[-most:] if name == "year" else rows[:most]
        yield from ("", _heading(tables[name], language), *_bars(first))
        if rest := [row for row in rows if row not in first]:
            yield "  " + _on_a_line(rest)
        if told := _notes(tables[name], language):
            yield told
    for name in ("missing", "gaps", "cited", "lacking", "outdated"):
        table, heading = tables[name], _heading(tables[name], language)
        rows = table.rows
        if name == "cited":  # what is not held follows
            rows = tuple(row for row in rows if row.cells[4])
            heading += f"（{rows[0].cells[2]}）" if rows else ""
        rows = rows[: _SHOWN.get(name)]
        if rows:
            yield from ("", heading, *_aligned(_cells(table, rows, language)))
        if rows and table.notes and name != "cited":
            absent = [n for n in table.notes if getattr(n, "kind", "") == "overview-absent"]
            yield worded(absent or table.notes, language)[0]
    yield ""
    yield from str(note("overview-next", language)).splitlines()


def _heading(table: "Table", language: "Language") -> str:
    return table.heading.heading(language) if table.heading else table.name


def _notes(table: "Table", language: "Language") -> str:
    from kgrag.statements.table import worded

    return {"zh": "；", "en": "; "}[language].join(worded(table.notes, language))


def _on_a_line(rows: "Sequence[Row]") -> str:
    """Return counts on one line, as many as it holds."""
    shown = [f"{shortened(str(row.cells[0]))} {row.cells[1]}" for row in rows]
    line = ""
    for at, piece in enumerate(shown):
        longer = f"{line}、{piece}" if line else piece
        if width(longer) > _COLUMNS - 14:
            return f"{line}… (+{len(shown) - at})"
        line = longer
    return line


def _bars(rows: "Sequence[Row]") -> Iterator[str]:
    most = max((_number(row.cells[1]) for row in rows), default=1)
    labels = [shortened(str(row.cells[0]), 16) for row in rows]
    columns = max(map(width, labels), default=0)
    for label, row in zip(labels, rows, strict=True):
        n = _number(row.cells[1])
        yield f"  {padded(label, columns)} {n:>5}  {'█' * max(round(_BAR * n / most), 1)}"


def _number(cell: "Cell") -> int:
    return cell if isinstance(cell, int) else 0


def _aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (padded(cell, columns) for cell, columns in zip(line, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()


def _cells(table: "Table", rows: "Sequence[Row]", language: "Language") -> Sequence[Sequence[str]]:
    """Return the cells of a terminal for rows of a table."""
    if table.name == "gaps":
        return [_gap(row, table.columns, language) for row in rows]
    short = {"missing": _missing, "outdated": _outdated}.get(table.name, _citation)
    return [short(row) for row in rows]


def _missing(row: "Row") -> Sequence[str]:
    what, n, _, remedy = row.cells
    return (str(what), f"{n:>5}", shortened(str(remedy), _TITLE))


def _gap(row: "Row", columns: "Sequence[Column]", language: "Language") -> Sequence[str]:
    """Return who has a document, or who lacks it where those are fewer."""
    subject, n, places, *names = row.cells
    kept = (1, 2) if 2 * _number(n) > _number(places) else (0, 1)
    headings = [column.heading(language) for column in columns[3:]]
    colon, stop = {"zh": "：；", "en": (": ", "; ")}[language]
    told = stop.join(f"{headings[at]}{colon}{names[at]}" for at in kept if names[at])
    return (shortened(str(subject), 44), f"{n}/{places}", shortened(told, 50))


def _citation(row: "Row") -> Sequence[str]:
    title, n, held, status, _ = row.cells
    return (f"{n:>5}", shortened(str(title), _TITLE), str(held), str(status or ""))


def _outdated(row: "Row") -> Sequence[str]:
    title, _, role, cited, status, _ = row.cells
    half = _TITLE // 2
    return (
        shortened(str(title), half + 6),
        shortened(str(role), 8),
        shortened(str(cited), half),
        shortened(str(status), 22),
    )


def print_next_steps(kb: str) -> None:
    """Print what to do next in the working folder: ingest, or ask and look.

    Args:
        kb: The knowledge base that commands take by default.
    """
    from kgrag.store.sqlite.connection import FILE_NAME

    if "://" in kb or (Path(kb) / FILE_NAME).is_file():
        steps = ('ask "…"', "overview", "docs --problems")
        echo(said("next", "there is a knowledge base here: {}").format(kb))
    else:
        folder = next(_folders_of_documents(kb), "")
        steps = (f"ingest {shlex.quote(folder) if folder else 'FOLDER'}", 'ask "…"', "overview")
        echo(said("next", "there is no knowledge base here yet: {}").format(kb))
    for step in steps:
        called = visible_line(f"  kgrag {step}")
        gap = " " * max(32 - width(called), 2)
        echo(called + gap + said("next", _STEPS[step.partition(" ")[0]]))
    echo(said("next", "`kgrag --help` lists all commands"))


_STEPS = {
    "ingest": "take documents in",
    "ask": "answer a question",
    "overview": "what is held and what is missing",
    "docs": "what was read badly, with remedies",
}


def _folders_of_documents(kb: str) -> Iterator[str]:
    """Yield the folders here that have a file that can be read, in order."""
    from kgrag.ingestion.load.formats import MEDIA_TYPES

    known = tuple(suffix for suffix, kind in MEDIA_TYPES.items() if kind != "picture")
    with suppress(OSError):
        for folder in sorted(Path().iterdir())[:_FOLDERS]:
            if folder.is_dir() and not folder.name.startswith((".", "_")) and folder != Path(kb):
                with suppress(OSError), os.scandir(folder) as entries:
                    for _, entry in zip(range(_FOLDERS), entries, strict=False):
                        if entry.name.lower().endswith(known):
                            yield str(folder)
                            break


COMMANDS = (overview,)
