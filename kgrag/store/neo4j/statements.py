"""The Cypher statements of the package `cypher`, by name."""

import functools
import operator
import re
from collections.abc import Mapping
from importlib import resources

_NAME = re.compile(r"^// name: (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n?", re.MULTILINE)
_NUMBER = re.compile(r"<(\w+)>")


def statement(name: str, **numbers: int) -> str:
    """Return a statement by name.

    Args:
        name: As after `// name:` in one of the files.
        numbers: For the places <…> of statements that define an index; whole numbers only, so
            that nothing but a number can become part of a statement.

    Raises:
        KeyError: If there is no such statement, or a number is missing.
        TypeError: If a number is none, or not a whole one.
    """
    text = _statements()[name]
    return _NUMBER.sub(lambda match: str(operator.index(numbers[match.group(1)])), text)


def statements_of(file: str) -> tuple[str, ...]:
    """Return the names of the statements of a file, in order.

    Args:
        file: Without its ending, e.g. `schema`.
    """
    return tuple(_read(file))


@functools.cache
def _statements() -> Mapping[str, str]:
    files = resources.files("cypher").iterdir()
    names = sorted(f.name.removesuffix(".cypher") for f in files if f.name.endswith(".cypher"))
    found: dict[str, str] = {}
    for file in names:
        for name, text in _read(file).items():
            if name in found:
                raise ValueError(f"two statements are called {name}; one is in {file}.cypher")
            found[name] = text
    return found


def _read(file: str) -> dict[str, str]:
    text = resources.files("cypher").joinpath(f"{file}.cypher").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: _COMMENT.sub("", body).strip().removesuffix(";") for name, body in pairs}
