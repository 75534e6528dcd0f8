"""The one door of the command line: whatever is printed passes it, on stdout and on stderr.

Nothing that a text holds acts on the terminal (`kgrag.text.visible`), and no character ends
in an error because the output's encoding lacks it.
"""

import codecs
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

import click

from kgrag.cli.chinese import help_of, language
from kgrag.text.visible import carried, json_line, likeness, n_lost, visible, visible_line

_LIKENESS = "kgrag-likeness"  # what streams do with what they lack, where others write to them
_LOST = "kgrag.lost"  # key of what a run's context counts: characters shown as ? only


def echo(line: str = "", *, err: bool = False) -> None:
    """Print one line; a line break in it is shown, so that no name makes up a line of ours.

    Args:
        line: As it stands, whatever it holds.
        err: To stderr.
    """
    _print(visible_line(line) + "\n", err=err)


def echo_text(text: str, *, err: bool = False) -> None:
    """Print a text of several lines, such as an answer or a table.

    Args:
        text: What of it stands on one line only, like a name, has passed `visible_line`.
        err: To stderr.
    """
    _print(visible(text) + "\n", err=err)


def echo_draft(piece: str) -> None:
    """Print a piece of a text as it comes, dimmed, on stderr, without ending the line.

    A sequence that is split over pieces is not obeyed either: each of its characters is shown.
    """
    _print(visible(piece), err=True, dim=True)


def print_json(value: object, *, sort_keys: bool = False) -> None:
    """Print a value as one line of JSON; in ASCII where the output is not in UTF-8."""
    _print(json_line(value, encoding=_encoding(err=False), sort_keys=sort_keys) + "\n", err=False)


def print_usage_error(error: click.ClickException) -> None:
    """Print what is wrong with a command's arguments, and how it is used."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        echo_text(context.get_usage(), err=True)
        echo(f"Try '{context.command_path} {context.help_option_names[-1]}' for help.", err=True)
        echo(err=True)
    echo(f"Error: {error.format_message()}", err=True)


def print_loss() -> None:
    """Say once at a run's end that its output lacks characters, and the remedy."""
    lost = _counts().get(_LOST, {})
    if lost:
        encodings = ", ".join(sorted(lost))
        echo(
            f"note: {sum(lost.values())} characters that {encodings} lacks are shown as ?: "
            "set PYTHONIOENCODING=utf-8, or use --json where there is one",
            err=True,
        )


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that moves a bar on a terminal, and does nothing elsewhere."""
    from tqdm import tqdm

    with tqdm(desc=label, unit="", disable=not on_terminal(), leave=False) as bar:

        def show(name: str, done: int, total: int) -> None:
            bar.total = total
            shown = carried(visible_line(Path(name).name), _encoding(err=True))
            bar.set_postfix_str(shown[-40:], refresh=False)
            bar.update(done - bar.n)
            bar.refresh()

        yield show


def on_terminal() -> bool:
    """Say whether somebody sees stderr as it is written."""
    return sys.stderr is not None and sys.stderr.isatty()


class _Log(logging.Handler):
    """Prints a record of the log on stderr, on a line of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            echo(self.format(record), err=True)
        except Exception:
            self.handleError(record)


def log_to_stderr(level: int) -> None:
    """Print the log from a level on, and what libraries warn of.

    What the driver of Neo4j has to say, its errors say, too, and ours say it in words: its lines
    are for who asks for more.
    """
    handler = _Log()
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    logging.captureWarnings(True)
    silent = level >= logging.WARNING
    logging.getLogger("neo4j").setLevel(logging.CRITICAL + 1 if silent else logging.NOTSET)


def open_door() -> None:
    """Let stdout and stderr replace what they lack also where another library writes to them."""
    codecs.register_error(_LIKENESS, _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            with suppress(ValueError):  # closed
                stream.reconfigure(errors=_LIKENESS)


class _Context(click.Context):
    """What a command is run in; its help is in the user's language, in characters of stdout."""

    def get_help(self) -> str:
        told = help_of(self.command, self) if language() == "zh" else super().get_help()
        return carried(told, _encoding(err=False))


def let_help_pass_the_door(command: click.Command) -> None:
    """Have the help of a command, and of those below it, printed in the output's encoding."""
    command.context_class = _Context
    for below in getattr(command, "commands", {}).values():
        let_help_pass_the_door(below)


def close_stdout() -> None:
    """Let nothing more be written to stdout, so that its end raises nothing."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = visible(error.object[error.start : error.end])
    return "".join(c if c.isascii() else likeness(c) for c in lacking), error.end


def _print(text: str, *, err: bool, dim: bool = False) -> None:
    encoding = _encoding(err=err)
    if lost := n_lost(text, encoding):
        counts = _counts().setdefault(_LOST, {})
        counts[encoding] = counts.get(encoding, 0) + lost
    shown = carried(text, encoding)
    click.echo(click.style(shown, dim=True) if dim else shown, nl=False, err=err)


def _encoding(*, err: bool) -> str:
    return getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"


def _counts() -> dict[str, dict[str, int]]:
    """Return what is counted for this run; nothing is kept outside one."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.find_root().meta
