"""How every store words a query that it refuses or stops."""

from kgrag.errors import StatementError
from kgrag.text.visible import shortened

_SHOWN = 200  # characters of a query in a message


def shown(text: str) -> str:
    r"""Return a query on one line, cut.

    >>> shown("SELECT 1\n  FROM t")
    'SELECT 1 FROM t'
    """
    return shortened(text, _SHOWN)


def stopped(text: str, timeout_s: float, left: str = "") -> StatementError:
    """Return the error of a query that took too long.

    Args:
        text: The query.
        timeout_s: Seconds that it had.
        left: What goes on of it all the same.
    """
    told = (
        f"no answer after {timeout_s:g} s, and {left}" if left else f"stopped after {timeout_s:g} s"
    )
    return StatementError(f"{shown(text)}: {told}: ask for less, or allow more time")
