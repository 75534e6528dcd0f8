"""Where the command of this thread prints: here, or for a client of `kgrag serve`."""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.types import Language

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase


@dataclass(frozen=True, kw_only=True)
class Outlet:
    """The client that a command is run for, which prints what the command prints.

    Attributes:
        base: The knowledge base that the command opens.
        write: Called with what is printed, whether to stderr, and whether dimmed.
        encoding: Of the client's stdout.
        terminal: Whether the client's stderr is a terminal.
        language: Of the client.
    """

    base: "KnowledgeBase"
    write: Callable[[str, bool, bool], None]
    encoding: str
    terminal: bool
    language: Language


OUTLET: ContextVar[Outlet | None] = ContextVar("outlet", default=None)


def encoding_of(*, err: bool) -> str:
    """Return the encoding of what is printed; of a client, that of its stdout."""
    if outlet := OUTLET.get():
        return outlet.encoding
    return getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
