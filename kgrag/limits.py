"""Limits of arguments: lengths, numbers of results, times; and checks for damaged text."""

import math
import re

from kgrag.errors import GarbledTextError, OutOfRangeError
from kgrag.text.messages import Message, message

# 30,000 equal characters took 3 s to search, 100,000 took 30 s; a page of a policy has 1,000.
MOST_QUESTION_CHARS = 4000
MOST_RESULTS = 10_000  # chunks or facts
MOST_CHARS = 20_000  # of the clauses of an answer
MOST_HOPS = 20
MOST_ROWS = 1_000_000
MOST_SECONDS = 86_400.0
_SHOWN = 40

_HALF = re.compile("[\ud800-\udfff]")  # of a pair of UTF-16, or a byte that was not decoded
_PASSED_ON = message(
    "what passes it on knows too few characters: set PYTHONUTF8=1, or LC_ALL=C.UTF-8; in "
    "PowerShell set $OutputEncoding to UTF-8"
)


def checked_text(name: str, text: str) -> str:
    """Validate a question or another search text.

    Raises:
        OutOfRangeError: If it is longer than `MOST_QUESTION_CHARS`.
        GarbledTextError: If it was damaged before it arrived.

    >>> checked_text("question", "绿色工厂是什么？")
    '绿色工厂是什么？'
    """
    check_whole(name, text)
    if _is_lost(text):
        raise GarbledTextError(
            "the {name} arrived as {value!r}, with ? for what was written: {passed_on}",
            name=Message(name, {}),
            value=text[:_SHOWN],
            passed_on=_PASSED_ON,
        )
    if len(text) <= MOST_QUESTION_CHARS:
        return text
    raise OutOfRangeError(
        "the {name} has {n:,} characters ({value!r}…), at most {most:,} are read: shorten it, "
        "or ask in parts",
        name=Message(name, {}),
        n=len(text),
        value=text[:_SHOWN],
        most=MOST_QUESTION_CHARS,
    )


def check_whole(name: str, *texts: str) -> None:
    """Refuse texts with lone surrogates, which no store, model or file can represent.

    Raises:
        GarbledTextError: If there is one.
    """
    for text in texts:
        if _HALF.search(text):
            raise GarbledTextError(
                "the {name} holds half characters (U+D800 to U+DFFF), as here: {value}; "
                "{passed_on}",
                name=Message(name, {}),
                value=ascii(text[:_SHOWN]),
                passed_on=_PASSED_ON,
            )


def _is_lost(text: str) -> bool:
    """Return whether most of a text are replacement characters.

    >>> [_is_lost(text) for text in ("?2025??????????", "\ufffd\ufffd\ufffd国", "Why???", "?")]
    [True, True, False, False]
    """
    lost = text.count("\ufffd")
    if text.replace("\ufffd", "").isascii():
        lost += text.count("?")
    return lost > 1 and lost > sum(map(str.isalnum, text))


def checked_count(name: str, value: int, *, most: int, least: int = 1) -> int:
    """Validate a whole number.

    Args:
        name: Name of the argument.
        value: The number.
        most: Maximum.
        least: Minimum.

    Raises:
        OutOfRangeError: If it is not a whole number (`True` and 3.0 are not), or out of range.
    """
    if type(value) is int and least <= value <= most:
        return value
    raise OutOfRangeError(
        "{name} must be a whole number from {least} to {most}, got {value}",
        name=name,
        least=least,
        most=most,
        value=_shown(value),
    )


def checked_seconds(name: str, value: float) -> float:
    """Validate a time to wait.

    Raises:
        OutOfRangeError: If it is not a number above 0 and at most a day.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and math.isfinite(value) and 0 < value <= MOST_SECONDS:
        return value
    raise OutOfRangeError(
        "{name} must be seconds above 0, at most {most_seconds:g}, got {value}",
        name=name,
        most_seconds=MOST_SECONDS,
        value=_shown(value),
    )


def checked_results(top_k: int | None) -> int | None:
    """Validate `top_k`; None stays None.

    Raises:
        OutOfRangeError: As `checked_count`.
    """
    return None if top_k is None else checked_count("top_k", top_k, most=MOST_RESULTS)


def check_query(max_rows: int, timeout_s: float) -> None:
    """Validate the limits of a query.

    Raises:
        OutOfRangeError: As `checked_count` and `checked_seconds`.
    """
    checked_count("max_rows", max_rows, most=MOST_ROWS)
    checked_seconds("timeout_s", timeout_s)


def _shown(value: object) -> str:
    """Return a shortened repr; Python cannot print integers of more than 4,300 digits."""
    try:
        return repr(value)[:_SHOWN]
    except ValueError:
        return f"a number of type {type(value).__name__} with thousands of digits"
