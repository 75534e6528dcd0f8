"""The language of help, tables and results: English, or Chinese.

English texts are in the code, their translations in `chinese.toml`.
"""

import inspect
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

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


def amount(n: int, one: str) -> str:
    """Return a number of things in words.

    >>> amount(1, "file"), amount(0, "file")
    ('1 file', '0 files')
    """
    if language() == "zh":
        return str(catalogue("kgrag.cli")["amounts"][one]).format(n=n)
    return f"{n} {one if n == 1 else one + 's'}"


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


class _Formatter(click.HelpFormatter):
    """Formats help in the user's language; Chinese by columns of a terminal."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is called."""
        is_chinese = language() == "zh"
        prefix = prefix or (said("names", "Usage:") if is_chinese else None)
        super().write_usage(prog, with_names(args) if is_chinese else args, prefix)

    def write_heading(self, heading: str) -> None:
        """Write the heading of a list."""
        self.write(f"{said('names', heading)}{'：' if language() == 'zh' else ':'}\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        if language() == "en":
            super().write_text(text)
            return
        indent = " " * self.current_indent
        parts = said("help", text).split("\n\n")
        paragraphs = (_lines(part, self.width - len(indent)) for part in parts)
        self.write("\n\n".join(indent + f"\n{indent}".join(lines) for lines in paragraphs) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = _COLUMN, col_spacing: int = 2
    ) -> None:
        """Write names, each with a text beside it, or below a long name."""
        if language() == "en":
            super().write_dl([*rows], col_spacing=col_spacing)
            return
        named = [(with_names(name), _of_option(text)) for name, text in rows]
        columns = min(max(width(name) for name, _ in named), col_max) + col_spacing
        indent = " " * self.current_indent
        for name, text in named:
            first, *more = _lines(text, self.width - len(indent) - columns) or [""]
            gap = "" if width(name) + col_spacing <= columns else f"\n{indent}{' ' * columns}"
            self.write(f"{indent}{padded(name, columns) if not gap else name}{gap}{first}".rstrip())
            self.write("".join(f"\n{indent}{' ' * columns}{line}" for line in more) + "\n")


class _Context(click.Context):
    """The context of a command; its help is in the user's language and encoding."""

    formatter_class = _Formatter

    def get_help(self) -> str:
        return carried(super().get_help(), encoding_of(err=False))


def encode_help(command: click.Command) -> None:
    """Print the help of a command and its subcommands in the user's language and encoding."""
    command.context_class = _Context
    command.help = inspect.cleandoc(command.help or "")
    command.short_help = command.help.partition("\n\n")[0]  # which click would cut
    for below in getattr(command, "commands", {}).values():
        encode_help(below)


def with_names(text: str) -> str:
    """Translate the values in names of options."""
    return _NAME.sub(lambda name: said("names", name[0]), text)


@cache
def _summaries() -> dict[str, str]:
    """Return Chinese help by English: of options, and the first paragraphs of commands."""
    known = {**catalogue("kgrag.cli")["help"], **_OF_TOOLS}
    return {k.partition("\n\n")[0]: str(v).partition("\n\n")[0] for k, v in known.items()}


def _of_option(text: str) -> str:
    """Translate the help of an option or command, and click's remarks at its end."""
    told, _, remarks = text.removesuffix("]").partition("  [")
    told = _summaries().get(told, told)
    if not remarks:
        return told
    parts = (remark.partition(": ") for remark in remarks.split("; "))
    shown = "；".join(said("names", n) + ("：" if c else "") + v for n, c, v in parts)
    return f"{told}  [{shown}]"


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
