"""Commands for encoder models: list, pull, add, remove."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli_print import echo, print_json
from kgrag.cli_shared import EXISTING, json_option

if TYPE_CHECKING:
    from kgrag.embedding.card import Pooling
    from kgrag.embedding.listed import Listed


@click.group()
def models() -> None:
    """Encoder models on this machine. Nothing but `pull` uses the network."""


@models.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List installed and known models: how they are used, and where they are."""
    from kgrag.embedding.listed import listed_models

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
            echo(f"note: {model.name} is damaged: {model.problem}", err=True)


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


def _row(model: "Listed") -> dict[str, object]:
    """Return what there is to say of a model; nothing of its use where its card is damaged."""
    card = model.card
    return {
        "name": model.name,
        "identity": card.identity if card else None,
        "format": card.format if card else None,
        "dimension": card.dimension if card else None,
        "pooling": card.pooling if card else None,
        "precision": model.precision,
        "bytes": model.n_bytes,
        "max_tokens": card.max_tokens if card else None,
        "languages": card.languages if card else "",
        "licence": card.licence if card else "",
        "source": card.source if card else "",
        "folder": str(model.folder) if model.folder else None,
        "problem": model.problem,
    }


def _shown(key: str, row: dict[str, object]) -> str:
    if key == "size":
        return f"{int(str(row['bytes'])) / 1e6:.0f} MB"
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
    from kgrag.embedding.cache import remove_model

    remove_model(name)
    echo(f"removed {name}")


COMMANDS = (models,)
