"""What a caller may ask for at most: how long a question is, how many results, how long to wait."""

import math

from kgrag.errors import OutOfRangeError

# 30,000 equal characters took 3 s to search, 100,000 took 30 s; a page of a policy has 1,000.
MOST_QUESTION_CHARS = 4000
MOST_RESULTS = 10_000  # chunks or facts
MOST_HOPS = 20
MOST_ROWS = 1_000_000
MOST_SECONDS = 86_400.0
_SHOWN = 40


def checked_text(name: str, text: str) -> str:
    """Return a question, or another text that is searched for.

    Raises:
        OutOfRangeError: If it is longer than `MOST_QUESTION_CHARS`.

    >>> checked_text("question", "绿色工厂是什么？")
    '绿色工厂是什么？'
    """
    if len(text) <= MOST_QUESTION_CHARS:
        return text
    raise OutOfRangeError(
        f"the {name} has {len(text):,} characters ({text[:_SHOWN]!r}…), at most "
        f"{MOST_QUESTION_CHARS:,} are read: shorten it, or ask in parts"
    )


def checked_count(name: str, value: int, *, most: int, least: int = 1) -> int:
    """Return a whole number.

    Args:
        name: What it is of, as the caller knows it.
        value: The number.
        most: The largest that is allowed.
        least: The smallest.

    Raises:
        OutOfRangeError: If it is no whole number (`True` is none, nor is 3.0), or outside.
    """
    if type(value) is int and least <= value <= most:
        return value
    raise OutOfRangeError(
        f"{name} must be a whole number from {least} to {most}, got {_shown(value)}"
    )


def checked_seconds(name: str, value: float) -> float:
    """Return a time to wait.

    Raises:
        OutOfRangeError: If it is no number, not above 0, or longer than a day.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and math.isfinite(value) and 0 < value <= MOST_SECONDS:
        return value
    raise OutOfRangeError(
        f"{name} must be seconds above 0, at most {MOST_SECONDS:g}, got {_shown(value)}"
    )


def checked_results(top_k: int | None) -> int | None:
    """Return how many results are asked for; None where nobody says.

    Raises:
        OutOfRangeError: As `checked_count`.
    """
    return None if top_k is None else checked_count("top_k", top_k, most=MOST_RESULTS)


def check_query(max_rows: int, timeout_s: float) -> None:
    """Check how much a query may return, and how long it may take.

    Raises:
        OutOfRangeError: As `checked_count` and `checked_seconds`.
    """
    checked_count("max_rows", max_rows, most=MOST_ROWS)
    checked_seconds("timeout_s", timeout_s)


def _shown(value: object) -> str:
    """Return a value, shortened; Python writes no number of more than 4,300 digits."""
    try:
        return repr(value)[:_SHOWN]
    except ValueError:
        return f"a number of type {type(value).__name__} with thousands of digits"
