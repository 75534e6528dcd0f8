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
from dataclasses import MISSING, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import click

from kgrag.cli.chinese import in_words, translated
from kgrag.errors import OutOfRangeError
from kgrag.tools.arguments import Arguments, checked, parameters

_A = TypeVar("_A", bound=Arguments)

EXISTING = click.Path(exists=True, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def option(help: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare an option: what makes it of a field's name and type; `chinese.toml` has its Chinese.

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

    return made


def argument(**settings: Any) -> Any:
    """Declare an argument, with the settings of `click.Argument`; a tuple takes all."""

    def made(field: str, kind: Any) -> list[click.Parameter]:
        number = -1 if get_origin(kind) is tuple else 1
        return [click.Argument([field], nargs=number, **settings)]

    return made


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
        settings["type"] = click.Choice([value for value in get_args(kind) if value])
    return settings


def command(
    name: str | None = None, *, under: click.Group | None = None
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a function a command with the options of its parameters.

    It returns its exit code, or None for 0. The name is the function's by default; `under` is the
    command's group.
    """

    def decorate(function: Callable[..., int | None]) -> click.Command:
        params = list(_parameters(function))
        made = click.command(name, params=params)(_called_by_click(function))
        if under is not None:
            under.add_command(made)
        return made

    return decorate


def _parameters(function: Callable[..., object]) -> Iterator[click.Parameter]:
    """Yield the parameters that a function or dataclass declares, in order."""
    for name, parameter in inspect.signature(function).parameters.items():
        kind: Any = parameter.annotation
        if callable(parameter.default) and parameter.default is not parameter.empty:
            yield from parameter.default(name, kind)
        elif isinstance(kind, type) and issubclass(kind, Arguments):
            yield from parameters_of(kind)
        elif isinstance(kind, type) and is_dataclass(kind):
            yield from _parameters(kind)


def parameters_of(kind: type[Arguments]) -> Iterator[click.Parameter]:
    """Yield the parameters of a command for the arguments of a tool.

    A text that is required is given without a name.
    """
    for name, (field, kind_) in parameters(kind).items():
        about, is_required = field.metadata, field.default is MISSING
        told = translated(about["description"], about["title"])
        if name == "lang":
            yield click.Option(["--english", "lang"], flag_value="en", help=told)
        elif is_required and kind_ is str:
            yield click.Argument([name])
        elif about.get("placed"):
            yield click.Argument([name], required=False, default="")
        elif not is_dataclass(of := next(iter(get_args(kind_)), None)) or hasattr(of, "of_text"):
            shown: dict[str, Any] = {"required": is_required} if is_required else {}
            if isinstance(field.default, int) and field.default and kind_ is not bool:
                shown = {"default": field.default, "show_default": True}
            yield click.Option(
                [f"--{name.replace('_', '-')}", name],
                help=told,
                **{"default": None}
                | _settings_of(kind_, {"required": True})
                | _range(about)
                | shown,
            )


def _range(about: Mapping[str, Any]) -> dict[str, Any]:
    limited = "ge" in about or "le" in about
    return {"type": click.IntRange(about.get("ge"), about.get("le"))} if limited else {}


def given_to(kind: type[_A], values: Mapping[str, object]) -> _A:
    """Return what a command was given as the arguments of a tool.

    Raises:
        UsageError: If something in it is not allowed.
    """
    known = parameters(kind)
    try:
        return checked(kind, {name: value for name, value in values.items() if name in known})
    except OutOfRangeError as exc:
        raise click.UsageError(in_words(exc)) from exc


def _called_by_click(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes click's values and builds the dataclasses."""

    @functools.wraps(function)
    def called(**values: object) -> Any:
        given: dict[str, object] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            kind: Any = parameter.annotation
            if kind is click.Context:
                given[name] = click.get_current_context()
            elif isinstance(kind, type) and issubclass(kind, Arguments):
                given[name] = given_to(kind, values)
            elif isinstance(kind, type) and is_dataclass(kind):
                given[name] = _called_by_click(kind)(**values)
            else:
                given[name] = values[name]
        return function(**given)

    return called


KB: Any = option(
    "Folder of the knowledge base, or its address: bolt://HOST:7687[#NAME], neo4j://….",
    default="kb",
    envvar="KGRAG_KB",
    show_envvar=True,
)
JSON: Any = option("Print JSON.", "--json")
