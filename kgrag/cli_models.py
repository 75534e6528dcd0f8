"""Commands for encoder models: list, pull, add, remove."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli_shared import EXISTING, json_option, print_json

if TYPE_CHECKING:
    from kgrag.embedding.card import ModelCard, Pooling


@click.group()
def models() -> None:
    """Encoder models on this machine. Nothing but `pull` uses the network."""


@models.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List installed and known models: how they are used, and where they are."""
    from kgrag.embedding.cache import list_models

    rows = [_row(card) for card in list_models()]
    if as_json:
        print_json(rows)
        return
    shown = [[_shown(key, row) for key in _COLUMNS] for row in rows]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *shown, strict=True)]
    for line in ([*_COLUMNS], *shown):
        cells = zip(line, widths, strict=True)
        click.echo("  ".join(cell.ljust(width) for cell, width in cells).rstrip())


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


def _row(card: "ModelCard") -> dict[str, object]:
    """Return what there is to say of a model; the sizes of known ones are of their download."""
    from kgrag.embedding.cache import model_bytes
    from kgrag.embedding.catalog import find_entry

    size = model_bytes(card) if card.folder else find_entry(card.name).size_mb * 10**6
    return {
        "name": card.name,
        "identity": card.identity,
        "format": card.format,
        "dimension": card.dimension,
        "pooling": card.pooling,
        "precision": card.precision,
        "bytes": size,
        "max_tokens": card.max_tokens,
        "languages": card.languages,
        "licence": card.licence,
        "source": card.source,
        "folder": str(card.folder) if card.folder else None,
    }


def _shown(key: str, row: dict[str, object]) -> str:
    if key == "size":
        return f"{int(str(row['bytes'])) / 1e6:.0f} MB"
    if key == "where":
        return str(row["folder"] or f"not installed: kgrag models pull {row['name']}")
    return str(row[key] or "-")


@models.command()
@click.argument("name", default="bge-small-zh")
def pull(name: str) -> None:
    """Install a known model: from this machine, the Hugging Face hub, or Maven Central."""
    from kgrag.embedding.pull import pull_model

    card = pull_model(name)
    click.echo(f"{card.name}: {card.dimension} dimensions, in {card.folder}, from {card.source}")


@models.command()
@click.argument("path", type=EXISTING)
@click.option("--name", help="How you will call it; from the path by default.")
@click.option("--file", help="The model's path in the folder, where there are several.")
@click.option("--pooling", type=click.Choice(["cls", "mean", "last"]))
@click.option("--query-instruction", help="Put before a question.")
@click.option("--passage-instruction", help="Put before a passage.")
@click.option("--max-tokens", type=click.IntRange(1), help="Longer texts are cut.")
@click.option("--languages", help="Those that it reads well: zh,en; any by default.")
def add(
    path: Path,
    name: str | None,
    file: str | None,
    pooling: "Pooling | None",
    query_instruction: str | None,
    passage_instruction: str | None,
    max_tokens: int | None,
    languages: str | None,
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
    )
    click.echo(
        f"{card.name}: {card.dimension} dimensions, pooling {card.pooling}, {card.precision}, "
        f"{card.max_tokens} tokens, in {card.folder}"
    )
    for task in ("query", "passage"):
        if prepared := card.settings[task]:
            click.echo(f"  {task}: {prepared}")


@models.command()
@click.argument("name")
def remove(name: str) -> None:
    """Take an installed model off this machine."""
    from kgrag.embedding.cache import remove_model

    remove_model(name)
    click.echo(f"removed {name}")


COMMANDS = (models,)
