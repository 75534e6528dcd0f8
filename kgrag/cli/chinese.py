"""The language of help, tables and results: English, or Chinese.

English texts are in the code, their translations in `chinese.toml`.
"""

import inspect
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from copy import copy

import click

from kgrag.text.messages import catalogue, in_language, message
from kgrag.text.visible import carried
from kgrag.types import Language

# The first that is set decides: ours, then those for all programs (POSIX, 8.2).
_VARIABLES = ("KGRAG_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
_CHOSEN = "kgrag.language"  # in the context of a command
_NAME = re.compile(r"[A-Z]{2,}(?: RANGE)?")  # of a value: FILE, INTEGER RANGE
# Without line breaks: a word in Latin letters, a character with the punctuation after it.
_UNBROKEN = re.compile(r"[“《（]*(?:[!-~…]+|.)[，。；：、）》”]*", re.DOTALL)
_COLUMN = 32  # maximum columns of names of options
_OF_TOOLS: dict[str, str] = {}  # what tools say of themselves: English, Chinese


def choose(ctx: click.Context, _: click.Parameter, chosen: str | None) -> None:
    """Have a command use a language; a callback for click."""
    if chosen:
        ctx.meta[_CHOSEN] = chosen


def encoding_of(*, err: bool) -> str:
    """Return the encoding of stderr, or of stdout."""
    return getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"


def language() -> Language:
    """Return the language of help and tables: that of `--lang`, or of the environment."""
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(_CHOSEN, "") if context else ""
    told = chosen or next(filter(None, map(os.environ.get, _VARIABLES)), "")
    return "zh" if told.lower().startswith("zh") else "en"


def said(kind: str, text: str) -> str:
    """Return a text in the user's language; in English without a translation.

    Args:
        kind: Table of `chinese.toml`.
        text: English.
    """
    if language() == "en":
        return text
    return str(catalogue("kgrag.cli")[kind].get(text) or _OF_TOOLS.get(text, text))


def translated(english: str, chinese: str) -> str:
    """Return a text of a tool, which help shows in Chinese from now on where it is in Chinese."""
    _OF_TOOLS[english] = chinese
    return english


def told(template: str, /, **values: object) -> str:
    """Return a message of a template in the user's language; see `kgrag.text.messages`."""
    return in_words(message(template, **values))


def in_words(what: object) -> str:
    """Return a message, or what an error says, in the user's language."""
    return in_language(what, language())


def amount(n: int, one: str, more: str = "") -> str:
    """Return a number of things in words; `more` is an irregular plural.

    >>> amount(1, "file"), amount(0, "file"), amount(2, "summary", "summaries")
    ('1 file', '0 files', '2 summaries')
    """
    if language() == "zh":
        return str(catalogue("kgrag.cli")["amounts"][one]).format(n=n)
    return f"{n} {one if n == 1 else more or one + 's'}"


def counted(counts: Iterable[tuple[str, int]], kind: str) -> str:
    """Return counts by what is counted, in words of a table of `chinese.toml`.

    >>> counted([("added", 3), ("failed", 1)], "outcomes")
    '3 added, 1 failed'
    """
    if language() == "zh":
        return "，".join(f"{said(kind, what)} {n}" for what, n in sorted(counts))
    return ", ".join(f"{n} {what}" for what, n in sorted(counts))


def _translated(text: str) -> str:
    """Return what click says in the user's language; stands in for gettext."""
    return said("click", text)


def _translated_number(one: str, more: str, n: int) -> str:
    return _translated(one if n == 1 else more)


def translate_click() -> None:
    """Have click's messages in the user's language: it calls `_` of its modules for each."""
    for module in (click.core, click.exceptions, click.parser, click.types):
        for name, ours in (("_", _translated), ("ngettext", _translated_number)):
            if hasattr(module, name):
                setattr(module, name, ours)


def width(text: str) -> int:
    r"""Return the columns of a text on a terminal: two for a Chinese character.

    >>> width("GDP增长"), width("e\u0301")
    (7, 1)
    """
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def padded(text: str, columns: int) -> str:
    """Pad a text with spaces to so many columns."""
    return text + " " * (columns - width(text))


class _Context(click.Context):
    """The context of a command; its help is in the user's language and encoding."""

    def get_usage(self) -> str:
        if language() == "en":
            return super().get_usage()
        formatter = _Formatter(width=self.terminal_width, max_width=self.max_content_width)
        self.command.format_usage(self, formatter)
        return formatter.getvalue().rstrip("\n")

    def get_help(self) -> str:
        told = _help_of(self.command, self) if language() == "zh" else super().get_help()
        return carried(told, encoding_of(err=False))


def encode_help(command: click.Command) -> None:
    """Print the help of a command and its subcommands in the output's encoding."""
    command.context_class = _Context
    command.short_help = (command.help or "").partition("\n\n")[0]  # which click would cut
    for below in getattr(command, "commands", {}).values():
        encode_help(below)


def _help_of(command: click.Command, ctx: click.Context) -> str:
    """Return the help of a command in Chinese."""
    made = _told(command)
    made.params = [_with_help(option) for option in command.get_params(ctx)]
    made.add_help_option = False  # already among the options
    if isinstance(made, click.Group):
        made.commands = {name: _told(below) for name, below in made.commands.items()}
    formatter = _Formatter(width=ctx.terminal_width, max_width=ctx.max_content_width)
    made.format_help(ctx, formatter)
    return formatter.getvalue().rstrip("\n")


def _told(command: click.Command) -> click.Command:
    """Return a copy of a command with Chinese help."""
    made = copy(command)
    made.help = said("help", inspect.cleandoc(command.help or ""))
    made.short_help = made.help.partition("\n\n")[0]
    return made


def _with_help(parameter: click.Parameter) -> click.Parameter:
    """Return a copy of an option with Chinese help; an argument has none."""
    made = copy(parameter)
    if isinstance(made, click.Option) and made.help:
        made.help = said("help", made.help)
    return made


class _Formatter(click.HelpFormatter):
    """Formats help in Chinese, click's own words included, by columns of a terminal."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is called."""
        super().write_usage(prog, with_names(args), prefix or said("names", "Usage:"))

    def write_heading(self, heading: str) -> None:
        """Write the heading of a list."""
        self.write(f"{said('names', heading)}：\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        paragraphs = (_lines(part, self.width - len(indent)) for part in text.split("\n\n"))
        self.write("\n\n".join(indent + f"\n{indent}".join(lines) for lines in paragraphs) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = _COLUMN, col_spacing: int = 2
    ) -> None:
        """Write names, each with a text beside it, or below a long name."""
        named = [(with_names(name), _with_remarks(text)) for name, text in rows]
        columns = min(max(width(name) for name, _ in named), col_max) + col_spacing
        indent = " " * self.current_indent
        for name, text in named:
            first, *more = _lines(text, self.width - len(indent) - columns) or [""]
            gap = "" if width(name) + col_spacing <= columns else f"\n{indent}{' ' * columns}"
            self.write(f"{indent}{padded(name, columns) if not gap else name}{gap}{first}".rstrip())
            self.write("".join(f"\n{indent}{' ' * columns}{line}" for line in more) + "\n")


def with_names(text: str) -> str:
    """Translate the values in names of options."""
    return _NAME.sub(lambda name: said("names", name[0]), text)


def _with_remarks(text: str) -> str:
    """Translate click's remarks at the end of an option's help."""
    if not text.endswith("]"):
        return text
    told, _, remarks = text[:-1].rpartition("[")
    parts = (remark.partition(": ") for remark in remarks.split("; "))
    return f"{told}[{'；'.join(said('names', n) + ('：' if c else '') + v for n, c, v in parts)}]"


def _lines(text: str, columns: int) -> list[str]:
    """Wrap a text to so many columns; no line starts with closing punctuation.

    >>> _lines("配置文件；默认为当前文件夹的 kgrag.toml。", 18)
    ['配置文件；默认为当', '前文件夹的', 'kgrag.toml。']
    """
    lines = [""]
    for piece in _UNBROKEN.findall(text):
        if lines[-1] and width(lines[-1] + piece) > columns:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]
