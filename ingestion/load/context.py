"""The context in which a file is read: whether pictures are recognised, who hears of progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kgrag.config import Ocr

_choice: ContextVar[Ocr] = ContextVar("ocr", default="auto")
_listener: Callable[[], object] = bool  # does nothing


@contextmanager
def ocr_is(choice: Ocr) -> Iterator[None]:
    """Have files read within recognise pictures (`auto`, if the extra is installed) or not."""
    token = _choice.set(choice)
    try:
        yield
    finally:
        _choice.reset(token)


def is_off() -> bool:
    """Return whether recognition of pictures is switched off."""
    return _choice.get() == "off"


def page_done() -> None:
    """Report that a page, or another step of reading a file, is done.

    The time limit (`ingest.parse_seconds`) restarts here, so that it is for a page, not for a book.
    """
    _listener()


def listen(listener: Callable[[], object]) -> None:
    """Call a function at each `page_done`, in place of the one before."""
    global _listener
    _listener = listener
