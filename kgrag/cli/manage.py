"""Commands for knowledge bases: verify, repair, copy, export, delete, drop, stats."""

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.chinese import amount, padded, said, told
from kgrag.cli.opened import in_money, index_share, opened, print_foreign
from kgrag.cli.options import FILE, JSON, KB, command, option
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar, say
from kgrag.cli.query import table
from kgrag.files.whole_file import write_whole
from kgrag.text.messages import message
from kgrag.text.visible import json_line

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.llm.ledger import UsageTotal
    from kgrag.llm.providers import Price
    from kgrag.maintenance.copying import Comparison, CopyReport
    from kgrag.maintenance.repairing import RepairReport

_SHOWN = 160  # characters of a different line
_BEFORE = 40  # of these, before the difference
_MOST_DOCUMENTS = 20  # shown; JSON has all
_NONE = "no model was asked for this knowledge base"


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
            copied = time.monotonic()
            target.store.refresh(sizes=target.sizes.searched)
        now = time.monotonic()
        equal = _print_copy_report(report, now - began, now - copied)
        if check:
            equal = _print_comparison(copying.compare(source.store, target.store)) and equal
    return int(not equal)


def _print_copy_report(report: "CopyReport", seconds: float, index_seconds: float) -> bool:
    """Print what was copied; return whether both have equal counts."""
    took = f"{seconds:.1f} s{index_share(index_seconds)}"
    say(
        "{written} copied, {unchanged} unchanged in {took}",
        written=report.written,
        unchanged=report.unchanged,
        took=took,
    )
    if report.source == report.target:
        return True
    say("not the same: from {source}", source=report.source, err=True)
    echo(f"to {report.target}", err=True)
    say("the first was changed meanwhile: copy again", err=True)
    return False


def _print_comparison(comparison: "Comparison") -> bool:
    """Print whether two exports agree, and where they first differ; return whether they do."""
    if comparison.difference is None:
        say(
            "identical: {records} records, sha256 {sha256}",
            records=comparison.records,
            sha256=comparison.sha256,
        )
        return True
    ours, theirs = (line or "nothing more" for line in comparison.difference)
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    )
    begin = max(0, same - _BEFORE)
    say("different from record {n} on:", n=comparison.records + 1, err=True)
    echo(f"from {ours[begin : begin + _SHOWN]}", err=True)
    echo(f"to   {theirs[begin : begin + _SHOWN]}", err=True)
    say("to have the same, copy into a new place", err=True)
    return False


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
    else:
        _print_repair_report(report, dry_run=dry_run)
    return int(bool(report.left))


def _print_repair_report(report: "RepairReport", *, dry_run: bool) -> None:
    if not report.found:
        say("all invariants hold: nothing to repair")
        return
    for line in report.done:
        echo(
            told("would be repaired: {line}", line=line)
            if dry_run
            else told("repaired: {line}", line=line)
        )
    for line in report.left:
        say("left: {line}", line=line, err=True)
    echo(
        f"{amount(len(report.found), 'problem')} found, {amount(len(report.done), 'repair')}"
        + (f", {len(report.left)} left" if report.left else "; all is whole again" * (not dry_run))
    )
    if report.kept:
        say("the damaged file is kept as {kept}", kept=report.kept)


@command()
def drop(*, kb: str = KB, yes: bool = option("Do not ask first.")) -> None:
    """Delete a whole knowledge base from a server: documents, settings, indexes.

    Other knowledge bases of the same database, and what other programs have there, stay.
    """
    if "://" not in kb:
        raise click.UsageError(told("{kb} is a folder: delete it as any other", kb=kb))
    from kgrag.store.neo4j.drop import documents_held, drop

    held = f"{kb}: {amount(documents_held(kb), 'document')}"
    if not yes and not _is_wanted(held):
        say("nothing was deleted")
        return
    drop(kb)
    say("dropped {held}", held=held)


def _is_wanted(held: str) -> bool:
    """Ask for confirmation; UsageError without a terminal."""
    if not _at_a_terminal():
        raise click.UsageError(told("nobody is there to ask: --yes drops it"))
    return click.confirm(told("{held}. Delete all of it?", held=held), err=True)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


@command()
def stats(
    ctx: click.Context,
    kb: str = KB,
    cost: bool = option("What models took: calls, tokens and money."),
    as_json: bool = JSON,
) -> None:
    """Count what is stored, or with --cost what models took, by stage and document."""
    if cost:
        _print_costs(ctx.obj, kb, as_json)
        return
    with opened(kb) as base:
        _print_counts(base, as_json)


def _print_counts(base: "KnowledgeBase", as_json: bool) -> None:
    counts: dict[str, Any] = base.counts().to_dict()
    counts["embedder"] = base.store.get_meta("embedder")
    foreign = base.store.count_foreign()
    if foreign:
        counts["foreign"] = foreign
    if as_json:
        print_json(counts)
        return
    counts.pop("foreign", None)
    for name, value in counts.items():
        if name == "chunks":
            value = ", ".join(said("words", "{} of {}").format(n, k) for k, n in value.items())
        echo(f"{padded(said('words', name), 11)} {value}")
    print_foreign(foreign)


def _print_costs(config: "Config", kb: str, as_json: bool) -> None:
    """Print the ledger, which may exist before the knowledge base: --sample."""
    from kgrag.errors import NoKnowledgeBaseError
    from kgrag.llm.ledger import Calls
    from kgrag.llm.models import calls_file

    files = {}
    ledger = calls_file(kb, config)
    try:
        with opened(kb) as base:
            files = {card.doc_id: card.file for card in base.documents()}
    except NoKnowledgeBaseError:
        if not ledger.exists():
            raise
    stages: list[UsageTotal] = []
    documents: list[UsageTotal] = []
    if ledger.exists():
        with closing(Calls.open(ledger)) as calls:
            stages, documents = calls.totals("stage"), calls.totals("doc_id")
    prices = _prices(config)
    by_stage = [_row("stage", total, total.group, prices) for total in stages]
    by_document = [
        _row("document", total, files.get(total.group, total.group or "(questions)"), prices)
        for total in documents
    ]
    if as_json:
        print_json({"stages": by_stage, "documents": by_document})
        return
    if not by_stage:
        echo(_NONE)
        return
    echo_text(table(_named(by_stage)))
    by_document.sort(key=lambda row: -int(str(row["in"])) - int(str(row["out"])))
    echo()
    echo_text(table(_named(by_document[:_MOST_DOCUMENTS])))
    if len(by_document) > _MOST_DOCUMENTS:
        say("and {n} more; --json has all", n=len(by_document) - _MOST_DOCUMENTS)
    _print_sums(stages, prices)


def _prices(config: "Config") -> "dict[str, Price]":
    """Return prices by model: configured ones, else the providers'.

    The ledger knows models by name only. A name served by a configured endpoint without a price has
    none; two endpoints with one name must have one price.
    """
    from kgrag.config import STAGES
    from kgrag.llm.providers import PROVIDERS, settings_for

    prices = {name: price for p in PROVIDERS.values() for name, price in p.prices.items()}
    unknown: set[str] = set()
    for configured in filter(lambda c: c.is_configured, map(config.model_of, STAGES)):
        endpoint = settings_for(configured)
        if endpoint.price is None:
            unknown.add(endpoint.place.model)
        else:
            prices[endpoint.place.model] = endpoint.price
    return {name: price for name, price in prices.items() if name not in unknown}


def _row(
    kind: str, total: "UsageTotal", name: str, prices: "dict[str, Price]"
) -> dict[str, object]:
    spent = _money(total, prices)
    return {
        kind: name,
        "model": total.model,
        "calls": total.sent,
        "kept": total.from_cache,
        "failed": total.failed,
        "in": total.usage.prompt,
        "cached": total.usage.cached,
        "out": total.usage.completion,
        "seconds": round(total.seconds, 1),
        "cost": None if spent is None else round(spent[0], 4),
        "currency": spent[1] if spent else "",
    }


def _named(rows: "Sequence[dict[str, object]]") -> list[dict[str, object]]:
    """Translate the names of columns."""
    return [{said("words", name): value for name, value in row.items()} for row in rows]


def _money(total: "UsageTotal", prices: "dict[str, Price]") -> tuple[float, str] | None:
    """Return (amount, currency); None if the model's price is unknown."""
    price = prices.get(total.model)
    return None if price is None else (price.of(total.usage), price.currency)


def _print_sums(totals: "Sequence[UsageTotal]", prices: "dict[str, Price]") -> None:
    amounts: dict[str, float] = {}
    for total in totals:
        if spent := _money(total, prices):
            amounts[spent[1]] = amounts.get(spent[1], 0.0) + spent[0]
    unknown = sorted({total.model for total in totals if total.model not in prices})
    sent, kept = sum(t.sent for t in totals), sum(t.from_cache for t in totals)
    shown = in_money(amounts)
    echo()
    say(
        "{sent} calls sent, {kept} answered from what was kept; cost {cost}",
        sent=sent,
        kept=kept,
        cost=shown or said("words", "unknown"),
    )
    if any(total.usage.estimated for total in totals):
        say("note: an endpoint did not count tokens; some figures are estimates", err=True)
    if unknown:
        say(
            "note: no price is known for {unknown}: set price_in, price_cached, price_out and "
            "currency in [llm]",
            unknown=", ".join(unknown),
            err=True,
        )


COMMANDS = (verify, export, copy, repair, drop, stats)
