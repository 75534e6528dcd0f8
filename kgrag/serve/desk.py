"""A knowledge base that many ask at once: work runs in threads, so much at a time."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, partial
from typing import TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kgrag.api import KnowledgeBase
from kgrag.errors import BusyError, KgragError
from kgrag.status import Status
from kgrag.tables.overview import Facet, FacetValue, facets
from kgrag.text.visible import json_line
from kgrag.types import Document, Language

_T = TypeVar("_T")
Emit = Callable[[str, Mapping[str, object] | str], None]  # sends an event: its name and data
AT_ONCE, WAITING = 4, 60


@dataclass(frozen=True, slots=True)
class Known:
    """What is held, without texts.

    Attributes:
        cards: Documents by id, ordered by file.
        statuses: Of them today.
        facets: Values by which they are filtered, with the number of documents of each.
    """

    cards: Mapping[str, Document]
    statuses: Mapping[str, Status]
    facets: Mapping[Facet, Sequence[FacetValue]]


@dataclass
class Desk:
    """A served knowledge base.

    Attributes:
        base: It; whoever opened it closes it.
        name: By which it is called where several are served.
        language: Of pages, unless the user chose another one.
        writable: Whether corrections and documents are accepted.
        at_once: Requests that are worked on at the same time.
        waiting: Requests that may wait besides; more are refused.
    """

    base: KnowledgeBase
    name: str = "kgrag"
    language: Language = "zh"
    writable: bool = False
    at_once: int = AT_ONCE
    waiting: int = WAITING
    _known: tuple[tuple[int, date], Known] | None = field(default=None, init=False, repr=False)

    @cached_property
    def _limiter(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self.at_once)

    def known(self) -> Known:
        """Return what is held; it is read again when it has changed, and on another day."""
        now = self.base.store.change_counter(), date.today()
        kept = self._known
        if kept is None or kept[0] != now:
            cards, statuses = self.base.documents(), self.base.statuses()
            by_id = {card.doc_id: card for card in cards if card.doc_id in statuses}
            known = Known(by_id, statuses, facets(list(by_id.values()), statuses))
            self._known = kept = now, known
        return kept[1]

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return the result of work that blocks.

        Raises:
            BusyError: If too many wait already.
        """
        self.check_busy()
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    @property
    def n_waiting(self) -> int:
        """Return how many requests wait."""
        return self._limiter.statistics().tasks_waiting

    def check_busy(self) -> None:
        """Raise a BusyError if too many wait already."""
        if self.n_waiting >= self.waiting:
            n = self.at_once + self.waiting
            raise BusyError(f"{n} requests are being worked on already: try again shortly")


class _GoneError(Exception):
    """The reader does not wait any more."""


class EventStream(Response):
    """Server-sent events (WHATWG HTML, 9.2) of work in a thread, which ends if the reader leaves.

    An error of kgrag is the last event, `error`.
    """

    media_type = "text/event-stream"

    def __init__(self, desk: Desk, work: Callable[[Emit], None]) -> None:
        """Initialise.

        Args:
            desk: Where it is worked.
            work: Called with a function that sends an event.

        Raises:
            BusyError: If too many wait already.
        """
        desk.check_busy()
        super().__init__()
        del self.headers["content-length"]
        self._desk = desk
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        gone = threading.Event()

        def emit(name: str, data: Mapping[str, object] | str) -> None:
            if gone.is_set():
                raise _GoneError
            named = f"event: {name}\n" if name else ""
            told = data if isinstance(data, str) else json_line(data)
            body = f"{named}data: {told}\n\n".encode()
            anyio.from_thread.run(sending, _body(body, more=True))

        async def sending(message: Message) -> None:
            await send(message)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await self._desk.run(partial(self._worked, emit))
            tasks.cancel_scope.cancel()
        await send(_body(b"", more=False))

    def _worked(self, emit: Emit) -> None:
        try:
            self._work(emit)
        except _GoneError:
            return
        except KgragError as exc:
            emit("error", {"type": type(exc).__name__, "message": str(exc)})


def _body(body: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}
