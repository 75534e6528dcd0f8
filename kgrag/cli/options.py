"""Options of commands, each declared once: as a field of a dataclass, or a parameter.

    @dataclass(frozen=True, kw_only=True)
    class SearchOptions:
        kb: str = KB
        top_k: int = option("Results at most.", type=click.IntRange(1, 1000), default=10)

    @command()
    def search(ctx: click.Context, given: SearchOptions, as_json: bool = JSON) -> None:
        ...

The field's name is the option's (`--top-k`), and its type says how it is given: `bool` is a flag,
a tuple may be repeated, a `Literal` is a choice. Where the option is not given the field is None,
False, or an empty string, tuple or 0, unless it has a `default`, which help shows.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import click

from kgrag.cli.chinese import in_words
from kgrag.cli.client import ServedCommand

if TYPE_CHECKING:
    from kgrag.retrieval.filter import Filter

EXISTING = click.Path(exists=True, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True, eq=False)
class _Declared:
    """The click parameters of a field, given its name and type."""

    parameters: Callable[[str, Any], list[click.Parameter]]


def option(help: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare an option; `chinese.toml` has the Chinese help.

    `names` replace the name derived from the field's; `settings` are those of `click.Option` that
    the type does not determine.
    """

    def made(field: str, kind: Any) -> list[click.Parameter]:
        called = names or (f"--{field.replace('_', '-')}",)
        shown = {"show_default": True} if "default" in settings else {}
        return [
            click.Option(
                [*called, field], help=help, **_settings_of(kind, settings) | shown | settings
            )
        ]

    return _Declared(made)


def argument(**settings: Any) -> Any:
    """Declare an argument, with the settings of `click.Argument`; a tuple takes all."""

    def made(field: str, kind: Any) -> list[click.Parameter]:
        number = -1 if get_origin(kind) is tuple else 1
        return [click.Argument([field], nargs=number, **settings)]

    return _Declared(made)


def flags(**values: str) -> Any:
    """Declare a flag for each value of a field, with its help; the last one given counts."""
    return _Declared(
        lambda field, _: [
            click.Option([f"--{value}", field], flag_value=value, help=help)
            for value, help in values.items()
        ]
    )


def _settings_of(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an option that its field's type determines."""
    if kind is bool:
        return {"is_flag": True}
    if kind in (str, int):
        return {} if given.get("required") else {"default": kind()}
    settings: dict[str, Any] = {}
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    elif get_origin(kind) is tuple:
        settings["multiple"] = True
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        settings["type"] = click.Choice(get_args(kind))
    return settings


def command(
    name: str | None = None, *, under: click.Group | None = None, served: bool = False
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a function a command with the options of its parameters.

    It returns its exit code, or None for 0. The name is the function's by default; `under` is the
    command's group; `served` ones are run by a running `kgrag serve`, see `ServedCommand`.
    """

    def decorate(function: Callable[..., int | None]) -> click.Command:
        kind = ServedCommand if served else click.Command
        params = list(_parameters(function))
        made = click.command(name, kind, params=params)(_called_by_click(function))
        if under is not None:
            under.add_command(made)
        return made

    return decorate


def group(name: str | None = None) -> Callable[[Callable[..., None]], click.Group]:
    """Make a function a group that also runs without a command; see `command`."""

    def decorate(function: Callable[..., None]) -> click.Group:
        made = click.group(name, invoke_without_command=True, params=list(_parameters(function)))
        return made(_called_by_click(function))

    return decorate


def _parameters(function: Callable[..., object]) -> Iterator[click.Parameter]:
    """Yield the parameters that a function or dataclass declares, in order."""
    for name, parameter in inspect.signature(function).parameters.items():
        kind: Any = parameter.annotation
        if isinstance(parameter.default, _Declared):
            yield from parameter.default.parameters(name, kind)
        elif isinstance(kind, type) and is_dataclass(kind):
            yield from _parameters(kind)


def _called_by_click(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes click's values and builds the dataclasses."""

    @functools.wraps(function)
    def called(**values: object) -> Any:
        given: dict[str, object] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            kind: Any = parameter.annotation
            if kind is click.Context:
                given[name] = click.get_current_context()
            elif isinstance(kind, type) and is_dataclass(kind):
                given[name] = _called_by_click(kind)(**values)
            else:
                given[name] = values[name]
        return function(**given)

    return called


def year_span(
    _: click.Context, option: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    """Parse a range of years; a callback for click."""
    from kgrag.retrieval.filter import parse_years

    try:
        return parse_years(text) if text else None
    except ValueError as exc:
        raise click.BadParameter(in_words(exc), param_hint=option.opts[0]) from exc


def _day(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """Parse a day to ISO 8601; a callback for click."""
    from kgrag.text.as_of import parse_as_of

    try:
        return None if text is None else parse_as_of(text)
    except ValueError as exc:
        raise click.BadParameter(in_words(exc)) from exc


KB: Any = option(
    "Folder of the knowledge base, or its address: bolt://HOST:7687[#NAME], neo4j://….",
    default="kb",
    envvar="KGRAG_KB",
    show_envvar=True,
)
JSON: Any = option("Print JSON.", "--json")


def day(
    help: str = "As of 2022, 2022-03 or 2022-03-05 (of a year or month its last day): documents "
    "that were issued later are left out; those repealed, expired, replaced or drafts then come "
    "last, marked, unless the question quotes their title. Without it all are marked as of today.",
) -> Any:
    """Declare an option for a day in ISO 8601."""
    return option(help, metavar="DATE", callback=_day)


@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """Which documents to search; all options must match, each with one of its values."""

    documents: tuple[str, ...] = option(
        "Only this document: id, file, number, title or words of it.", "--doc", metavar="NAME"
    )
    regions: tuple[str, ...] = option(
        "Only documents about this place, a province with its cities; 全国 for those about none.",
        "--region",
        metavar="PLACE",
    )
    kinds: tuple[str, ...] = option(
        "Only documents whose title ends so: 通知, 意见, 实施方案.", "--kind", metavar="WORD"
    )
    years: tuple[int, int] | None = option(
        "Only issued in 2022, or 2020-2023, or in a year that is only inferred.",
        "--year",
        metavar="YEARS",
        callback=year_span,
    )
    issuers: tuple[str, ...] = option(
        "Only by this organ: 四川省人民政府, or words of its name: '四川 生态环境厅'.",
        "--issuer",
        metavar="AGENCY",
    )
    in_force: bool = option(
        "Only what is in force, today or as of the question's day; what has no date is kept."
    )

    @property
    def filter(self) -> "Filter | None":
        """The filter; None without options."""
        from kgrag.retrieval.filter import Filter

        wanted = Filter(
            self.documents,
            self.regions,
            self.kinds,
            self.years,
            issuers=self.issuers,
            in_force=self.in_force,
        )
        return wanted or None
