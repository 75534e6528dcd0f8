"""What requests ask for: fields of a query or form, or JSON, checked as arguments of tools are."""

import json
from collections.abc import Collection
from typing import TypeVar, get_origin
from urllib.parse import parse_qsl

import anyio
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import ClientDisconnect, Request

from kgrag.errors import OutOfRangeError
from kgrag.text.messages import message
from kgrag.tools.arguments import Arguments, adapted, check_names, checked, parameters
from kgrag.types import Language

_T = TypeVar("_T")
_MOST_BYTES = 1_000_000  # of a request
_BODY_S = 20  # within which it is sent


async def read(kind: type[_T], request: Request, language: Language = "zh") -> _T:
    """Return what a request asks for.

    Args:
        kind: Arguments, or a model of pydantic whose JSON is taken as it is.
        request: Its fields are in the query, or in the body of a POST, as JSON or as a form.
        language: Of what is shown.

    Raises:
        OutOfRangeError: If it is too long, or something in it is not allowed.
    """
    if request.method != "POST":
        return of_pairs(kind, request.query_params, language)
    check_pairs((), request.query_params)  # its fields are in its body
    body = await body_of(request)
    media = request.headers.get("content-type", "")
    if not body or media.startswith("application/x-www-form-urlencoded"):
        try:
            pairs = parse_qsl(body.decode("utf-8", "replace"), max_num_fields=1000)
        except ValueError as exc:  # too many fields
            raise OutOfRangeError(str(exc)) from exc
        return of_pairs(kind, ImmutableMultiDict(pairs), language)
    if not issubclass(kind, Arguments):
        return adapted(kind, body)
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise OutOfRangeError("the request is no JSON: {error}", error=exc) from exc
    if not isinstance(given, dict):
        raise OutOfRangeError("{where} is not of the kind that is expected", where="JSON")
    return checked(kind, {"lang": language} | given)


def of_pairs(kind: type[_T], pairs: ImmutableMultiDict[str, str], language: Language) -> _T:
    """Return what the fields of a query or form ask for; empty ones count as not given.

    Raises:
        OutOfRangeError: If something in it is not allowed.
    """
    known = parameters(kind)
    check_pairs(known, pairs)
    values: dict[str, object] = {"lang": language} if "lang" in known else {}
    for name in known.keys() - {"lang"}:
        given, are_several = pairs.getlist(name), get_origin(known[name][1]) is tuple
        lines = [line for text in given for line in (text.splitlines() if are_several else [text])]
        if said := [line.strip() for line in lines if line.strip()]:
            values[name] = said if are_several else said[-1]
    return checked(kind, values)


def check_pairs(known: Collection[str], pairs: ImmutableMultiDict[str, str]) -> None:
    """Raise OutOfRangeError for a field that there is not.

    `lang` is of every page, and assistants add `utm_source` to the links that they show.
    """
    check_names({*known, "lang"}, [name for name in pairs if not name.startswith("utm_")])


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
        raise OutOfRangeError(message("a request is sent whole, within {n} s", n=_BODY_S)) from exc
    return bytes(body)
