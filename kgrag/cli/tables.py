"""The commands for complete tables: figures, comparisons, duties, citations."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import FILE, amount, filter_options, json_option, kb_option, opened
from kgrag.cli.printing import echo, echo_text, print_json
from kgrag.cli.query import table as aligned

if TYPE_CHECKING:
    from kgrag.qualifiers import Standing
    from kgrag.retrieval.filter import Filter
    from kgrag.tables.table import Source, Table
    from kgrag.tables.tables import Tables
    from kgrag.types import Language

_BY = ("province", "region", "document", "year")
_ROLES = ("牵头", "负责", "配合")


def table_command(command: Callable[..., "Table"]) -> Callable[..., None]:
    """Give a command that returns a table the options by which it is shown or written."""

    @functools.wraps(command)
    def shown(
        ctx: click.Context,
        /,
        kb: str,
        csv: Path | None,
        xlsx: Path | None,
        html: Path | None,
        english: bool,
        as_json: bool,
        **told: object,
    ) -> None:
        from kgrag.tables.table import said

        with opened(ctx, kb) as base:
            found = command(base.tables(), **told)
        language: Language = "en" if english else "zh"
        if as_json:
            notes = said(found.notes, language)
            print_json({"name": found.name, "rows": found.records(), "notes": notes})
        elif not (csv or xlsx or html):
            _print(found, language)
        _write(found, language, csv=csv, xlsx=xlsx, html=html)

    decorated: Callable[..., None] = click.pass_context(shown)
    for add in (
        json_option,
        click.option("--english", is_flag=True, help="Headings of columns and notes in English."),
        click.option("--html", type=FILE, help="Write a page to this file."),
        click.option("--xlsx", type=FILE, help="Write a workbook to this file."),
        click.option("--csv", type=FILE, help="Write CSV to this file."),
        kb_option,
    ):
        decorated = add(decorated)
    return decorated


def _figures(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options by which figures are chosen."""
    for add in (
        click.option("--achieved", "standing", flag_value="achieved", help="Only results."),
        click.option("--planned", "standing", flag_value="planned", help="Only aims."),
        click.option("--due", metavar="YEARS", help="Only of 2025, or 2025-2030."),
        click.option(
            "--place", "places", multiple=True, metavar="PLACE", help="Only figures of this place."
        ),
        filter_options,
    ):
        command = add(command)
    return command


def years_given(text: str | None) -> tuple[int, int] | None:
    """Return the years that `--due` gives; None where it is not given."""
    from kgrag.retrieval.filter import parse_years

    try:
        return parse_years(text) if text else None
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="--due") from exc


@click.command()
@click.option("--indicator", default="", metavar="WORDS", help="Words of the indicator's name.")
@_figures
@table_command
def targets(
    tables: "Tables",
    *,
    indicator: str,
    places: tuple[str, ...],
    due: str | None,
    standing: "Standing | None",
    within: "Filter | None",
) -> "Table":
    """List the figures that documents state, planned and achieved, each with its clause."""
    return tables.targets(
        indicator, regions=places, years=years_given(due), standing=standing or "", within=within
    )


@click.command()
@click.option("--indicator", required=True, metavar="WORDS", help="Words of the indicator's name.")
@click.option(
    "--by", type=click.Choice(_BY), default="province", show_default=True, help="What is compared."
)
@_figures
@table_command
def compare(
    tables: "Tables",
    *,
    indicator: str,
    by: str,
    places: tuple[str, ...],
    due: str | None,
    standing: "Standing | None",
    within: "Filter | None",
) -> "Table":
    """Set figures of an indicator side by side; what states none is named."""
    return tables.compare(
        indicator,
        by=by,  # type: ignore[arg-type]  # one of the choices
        regions=places,
        years=years_given(due),
        standing=standing or "",
        within=within,
    )


@click.command()
@click.argument("agency", metavar="AGENCY")
@click.option("--role", type=click.Choice(_ROLES), default=None, help="Only in this role.")
@filter_options
@table_command
def who(tables: "Tables", *, agency: str, role: str | None, within: "Filter | None") -> "Table":
    """List what an organ is to do: words of its name, such as '四川 生态环境厅'."""
    return tables.duties(agency, role=role or "", within=within)


@click.command()
@click.argument("document", metavar="DOC")
@table_command
def cites(tables: "Tables", *, document: str) -> "Table":
    """List what a document (id, file, file name or title) cites."""
    return tables.cites(document)


@click.command("cited-by")
@click.argument("title", metavar="TITLE")
@table_command
def cited_by(tables: "Tables", *, title: str) -> "Table":
    """List the documents that cite one, which need not be held."""
    return tables.cited_by(title)


@click.command()
@click.argument("document", metavar="DOC")
@click.option("--hops", default=3, show_default=True, help="Steps at most.")
@table_command
def basis(tables: "Tables", *, document: str, hops: int) -> "Table":
    """List what a document rests on, and what that rests on, as a chain."""
    return tables.basis(document, hops=hops)


def _print(found: "Table", language: "Language") -> None:
    """Print a table, then where its rows stand, then what it says of itself."""
    from kgrag.tables.table import shown

    filled = [
        at
        for at in range(len(found.columns))
        if any(row.cells[at] not in (None, "") for row in found.rows)
    ]
    lines = [
        {
            "#": number,
            **{found.columns[at].heading(language): shown(row.cells[at]) for at in filled},
        }
        for number, row in enumerate(found.rows, start=1)
    ]
    if lines:
        echo_text(aligned(lines))
        echo()
    for number, row in enumerate(found.rows, start=1):
        for source in row.sources:
            echo(f"[{number}] {_place(source)}")
    _print_notes(found, language)


def _print_notes(found: "Table", language: "Language") -> None:
    from kgrag.tables.table import said

    for note in said(found.notes, language):
        echo(note, err=True)


def _place(source: "Source") -> str:
    where = " › ".join((f"《{source.title}》", *source.heading_path))
    return f"{where}（{source.file} {source.start}-{source.end}）：{source.quote}"


def _write(
    found: "Table",
    language: "Language",
    *,
    csv: Path | None,
    xlsx: Path | None,
    html: Path | None,
) -> None:
    """Write the files that are asked for; each is there whole, or as it was."""
    from kgrag.files.whole_file import written_whole
    from kgrag.tables.export import as_csv, as_html, as_xlsx

    wanted = ((csv, as_csv), (html, as_html), (xlsx, as_xlsx))
    for path, form in wanted:
        if path:
            with written_whole(path) as file:
                file.write(form(found, language))
            echo(f"{path}: {amount(len(found.rows), 'row')}", err=True)
    if csv or html or xlsx:
        _print_notes(found, language)


COMMANDS: Sequence[click.Command] = (targets, compare, who, cites, cited_by, basis)
