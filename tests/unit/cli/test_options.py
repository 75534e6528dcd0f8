import click
import pytest
from click.testing import CliRunner

from kgrag.cli.options import filter_options
from kgrag.retrieval.filter import Filter


@click.command()
@filter_options
@click.option("--other")
@click.pass_context
def command(ctx, within, other):
    """Print what the options gave."""
    click.echo(f"{within!r} {other} {ctx.info_name}")


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
    result = CliRunner().invoke(command, [*arguments, "--other", "x"])
    assert result.output == f"{within!r} x command\n"


def test_filter_options_when_years_are_none_is_a_usage_error():
    """It says how they are given."""
    result = CliRunner().invoke(command, ["--year", "soon"])
    assert result.exit_code == 2
    assert "2022 or 2020-2023, got 'soon'" in result.output
