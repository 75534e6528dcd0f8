"""The options that hold a search to some documents."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kgrag.retrieval.filter import Filter

_OPTIONS = (
    click.option(
        "--doc",
        "documents",
        multiple=True,
        metavar="NAME",
        help="Only this document: id, file, file name or title.",
    ),
    click.option(
        "--region",
        "regions",
        multiple=True,
        metavar="PLACE",
        help="Only documents about this place, a province with its cities; 全国 for those about "
        "none.",
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="WORD",
        help="Only documents whose title ends so: 通知, 意见, 实施方案.",
    ),
    click.option("--year", "years", metavar="YEARS", help="Only issued in 2022, or 2020-2023."),
)


def filter_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add `--doc`, `--region`, `--kind` and `--year`; the command gets them as `within`.

    Each may be given more than once, but for the years; of one, any will do, and all must hold.
    """

    @functools.wraps(command)
    def with_filter(
        *args: object,
        documents: tuple[str, ...],
        regions: tuple[str, ...],
        kinds: tuple[str, ...],
        years: str | None,
        **options: object,
    ) -> object:
        within = _filter(documents, regions, kinds, years)
        return command(*args, within=within, **options)

    decorated: Callable[..., object] = with_filter
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _filter(
    documents: tuple[str, ...], regions: tuple[str, ...], kinds: tuple[str, ...], years: str | None
) -> "Filter | None":
    """Return the filter that options give; None where there are none.

    Raises:
        click.BadParameter: If the years are none.
    """
    if not (documents or regions or kinds or years):
        return None
    from kgrag.retrieval.filter import Filter, parse_years

    try:
        return Filter(documents, regions, kinds, parse_years(years) if years else None)
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="--year") from exc
