"""The commands for tables of what comes when, what changed, and what does not go together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import filter_options
from kgrag.cli.tables import table_command, years_given

if TYPE_CHECKING:
    from kgrag.retrieval.filter import Filter
    from kgrag.tables.table import Table
    from kgrag.tables.tables import Tables

_EVENTS = ("written", "issued", "effective", "expires", "due", "target")
_PARTS = ("targets", "duties", "references", "clauses")


@click.command()
@click.option("--indicator", default="", metavar="WORDS", help="Only what is about this indicator.")
@click.option("--from", "since", default="", metavar="DATE", help="2022, 2022-06 or 2022-06-30.")
@click.option("--until", default="", metavar="DATE", help="The last year, month or day.")
@click.option("--event", "events", multiple=True, type=click.Choice(_EVENTS), help="Only these.")
@click.option("--place", "places", multiple=True, metavar="PLACE", help="Only of this place.")
@filter_options
@table_command
def timeline(
    tables: "Tables",
    *,
    indicator: str,
    since: str,
    until: str,
    events: tuple[str, ...],
    places: tuple[str, ...],
    within: "Filter | None",
) -> "Table":
    """List what happens when: documents, deadlines, target years, in order of date."""
    return tables.timeline(
        indicator,
        regions=places,
        since=since,
        until=until,
        events=events,  # type: ignore[arg-type]  # of the choices
        within=within,
    )


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--part", "parts", multiple=True, type=click.Choice(_PARTS), help="Only these.")
@table_command
def digest(tables: "Tables", *, old: str, new: str, parts: tuple[str, ...]) -> "Table":
    """List what a document (id, file, title or part of it) changes of another."""
    return tables.digest(old, new, parts=parts)  # type: ignore[arg-type]  # of the choices


@click.command()
@click.option("--indicator", default="", metavar="WORDS", help="Words of the indicator's name.")
@click.option("--place", "places", multiple=True, metavar="PLACE", help="Only figures of it.")
@click.option("--due", metavar="YEARS", help="Only of 2025, or 2025-2030.")
@filter_options
@table_command
def conflicts(
    tables: "Tables",
    *,
    indicator: str,
    places: tuple[str, ...],
    due: str | None,
    within: "Filter | None",
) -> "Table":
    """List aims below or after those above, and documents of a place that differ."""
    return tables.conflicts(indicator, regions=places, years=years_given(due), within=within)


COMMANDS: Sequence[click.Command] = (timeline, digest, conflicts)
