"""The command line."""

import os
import sys
from pathlib import Path

import click

from kgrag import (
    cli_ask,
    cli_browser,
    cli_content,
    cli_copy,
    cli_look,
    cli_measure,
    cli_models,
    cli_prompts,
    cli_query,
    cli_reembed,
    cli_stats,
)
from kgrag.cli_shared import FILE
from kgrag.errors import KgragError


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
            click.echo(
                "kgrag: stopped; what was stored is whole, and what models answered is kept: "
                "run it again to go on",
                err=True,
            )
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kgrag")
@click.option("--config", type=FILE, help="Settings; kgrag.toml here by default.")
@click.option("-v", "--verbose", is_flag=True, help="Log to stderr what is done.")
@click.pass_context
def main(ctx: click.Context, config: Path | None, verbose: bool) -> None:
    """Ask policy documents; get answers that cite the clause."""
    import logging

    from kgrag.config_file import read_config

    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(message)s"
    )
    ctx.obj = read_config(config)


_MODULES = (
    *(cli_content, cli_copy, cli_ask, cli_look, cli_query, cli_browser),
    *(cli_stats, cli_measure, cli_models, cli_reembed, cli_prompts),
)
for _module in _MODULES:
    for _command in _module.COMMANDS:
        main.add_command(_command)
