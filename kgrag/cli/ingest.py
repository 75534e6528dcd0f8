"""Commands that add content: ingest, sync, watch, convert, import-facts, import-summaries."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgrag.cli.chinese import amount, counted, in_words, language, said, told
from kgrag.cli.opened import opened
from kgrag.cli.options import EXISTING, JSON, KB, argument, command, option
from kgrag.cli.printing import echo, echo_text, print_json, print_record, progress_bar, say
from kgrag.config import IngestExecutor

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.ingestion.imports import ImportReport
    from kgrag.ingestion.report import IngestReport, ModelReport, Outcome, Plan
    from kgrag.maintenance.intake import Use
    from kgrag.maintenance.sync import Sync, SyncPlan
    from kgrag.types import Document


_P = TypeVar("_P")


@command()
def ingest(
    ctx: click.Context,
    *,
    paths: tuple[Path, ...] = argument(type=click.Path(path_type=Path)),
    kb: str = KB,
    dry_run: bool = option("Only say what would be done, and what it costs."),
    sample: int = option(
        "With --dry-run: really make N calls, to predict better. Their answers are kept.",
        type=click.IntRange(min=0),
        metavar="N",
    ),
    no_model: bool = option("Take in by rules alone, though a model is set."),
    retry_failed: bool = option(
        "Ask again for the passages that a model could not read, of PATHS or of all documents."
    ),
    follow_links: bool = option("Follow links that lead out of a folder."),
    workers: int | None = option(
        "Read N files at once; as many as there are processors by default.",
        type=click.IntRange(1, 1000),
        metavar="N",
        envvar="KGRAG_WORKERS",
        show_envvar=True,
    ),
    executor: IngestExecutor | None = option(
        "Read and encode in this process, in others of this machine, or on a Ray cluster."
    ),
    address: str | None = option(
        "The Ray cluster: auto, HOST:PORT or ray://HOST:PORT; without it one is started.",
        metavar="ADDRESS",
    ),
    as_json: bool = JSON,
) -> int:
    """Take files and folders in; running it again does what is missing or changed.

    Reads .docx .pdf .xlsx .csv .html .md .txt and .jsonl of {id, title, text}. Where
    kgrag.toml names a model in [llm], it reads facts and summaries out of them.
    """
    _check(paths, dry_run, sample, no_model, retry_failed)
    _choose(ctx, workers=workers, executor=executor, address=address)
    model: Use = "none" if no_model else "auto"
    if dry_run:
        plan = partial(_plan, paths=paths, model=model, sample=sample, follow_links=follow_links)
        return print_plan(_planned(ctx, kb, plan, sample), as_json)
    from kgrag.embedding.choose import encoder_note

    began = time.monotonic()
    with opened(kb, create=not retry_failed) as base:
        if note := encoder_note(base.embedder):
            say("note: {note}", note=note.worded(language()), err=True)
        with progress_bar("ingest") as progress:
            report = (
                base.retry_failed(paths, progress=progress)
                if retry_failed
                else base.ingest(paths, model=model, progress=progress, follow_links=follow_links)
            )
    # Including opening and closing.
    print_report(replace(report, seconds=time.monotonic() - began), as_json)
    return int(bool(report.failed))


def _check(
    paths: tuple[Path, ...], dry_run: bool, sample: int, no_model: bool, retry_failed: bool
) -> None:
    """Raise a UsageError for contradicting options."""
    if not paths and not retry_failed:
        raise click.MissingParameter(param_hint="'PATHS...'", param_type="argument")
    if retry_failed and (dry_run or no_model):
        raise click.UsageError(
            told("--retry-failed asks a model: leave --dry-run and --no-model out.")
        )
    if sample and (not dry_run or no_model):
        raise click.UsageError(told("--sample goes with --dry-run and a model."))


def _choose(ctx: click.Context, **asked: Any) -> None:
    """Have options that are given replace settings of `[ingest]`."""
    given = {name: value for name, value in asked.items() if value is not None}
    ctx.obj = replace(ctx.obj, ingest=replace(ctx.obj.ingest, **given))
    if asked["address"] and ctx.obj.ingest.executor != "ray":
        raise click.UsageError(told("--address goes with --executor ray."))


def _plan(base: "KnowledgeBase", **asked: Any) -> "Plan":
    return base.plan(**asked)


def _planned(ctx: click.Context, kb: str, plan: "Callable[[KnowledgeBase], _P]", sample: int) -> _P:
    """Return what would be done, without creating a missing knowledge base."""
    from tempfile import TemporaryDirectory

    from kgrag.errors import NoKnowledgeBaseError
    from kgrag.llm.models import keeping_calls

    try:
        with opened(kb) as base:
            return plan(base)
    except NoKnowledgeBaseError:
        if sample:  # paid answers are kept where the knowledge base will be
            ctx.obj = keeping_calls(ctx.obj, kb)
        aside = TemporaryDirectory(ignore_cleanup_errors=True)  # Windows keeps what is open
        with aside as empty, opened(empty, create=True) as base:
            return plan(base)


@command("import-facts")
def import_facts(file: Path = argument(type=EXISTING), kb: str = KB) -> int:
    """Add facts made elsewhere, from a .jsonl file.

    Lines are {"passage_id", "triples": [[s, p, o]], "entities": []} or
    {"doc", "start", "end", "triples"}.
    """
    return _import(kb, lambda base: base.import_facts(file))


@command("import-summaries")
def import_summaries(file: Path = argument(type=EXISTING), kb: str = KB) -> int:
    """Add summaries made elsewhere, from lines of {"doc", "start", "end", "summary"}."""
    return _import(kb, lambda base: base.import_summaries(file))


def _import(kb: str, take_in: "Callable[[KnowledgeBase], ImportReport]") -> int:
    began = time.monotonic()
    with opened(kb) as base:
        report = take_in(base)
    for error in report.errors:
        say("not imported: {error}", error=error, err=True)
    record = report.to_dict() | {"errors": len(report.errors), "seconds": time.monotonic() - began}
    print_record({name: n for name, n in record.items() if n}, as_json=False)
    return int(bool(report.errors))


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Options of the commands that keep a knowledge base in step with a folder."""

    kb: str = KB
    exclude: tuple[str, ...] = option(
        "Leave out what this matches: drafts/*, *.tmp.", metavar="GLOB"
    )
    archive: str = option("Name of the archive: --document NAME is all of it.", metavar="NAME")
    allow_emptying: bool = option(
        "Also withdraw more than half of what is stored, as after a folder is emptied."
    )
    no_model: bool = option("Take in by rules alone, though a model is set.")
    follow_links: bool = option("Follow links that lead out of a folder.")

    def of(self, base: "KnowledgeBase", folder: Path) -> "Sync":
        """Return what keeps a knowledge base in step with a folder."""
        return base.sync(
            folder,
            exclude=self.exclude,
            archive=self.archive,
            model="none" if self.no_model else "auto",
            follow_links=self.follow_links,
        )


@command()
def sync(
    ctx: click.Context,
    *,
    folder: Path = argument(type=click.Path(path_type=Path)),
    given: Followed,
    yes: bool = option("Do it without asking."),
    as_json: bool = JSON,
) -> int:
    """Bring a knowledge base in step with a folder: added, changed, renamed, withdrawn files.

    What would be done is shown first. Nothing is done without --yes, or a yes at a terminal; then
    the exit code is 3 if there is something to do.
    """
    plan = _planned(ctx, given.kb, lambda base: given.of(base, folder).plan(), 0)
    if not as_json:
        print_changes(plan)
    report, is_due = None, bool(plan.changes or plan.archive)
    if done := yes or (is_due and not as_json and _agreed()):
        with opened(given.kb, create=True) as base, progress_bar("sync") as progress:
            report = given.of(base, folder).run(
                plan, allow_emptying=given.allow_emptying, progress=progress
            )
    elif is_due:
        say("nothing was done; --yes does it", err=True)
    if as_json:
        print_json(plan.to_dict() | {"done": done, "report": report and report.to_dict()})
    elif report:
        print_report(report, as_json=False, plan=plan)
    if report is None:
        return 3 if is_due else int(bool(plan.failures))
    return int(bool(report.failed))


def _agreed() -> bool:
    """Return whether someone at a terminal says yes."""
    return sys.stdin.isatty() and click.confirm(told("Do this?"), err=True)


def print_changes(plan: "SyncPlan") -> None:
    """Print the changes of an archive, a line each, and what could not be looked at."""
    for change in plan.changes:
        what = f"{change.was} → {change.source}" if change.was else change.source
        title = f" 《{change.title}》" if change.kind == "withdrawn" else ""
        echo(f"{said('changes', change.kind)}: {what}{title}")
    for file, reason in plan.failures:
        _print_of("failed", file, reason)
    counts: list[tuple[str, int]] = [*plan.counts.items()]
    if plan.archive:
        echo(f"{said('changes', 'named')}: {plan.archive}")
        counts.append(("named", 1))
    shown = counted(counts, "changes") or told("nothing to do")
    say("{shown}; {held} stored", shown=shown, held=plan.held)


@command()
def watch(
    *,
    folder: Path = argument(type=click.Path(path_type=Path)),
    given: Followed,
    every: int = option(
        "Look at everything every N seconds: not every change is reported.",
        type=click.IntRange(1, 86_400),
        default=600,
        metavar="N",
    ),
    polling: bool = option("Look for changes again and again: for drives of other machines."),
) -> None:
    """Keep a knowledge base in step with a folder until stopped; see `kgrag sync`.

    Each change is a line. It may be stopped, or killed, at any time: the next run goes on.
    """
    from kgrag.errors import KgragError
    from kgrag.maintenance.sync import watched

    with opened(given.kb, create=True) as base:
        follows, last = given.of(base, folder), ""
        for touched in watched(folder, every_s=every, polling=polling):
            try:
                plan = follows.plan(touched)
                if plan.changes or touched is None:
                    report = follows.run(plan, allow_emptying=given.allow_emptying)
                    if plan.changes:
                        print_changes(plan)
                    _print_outcomes(
                        [o for o in report.outcomes if o.status == "failed" or o.warnings]
                    )
                    _print_versions(report)
                last = ""
            except KgragError as exc:  # a lost mount, a server that is away: later
                if (text := in_words(exc)) != last:
                    echo(f"kgrag: {text}", err=True)
                last = text


@command()
def convert(
    ctx: click.Context,
    *,
    file: Path = argument(type=EXISTING),
    vision: bool = option("Show pages that are read badly to the model of [vision]."),
    to: str = option(
        "Print text, Markdown, or a page of HTML.",
        type=click.Choice(["text", "md", "html"]),
        default="text",
    ),
    compare: bool = option("Print a page of HTML with pictures of the pages beside their text."),
    as_json: bool = JSON,
) -> int:
    """Print a file's text as it would be taken in; needs no knowledge base."""
    from kgrag.ingestion.load import Failure, Sidecars, Source, page_pictures
    from kgrag.ingestion.workers.pool import read_within
    from kgrag.llm.models import ChatModels
    from kgrag.maintenance.intake import vision_of

    failed = False
    with ExitStack() as stack:
        # An address: answers are kept in the user's cache folder, where [llm] names no file.
        chat = stack.enter_context(closing(ChatModels(ctx.obj, "convert://")))
        model = stack.enter_context(vision_of(ctx.obj, chat)) if vision else None
        read, stated = Source(file), Sidecars().stated(file)
        with progress_bar("convert") as progress:
            items = read_within(
                [(read, stated)], ctx.obj.ingest, model, lambda page: progress(page, 0, 1)
            )
            if read.media_type != "jsonl":  # records are printed as they are read
                items = iter([*items])
        for item in items:
            if isinstance(item, Failure):
                failed = True
                _print_of("failed", item.file, item.reason)
            elif as_json:
                print_json(item.to_dict())
            else:
                limit = ctx.obj.ingest.max_bytes
                pictures = page_pictures(read, max_bytes=limit) if compare else {}
                echo_text(_converted(item, "html" if compare else to, pictures))
                for warning in item.warnings:
                    _print_of("warning", item.file, warning)
    return int(failed)


def _converted(document: "Document", to: str, pictures: Mapping[int, bytes]) -> str:
    from kgrag.drawing.beside import as_html, as_markdown
    from kgrag.ingestion.structure import structure

    if to == "text":
        return document.text
    headings = structure(document.text, document.segments)
    if to == "md":
        return as_markdown(document, headings)
    return as_html(document, headings, pictures, language())


COMMANDS = (ingest, sync, watch, import_facts, import_summaries, convert)


def print_plan(plan: "Plan", as_json: bool) -> int:
    """Print what would become of files, and the usage of models; return the exit code."""
    _print_outcomes(plan.outcomes)
    record: dict[str, Any] = plan.to_dict()
    if not as_json:
        shown = counted(record.pop("counts").items(), "outcomes") or told("nothing")
        chunks = amount(record.pop("chunks"), "chunk")
        say("would be: {shown}; at most {n_chunks} to encode", shown=shown, n_chunks=chunks)
        stages = plan.predictions.items()
        record["predictions"] = [{"stage": stage} | p.to_dict() for stage, p in stages]
        record["sampled"] = plan.sample_total.to_dict() if plan.sampled else {}
    print_record(record, as_json=as_json)
    if not (as_json or plan.predictions):
        say("no language model is called: 0 calls, 0 tokens, no cost")
    if not as_json and any(not p.basis for p in plan.predictions.values()):
        say("predicted by rule of thumb; --sample 30 asks the model itself")
    if not as_json and plan.predictions and not plan.cost:
        say("no price is known for the cost")
    return int(any(outcome.status == "failed" for outcome in plan.outcomes))


def print_report(report: "IngestReport", as_json: bool, *, plan: "SyncPlan | None" = None) -> None:
    """Print the outcomes of files, or how many changes of a plan were done, and use of models."""
    if as_json:
        print_json(report.to_dict())
        return
    _print_outcomes(report.outcomes)
    took = f"{report.seconds:.1f} s"
    if plan:
        n = len(plan.changes) + len(plan.failures) + bool(plan.archive)
        done = n - report.counts.get("failed", 0)
        say("{done} of {n} changes done in {took}", done=done, n=n, took=took)
    else:
        say(
            "{files} in {took}: {counts}",
            files=amount(len(report.outcomes), "file"),
            took=took,
            counts=counted(report.counts.items(), "outcomes") or told("nothing to do"),
        )
    _print_versions(report)
    if report.model:
        _print_model(report.model)


def _print_versions(report: "IngestReport") -> None:
    for file, title, n in report.versions:
        say("{file}: replaces 《{title}》? differs in {n} clause(s)", file=file, title=title, n=n)


def _print_outcomes(outcomes: "Sequence[Outcome]") -> None:
    """Print what is to be told of files; links that were not followed are counted only."""
    for outcome in outcomes:
        if outcome.detail and outcome.status != "not followed":
            is_part = outcome.status not in ("failed", "skipped", "duplicate")
            _print_of("in part" if is_part else outcome.status, outcome.source, outcome.detail)
        for warning in outcome.warnings:
            _print_of("warning", outcome.source, warning)


def _print_model(model: "ModelReport") -> None:
    """Print the results and usage of models, if any."""
    failed = sum(model.failed.values())
    if model.spent:
        spent = model.total.to_dict() if model.spent else {}
        print_record(model.to_dict() | {"spent": spent}, as_json=False)
    if model.unavailable:
        say("the model could not be asked: {unavailable}", unavailable=model.unavailable, err=True)
    if failed:
        say(
            "{failed} could not be read ({kinds}); what rules find there is stored, ask again "
            "with: kgrag ingest --retry-failed",
            failed=amount(failed, "passage"),
            kinds=counted(model.failed.items(), "failures"),
            err=True,
        )


def _print_of(status: str, file: str, what: str) -> None:
    """Print something about a file, after what became of it."""
    template = "{status}: {file}: {what}"
    say(template, status=said("outcomes", status), file=file, what=what, err=True)
