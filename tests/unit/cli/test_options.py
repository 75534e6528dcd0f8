import click
import pytest
from click.testing import CliRunner

from kgrag.cli.options import FilterOptions, command, option
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
