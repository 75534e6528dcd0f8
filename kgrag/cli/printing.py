"""All output of the command line, on stdout and stderr.

No text can control the terminal (`kgrag.text.visible`), and no character is an error because the
output's encoding lacks it.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click

from kgrag.cli.chinese import encoding_of, in_words, padded, said, told, width
from kgrag.text.messages import Message
from kgrag.text.visible import ALIKE, LOST, carried, json_line, visible, visible_line

_WIDEST = 60  # columns of a cell; longer texts are truncated


def echo(line: str = "", *, err: bool = False) -> None:
    """Print one line; line breaks in it are shown, so that names cannot forge lines."""
    _print_piece(visible_line(line) + "\n", err=err)


def say(template: str, /, *, err: bool = False, **values: object) -> None:
    """Print one line: a message of a template in the user's language."""
    echo(told(template, **values), err=err)


def echo_text(text: str, *, err: bool = False) -> None:
    """Print a text of several lines, such as an answer or a table.

    Names in it must have passed `visible_line`.
    """
    _print_piece(visible(text) + "\n", err=err)


def echo_draft(piece: str) -> None:
    """Print a piece of a text as it arrives, dimmed, on stderr, without ending the line.

    Control sequences split over pieces are also shown as characters.
    """
    _print_piece(visible(piece), err=True, dim=True)


def print_json(value: object, *, sort_keys: bool = False) -> None:
    """Print a value as one line of JSON; in ASCII unless the output is UTF-8."""
    _print_piece(
        json_line(value, encoding=encoding_of(err=False), sort_keys=sort_keys) + "\n", err=False
    )


def print_record(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a mapping as JSON, or in words: a line for each value, then a table for each list.

    What is empty is left out of the lines; names are in the user's language where they have one.
    """
    if as_json:
        print_json(record)
        return
    tables = {}
    for name, value in record.items():
        if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
            tables[said("words", name)] = value
        elif value not in (None, "", [], (), {}):
            echo(f"{padded(said('words', name), 11)} {_in_line(value)}")
    for name, rows in tables.items():
        echo()
        echo(name)
        echo_text(table([{said("words", key): cell for key, cell in r.items()} for r in rows]))


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{said('words', str(name))} {_in_line(n)}" for name, n in value.items())
    if isinstance(value, list | tuple):
        return "、".join(map(_in_line, value))
    return f"{value:.4g}" if isinstance(value, float) else in_words(value)


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as aligned columns with headings; numbers are right-aligned.

    >>> print(table([{"name": "绿色", "n": 12}, {"name": "a", "n": 3}]))
    name   n
    ────  ──
    绿色  12
    a      3
    """
    names = list(rows[0])
    lines = [[_shortened(name) for name in names]]
    lines += [[_cell(row[name]) for name in names] for row in rows]
    widths = [max(width(line[at]) for line in lines) for at in range(len(names))]
    right = [all(isinstance(row[name], int | float) for row in rows) for name in names]
    lines.insert(1, ["─" * columns for columns in widths])
    return "\n".join(_line(line, widths, right) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, columns, to_right in zip(cells, widths, right, strict=True):
        space = " " * (columns - width(cell))
        padded.append(space + cell if to_right else cell + space)
    return "  ".join(padded).rstrip()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str | bytes):
        return _shortened(str(value))
    return _shortened(json.dumps(value, ensure_ascii=False, default=str))


def _shortened(text: str, columns: int = _WIDEST) -> str:
    """Return a text on one line of so many columns, without control characters."""
    line = visible_line(" ".join(text.split()))
    if width(line) <= columns:
        return line
    room = columns - 1  # for the …
    kept = []
    for character in line:
        room -= width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def print_loss() -> None:
    """Print a note with remedy at a run's end if its output lost characters."""
    if n := LOST.total():
        say(
            "note: {n} characters that {encodings} lacks are shown as ?: set "
            "PYTHONIOENCODING=utf-8, or use --json where there is one",
            n=n,
            encodings=encoding_of(err=False),
            err=True,
        )


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[str, int, int], None]]:
    """Return a function that moves a bar on a terminal, and does nothing elsewhere."""
    from tqdm import tqdm

    with tqdm(desc=label, unit="", disable=not on_terminal(), leave=False) as bar:

        def show(name: str, done: int, total: int) -> None:
            bar.total = total
            said = in_words(name) if isinstance(name, Message) else Path(name).name
            shown = carried(visible_line(said), encoding_of(err=True))
            bar.set_postfix_str(shown[-40:], refresh=False)
            bar.update(done - bar.n)
            bar.refresh()

        yield show


def on_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


class _Log(logging.Handler):
    """Prints log records on stderr, a line each."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            echo(self.format(record), err=True)
        except Exception:
            self.handleError(record)


def log_to_stderr(level: int) -> None:
    """Print log records from a level on, and warnings of libraries.

    Messages of the Neo4j driver repeat its errors, which ours state in words: they are shown at
    lower levels only.
    """
    handler = _Log()
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    logging.captureWarnings(True)
    silent = level >= logging.WARNING
    logging.getLogger("neo4j").setLevel(logging.CRITICAL + 1 if silent else logging.NOTSET)


def replace_unsupported() -> None:
    """Let stdout and stderr replace unsupported characters of other libraries' output, too."""
    LOST.clear()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            with suppress(ValueError):  # closed
                stream.reconfigure(errors=ALIKE)


def _print_piece(text: str, *, err: bool, dim: bool = False) -> None:
    """Print a text as it is, but for characters that the encoding lacks."""
    shown = carried(text, encoding_of(err=err))
    click.echo(click.style(shown, dim=True) if dim else shown, nl=False, err=err)
