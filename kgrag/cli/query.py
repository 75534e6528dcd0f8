"""The command for queries: Cypher on Neo4j, SQL over the views in a folder."""

from math import isnan

import click

from kgrag.cli.chinese import told
from kgrag.cli.opened import opened
from kgrag.cli.options import JSON, KB, argument, command, option
from kgrag.cli.printing import echo_text, print_json, say, table


@command()
def query(
    text: str = argument(),
    kb: str = KB,
    limit: int = option("Rows at most.", type=click.IntRange(1, 100_000), default=50),
    timeout: float = option(
        "Seconds after which it is stopped.",
        type=click.FloatRange(0, 3600, min_open=True),
        default=5.0,
    ),
    as_json: bool = JSON,
) -> int:
    """Run a query that only reads: Cypher on Neo4j, otherwise SQL over the kg_* views."""
    if isnan(timeout):  # which click's ranges accept
        raise click.BadParameter("nan", param_hint="--timeout")
    with opened(kb) as base:
        rows = base.query(text, max_rows=limit + 1, timeout_s=timeout)
    cut = len(rows) > limit
    rows = rows[:limit]
    if as_json:
        print_json({"rows": rows, "cut": cut})
        return 0
    echo_text(table(rows) if rows else told("no rows"))
    if cut:
        template = "cut: only the first {limit} rows; raise --limit, or ask for less"
        say(template, limit=limit, err=True)
    return 0


COMMANDS = (query,)
