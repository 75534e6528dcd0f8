"""Commands for models: models, reembed, prompts."""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from kgrag.cli.opened import opened
from kgrag.cli.options import EXISTING, JSON, KB, argument, command, option
from kgrag.cli.printing import echo, echo_text, print_json, print_record, progress_bar, table
from kgrag.errors import NotFoundError
from kgrag.types import Language

if TYPE_CHECKING:
    from kgrag.config import Config, EmbeddingConfig
    from kgrag.embedding.model_folder import Listed
    from kgrag.llm.prompts import Prompt


@click.group()
def models() -> None:
    """Encoder models on this machine. Nothing but `pull` uses the network."""


@command("list", under=models)
def list_(as_json: bool = JSON) -> None:
    """List installed and known models: how they are used, and where they are."""
    from kgrag.embedding.model_folder import listed_models

    rows = [_row(model) for model in listed_models()]
    if as_json:
        print_json(rows)
        return
    names = ("name", "format", "dimension", "bytes", "languages", "licence")
    shown = []
    for row in rows:
        where = row["folder"] or (row["source"] if row["format"] == "plugin" else None)
        where = where or f"not installed: kgrag models pull {row['name']}"
        shown.append({name: row[name] for name in names} | {"where": where})
    echo_text(table(shown))
    for row in rows:
        if row["problem"]:
            echo(f"note: {row['name']}: {row['problem']}", err=True)


def _row(model: "Listed") -> dict[str, object]:
    """Return the data of a model; settings are missing where its card is damaged."""
    card = model.card
    told = asdict(card) if card else {}
    names = ("format", "dimension", "pooling", "precision", "max_tokens", "languages", "licence")
    return {
        "name": model.name,
        "identity": card.identity if card else None,
        **{name: told.get(name) for name in names},
        "format": card.format if card else "plugin" if model.plugin else None,
        "bytes": model.n_bytes,
        "source": card.source if card else model.plugin,
        "folder": str(model.folder) if model.folder else None,
        "problem": model.problem,
    }


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
            print_record(base.reembed_plan().to_dict(), as_json=as_json)
            return
        with progress_bar("reembed") as progress:
            report = base.reembed(progress=progress)
            progress("search index", report.documents, report.documents)
            base.store.refresh(sizes=base.sizes.searched)
    report = replace(report, seconds=time.monotonic() - began)
    print_record(report.to_dict(), as_json=as_json)
    named = configured.embedding
    said = named.model or named.provider or named.base_url
    if model and said and (named.is_endpoint or said != model):
        echo(f'note: [embedding] names "{said}" still: change it to "{model}"', err=True)


def _with_model(configured: "EmbeddingConfig", model: str) -> "EmbeddingConfig":
    """Return settings with another model, local or of the endpoint."""
    from kgrag.embedding.choose import is_here, without_endpoint

    return replace(without_endpoint(configured) if is_here(model) else configured, model=model)


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
    """Print the prompts, with $places, or with --of the requests for a file as JSON."""
    if file is not None:
        from kgrag.maintenance.intake import requests_of

        for request in requests_of(file, ctx.obj):
            messages = [{"role": m.role, "content": m.content} for m in request.messages]
            print_json({"stage": request.stage, "messages": messages, "schema": request.schema})
        return
    from kgrag.llm.prompts import LANGUAGES, prompt, prompt_names

    known = prompt_names()
    if unknown := [name for name in names if name not in known]:
        raise NotFoundError(f"no prompt is called {unknown[0]!r}; there are {', '.join(known)}")
    for name in names or known:
        for tongue in LANGUAGES if language is None else (language,):
            _print_prompt(prompt(name, tongue), as_json)


def _print_prompt(prompt: "Prompt", as_json: bool) -> None:
    if as_json:
        print_json(asdict(prompt))
        return
    echo(f"═══ {prompt.name} ({prompt.language})")
    for line in prompt.about.splitlines():
        echo(f"# {line}")
    for role in ("system", "user"):
        echo(f"── {role}")
        echo_text(getattr(prompt, role))
    echo()


COMMANDS = (models, reembed, prompts)
