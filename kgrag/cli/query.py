"""The command for queries: Cypher on Neo4j, SQL over the views in a folder."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import in_words, told, width
from kgrag.cli.opened import opened
from kgrag.cli.options import JSON, KB, argument, command, option
from kgrag.cli.printing import echo, echo_text, print_json, say
from kgrag.errors import OutOfRangeError
from kgrag.limits import checked_seconds
from kgrag.text.visible import visible_line

if TYPE_CHECKING:
    from kgrag.retrieval.graph_query import GraphAnswer

_WIDEST = 60  # columns of a cell; longer texts are truncated


def _seconds(_ctx: click.Context, _option: click.Parameter, value: float) -> float:
    """Validate a time; click's ranges accept `nan`."""
    try:
        return checked_seconds("it", value)
    except OutOfRangeError as exc:
        raise click.BadParameter(in_words(exc)) from exc


@command()
def query(
    text: str = argument(),
    kb: str = KB,
    limit: int = option("Rows at most.", type=click.IntRange(1, 100_000), default=50),
    timeout: float = option(
        "Seconds after which it is stopped.",
        type=click.FloatRange(0, 3600, min_open=True),
        default=5.0,
        callback=_seconds,
    ),
    natural: bool = option("TEXT is a question: a model writes the query."),
    as_json: bool = JSON,
) -> int:
    """Run a query that only reads: Cypher on Neo4j, otherwise SQL over the kg_* views."""
    with opened(kb) as base:
        if natural:
            answer = base.query_from(text, max_rows=limit, timeout_s=timeout)
            return _print_graph_answer(answer, as_json)
        rows = base.query(text, max_rows=limit + 1, timeout_s=timeout)
    cut = len(rows) > limit
    rows = rows[:limit]
    if as_json:
        print_json({"rows": rows, "cut": cut})
        return 0
    echo_text(table(rows) if rows else told("no rows"))
    if cut:
        say(
            "cut: only the first {limit} rows; raise --limit, or ask for less",
            limit=limit,
            err=True,
        )
    return 0


def _print_graph_answer(answer: "GraphAnswer", as_json: bool) -> int:
    """Print a model's query and its rows; return 1 where it was refused."""
    if as_json:
        print_json(answer.to_dict())
    else:
        echo_text(answer.query)
        echo()
        echo_text(table(answer.rows) if answer.rows else told("no rows"))
    if answer.error:
        echo(f"kgrag: {in_words(answer.error)}", err=True)
    return int(bool(answer.error))


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as aligned columns with headings; numbers are right-aligned.

    >>> print(table([{"name": "绿色", "n": 12}, {"name": "a", "n": 3}]))
    name   n
    ────  ──
    绿色  12
    a      3
    """
    names = list(rows[0])
    lines = [[shortened(name) for name in names]]
    lines += [[_cell(row[name]) for name in names] for row in rows]
    widths = [max(width(line[at]) for line in lines) for at in range(len(names))]
    right = [all(isinstance(row[name], int | float) for row in rows) for name in names]
    lines.insert(1, ["─" * columns for columns in widths])
    return "\n".join(_line(line, widths, right) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, columns, to_right in zip(cells, widths, right, strict=True):
        space = " " * (columns - width(cell))
        padded.append(space + cell if to_right else cell + space)
    return "  ".join(padded).rstrip()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str | bytes):
        return shortened(str(value))
    return shortened(json.dumps(value, ensure_ascii=False, default=str))


def shortened(text: str, columns: int = _WIDEST) -> str:
    """Return a text on one line of so many columns, without control characters."""
    line = visible_line(" ".join(text.split()))
    if width(line) <= columns:
        return line
    room = columns - 1  # for the …
    kept = []
    for character in line:
        room -= width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


COMMANDS = (query,)
