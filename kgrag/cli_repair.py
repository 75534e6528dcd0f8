"""The command that makes a damaged knowledge base whole again: repair."""

from typing import TYPE_CHECKING

import click

from kgrag.cli_print import echo, print_json, progress_bar
from kgrag.cli_shared import amount, json_option, kb_option

if TYPE_CHECKING:
    from kgrag.repairing import RepairReport


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
        found = [f"{p.invariant}: {p.subject}: {p.detail}" for p in report.found]
        told = {"found": found, "done": report.done, "left": report.left}
        print_json({**told, "kept": str(report.kept) if report.kept else None})
    else:
        _print(report, dry_run=dry_run)
    if report.left:
        ctx.exit(1)


def _print(report: "RepairReport", *, dry_run: bool) -> None:
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


COMMANDS = (repair,)
