from dataclasses import dataclass
from typing import Literal

import click
import pytest
from click.testing import CliRunner

from kgrag.cli.options import FilterOptions, argument, command, flags, option
from kgrag.retrieval.filter import Filter


@command("command")
def shown(ctx: click.Context, only: FilterOptions, other: str | None = option()) -> None:
    """Print what the options gave."""
    click.echo(f"{only.filter!r} {other} {ctx.info_name}")


@pytest.mark.parametrize(
    ("arguments", "within"),
    [
        ([], None),
        (["--doc", "a", "--doc", "b"], Filter(documents=("a", "b"))),
        (["--region", "云岭", "--kind", "方案"], Filter(regions=("云岭",), kinds=("方案",))),
        (["--year", "2022"], Filter(years=(2022, 2022))),
        (["--year", "2020-2023"], Filter(years=(2020, 2023))),
    ],
)
def test_filter_options_make_one_filter(arguments, within):
    """Whatever stands around them; none where nothing is given."""
    result = CliRunner().invoke(shown, [*arguments, "--other", "x"])
    assert result.output == f"{within!r} x command\n"


def test_filter_options_when_years_are_none_is_a_usage_error():
    """It says how they are given."""
    result = CliRunner().invoke(shown, ["--year", "soon"])
    assert result.exit_code == 2
    assert "2022 or 2020-2023, got 'soon'" in result.output


@dataclass(frozen=True, kw_only=True)
class Given:
    """One option of each type."""

    max_words: int = option("At most.", default=3)
    name: str = option()
    only_new: bool = option()
    tags: tuple[Literal["a", "b"], ...] = option(None, "--tag")
    kind: Literal["x", "y"] | None = option()
    state: str | None = flags(planned="Aims.", achieved="Results.")


@command()
def typed(given: Given, files: tuple[str, ...] = argument()) -> int:
    """Print what was given."""
    click.echo(f"{given} {files}")
    return 1


@pytest.mark.parametrize(
    ("words", "given", "files"),
    [
        ("", (3, "", False, (), None, None), ()),
        ("f g --max-words 5 --name n", (5, "n", False, (), None, None), ("f", "g")),
        ("--only-new --tag b --tag a --kind x", (3, "", True, ("b", "a"), "x", None), ()),
        ("--achieved --planned", (3, "", False, (), None, "planned"), ()),
    ],
)
def test_name_and_type_of_a_field_say_how_it_is_given(words, given, files):
    names = ("max_words", "name", "only_new", "tags", "kind", "state")
    expected = Given(**dict(zip(names, given, strict=True)))
    assert CliRunner().invoke(typed, words).output == f"{expected} {files}\n"


def test_help_shows_a_default_and_the_choices():
    shown = CliRunner().invoke(typed, "--help").output
    assert "--max-words INTEGER  At most.  [default: 3]" in shown
    assert "--kind [x|y]" in shown
    assert "[default: ]" not in shown
