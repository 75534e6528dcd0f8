"""The command that changes the encoder of a knowledge base: reembed."""

import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from kgrag.cli_print import echo, print_json, progress_bar
from kgrag.cli_shared import amount, index_share, json_option, kb_option, opened

if TYPE_CHECKING:
    from ingestion.reembed import ReembedPlan, ReembedReport
    from kgrag.config import Config, EmbeddingConfig


@click.command()
@click.option("--model", metavar="NAME", help="Another encoder than [embedding] names.")
@kb_option
@click.option("--dry-run", is_flag=True, help="Only say how much is to be encoded, and how long.")
@json_option
@click.pass_context
def reembed(ctx: click.Context, model: str | None, kb: str, dry_run: bool, as_json: bool) -> None:
    """Encode everything anew with another encoder, or as [embedding] says now.

    The old vectors answer until all new ones are there. Stopped and run again, it goes on.
    """
    began = time.monotonic()
    configured: Config = ctx.obj
    if model:
        ctx.obj = replace(configured, embedding=_with_model(configured.embedding, model))
    with opened(ctx, kb) as base:
        if dry_run:
            _print_plan(base.reembed_plan(), as_json)
            return
        with progress_bar("reembed") as progress:
            report = base.reembed(progress=progress)
            progress("search index", report.documents, report.documents)
            encoded = time.monotonic()
            base.store.refresh(sizes=base.sizes.searched)
            indexed = time.monotonic() - encoded
    seconds = time.monotonic() - began
    _print_report(replace(report, seconds=seconds, index_seconds=indexed), as_json)
    _warn_of_settings(configured, model)


def _with_model(configured: "EmbeddingConfig", model: str) -> "EmbeddingConfig":
    """Return settings with another model: one of this machine, else of the endpoint."""
    from kgrag.embedding.choose import is_here, without_endpoint

    return replace(without_endpoint(configured) if is_here(model) else configured, model=model)


def _print_plan(plan: "ReembedPlan", as_json: bool) -> None:
    if as_json:
        print_json(asdict(plan))
        return
    _print_dropped(plan.dropped, "would be dropped")
    if not plan.changed:
        _print_nothing_to_do(plan.after)
        return
    echo(
        f"{_change(plan.before, plan.after)}: {amount(plan.texts, 'text')} of "
        f"{amount(plan.documents, 'document')} to encode, {plan.characters:,} characters; "
        f"about {_duration(plan.seconds)}"
    )


def _print_report(report: "ReembedReport", as_json: bool) -> None:
    if as_json:
        print_json(asdict(report))
        return
    _print_dropped(report.dropped, "were dropped")
    if not report.changed:
        _print_nothing_to_do(report.after)
        return
    earlier = f" ({amount(report.resumed, 'document')} done by an earlier run)"
    resumed = earlier if report.resumed else ""
    echo(
        f"{_change(report.before, report.after)}: {amount(report.encoded, 'text')} of "
        f"{amount(report.documents, 'document')}{resumed} in {_duration(report.seconds)}"
        f"{index_share(report.index_seconds)}"
    )


def _print_nothing_to_do(encoder: str) -> None:
    echo(
        f"nothing to do: all vectors are those of {encoder} (--model, or [embedding] in "
        "kgrag.toml, names another)"
    )


def _print_dropped(encoder: str, what: str) -> None:
    if encoder:
        echo(f"note: half-done vectors of {encoder} {what}", err=True)


def _warn_of_settings(configured: "Config", model: str | None) -> None:
    """Say where settings name another encoder than the knowledge base has now."""
    named = configured.embedding
    said = named.model or named.provider or named.base_url
    changed = _with_model(named, model) if model else named
    if said and (changed.model, changed.is_endpoint) != (named.model, named.is_endpoint):
        echo(
            f'note: [embedding] names "{said}" still: change it to "{model}", or take it out',
            err=True,
        )


def _change(before: str, after: str) -> str:
    """Return the change in words."""
    return after if before in ("", after) else f"{before} → {after}"


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(0.2), _duration(95), _duration(7300)
    ('0.2 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


COMMANDS = (reembed,)
