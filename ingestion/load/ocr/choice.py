"""Whether pages that are pictures are read: what the settings say, for the reading of a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kgrag.config import Ocr

_choice: ContextVar[Ocr] = ContextVar("ocr", default="auto")


@contextmanager
def ocr_is(choice: Ocr) -> Iterator[None]:
    """Have files read within read pictures or not.

    Args:
        choice: `auto` where the extra is installed, `off` nowhere.
    """
    token = _choice.set(choice)
    try:
        yield
    finally:
        _choice.reset(token)


def is_off() -> bool:
    """Return whether pictures are not to be read, though they could be."""
    return _choice.get() == "off"
