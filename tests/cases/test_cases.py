"""The runner of examples: each file beside it holds texts and what a function finds in them.

A group of a file has

    name       the rule that its cases show
    function   "module:name", or a name of `views.py` for what needs more than its text; if the
               group has none, that of the file
    fields     what is shown of each thing found, if not all of it; `words` are those that it spans
    around     a text with {} where the text of a case stands
    arguments  further keyword arguments of the function
    cases      lists: the text (or a list of arguments), then a line for each thing found
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from tests.cases.views import VIEWS
from tests.fixtures.kit import each

EMPTY: tuple[Any, ...] = ("", None, (), [], {}, frozenset())
FILES = sorted(Path(__file__).parent.glob("*.toml"))


@dataclass(frozen=True)
class Group:
    """Cases of one rule."""

    name: str
    function: str
    cases: list[list[Any]] = field(repr=False)
    fields: list[str] = field(default_factory=list)
    around: str = "{}"
    arguments: dict[str, Any] = field(default_factory=dict)


def groups(file: Path) -> list[Group]:
    """Return the groups of a file."""
    told = tomllib.loads(file.read_text("utf-8"))
    return [Group(**{"function": told.get("function")} | group) for group in told["group"]]


def value(found: Any, field: str, text: str) -> Any:
    """Return what a finding, or its qualifiers, has by a name; `words` are those that it spans."""
    if field == "words":
        return text[found.start : found.end]
    has = found if "." in field or hasattr(found, field) else found.qualifiers
    return attrgetter(field)(has)


def inner(value: Any) -> str:
    """Return a value within a line: lists between commas, of a record what is not empty."""
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if is_dataclass(value) and not isinstance(value, type):
        told = [(each.name, getattr(value, each.name)) for each in dataclass_fields(value)]
        return " | ".join(f"{name} {inner(each)}" for name, each in told if each not in EMPTY)
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return ", ".join(map(inner, value)) if isinstance(value, (list, tuple)) else str(value)


def one_line(found: Any) -> str:
    """Return one thing that was found: the fields of a tuple between bars."""
    return " | ".join(map(inner, found)).strip() if isinstance(found, tuple) else inner(found)


def lines(found: Any, fields: list[str], text: str = "") -> list[str]:
    """Return what a function found, a line for each thing."""
    if isinstance(found, Mapping):
        return [f"{key}: {inner(value)}" for key, value in found.items()]
    if isinstance(found, (set, frozenset)):
        found = sorted(found)
    is_record = hasattr(found, "_fields")  # a named tuple
    if is_record or not isinstance(found, (list, tuple, Iterator)):
        found = [found]
    if fields:
        found = [tuple(value(each, field, text) for field in fields) for each in found]
    return [one_line(each) for each in found]


def run(group: Group, text: str | list[Any]) -> list[str]:
    """Return what a group's function finds in the text of a case, or for its arguments."""
    function = VIEWS.get(group.function) or resolve_name(group.function)
    first, *more = [text] if isinstance(text, str) else text
    if isinstance(first, str):
        first = group.around.replace("{}", first)
    return lines(function(first, *more, **group.arguments), group.fields, first)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_case_finds_what_it_says(file: Path):
    """All that is found, in its order, and nothing else."""

    def check(group: Group, text: str | list[Any], expected: list[str]) -> None:
        found = run(group, text)
        assert found == expected, "\n".join(
            ["", "expected:", *(f"  {line}" for line in expected), "found:",
             *(f"  {line}" for line in found)]
        )  # fmt: skip

    each(check, ((group, text, expected) for group in groups(file)
                 for text, *expected in group.cases))  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_says_no_case_twice(file: Path):
    """Neither a group's name nor a text for the same function, fields and arguments."""
    told = groups(file)
    assert len({group.name for group in told}) == len(told)
    asked = [(repr(group), str(text)) for group in told for text, *_ in group.cases]
    assert len(set(asked)) == len(asked)
