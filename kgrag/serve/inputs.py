"""What requests may ask for, checked with pydantic."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, Literal, Self, TypeVar, get_origin
from urllib.parse import parse_qsl, urlencode

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import ClientDisconnect, Request

from kgrag.answering.follow_up import Turn
from kgrag.config import Template, VerifyMethod, Writer
from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.retrieval.filter import Filter, parse_years
from kgrag.statements.compare import By
from kgrag.statements.digest import Part
from kgrag.statements.timeline import Event
from kgrag.store.likeness import not_called
from kgrag.text.as_of import parse_as_of
from kgrag.text.messages import Message, message

_G = TypeVar("_G", bound="Given")
_MOST_BYTES = 1_000_000  # of a request
_BODY_S = 20  # within which it is sent
_MOST_VALUES = 200  # of one condition
_MOST_TURNS = 20

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

_Words = tuple[str, ...]
_Form = Literal["json", "xlsx", "csv", "docx", "html"]


class Given(BaseModel):
    """Base of requests: unknown fields are refused, empty ones count as not given.

    Attributes:
        is_kept: Whether the response depends on them and the state of the knowledge base only.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    is_kept: ClassVar[bool] = False

    @classmethod
    def check_names(cls, names: Iterable[str], others: Iterable[str] = ()) -> None:
        """Raise OutOfRangeError for a field that there is not: ignored, all rows would be shown.

        `lang` is of every page, and assistants add `utm_source` to the links that they show.
        """
        known = {*cls.model_fields, *others, "lang"}
        for name in sorted(n for n in {*names} - known if not n.startswith("utm_")):
            raise OutOfRangeError(not_called(message("condition"), name, known).args[0])

    @classmethod
    def of_pairs(cls, pairs: ImmutableMultiDict[str, str]) -> Self:
        """Return it from the fields of a query or form.

        Raises:
            OutOfRangeError: If there is no such field.
        """
        cls.check_names(pairs)
        values: dict[str, object] = {}
        for name, field in cls.model_fields.items():
            given = [value.strip() for value in pairs.getlist(name) if value.strip()]
            if given:
                values[name] = given if get_origin(field.annotation) is tuple else given[-1]
        return cls.model_validate(values)


class Panel(Given):
    """A page, or with `panel` the part of it that is put in another one."""

    panel: str = ""


class Within(Given):
    """Which documents are looked at."""

    documents: _Words = Field(
        default=(), max_length=_MOST_VALUES, description="Ids, file names or titles."
    )
    regions: _Words = Field(
        default=(), max_length=_MOST_VALUES, description="Places: 四川省; 全国."
    )
    kinds: _Words = Field(
        default=(), max_length=_MOST_VALUES, description="Endings of titles: 实施方案."
    )
    issuers: _Words = Field(
        default=(), max_length=_MOST_VALUES, description="Organs, or words of their names."
    )
    in_force: bool = Field(default=False, description="Only what is in force, or undated.")
    years: str = Field(default="", description="Of issue: 2022, 2020-2023.")
    as_of: str = Field(
        default="", description="A day as 2022, 2022-03 or 2022-03-05; today by default."
    )

    @field_validator("years", "due", check_fields=False)  # `due` is of tables
    @classmethod
    def _years(cls, text: str) -> str:
        if text:
            parse_years(text)
        return text

    @field_validator("as_of")
    @classmethod
    def _day(cls, text: str) -> str:
        return parse_as_of(text) if text else ""

    @property
    def filter(self) -> Filter | None:
        """The filter; None without conditions."""
        years = parse_years(self.years) if self.years else None
        wanted = Filter(
            documents=self.documents,
            regions=self.regions,
            kinds=self.kinds,
            years=years,
            issuers=self.issuers,
            in_force=self.in_force,
        )
        return wanted or None


class Searched(Within):
    """A search."""

    question: str = Field(max_length=MOST_QUESTION_CHARS)
    top_k: int = Field(default=10, ge=1, le=200)
    system: str = Field(default="", description="Retrieval preset; the configured one by default.")

    @property
    def options(self) -> dict[str, Any]:
        """Return how is searched."""
        day, system = self.as_of or None, self.system or None
        return {"system": system, "top_k": self.top_k, "within": self.filter, "as_of": day}


class Turned(Given):
    """An earlier question with its answer."""

    question: str = Field(max_length=MOST_QUESTION_CHARS)
    answer: str = Field(default="", max_length=100_000)
    cited: tuple[str, ...] = Field(
        default=(), max_length=200, description="Titles of the documents that the answer cites."
    )


class Asked(Within):
    """A question to be answered."""

    question: str = Field(max_length=MOST_QUESTION_CHARS)
    top_k: int | None = Field(default=None, ge=1, le=200)
    system: str = ""
    writer: Writer | None = None
    template: Template | None = None
    verify: VerifyMethod | None = None
    max_sentences: int | None = Field(default=None, ge=1, le=200)
    history: tuple[Turned, ...] = Field(
        default=(), max_length=_MOST_TURNS, description="Oldest first."
    )

    def address(self, question: str) -> str:
        """Return the query by which a question is asked so without the ones before it."""
        told = self.model_dump(
            include={*Asked.model_fields}, exclude={"history"}, exclude_defaults=True
        )
        return urlencode(told | {"question": question}, doseq=True)

    @property
    def turns(self) -> list[Turn]:
        """Return the earlier questions."""
        return [Turn(turn.question, turn.answer, turn.cited) for turn in self.history]


class Placed(Given):
    """How much is shown around a place."""

    paragraphs: int = Field(default=1, ge=0, le=100, description="Before and behind.")


class Listed(Within):
    """A list of documents."""

    is_kept = True
    words: str = Field(default="", description="In the title, number, issuer or file.")
    status: str = Field(default="", description="in_force, repealed, draft …")


class Tabled(Within):
    """A table, which has some of the conditions.

    Attributes:
        forms: The conditions in the form of each table.
    """

    is_kept = True
    forms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "targets": ("indicator", "places", "due", "standing"),
        "compare": ("indicator", "by", "places", "due", "standing"),
        "duties": ("organ", "role"),
        "timeline": ("indicator", "places", "since", "until"),
        "conflicts": ("indicator", "places", "due"),
        "cites": ("document",),
        "cited_by": ("document",),
        "basis": ("document",),
        "digest": ("old", "new"),
    }
    indicator: str = ""
    places: _Words = ()
    due: str = Field(default="", description="Years of figures: 2025, 2025-2030.")
    standing: Literal["", "planned", "achieved"] = ""
    by: By = "province"
    organ: str = ""
    role: Literal["", "牵头", "负责", "配合"] = ""
    document: str = ""
    hops: int = Field(default=3, ge=1, le=20)
    since: str = ""
    until: str = ""
    events: tuple[Event, ...] = ()
    old: str = ""
    new: str = ""
    parts: tuple[Part, ...] = ()
    form: _Form = "json"

    @field_validator("places")
    @classmethod
    def _places(cls, given: _Words) -> _Words:
        return tuple(name for text in given for name in re.split("[、，,；\\s]+", text) if name)

    def check_table(self, name: str) -> None:
        """Raise an error for a table, or a condition of it, that there is not.

        Raises:
            NotFoundError: If there is none of this name.
            OutOfRangeError: If it has no such condition.
        """
        if name not in self.forms:
            raise NotFoundError(
                message(
                    "no table is called {name!r}: {names}", name=name, names=", ".join(self.forms)
                )
            )
        known = {"form", *self.forms[name], *_BESIDES.get(name, ())}
        Given.check_names(self.model_fields_set, known)

    @property
    def due_years(self) -> tuple[int, int] | None:
        """Return the first and last year of figures."""
        return parse_years(self.due) if self.due else None

    @property
    def figures(self) -> dict[str, Any]:
        """Return which figures a table is of."""
        return {
            "regions": self.places,
            "years": self.due_years,
            "standing": self.standing,
            "within": self.filter,
        }


_SELECTED = {*Within.model_fields} - {"as_of"}  # tables are of today
# Conditions of tables that are not in their forms, or in another part of it.
_BESIDES: Mapping[str, Collection[str]] = {
    **dict.fromkeys(("targets", "compare", "duties", "conflicts"), _SELECTED),
    "timeline": {*_SELECTED, "events"},
    "basis": {"hops"},
    "digest": {"parts"},
}


class Around(Given):
    """The neighbourhood of an entity."""

    is_kept = True
    name: str = Field(max_length=MOST_QUESTION_CHARS)
    hops: int = Field(default=1, ge=1, le=3)
    limit: int = Field(default=60, ge=1, le=1000)


async def read(kind: type[_G], request: Request) -> _G:
    """Return what a request asks for: JSON, a form, or the query's fields.

    Raises:
        OutOfRangeError: If it is too long, or something in it is not allowed.
    """
    if request.method in ("GET", "DELETE"):
        return _checked(kind, request.query_params)
    body = await body_of(request)
    try:
        media = request.headers.get("content-type", "")
        if not body or media.startswith("application/x-www-form-urlencoded"):
            pairs = parse_qsl(body.decode("utf-8", "replace"), max_num_fields=1000)
            return _checked(kind, ImmutableMultiDict(pairs))
        return kind.model_validate_json(body)
    except ValidationError as exc:
        raise OutOfRangeError(_what_is_wrong(exc)) from exc
    except ValueError as exc:  # too many fields
        raise OutOfRangeError(str(exc)) from exc


def _checked(kind: type[_G], pairs: ImmutableMultiDict[str, str]) -> _G:
    """Return what the fields of a query or form ask for.

    Raises:
        OutOfRangeError: If something in it is not allowed.
    """
    try:
        return kind.of_pairs(pairs)
    except ValidationError as exc:
        raise OutOfRangeError(_what_is_wrong(exc)) from exc


async def body_of(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        OutOfRangeError: If it has more than `_MOST_BYTES`, or does not arrive within `_BODY_S`.
    """
    body = bytearray()
    try:
        with anyio.fail_after(_BODY_S):
            async for part in request.stream():
                body += part
                if len(body) > _MOST_BYTES:
                    raise OutOfRangeError(f"a request has at most {_MOST_BYTES:,} bytes")
    except (TimeoutError, ClientDisconnect) as exc:
        raise OutOfRangeError("a request is sent whole, within {n} s", n=_BODY_S) from exc
    return bytes(body)


def _what_is_wrong(exc: ValidationError) -> Message:
    """Return the first error of a request in words, without what it said."""
    error: Any = exc.errors(include_input=False, include_url=False)[0]
    ours = error.get("ctx", {}) | {"where": ".".join(map(str, error["loc"]))}
    return message(_WRONG.get(error["type"], _OTHER), **{"error": error["msg"]} | ours)
