"""A command for each tool, with options for its arguments, and how its results are shown."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.answer.address import Address
from kgrag.cli.chinese import amount, language, said, told, translated
from kgrag.cli.opened import opened
from kgrag.cli.options import FILE, JSON, KB, given_to, option, parameters_of
from kgrag.cli.printing import echo, echo_text, print_json, say, table
from kgrag.tools import TOOLS

if TYPE_CHECKING:
    from kgrag.answer.citation import Citation
    from kgrag.statements.table import Cell, Row, Table
    from kgrag.tools.results import Found, Overview, Page, Reading
    from kgrag.tools.tool import Tool
    from kgrag.types import Language

_MOST = 12  # rows of each table of an overview
_QUOTE = "〖{}〗"  # around a place that is read; also in the character sets of Chinese terminals
_WRITTEN: Mapping[str, Any] = {
    "csv": option("Write CSV to this file.", type=FILE),
    "xlsx": option("Write a workbook to this file.", type=FILE),
    "html": option("Write a page to this file.", type=FILE),
    "docx": option("Write a Word file; sources are footnotes.", type=FILE),
}
_EXPLAIN = option("Say how each result came.")


def _command(tool: "Tool") -> click.Command:
    """Return the command of a tool."""
    forms: Sequence[str] = ("xlsx", "html") if tool.name == "overview" else ()
    if tool.is_table and not tool.curates:
        forms = tuple(_WRITTEN)
    params = [*parameters_of(tool.arguments)]
    for name, kind, declared in (
        ("kb", str, KB),
        *((form, Path, _WRITTEN[form]) for form in forms),
        *((("explain", bool, _EXPLAIN),) if tool.name == "search" else ()),
        ("as_json", bool, JSON),
    ):
        params += declared(name, kind)

    def run(*, kb: str, as_json: bool, explain: bool = False, **values: Any) -> None:
        paths = {form: values.pop(form) for form in forms if values.get(form)}
        if tool.name in ("search", "read", "fetch"):
            values["lang"] = values.get("lang") or language()
        given = given_to(tool.arguments, values)
        with opened(kb) as base:
            found = tool.run(base, given)
            if as_json:
                print_json(found.to_dict())
            elif not paths:
                _show(found, explain=explain)
            for form, path in paths.items():
                _write(path, _file(form, found, given.lang), found)

    said = translated(tool.text, tool.chinese)
    return click.Command(tool.name, callback=run, params=params, help=said)


def _show(found: Any, *, explain: bool) -> None:
    """Print what a tool returned."""
    from kgrag.tools.results import Found, Overview, Page, Reading

    if isinstance(found, Found):
        _print_found(found, explain=explain)
        return
    shown: dict[type, Callable[[Any], None]] = {
        Page: _print_page,
        Overview: _print_overview,
        Reading: _print_reading,
    }
    shown.get(type(found), lambda other: print_json(other.to_dict()))(found)


def _print_reading(found: "Reading") -> None:
    """Print a document with its outline, or a place with the text around it."""
    echo(found.title)
    if (excerpt := found.excerpt) is None:
        return
    cited = excerpt.citation
    if cited.heading_path:
        echo(f"    {' › '.join(cited.heading_path)}")
    echo(f"    {cited.place(found.language)}")
    echo()
    for heading in found.headings if found.is_whole else ():
        at = Address(cited.doc_id, heading.start, heading.end)
        echo(f"{'  ' * (heading.level - 1)}{heading.text}  {at}")
    quote = cited.quote if found.is_whole else _QUOTE.format(cited.quote)
    echo_text(f"{excerpt.before}{quote}{excerpt.after}".strip("\n"))
    if found.next:
        echo(f"→ {found.next}", err=True)


def _file(form: str, found: Any, language: "Language") -> Callable[[], bytes]:
    """Return what makes a file of what a tool returned."""
    from kgrag.answer.notes import note
    from kgrag.statements.export import FORMS, as_page, as_workbook
    from kgrag.tools.results import Overview

    if not isinstance(found, Overview):
        return partial(FORMS[form], found, language)
    if form == "xlsx":
        return partial(as_workbook, found.tables, language)
    return partial(as_page, found.tables, note("overview-title", language), language)


def _write(path: Path, make: Callable[[], bytes], found: Any) -> None:
    """Write a file atomically; its size, and notes, go to stderr."""
    from kgrag.files.whole_file import written_whole
    from kgrag.tools.results import Page

    with written_whole(path) as file:
        file.write(make())
    if isinstance(found, Page):
        echo(f"{path}: {amount(len(found.rows), 'row')}", err=True)
        _print_notes(found, found.language)
    else:
        say("{path}: {n} tables", path=path, n=len(found.tables), err=True)


def _print_page(found: "Page") -> None:
    """Print rows, then the sources of each, and notes on stderr."""
    if found.rows:
        echo_text(_aligned(found, found.language))
        echo()
    elif not found.notes:
        say("no rows", err=True)
    for number, row in enumerate(found.rows, start=found.offset + 1):
        for n, source in enumerate(row.sources, start=1):
            mark = f"{number}.{n}" if len(row.sources) > 1 else f"{number}"
            echo(f"[{mark}] {_place(source, found.language)}")
    _print_notes(found, found.language)
    after = found.offset + len(found.rows)
    if after < found.total:
        say("{n} of {total} rows; more: --offset {after}", n=len(found.rows), total=found.total,
            after=after, err=True)  # fmt: skip


def _aligned(found: "Table", language: "Language") -> str:
    heads = {at: found.columns[at].heading(language) for at in found.filled}
    return table(
        [
            {"#": number, **{h: _cell(found, row, at, number) for at, h in heads.items()}}
            for number, row in enumerate(found.rows, start=getattr(found, "offset", 0) + 1)
        ]
    )


def _cell(found: "Table", row: "Row", at: int, number: int) -> "Cell":
    """Return a cell; the [k] of a comparison's row is [row.k], as its sources are listed below."""
    from kgrag.statements.table import shown

    cell = shown(row.cells[at])
    for n in range(1, len(row.sources) + 1) if found.name == "compare" and at else ():
        cell = str(cell).replace(f"[{n}]", f"[{number}.{n}]") if cell else cell
    return cell


def _print_notes(found: "Table", language: "Language") -> None:
    from kgrag.statements.table import worded

    for note in worded(found.notes, language):
        echo(note, err=True)


def _place(source: "Citation", language: "Language") -> str:
    from kgrag.status import mark

    title = f"《{source.title}》{mark(source.status, language)}"
    where = " › ".join((title, *source.heading_path))
    return f"{where}（{source.file} {source.start}-{source.end}）：{source.quote}"


def _print_overview(found: "Overview") -> None:
    """Print the first rows of each table, and what to do next."""
    from dataclasses import replace

    from kgrag.answer.notes import note
    from kgrag.statements.table import worded

    for one in found.tables:
        if not (one.rows or one.notes):
            continue
        heading = one.heading.heading(found.language) if one.heading else one.name
        more = f" ({_MOST}/{len(one.rows)})" if len(one.rows) > _MOST else ""
        echo(heading + more)
        for line in worded(one.notes, found.language):
            echo(line)
        if one.rows:
            rows = one.rows[-_MOST:] if one.name == "year" else one.rows[:_MOST]
            echo_text(_aligned(replace(one, rows=rows), found.language))
        echo()
    echo_text(str(note("overview-next", found.language)))


def _print_found(found: "Found", *, explain: bool) -> None:
    """Print passages, best first; notes go to stderr."""
    from kgrag.answering.copies import ALSO_IN
    from kgrag.status import mark

    if not found.hits:
        echo(said("words", "nothing found"))
    for number, (hit, reason) in enumerate(zip(found.hits, found.reasons, strict=True), 1):
        chunk = hit.chunk
        where = " › ".join((hit.title + mark(hit.status, found.language), *chunk.heading_path))
        echo(f"{number}. {where}")
        span = said("words", "characters {}-{}").format(chunk.start, chunk.end)
        echo(f"   {hit.score:.3f}  {hit.file}, {span}")
        if hit.also_in:
            echo(f"   {ALSO_IN[found.language]}{', '.join(hit.also_in)}")
        if explain:
            echo(f"   {reason}")
        echo(f"   {' '.join(chunk.text.split())[:160]}")
    for note in found.notes:
        echo(told("note: {note}", note=note), err=True)


# `ask` has a command that does more.
COMMANDS = tuple(_command(tool) for tool in TOOLS.values() if tool.name != "ask")
