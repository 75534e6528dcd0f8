"""Commands for what is stored, whole: verify, repair, copy, export, delete."""

import time
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import (
    FILE,
    amount,
    index_share,
    json_option,
    kb_option,
    opened,
)
from kgrag.cli.printing import echo, print_json, progress_bar
from kgrag.files.whole_file import write_whole
from kgrag.text.visible import json_line

if TYPE_CHECKING:
    from kgrag.copying import Comparison, CopyReport
    from kgrag.repairing import RepairReport

_SHOWN = 160  # characters of a line that differs
_BEFORE = 40  # of these, before the first that differs


@click.command()
@kb_option
@json_option
@click.pass_context
def verify(ctx: click.Context, kb: str, as_json: bool) -> None:
    """Check every invariant of the knowledge base; name what is wrong."""
    with opened(ctx, kb) as base:
        problems = base.verify()
    for problem in problems:
        if as_json:
            print_json(problem.to_dict())
        else:
            echo(f"{problem.invariant}: {problem.subject}: {problem.detail}")
    echo(f"{len(problems)} problems" if problems else "all invariants hold", err=as_json)
    if problems:
        ctx.exit(1)


@click.command()
@click.argument("document")
@kb_option
@click.pass_context
def delete(ctx: click.Context, document: str, kb: str) -> None:
    """Delete a document (id, file, file name or title) and what only it supports."""
    with opened(ctx, kb) as base:
        card = base.delete(document)
    echo(f"deleted {card.doc_id}: {card.title}")


@click.command()
@kb_option
@click.option("--out", type=FILE, help="Write to this file instead of standard output.")
@click.pass_context
def export(ctx: click.Context, kb: str, out: Path | None) -> None:
    """Write everything as JSON lines, in a fixed order, without paths."""
    with opened(ctx, kb) as base:
        if out is None:
            for record in base.export():
                print_json(record, sort_keys=True)
            return
        write_whole(out, (json_line(record, sort_keys=True) for record in base.export()))


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
        equal = _print_copy_report(report, now - began, now - copied)
        if check:
            equal = _print_comparison(copying.compare(source.store, target.store)) and equal
    if not equal:
        ctx.exit(1)


def _print_copy_report(report: "CopyReport", seconds: float, index_seconds: float) -> bool:
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


@click.command()
@kb_option
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
@click.pass_context
def repair(ctx: click.Context, kb: str, dry_run: bool, as_json: bool) -> None:
    """Make what `verify` names whole again, as far as that can be.

    Documents are read from their files, vectors encoded, indexes built anew; the damaged file
    stays beside the new one. What cannot be repaired is named.
    """
    from kgrag.api import KnowledgeBase

    with progress_bar("repair") as progress:
        report = KnowledgeBase.repair(kb, config=ctx.obj, dry_run=dry_run, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        _print_repair_report(report, dry_run=dry_run)
    if report.left:
        ctx.exit(1)


def _print_repair_report(report: "RepairReport", *, dry_run: bool) -> None:
    if not report.found:
        echo("all invariants hold: nothing to repair")
        return
    for line in report.done:
        echo(f"would be repaired: {line}" if dry_run else f"repaired: {line}")
    for line in report.left:
        echo(f"left: {line}", err=True)
    echo(
        f"{amount(len(report.found), 'problem')} found, {amount(len(report.done), 'repair')}"
        + (f", {len(report.left)} left" if report.left else "; all is whole again" * (not dry_run))
    )
    if report.kept:
        echo(f"the damaged file is kept as {report.kept}")


COMMANDS = (verify, delete, export, copy, repair)
