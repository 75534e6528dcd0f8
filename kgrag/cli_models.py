"""Commands for encoder models: list, pull, add."""

from pathlib import Path

import click

from kgrag.cli_shared import EXISTING


@click.group()
def models() -> None:
    """Encoder models on this machine. Nothing but `pull` uses the network."""


@models.command("list")
def list_() -> None:
    """List installed and known models."""
    from kgrag.embedding.cache import list_models

    for card in list_models():
        where = str(card.folder) if card.folder else f"not installed: kgrag models pull {card.name}"
        click.echo(f"{card.name}  {card.dimension} dimensions  {card.licence or '-'}  {where}")


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
@click.option("--pooling", type=click.Choice(["cls", "mean"]), default="mean", show_default=True)
@click.option("--query-instruction", default="", help="Put before a question.")
@click.option("--passage-instruction", default="", help="Put before a passage.")
@click.option("--max-tokens", type=click.IntRange(1), default=512, show_default=True)
def add(
    path: Path,
    name: str | None,
    pooling: str,
    query_instruction: str,
    passage_instruction: str,
    max_tokens: int,
) -> None:
    """Install a model from a folder, .zip or .jar with an .onnx and a tokenizer.json."""
    from kgrag.embedding.add import add_model

    card = add_model(
        path,
        name=name,
        pooling="cls" if pooling == "cls" else "mean",
        query_instruction=query_instruction,
        passage_instruction=passage_instruction,
        max_tokens=max_tokens,
    )
    click.echo(f"{card.name}: {card.dimension} dimensions, in {card.folder}")


COMMANDS = (models,)
