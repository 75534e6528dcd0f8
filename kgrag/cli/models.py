"""Commands for encoder models: list, pull, add, remove; and reembed, which changes to another."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import EXISTING, amount, index_share, json_option, kb_option, opened
from kgrag.cli.printing import echo, print_json, progress_bar

if TYPE_CHECKING:
    from kgrag.config import Config, EmbeddingConfig
    from kgrag.embedding.catalog import Pooling
    from kgrag.embedding.model_folder import Listed
    from kgrag.ingestion.reembed import ReembedPlan, ReembedReport

_COLUMNS = (
    "name",
    "format",
    "dimension",
    "pooling",
    "precision",
    "size",
    "languages",
    "licence",
    "where",
)


@click.group()
def models() -> None:
    """Encoder models on this machine. Nothing but `pull` uses the network."""


@models.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List installed and known models: how they are used, and where they are."""
    from kgrag.embedding.model_folder import listed_models

    found = listed_models()
    rows = [_row(model) for model in found]
    if as_json:
        print_json(rows)
        return
    shown = [[_shown(key, row) for key in _COLUMNS] for row in rows]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *shown, strict=True)]
    for line in ([*_COLUMNS], *shown):
        cells = zip(line, widths, strict=True)
        echo("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
    for model in found:
        if model.problem:
            state = "" if model.plugin else "is damaged: "
            echo(f"note: {model.name} {state}{model.problem}", err=True)


def _row(model: "Listed") -> dict[str, object]:
    """Return what there is to say of a model; nothing of its use where its card is damaged."""
    card = model.card
    return {
        "name": model.name,
        "identity": card.identity if card else None,
        "format": card.format if card else "plugin" if model.plugin else None,
        "dimension": card.dimension if card else None,
        "pooling": card.pooling if card else None,
        "precision": card.precision if card else "",
        "bytes": model.n_bytes,
        "max_tokens": card.max_tokens if card else None,
        "languages": card.languages if card else "",
        "licence": card.licence if card else "",
        "source": card.source if card else model.plugin,
        "folder": str(model.folder) if model.folder else None,
        "problem": model.problem,
    }


def _shown(key: str, row: dict[str, object]) -> str:
    if key == "size":
        return "-" if row["format"] == "plugin" else f"{int(str(row['bytes'])) / 1e6:.0f} MB"
    if key == "where" and row["format"] == "plugin":
        return str(row["source"])
    if key == "where":
        where = row["folder"] or f"not installed: kgrag models pull {row['name']}"
        return f"damaged: {where}" if row["problem"] else str(where)
    return str(row[key] or "-")


@models.command()
@click.argument("name", default="bge-small-zh")
def pull(name: str) -> None:
    """Install a known model: from this machine, the Hugging Face hub, or Maven Central."""
    from kgrag.embedding.pull import pull_model

    card = pull_model(name)
    echo(f"{card.name}: {card.dimension} dimensions, in {card.folder}, from {card.source}")


@models.command()
@click.argument("path", type=EXISTING)
@click.option("--name", help="How you will call it; from the path by default.")
@click.option("--file", help="The model's path in the folder, where there are several.")
@click.option("--pooling", type=click.Choice(["cls", "mean", "last"]))
@click.option("--query-instruction", help="Put before a question.")
@click.option("--passage-instruction", help="Put before a passage.")
@click.option("--max-tokens", type=click.IntRange(1), help="Longer texts are cut.")
@click.option("--languages", help="Those that it reads well: zh,en; any by default.")
@click.option("--replace", is_flag=True, help="Put it in the place of another of its name.")
def add(
    path: Path,
    name: str | None,
    file: str | None,
    pooling: "Pooling | None",
    query_instruction: str | None,
    passage_instruction: str | None,
    max_tokens: int | None,
    languages: str | None,
    replace: bool,
) -> None:
    """Install a model from a folder, .zip or .jar.

    It holds an .onnx file and a tokenizer.json, or a model for transformers: config.json,
    model.safetensors, tokenizer.json (this needs kgrag[jina]). What no option says is read from
    the files that its makers put beside it; without them, pooling is mean and 512 tokens are read.
    """
    from kgrag.embedding.add import add_model

    card = add_model(
        path,
        file=file,
        name=name,
        pooling=pooling,
        query_instruction=query_instruction,
        passage_instruction=passage_instruction,
        max_tokens=max_tokens,
        languages=languages,
        replace=replace,
    )
    echo(
        f"{card.name}: {card.dimension} dimensions, pooling {card.pooling}, {card.precision}, "
        f"{card.max_tokens} tokens, in {card.folder}"
    )
    for task in ("query", "passage"):
        if prepared := card.settings[task]:
            echo(f"  {task}: {prepared}")


@models.command()
@click.argument("name")
def remove(name: str) -> None:
    """Take an installed model off this machine."""
    from kgrag.embedding.model_folder import remove_model

    remove_model(name)
    echo(f"removed {name}")


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
        print_json(plan.to_dict())
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
        print_json(report.to_dict())
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


COMMANDS = (models, reembed)
