"""Messages to users: an English template with values, whose Chinese is in `messages.toml`.

A message is its English text; where it is shown, `in_language` puts it in the user's language.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from kgrag.types import Language

_FIRST = re.compile(r"^\{(\w+)\}: ")
_PLACES = re.compile(r"(?:\{[a-z]++\}[：: ;,]*+)++")  # a template without words
_PACKED = "\x1e"  # in a stored message, between the English text and the template with its values


class Message(str):
    """A text for users that can be translated.

    Attributes:
        template: English, with places as of `str.format`; a key of the catalogue.
        values: By place: numbers, texts and messages.
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, values: Mapping[str, object]) -> "Message":
        """Return the English text of a template."""
        made = super().__new__(cls, template.format(**values))
        made.template, made.values = template, values
        return made

    def __reduce__(self) -> tuple[Callable[..., "Message"], tuple[str, Mapping[str, object]]]:
        """Pickle the template and its values."""
        return Message, (self.template, self.values)


def message(template: str, /, **values: object) -> Message:
    """Return a message of a template that `messages.toml` has.

    >>> message("has {size:,} bytes", size=12_345)
    'has 12,345 bytes'
    """
    return Message(template, {name: _plain(value) for name, value in values.items()})


def _plain(value: object) -> object:
    if isinstance(value, BaseException):
        return said_by(value)
    return value if isinstance(value, str | int | float) else str(value)


def said_by(error: BaseException) -> str:
    """Return what an error says: its message, where it has one."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else str(error)


def without_start(error: BaseException, start: str) -> str:
    """Return what an error says, without a text and a colon that it begins with.

    >>> without_start(ValueError(message("{file}: is empty", file="a.txt")), "a.txt")
    'is empty'
    """
    said = said_by(error)
    first = _FIRST.match(said.template) if isinstance(said, Message) else None
    if isinstance(said, Message) and first and said.values[first[1]] == start:
        return Message(said.template[first.end() :], said.values)
    return said.removeprefix(f"{start}: ")


def replaced(text: str, old: str, new: str) -> str:
    """Return a text or message with another text in its values."""
    if not isinstance(text, Message):
        return text.replace(old, new)
    values = {k: replaced(v, old, new) if isinstance(v, str) else v for k, v in text.values.items()}
    return Message(text.template, values)


def in_language(said: object, language: Language) -> str:
    """Return a message, or what an error says, in a language; other texts as they are.

    >>> in_language(message("no such file or folder; check the path"), "zh")
    '没有这个文件或文件夹；请检查路径'
    """
    if isinstance(said, BaseException):
        said = said_by(said)
    if not isinstance(said, Message) or language == "en":
        return str(said)
    first = _FIRST.match(said.template)  # the Chinese is that of what follows
    begins = f"{{{first[1]}}}：" if first else ""
    template = said.template[first.end() :] if first else said.template
    chinese = begins + catalogue("kgrag.text", "messages.toml").get(template, template)
    values = {
        k: in_language(v, language) if isinstance(v, str) else v for k, v in said.values.items()
    }
    return str(chinese.format(**values))


@cache
def catalogue(package: str, file: str = "chinese.toml") -> Mapping[str, Any]:
    """Return the texts of a package's file: Chinese by English, or tables of these."""
    return tomllib.loads(resources.files(package).joinpath(file).read_text("utf-8"))


def packed(text: str) -> str:
    r"""Return a text to be stored; a message with its template and values behind the English.

    >>> unpacked(packed(message("page {n}: no text found", n=3))).template, packed("plain")
    ('page {n}: no text found', 'plain')
    """
    return f"{text}{_PACKED}{json.dumps(_tree(text))}" if isinstance(text, Message) else text


def unpacked(text: str) -> str:
    """Return a stored text, as a message if it was one; what an older kgrag stored is English."""
    plain, mark, tree = text.rpartition(_PACKED)
    try:
        made = _message(json.loads(tree)) if mark else text
    except (ValueError, TypeError, LookupError, AttributeError):
        return text
    return made if made == plain else text


def _tree(said: Message) -> list[object]:
    return [
        said.template,
        {k: _tree(v) if isinstance(v, Message) else v for k, v in said.values.items()},
    ]


def _message(tree: list[Any]) -> Message:
    template, values = tree
    known = catalogue("kgrag.text", "messages.toml")
    if _FIRST.sub("", template, count=1) not in known and not _PLACES.fullmatch(template):
        raise LookupError(template)  # it was not made here, and may hold anything
    return message(
        template, **{k: _message(v) if type(v) is list else v for k, v in values.items()}
    )
