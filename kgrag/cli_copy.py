"""The command that copies a knowledge base to another place: copy."""

import time
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from kgrag.cli_print import echo, progress_bar
from kgrag.cli_shared import index_share, opened

if TYPE_CHECKING:
    from kgrag.copying import Comparison, CopyReport

_SHOWN = 160  # characters of a line that differs
_BEFORE = 40  # of these, before the first that differs


@click.command()
@click.option("--from", "from_", required=True, metavar="PLACE", help="The one to copy.")
@click.option("--to", required=True, metavar="PLACE", help="Where to; made if it is not there.")
@click.option("--check", is_flag=True, help="Compare every record of both afterwards.")
@click.pass_context
def copy(ctx: click.Context, from_: str, to: str, check: bool) -> None:
    """Copy a knowledge base; running it again does what is missing or changed.

    A PLACE is a folder, or the address of a Neo4j server (bolt://HOST:7687).
    """
    from kgrag import copying

    if copying.same_place(from_, to):
        raise click.BadParameter(f"{to} is the place to copy from", param_hint="--to")
    with opened(ctx, from_) as source, opened(ctx, to, create=True) as target:
        began = time.monotonic()
        with progress_bar("copy") as progress:
            report = copying.copy(source.store, target.store, progress=progress)
            progress("search index", report.documents, report.documents)
            copied = time.monotonic()
            target.store.refresh(sizes=target.sizes.searched)
        now = time.monotonic()
        equal = _print_report(report, now - began, now - copied)
        if check:
            equal = _print_comparison(copying.compare(source.store, target.store)) and equal
    if not equal:
        ctx.exit(1)


def _print_report(report: "CopyReport", seconds: float, index_seconds: float) -> bool:
    """Print what was copied; return whether both hold as much."""
    took = f"{seconds:.1f} s{index_share(index_seconds)}"
    echo(f"{report.written} copied, {report.unchanged} unchanged in {took}")
    if report.source == report.target:
        return True
    echo(f"not the same: from {report.source}", err=True)
    echo(f"to {report.target}", err=True)
    echo("the first was changed meanwhile: copy again", err=True)
    return False


def _print_comparison(comparison: "Comparison") -> bool:
    """Print whether two exports agree, and where they first differ; return whether they do."""
    if comparison.difference is None:
        echo(f"identical: {comparison.records} records, sha256 {comparison.sha256}")
        return True
    ours, theirs = (line or "nothing more" for line in comparison.difference)
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    )
    begin = max(0, same - _BEFORE)
    echo(f"different from record {comparison.records + 1} on:", err=True)
    echo(f"from {ours[begin : begin + _SHOWN]}", err=True)
    echo(f"to   {theirs[begin : begin + _SHOWN]}", err=True)
    echo("to have the same, copy into a new place", err=True)
    return False


COMMANDS = (copy,)
