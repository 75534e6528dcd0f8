"""Commands for knowledge bases: verify, repair, copy, export, delete, drop, stats."""

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import amount, told
from kgrag.cli.opened import index_share, opened, print_foreign
from kgrag.cli.options import FILE, JSON, KB, command, option
from kgrag.cli.printing import echo, print_json, print_record, progress_bar, say
from kgrag.files.whole_file import write_whole
from kgrag.text.messages import message
from kgrag.text.visible import json_line

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.llm.ledger import UsageTotal
    from kgrag.llm.providers import Price
    from kgrag.maintenance.copying import Comparison

_SHOWN = 160  # characters of a different line
_BEFORE = 40  # of these, before the difference
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
        say(
            "{written} copied, {unchanged} unchanged in {took}",
            written=report.written,
            unchanged=report.unchanged,
            took=f"{now - began:.1f} s{index_share(now - copied)}",
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
    if as_json or report.found:
        print_record(report.to_dict(), as_json=as_json)
    else:
        say("all invariants hold: nothing to repair")
    return int(bool(report.left))


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
    """Count what is stored, or with --cost what models took, by stage and document."""
    if cost:
        _print_costs(ctx.obj, kb, as_json)
        return
    with opened(kb) as base:
        _print_counts(base, as_json)


def _print_counts(base: "KnowledgeBase", as_json: bool) -> None:
    counts = base.counts().to_dict() | {"embedder": base.store.get_meta("embedder")}
    foreign = base.store.count_foreign()
    if foreign and as_json:
        counts["foreign"] = foreign
    print_record(counts, as_json=as_json)
    if not as_json:
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
    by_document = [
        _row("document", total, files.get(total.group, total.group or "(questions)"), prices)
        for total in sorted(documents, key=lambda t: -(t.usage.prompt + t.usage.completion))
    ]
    by_stage = [_row("stage", total, total.group, prices) for total in stages]
    if not (by_stage or as_json):
        echo(_NONE)
        return
    print_record({"stages": by_stage, "documents": by_document}, as_json=as_json)
    if any(total.usage.estimated for total in stages):
        say("note: an endpoint did not count tokens; some figures are estimates", err=True)
    if unknown := sorted({total.model for total in stages if total.model not in prices}):
        say(
            "note: no price is known for {unknown}: set price_in, price_cached, price_out and "
            "currency in [llm]",
            unknown=", ".join(unknown),
            err=True,
        )


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
    price = prices.get(total.model)
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
        "cost": None if price is None else round(price.of(total.usage), 4),
        "currency": price.currency if price else "",
    }


COMMANDS = (verify, export, copy, repair, drop, stats)
