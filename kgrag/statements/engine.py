"""One engine for what documents state: a selection to a table with its sources."""

from typing import assert_never

from kgrag.statements.selection import Selection
from kgrag.statements.table import Table
from kgrag.statements.tables import Tables
from kgrag.store.store import Store


def rows(store: Store, selection: Selection) -> Table:
    """Return the table of a selection, each row with the passages that state it.

    Raises:
        NotFoundError: If what it names is not held; the error lists similar names.
        OutOfRangeError: If it is empty where it must not be, or out of range.
    """
    s, tables = selection, Tables(store)
    match s.kind:
        case "targets":
            return tables.targets(
                s.indicator, regions=s.places, years=s.years, standing=s.standing, within=s.within
            )
        case "compare":
            return tables.compare(
                s.indicator,
                by=s.by,
                regions=s.places,
                years=s.years,
                standing=s.standing,
                within=s.within,
            )
        case "duties":
            return tables.duties(s.agency, role=s.role, within=s.within)
        case "cites":
            return tables.cites(s.document)
        case "cited_by":
            return tables.cited_by(s.document)
        case "basis":
            return tables.basis(s.document, hops=s.hops)
        case "timeline":
            return tables.timeline(
                s.indicator,
                regions=s.places,
                since=s.since,
                until=s.until,
                events=s.events,
                within=s.within,
            )
        case "conflicts":
            return tables.conflicts(s.indicator, regions=s.places, years=s.years, within=s.within)
        case "digest":
            return tables.digest(s.document, s.new, parts=s.parts)
        case never:
            assert_never(never)
