"""The command line."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from kgrag.cli import ask, browser, dataset, eval, ingest, manage, models, query, serve, tools
from kgrag.cli.chinese import choose, encode_help, in_words, translate_click, with_names
from kgrag.cli.failures import ended_by_signals, leave, print_stopped, shortage
from kgrag.cli.options import FILE
from kgrag.cli.printing import echo, echo_text, log_to_stderr, print_loss, replace_unsupported, say
from kgrag.errors import KgragError

_STOPPED = 128 + signal.SIGINT  # exit code, or that of the signal that came


class _Commands(click.Group):
    """Commands with kgrag's exit codes: 1 with an error on stderr, 2 for usage, 130 if stopped."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command of the arguments."""
        replace_unsupported()
        run: Callable[[], Any] = partial(
            super().main, args, prog_name, complete_var, standalone_mode=False, **extra
        )
        if not standalone_mode:
            return run()
        try:
            with ended_by_signals() as came:
                code: Any = run()
        except click.ClickException as exc:
            _print_usage_error(exc)
            code = exc.exit_code
        except click.Abort:
            print_stopped(None)
            code = _STOPPED
        if came:
            code = 128 + came[0]
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KgragError as exc:
            echo(f"kgrag: {in_words(exc)}", err=True)
            ctx.exit(1)
        except BrokenPipeError:  # the reader of our output went away, e.g. `head`
            _close_stdout()
            ctx.exit(1)
        except KeyboardInterrupt:
            print_stopped(ctx.invoked_subcommand)
            ctx.exit(_STOPPED)
        except click.ClickException as exc:  # while the chosen language is known
            _print_usage_error(exc)
            ctx.exit(exc.exit_code)
        except click.exceptions.Exit:
            raise
        except BaseException as exc:  # a Rust panic is not an Exception
            told = shortage(exc)
            if told is None:
                raise
            logging.getLogger(__name__).info("it came about here", exc_info=exc)
            _close_stdout()
            echo(f"kgrag: {in_words(told)}", err=True)
            ctx.exit(1)
        finally:
            print_loss()


def _print_usage_error(error: click.ClickException) -> None:
    """Print an error of a command's arguments, and its usage."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        echo_text(context.get_usage(), err=True)
        say(
            "Try '{command} {option}' for help.",
            command=context.command_path,
            option=context.help_option_names[-1],
            err=True,
        )
        echo(err=True)
    told = error.format_message()
    is_name = isinstance(error, click.MissingParameter)
    say("Error: {error}", error=with_names(told) if is_name else told, err=True)


def _close_stdout() -> None:
    """Discard further output to stdout, so that closing it raises nothing."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="kgrag")
@click.option(
    "--lang",
    type=click.Choice(("zh", "en")),
    help="Language of help and tables; that of the system by default.",
    expose_value=False,
    is_eager=True,
    callback=choose,
)
@click.option("--config", type=FILE, help="Settings; kgrag.toml here by default.")
@click.option("-v", "--verbose", is_flag=True, help="Log to stderr what is done.")
@click.pass_context
def main(ctx: click.Context, config: Path | None, verbose: bool) -> None:
    """Ask policy documents; get answers that cite the clause."""
    from kgrag.config import read_config

    log_to_stderr(logging.INFO if verbose else logging.WARNING)
    ctx.obj = read_config(config)
    if ctx.invoked_subcommand is None:
        echo_text(ctx.get_help())


for _module in (ingest, ask, tools, query, browser, manage, eval, dataset, models, serve):
    for _command in _module.COMMANDS:
        main.add_command(_command)
encode_help(main)
translate_click()


def run() -> None:
    """Run kgrag as a process."""
    try:
        main()
    except SystemExit as exc:
        leave(exc.code)
        raise
