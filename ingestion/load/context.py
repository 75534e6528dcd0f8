"""The context in which a file is read: whether pictures are recognised, who hears of progress."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kgrag.config import Ocr

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Box


Pages = Callable[[int, int], object]  # called with (page, of how many)


class Number(NamedTuple):
    """A number that was read surely, and the box of its line or part of a line."""

    text: str
    box: "Box"


class Scan(NamedTuple):
    """A page to be shown: its number, text as read, its sure numbers, and its picture."""

    page: int
    text: str
    numbers: tuple[Number, ...]
    jpeg: bytes = b""


@dataclass(frozen=True, slots=True)
class Seeing:
    """Pages of a file in Markdown, by number, as a vision model read them, and remarks on them.

    Where pages are `wanted`, readers of formats show those that they cannot read well.
    """

    read: Mapping[int, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    wanted: bool = False
    scans: list[Scan] = field(default_factory=list)


_choice: ContextVar[tuple[Ocr, Seeing]] = ContextVar("ocr", default=("auto", Seeing()))
_listener: Pages = max  # does nothing


@contextmanager
def ocr_is(choice: Ocr, sight: Seeing | None = None) -> Iterator[None]:
    """Have files read within recognise pictures (`auto`, if the extra is installed) or not.

    With `sight` they take pages as vision models read them, and show others if it wants them.
    """
    token = _choice.set((choice, sight or Seeing()))
    try:
        yield
    finally:
        _choice.reset(token)


def is_off() -> bool:
    """Return whether recognition of pictures is switched off."""
    return _choice.get()[0] == "off"


def seeing() -> Seeing:
    """Return what vision models read of the file, and want to read."""
    return _choice.get()[1]


def page_done(number: int = 0, of: int = 0) -> None:
    """Report that a page, of how many if known, or another step of reading a file is done.

    The time limit (`ingest.parse_seconds`) restarts here, so that it is for a page, not for a book.
    """
    _listener(number, of)


def listen(listener: Pages) -> None:
    """Call a function at each `page_done`, in place of the one before."""
    global _listener
    _listener = listener
