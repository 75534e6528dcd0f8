"""Commands for complete tables: figures, duties, citations, and changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kgrag.cli.chinese import amount
from kgrag.cli.opened import opened
from kgrag.cli.options import (
    FILE,
    JSON,
    KB,
    FilterOptions,
    argument,
    command,
    flags,
    option,
    year_span,
)
from kgrag.cli.printing import echo, echo_text, print_json
from kgrag.cli.query import table as aligned

if TYPE_CHECKING:
    from kgrag.qualifiers import Standing
    from kgrag.statements.selection import Kind
    from kgrag.statements.table import Source, Table
    from kgrag.types import Language


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where tables are written, and in what language."""

    xlsx: Path | None = option("Write a workbook to this file.", type=FILE)
    html: Path | None = option("Write a page to this file.", type=FILE)
    english: bool = option("Headings of columns and notes in English.")
    as_json: bool = JSON

    @property
    def language(self) -> "Language":
        """The language of headings and notes."""
        return "en" if self.english else "zh"


@dataclass(frozen=True, kw_only=True)
class _TableOptions:
    """Source and output of a table."""

    kb: str = KB
    csv: Path | None = option("Write CSV to this file.", type=FILE)
    docx: Path | None = option("Write a Word file; sources are footnotes.", type=FILE)
    output: OutputOptions

    def show(self, kind: "Kind", **fields: Any) -> None:
        """Print the table of a selection, or write it to files."""
        from kgrag.statements.selection import Selection
        from kgrag.statements.table import worded

        with opened(self.kb) as base:
            found = base.rows(Selection(kind=kind, **fields))
        language, output = self.output.language, self.output
        if output.as_json:
            notes = worded(found.notes, language)
            print_json({"name": found.name, "rows": found.records(), "notes": notes})
        elif not (self.csv or output.xlsx or output.html or self.docx):
            _print(found, language)
        self._write(found, language)

    def _write(self, found: "Table", language: "Language") -> None:
        """Write the requested files atomically."""
        from kgrag.files.whole_file import written_whole
        from kgrag.statements.export import as_csv, as_docx, as_html, as_xlsx

        forms = (
            (self.csv, as_csv),
            (self.output.html, as_html),
            (self.output.xlsx, as_xlsx),
            (self.docx, as_docx),
        )
        for path, form in forms:
            if path:
                with written_whole(path) as file:
                    file.write(form(found, language))
                echo(f"{path}: {amount(len(found.rows), 'row')}", err=True)
        if any(path for path, _ in forms):
            _print_notes(found, language)


@dataclass(frozen=True, kw_only=True)
class _FigureOptions:
    """Which figures are listed."""

    only: FilterOptions
    places: tuple[str, ...] = option("Only figures of this place.", "--place", metavar="PLACE")
    due: tuple[int, int] | None = option(
        "Only of 2025, or 2025-2030.", metavar="YEARS", callback=year_span
    )
    standing: "Standing | None" = flags(planned="Only aims.", achieved="Only results.")

    def chosen(self) -> dict[str, Any]:
        """Return the fields of a selection of figures."""
        return {
            "places": self.places,
            "years": self.due,
            "standing": self.standing or "",
            "within": self.only.filter,
        }


_INDICATOR = "Words of the indicator's name."


@command(served=True)
def targets(
    *,
    indicator: str = option(_INDICATOR, metavar="WORDS"),
    figures: _FigureOptions,
    shown: _TableOptions,
) -> None:
    """List the figures that documents state, planned and achieved, each with its clause."""
    shown.show("targets", indicator=indicator, **figures.chosen())


@command(served=True)
def compare(
    *,
    indicator: tuple[str, ...] = option(
        "Words of the indicator's name; several have columns each.", metavar="WORDS", required=True
    ),
    by: Literal["province", "region", "document", "year"] = option(
        "What is compared.", default="province"
    ),
    figures: _FigureOptions,
    shown: _TableOptions,
) -> None:
    """Set figures of indicators side by side; what states none is named."""
    wanted = "、".join(indicator)
    shown.show("compare", indicator=wanted, by=by, **figures.chosen())


@command(served=True)
def who(
    *,
    agency: str = argument(metavar="AGENCY"),
    role: Literal["牵头", "负责", "配合"] | None = option("Only in this role."),
    only: FilterOptions,
    shown: _TableOptions,
) -> None:
    """List what an organ is to do: words of its name, such as '四川 生态环境厅'."""
    shown.show("duties", agency=agency, role=role or "", within=only.filter)


@command(served=True)
def cites(*, document: str = argument(metavar="DOC"), shown: _TableOptions) -> None:
    """List what a document (id, file, number, title or words of it) cites."""
    shown.show("cites", document=document)


@command("cited-by", served=True)
def cited_by(*, title: str = argument(metavar="TITLE"), shown: _TableOptions) -> None:
    """List the documents that cite one, which need not be held."""
    shown.show("cited_by", document=title)


@command(served=True)
def basis(
    *,
    document: str = argument(metavar="DOC"),
    hops: int = option("Steps at most.", default=3),
    shown: _TableOptions,
) -> None:
    """List what a document rests on, and what that rests on, as a chain."""
    shown.show("basis", document=document, hops=hops)


@command(served=True)
def timeline(
    *,
    indicator: str = option("Only what is about this indicator.", metavar="WORDS"),
    since: str = option("2022, 2022-06 or 2022-06-30.", "--from", metavar="DATE"),
    until: str = option("The last year, month or day.", metavar="DATE"),
    events: tuple[
        Literal["written", "issued", "effective", "expires", "due", "target"], ...
    ] = option("Only these.", "--event"),
    places: tuple[str, ...] = option("Only of this place.", "--place", metavar="PLACE"),
    only: FilterOptions,
    shown: _TableOptions,
) -> None:
    """List what happens when: documents, deadlines, target years, in order of date."""
    shown.show(
        "timeline",
        indicator=indicator,
        places=places,
        since=since,
        until=until,
        events=events,
        within=only.filter,
    )


@command(served=True)
def digest(
    *,
    old: str = argument(metavar="OLD"),
    new: str = argument(metavar="NEW"),
    parts: tuple[Literal["targets", "duties", "references", "clauses"], ...] = option(
        "Only these.", "--part"
    ),
    shown: _TableOptions,
) -> None:
    """List what a document (id, file, title or words of it) changes of another."""
    shown.show("digest", document=old, new=new, parts=parts)


@command(served=True)
def conflicts(
    *,
    indicator: str = option(_INDICATOR, metavar="WORDS"),
    places: tuple[str, ...] = option("Only figures of it.", "--place", metavar="PLACE"),
    due: tuple[int, int] | None = option(
        "Only of 2025, or 2025-2030.", metavar="YEARS", callback=year_span
    ),
    only: FilterOptions,
    shown: _TableOptions,
) -> None:
    """List aims below those above, and documents of a place that differ."""
    shown.show("conflicts", indicator=indicator, places=places, years=due, within=only.filter)


def _print(found: "Table", language: "Language") -> None:
    """Print a table, the sources of its rows, and its notes."""
    from kgrag.statements.table import shown

    lines = [
        {
            "#": number,
            **{found.columns[at].heading(language): shown(row.cells[at]) for at in found.filled},
        }
        for number, row in enumerate(found.rows, start=1)
    ]
    if lines:
        echo_text(aligned(lines))
        echo()
    for number, row in enumerate(found.rows, start=1):
        for n, source in enumerate(row.sources, start=1):
            mark = f"{number}.{n}" if len(row.sources) > 1 else f"{number}"
            echo(f"[{mark}] {_place(source, language)}")
    _print_notes(found, language)


def _print_notes(found: "Table", language: "Language") -> None:
    from kgrag.statements.table import worded

    for note in worded(found.notes, language):
        echo(note, err=True)


def _place(source: "Source", language: "Language") -> str:
    from kgrag.status import mark

    title = f"《{source.title}》{mark(source.status, language)}"
    where = " › ".join((title, *source.heading_path))
    return f"{where}（{source.file} {source.start}-{source.end}）：{source.quote}"


COMMANDS = (targets, compare, who, cites, cited_by, basis, timeline, digest, conflicts)
