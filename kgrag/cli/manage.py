"""Commands for knowledge bases: verify, repair, copy, export, delete, drop, stats."""

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import amount, padded, said, told
from kgrag.cli.opened import opened
from kgrag.cli.options import FILE, JSON, KB, command, option
from kgrag.cli.printing import echo, print_json, print_record, progress_bar, say
from kgrag.files.whole_file import write_whole
from kgrag.text.messages import message
from kgrag.text.visible import json_line

if TYPE_CHECKING:
    from kgrag.config import Config
    from kgrag.llm.ledger import UsageTotal
    from kgrag.maintenance.copying import Comparison
    from kgrag.maintenance.repairing import RepairReport

_SHOWN = 160  # characters of a different line
_BEFORE = 40  # of these, before the difference


@command()
def verify(kb: str = KB, as_json: bool = JSON) -> int:
    """Check every invariant of the knowledge base; name what is wrong."""
    with opened(kb) as base:
        problems = base.verify()
    for problem in problems:
        if as_json:
            print_json(problem.to_dict())
        else:
            echo(f"{problem.invariant}: {problem.subject}: {problem.detail}")
    holds = told("all invariants hold")
    echo(amount(len(problems), "problem") if problems else holds, err=as_json)
    return int(bool(problems))


@command()
def export(
    kb: str = KB,
    out: Path | None = option("Write to this file instead of standard output.", type=FILE),
) -> None:
    """Write everything as JSON lines, in a fixed order, without paths."""
    with opened(kb) as base:
        if out is None:
            for record in base.export():
                print_json(record, sort_keys=True)
            return
        write_whole(out, (json_line(record, sort_keys=True) for record in base.export()))


@command()
def copy(
    from_: str = option("The one to copy.", "--from", required=True, metavar="PLACE"),
    to: str = option("Where to; made if it is not there.", required=True, metavar="PLACE"),
    check: bool = option("Compare every record of both afterwards."),
) -> int:
    """Copy a knowledge base; running it again does what is missing or changed.

    A PLACE is a folder, or the address of a Neo4j server (bolt://HOST:7687).
    """
    from kgrag.maintenance import copying

    if copying.same_place(from_, to):
        raise click.BadParameter(told("{to} is the place to copy from", to=to), param_hint="--to")
    with opened(from_) as source, opened(to, create=True) as target:
        began = time.monotonic()
        with progress_bar("copy") as progress:
            report = copying.copy(source.store, target.store, progress=progress)
            progress(message("search index"), report.documents, report.documents)
            target.store.refresh(sizes=target.sizes.searched)
        say(
            "{written} copied, {unchanged} unchanged in {took}",
            written=report.written,
            unchanged=report.unchanged,
            took=f"{time.monotonic() - began:.1f} s",
        )
        if report.source != report.target:
            say("the first was changed meanwhile: copy again", err=True)
            return 1
        return 0 if not check else _print_comparison(copying.compare(source.store, target.store))


def _print_comparison(found: "Comparison") -> int:
    """Print whether two exports agree, and where they first differ; return the exit code."""
    if found.difference is None:
        template = "identical: {records} records, sha256 {sha256}"
        say(template, records=found.records, sha256=found.sha256)
        return 0
    say("different from record {n} on:", n=found.records + 1, err=True)
    ours, theirs = (line or "nothing more" for line in found.difference)
    pairs = enumerate(zip(ours, theirs, strict=False))
    begin = max(0, next((n for n, (a, b) in pairs if a != b), 0) - _BEFORE)
    for line in (ours, theirs):
        echo(line[begin : begin + _SHOWN], err=True)
    say("to have the same, copy into a new place", err=True)
    return 1


@command()
def repair(
    ctx: click.Context,
    kb: str = KB,
    dry_run: bool = option("Only say what would be done."),
    as_json: bool = JSON,
) -> int:
    """Make what `verify` names whole again, as far as that can be.

    Documents are read from their files, vectors encoded, indexes built anew; the damaged file
    stays beside the new one. What cannot be repaired is named.
    """
    from kgrag.api import KnowledgeBase

    with progress_bar("repair") as progress:
        report = KnowledgeBase.repair(kb, config=ctx.obj, dry_run=dry_run, progress=progress)
    if as_json:
        print_json(report.to_dict())
    elif not report.found:
        say("all invariants hold: nothing to repair")
    else:
        _print_repair(report, dry_run=dry_run)
    return int(bool(report.left))


def _print_repair(report: "RepairReport", *, dry_run: bool) -> None:
    """Print a line for each thing that was found, done, or is left to do."""
    lines: dict[str, Sequence[object]] = {
        "found": [f"{p.invariant}: {p.subject}: {p.detail}" for p in report.found],
        "would do" if dry_run else "done": report.done,
        "left": report.left,
        "damaged file": [report.kept] if report.kept else [],
    }
    for word, several in lines.items():
        for line in several:
            echo(f"{padded(said('words', word), 11)} {line}")


@command()
def drop(*, kb: str = KB, yes: bool = option("Do not ask first.")) -> None:
    """Delete a whole knowledge base from a server: documents, settings, indexes.

    Other knowledge bases of the same database, and what other programs have there, stay.
    """
    if "://" not in kb:
        raise click.UsageError(told("{kb} is a folder: delete it as any other", kb=kb))
    from kgrag.store.neo4j.drop import documents_held, drop

    held = f"{kb}: {amount(documents_held(kb), 'document')}"
    if not yes and not _at_a_terminal():
        raise click.UsageError(told("nobody is there to ask: --yes drops it"))
    if not yes and not click.confirm(told("{held}. Delete all of it?", held=held), err=True):
        say("nothing was deleted")
        return
    drop(kb)
    say("dropped {held}", held=held)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


@command()
def stats(
    ctx: click.Context,
    kb: str = KB,
    cost: bool = option("What models took: calls, tokens and money."),
    as_json: bool = JSON,
) -> None:
    """Count what is stored, or with --cost what models took, by stage."""
    if cost:
        _print_costs(ctx.obj, kb, as_json)
        return
    with opened(kb) as base:
        counts = base.counts().to_dict() | {"embedder": base.store.get_meta("embedder")}
        foreign = base.store.count_foreign()
    print_record(counts | ({"foreign": foreign} if foreign else {}), as_json=as_json)


def _print_costs(config: "Config", kb: str, as_json: bool) -> None:
    """Print what the file of calls has, which may exist before the knowledge base: --sample."""
    from kgrag.llm.ledger import Calls
    from kgrag.llm.models import calls_file

    ledger, stages = calls_file(kb, config), []
    if ledger.exists():
        with closing(Calls.open(ledger)) as calls:
            stages = [_row(config, total) for total in calls.totals()]
    if not (stages or as_json):
        say("no model was asked for this knowledge base")
        return
    print_record({"stages": stages}, as_json=as_json)
    if unknown := sorted({str(row["model"]) for row in stages if row["cost"] is None}):
        say(
            "note: no price is known for {unknown}: set price_in, price_cached, price_out and "
            "currency in [llm]",
            unknown=", ".join(unknown),
            err=True,
        )


def _row(config: "Config", total: "UsageTotal") -> dict[str, object]:
    """Return what a model took in a stage, at the price that is set for the stage, or known."""
    from kgrag.llm.providers import PROVIDERS, settings_for

    listed = (provider.prices.get(total.model) for provider in PROVIDERS.values())
    price = next(filter(None, listed), None)
    if (configured := config.model_of(total.stage)).is_configured:
        endpoint = settings_for(configured)
        price = endpoint.price if endpoint.place.model == total.model else price
    return {
        "stage": total.stage,
        "model": total.model,
        "calls": total.sent,
        "kept": total.from_cache,
        "failed": total.failed,
        "in": total.usage.prompt,
        "cached": total.usage.cached,
        "out": total.usage.completion,
        "estimated": total.usage.estimated,
        "seconds": round(total.seconds, 1),
        "cost": None if price is None else round(price.of(total.usage), 4),
        "currency": price.currency if price else "",
    }


COMMANDS = (verify, export, copy, repair, drop, stats)
