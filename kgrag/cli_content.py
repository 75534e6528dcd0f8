"""Commands that change a knowledge base: ingest, import, delete."""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli_shared import EXISTING, FILE, json_option, kb_option, opened, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingestion.imports import ImportReport
    from ingestion.report import IngestReport, Outcome


@contextmanager
def progress_bar(label: str) -> "Iterator[Callable[[str, int, int], None]]":
    """Give a function that moves a bar on a terminal, and does nothing elsewhere."""
    from tqdm import tqdm

    with tqdm(desc=label, unit="", disable=not sys.stderr.isatty(), leave=False) as bar:

        def show(name: str, done: int, total: int) -> None:
            bar.total = total
            bar.set_postfix_str(Path(name).name[-40:], refresh=False)
            bar.update(done - bar.n)
            bar.refresh()

        yield show


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@kb_option
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
@click.pass_context
def ingest(
    ctx: click.Context, paths: tuple[Path, ...], kb: str, dry_run: bool, as_json: bool
) -> None:
    """Take files and folders in; running it again does what is missing or changed.

    Reads .docx .pdf .html .md .txt and .jsonl of {id, title, text}.
    """
    if dry_run:
        _plan(ctx, paths, kb)
        return
    with opened(ctx, kb, create=True) as base:
        for notice in base.notices():
            click.echo(f"note: {notice}", err=True)
        with progress_bar("ingest") as progress:
            report = base.ingest(paths, progress=progress)
    _print_report(report, as_json)
    if report.failed:
        ctx.exit(1)


def _plan(ctx: click.Context, paths: tuple[Path, ...], kb: str) -> None:
    """Say what would be done; a knowledge base that is not there is not made."""
    from tempfile import TemporaryDirectory

    from kgrag.errors import NoKnowledgeBaseError

    try:
        with opened(ctx, kb) as base:
            outcomes, n_chunks = base.plan(paths)
    except NoKnowledgeBaseError:
        with TemporaryDirectory() as empty, opened(ctx, empty, create=True) as base:
            outcomes, n_chunks = base.plan(paths)
    _print_plan(outcomes, n_chunks)


def _print_plan(outcomes: "list[Outcome]", n_chunks: int) -> None:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
        if outcome.status in ("failed", "skipped"):
            click.echo(f"{outcome.status}: {outcome.source}: {outcome.detail}", err=True)
    shown = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
    click.echo(f"would be: {shown or 'nothing'}; at most {n_chunks} chunks to encode")
    click.echo("no language model is called: 0 calls, 0 tokens, no cost")


def _print_report(report: "IngestReport", as_json: bool) -> None:
    if as_json:
        outcomes = [
            {
                "file": o.source,
                "status": o.status,
                "doc_id": o.doc_id,
                "detail": o.detail,
                "warnings": list(o.warnings),
            }
            for o in report.outcomes
        ]
        print_json({"counts": report.counts, "seconds": report.seconds, "files": outcomes})
        return
    for outcome in report.outcomes:
        if outcome.status == "failed":
            click.echo(f"failed: {outcome.source}: {outcome.detail}", err=True)
        elif outcome.status in ("skipped", "duplicate"):
            click.echo(f"{outcome.status}: {outcome.source}: {outcome.detail}", err=True)
        for warning in outcome.warnings:
            click.echo(f"warning: {outcome.source}: {warning}", err=True)
    counts = ", ".join(f"{n} {status}" for status, n in sorted(report.counts.items()))
    total = len(report.outcomes)
    rate = f", {total / report.seconds:.1f} a second" if report.seconds > 1 else ""
    click.echo(f"{total} files in {report.seconds:.1f} s{rate}: {counts or 'nothing to do'}")


@click.command("import-facts")
@click.argument("file", type=EXISTING)
@kb_option
@click.pass_context
def import_facts(ctx: click.Context, file: Path, kb: str) -> None:
    """Add facts made elsewhere, from a .jsonl file.

    Lines are {"passage_id", "triples": [[s, p, o]], "entities": []} or
    {"doc", "start", "end", "triples"}.
    """
    with opened(ctx, kb) as base:
        _print_import(ctx, base.import_facts(file))


@click.command("import-summaries")
@click.argument("file", type=EXISTING)
@kb_option
@click.pass_context
def import_summaries(ctx: click.Context, file: Path, kb: str) -> None:
    """Add summaries made elsewhere, from lines of {"doc", "start", "end", "summary"}."""
    with opened(ctx, kb) as base:
        _print_import(ctx, base.import_summaries(file))


def _print_import(ctx: click.Context, report: "ImportReport") -> None:
    for error in report.errors:
        click.echo(f"not imported: {error}", err=True)
    what = f"{report.facts} facts" if report.facts else f"{report.summaries} summaries"
    click.echo(f"{what} for {report.documents} documents; {len(report.errors)} lines not imported")
    if report.errors:
        ctx.exit(1)


@click.command()
@click.argument("document")
@kb_option
@click.pass_context
def delete(ctx: click.Context, document: str, kb: str) -> None:
    """Delete a document (id, file, file name or title) and what only it supports."""
    with opened(ctx, kb) as base:
        card = base.delete(document)
    click.echo(f"deleted {card.doc_id}: {card.title}")


@click.command()
@kb_option
@click.option("--out", type=FILE, help="Write to this file instead of standard output.")
@click.pass_context
def export(ctx: click.Context, kb: str, out: Path | None) -> None:
    """Write everything as JSON lines, in a fixed order, without paths."""
    import json

    with opened(ctx, kb) as base, click.open_file(str(out or "-"), "w", encoding="utf-8") as file:
        for record in base.export():
            file.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")


COMMANDS = (ingest, import_facts, import_summaries, delete, export)
