"""Arguments of tools: fields of dataclasses, which pydantic checks when a tool is called.

Nothing is imported here that a command's help would wait for.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from kgrag.errors import KgragError, OutOfRangeError
from kgrag.text.messages import Message, message
from kgrag.types import Language

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from kgrag.retrieval.filter import Filter

_T = TypeVar("_T")
_ADAPTERS: "dict[type, TypeAdapter[Any]]" = {}
_LISTED = re.compile(r"[、，,；;\s]+")
_MOST_VALUES = 200  # of one argument
_SHOWN = 80  # characters of a name that there is not
_WRONG = {  # by pydantic's type of error
    "missing": "{where} is missing",
    "extra_forbidden": "there is no field {where}",
    "greater_than_equal": "{where} is at least {ge}",
    "less_than_equal": "{where} is at most {le}",
    "string_too_long": "{where} has at most {max_length} characters",
    "too_long": "{where} has at most {max_length} values",
    "literal_error": "{where} is one of {expected}",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "{where} is a whole number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "{where} is true or false"),
    "string_type": "{where} is a text",
    "json_invalid": "the request is no JSON: {error}",
    "value_error": "{where}: {error}",
}
_OTHER = "{where} is not of the kind that is expected"


def argument(english: str, chinese: str, *, default: Any = MISSING, **limits: Any) -> Any:
    """Declare an argument.

    Args:
        english: What it says, for help, OpenAPI and models.
        chinese: The same.
        default: The argument is required without one.
        **limits: Of `pydantic.Field`: `ge`, `le`, `max_length`; `listed` for names that a text may
            give divided by 、 or commas.
    """
    about = {"description": english, "title": chinese, **limits}
    return field(default=default, metadata=about)


def names(english: str, chinese: str, *, listed: bool = False) -> Any:
    """Declare an argument of several names; see `argument`."""
    return argument(english, chinese, default=(), max_length=_MOST_VALUES, listed=listed)


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Base of the arguments of tools; there are no others."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}
    lang: Language = argument(
        "Headings and notes in this language.", "列名和说明用这种语言。", default="zh"
    )


@dataclass(frozen=True, kw_only=True)
class Rows(Arguments):
    """Which rows of a table are given."""

    limit: int = argument(
        "Rows at most; 0 for all.", "最多几行；0 为全部。", default=0, ge=0, le=1_000_000
    )
    offset: int = argument("Rows left out before.", "略过前面几行。", default=0, ge=0, le=1_000_000)


@dataclass(frozen=True, kw_only=True)
class Within(Arguments):
    """Which documents are looked at; all conditions must hold, each with one of its values."""

    document: tuple[str, ...] = names(
        "Only this document: id, file, number, title or words of it.",
        "只限该文件：编号、路径、文号、标题或标题中的词。",
    )
    region: tuple[str, ...] = names(
        "Only documents about this place, a province with its cities; 全国 for those about none.",
        "只限有关该地区的文件，省含所辖市；“全国”指不涉及具体地区的文件。",
        listed=True,
    )
    kind: tuple[str, ...] = names(
        "Only documents whose title ends so: 通知, 意见, 实施方案.",
        "只限该文种，即标题以此结尾：通知、意见、实施方案。",
        listed=True,
    )
    year: str = argument(
        "Only issued in 2022, or 2020-2023, or in a year that is only inferred.",
        "只限 2022 年或 2020-2023 年印发的文件；年份仅为推断的也保留。",
        default="",
    )
    issuer: tuple[str, ...] = names(
        "Only by this organ: 四川省人民政府, or words of its name: '四川 生态环境厅'.",
        "只限该机关印发的文件：四川省人民政府；或机关名称中的词：“四川 生态环境厅”。",
    )
    in_force: bool = argument(
        "Only what is in force on the day; what has no date is kept.",
        "只限现行有效的文件，以今日或所问日期为准；日期不明的保留。",
        default=False,
    )

    def __post_init__(self) -> None:
        """Raise OutOfRangeError if years or a day are none."""
        from kgrag.retrieval.filter import parse_years
        from kgrag.text.as_of import parse_as_of

        for name, parse in (("year", parse_years), ("due", parse_years), ("as_of", parse_as_of)):
            if text := getattr(self, name, ""):
                parse(text)

    @property
    def filter(self) -> "Filter | None":
        """The filter; None without conditions."""
        from kgrag.retrieval.filter import Filter, parse_years

        wanted = Filter(
            documents=self.document,
            regions=self.region,
            kinds=self.kind,
            years=parse_years(self.year) if self.year else None,
            issuers=self.issuer,
            in_force=self.in_force,
        )
        return wanted or None


@dataclass(frozen=True, kw_only=True)
class Dated(Within):
    """Which documents are looked at, and at which day they stand."""

    as_of: str = argument(
        "As of 2022, 2022-03 or 2022-03-05 (of a year or month its last day): later documents are "
        "left out, and what was not in force then is marked; today by default.",
        "以某日为准，如 2022、2022-03 或 2022-03-05（年、月取其最后一天）：此后印发的文件不列，"
        "当时无效的加注；默认为今天。",
        default="",
    )

    @property
    def day(self) -> str | None:
        """The day in ISO 8601; None for today."""
        from kgrag.text.as_of import parse_as_of

        return parse_as_of(self.as_of) if self.as_of else None


def adapter(kind: type) -> "TypeAdapter[Any]":
    """Return what checks values of a type, and knows its JSON schema."""
    if kind not in _ADAPTERS:
        from pydantic import TypeAdapter

        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def parameters(kind: type) -> dict[str, tuple[Any, Any]]:
    """Return the fields of a dataclass with their types: required ones, its own, then others."""
    types = get_type_hints(kind)
    own = kind.__annotations__
    ordered = sorted(fields(kind), key=lambda f: (f.default is not MISSING, f.name not in own))
    return {one.name: (one, types[one.name]) for one in ordered}


def check_names(known: Iterable[str], given: Iterable[str]) -> None:
    """Raise OutOfRangeError for an argument that there is not: ignored, all rows would be shown."""
    from kgrag.store.likeness import not_called

    for name in sorted({*given} - {*known}):
        raise OutOfRangeError(not_called(message("condition"), name[:_SHOWN], {*known}).args[0])


def checked(kind: type[_T], given: Mapping[str, object]) -> _T:
    """Return values as a dataclass; None, and an empty text for a default, count as not given.

    Args:
        kind: The dataclass.
        given: By name. A text for several names is divided; a number may stand for a text.

    Raises:
        OutOfRangeError: If there is no such argument, or a value is not allowed.
    """
    known = parameters(kind)
    check_names(known, given)
    values = {name: _plain(value, *known[name]) for name, value in given.items()}
    return adapted(
        kind, {name: v for name, v in values.items() if not _is_empty(v, known[name][0].default)}
    )


def _is_empty(value: object, default: object) -> bool:
    """Return whether a value counts as not given; where the default is None, a text never does."""
    is_blank = isinstance(value, str) and not value.strip() and default is not None
    return value is None or value == () or is_blank


def adapted(kind: type[_T], value: object) -> _T:
    """Return a value, or JSON in bytes, as a type.

    Raises:
        OutOfRangeError: If it is not one.
    """
    from pydantic import ValidationError

    try:
        known = adapter(kind)
        made: _T = (
            known.validate_json(value) if isinstance(value, bytes) else known.validate_python(value)
        )
    except ValidationError as exc:
        raise OutOfRangeError(_what_is_wrong(exc)) from exc
    return made


def _plain(value: object, declared: Any, kind: Any) -> object:
    """Return a value as it is checked: several names as a tuple, a number for a text as text."""
    if get_origin(kind) is tuple and isinstance(value, str | list | tuple):
        several = _several(value, is_listed=declared.metadata.get("listed", False))
        of_text = getattr(get_args(kind)[0], "of_text", None)
        return tuple(of_text(v) if of_text and isinstance(v, str) else v for v in several)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if kind is str and is_number else value  # a year


def _several(value: str | Sequence[object], *, is_listed: bool) -> tuple[object, ...]:
    several: Sequence[object] = (value,) if isinstance(value, str) else value
    if is_listed:
        told = ((_LISTED.split(str(v)) if isinstance(v, str | int) else [v]) for v in several)
        several = [*chain.from_iterable(told)]
    return tuple(one for one in several if not isinstance(one, str) or one.strip())


def _what_is_wrong(exc: Any) -> Message:
    """Return the first error of pydantic in words, without what was given."""
    error: Any = exc.errors(include_input=False, include_url=False)[0]
    ours = error.get("ctx", {}) | {"where": ".".join(map(str, error["loc"]))}
    if isinstance(cause := ours.get("error"), KgragError) and not error["loc"]:
        return message("{error}", error=cause)
    return message(_WRONG.get(error["type"], _OTHER), **{"error": error["msg"]} | ours)
