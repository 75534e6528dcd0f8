"""The command line."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from kgrag.errors import KgragError

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase

_F = TypeVar("_F", bound=Callable[..., object])

EXISTING = click.Path(exists=True, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def kb_option(command: _F) -> _F:
    """Add `--kb` to a command."""
    return click.option(
        "--kb", default="kb", show_default=True, help="Folder of the knowledge base."
    )(command)


def json_option(command: _F) -> _F:
    """Add `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


class _Commands(click.Group):
    """Commands with kgrag's exit codes: 1 with what and why on stderr, 2 for usage."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KgragError as exc:
            click.echo(f"kgrag: {exc}", err=True)
            ctx.exit(1)
        except BrokenPipeError:  # the reader of our output went away, e.g. `head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(1)
        except KeyboardInterrupt:
            click.echo("kgrag: stopped; what was stored is whole, run it again to go on", err=True)
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kgrag")
@click.option("--config", type=FILE, help="Settings; kgrag.toml here by default.")
@click.option("-v", "--verbose", is_flag=True, help="Log to stderr what is done.")
@click.pass_context
def main(ctx: click.Context, config: Path | None, verbose: bool) -> None:
    """Ask policy documents; get answers that cite the clause."""
    import logging

    from kgrag.config import read_config

    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(message)s"
    )
    ctx.obj = read_config(config)


@contextmanager
def opened(ctx: click.Context, kb: str, *, create: bool = False) -> Iterator["KnowledgeBase"]:
    """Open the knowledge base of a command and close it after."""
    from kgrag.api import KnowledgeBase

    with KnowledgeBase.open(kb, create=create, config=ctx.obj) as knowledge_base:
        yield knowledge_base


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    click.echo(json.dumps(value, ensure_ascii=False))


def register() -> None:
    """Add the commands of the other modules to the group."""
    from kgrag import cli_content, cli_look, cli_measure, cli_models

    for module in (cli_content, cli_look, cli_measure, cli_models):
        for command in module.COMMANDS:
            main.add_command(command)


register()
