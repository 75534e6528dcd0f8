"""Commands for models: models, reembed, prompts."""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from kgrag.cli.chinese import amount
from kgrag.cli.opened import index_share, opened
from kgrag.cli.options import EXISTING, JSON, KB, argument, command, option
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar
from kgrag.errors import NotFoundError
from kgrag.types import Language

if TYPE_CHECKING:
    from kgrag.config import Config, EmbeddingConfig
    from kgrag.embedding.model_folder import Listed
    from kgrag.ingestion.reembed import ReembedPlan, ReembedReport
    from kgrag.llm.chat import Request
    from kgrag.llm.prompts import Prompt

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


@command("list", under=models)
def list_(as_json: bool = JSON) -> None:
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
    """Return the data of a model; settings are missing where its card is damaged."""
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


@command(under=models)
def pull(name: str = argument(default="bge-small-zh")) -> None:
    """Install a known model: from this machine, the Hugging Face hub, or Maven Central."""
    from kgrag.embedding.pull import pull_model

    card = pull_model(name)
    echo(f"{card.name}: {card.dimension} dimensions, in {card.folder}, from {card.source}")


@dataclass(frozen=True, kw_only=True)
class _ModelOptions:
    """Name and settings of a model, where its files do not state them."""

    name: str | None = option("How you will call it; from the path by default.")
    file: str | None = option("The model's path in the folder, where there are several.")
    pooling: Literal["cls", "mean", "last"] | None = option()
    query_instruction: str | None = option("Put before a question.")
    passage_instruction: str | None = option("Put before a passage.")
    max_tokens: int | None = option("Longer texts are cut.", type=click.IntRange(1))
    languages: str | None = option("Those that it reads well: zh,en; any by default.")
    replace: bool = option("Put it in the place of another of its name.")


@command(under=models)
def add(*, path: Path = argument(type=EXISTING), given: _ModelOptions) -> None:
    """Install a model from a folder, .zip or .jar.

    It holds an .onnx file and a tokenizer.json, or a model for transformers: config.json,
    model.safetensors, tokenizer.json (this needs kgrag[jina]). What no option says is read from
    the files that its makers put beside it; without them, pooling is mean and 512 tokens are read.
    """
    from kgrag.embedding.add import add_model

    card = add_model(path, **asdict(given))
    echo(
        f"{card.name}: {card.dimension} dimensions, pooling {card.pooling}, {card.precision}, "
        f"{card.max_tokens} tokens, in {card.folder}"
    )
    for task in ("query", "passage"):
        if prepared := card.settings[task]:
            echo(f"  {task}: {prepared}")


@command(under=models)
def remove(name: str = argument()) -> None:
    """Take an installed model off this machine."""
    from kgrag.embedding.model_folder import remove_model

    remove_model(name)
    echo(f"removed {name}")


@command()
def reembed(
    ctx: click.Context,
    model: str | None = option("Another encoder than [embedding] names.", metavar="NAME"),
    kb: str = KB,
    dry_run: bool = option("Only say how much is to be encoded, and how long."),
    as_json: bool = JSON,
) -> None:
    """Encode everything anew with another encoder, or as [embedding] says now.

    The old vectors answer until all new ones are there. Stopped and run again, it goes on.
    """
    began = time.monotonic()
    configured: Config = ctx.obj
    if model:
        ctx.obj = replace(configured, embedding=_with_model(configured.embedding, model))
    with opened(kb) as base:
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
    """Return settings with another model, local or of the endpoint."""
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
    """Print a note where settings name another encoder than the knowledge base has now."""
    named = configured.embedding
    said = named.model or named.provider or named.base_url
    changed = _with_model(named, model) if model else named
    if said and (changed.model, changed.is_endpoint) != (named.model, named.is_endpoint):
        echo(
            f'note: [embedding] names "{said}" still: change it to "{model}", or take it out',
            err=True,
        )


def _change(before: str, after: str) -> str:
    return after if before in ("", after) else f"{before} → {after}"


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(0.2), _duration(95), _duration(7300)
    ('0.2 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


@command()
def prompts(
    ctx: click.Context,
    names: tuple[str, ...] = argument(),
    language: Language | None = option("Only in this language."),
    file: Path | None = option(
        "What `ingest` would send for this file, whole.", "--of", type=EXISTING
    ),
    as_json: bool = JSON,
) -> None:
    """Print the prompts, with $places, or with --of what would be sent for a file."""
    if file is not None:
        _print_requests(ctx.obj, file, as_json)
        return
    for prompt in _chosen(names, language):
        _print_prompt(prompt, as_json)


def _chosen(names: tuple[str, ...], language: str | None) -> "list[Prompt]":
    from kgrag.llm.prompts import LANGUAGES, prompt, prompt_names

    known = prompt_names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotFoundError(f"no prompt is called {unknown[0]!r}; there are {', '.join(known)}")
    return [
        prompt(name, tongue)
        for name in names or known
        for tongue in LANGUAGES
        if language in (None, tongue)
    ]


def _print_prompt(prompt: "Prompt", as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(asdict(prompt))
        return
    echo(f"═══ {prompt.name} ({prompt.language})")
    for line in prompt.about.splitlines():
        echo(f"# {line}")
    for role in ("system", "user"):
        echo(f"── {role}")
        echo_text(getattr(prompt, role))
    echo()


def _print_requests(config: "Config", file: Path, as_json: bool) -> None:
    from kgrag.maintenance.intake import requests_of

    for number, request in enumerate(requests_of(file, config), 1):
        if as_json:
            messages = [{"role": m.role, "content": m.content} for m in request.messages]
            print_json({"stage": request.stage, "messages": messages, "schema": request.schema})
        else:
            _print_request(number, request)


def _print_request(number: int, request: "Request") -> None:
    echo(f"═══ call {number} ({request.stage})")
    for message in request.messages:
        echo(f"── {message.role}")
        echo_text(message.content)
    if request.schema is not None:
        echo(f"── JSON schema {request.schema_name}")
        print_json(request.schema)
    echo()


COMMANDS = (models, reembed, prompts)
