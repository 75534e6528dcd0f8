"""A knowledge base that many ask at once: work runs in threads, so much at a time."""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from filelock import FileLock, Timeout
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse
from starlette.types import Message, Receive, Scope, Send

from kgrag.api import KnowledgeBase
from kgrag.errors import BusyError, KgragError
from kgrag.files.whole_file import write_whole
from kgrag.ingestion.report import Outcome
from kgrag.json_ready import JsonReady, as_dict
from kgrag.statements.overview import Facet, FacetValue, facets
from kgrag.status import Status
from kgrag.text.messages import in_language, message, packed, replaced, said_by, unpacked
from kgrag.text.visible import json_line
from kgrag.types import Document, Language

_T = TypeVar("_T")
Emit = Callable[[str, Mapping[str, object] | str], None]  # sends an event: its name and data
AT_ONCE, WAITING = 4, 60
_TABLES_AT_ONCE = 2  # more in one process end no sooner, and leave the others no processor
_MOST_KEPT, _LEAST_KEPT = 32_000_000, 1_000  # bytes of all responses, of each at least
_ENDING_S = 10  # for an ingest under way at the end
_STOPPED = message("the server was stopped: add again what is not in the list of documents")
_log = logging.getLogger(__name__)


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
        name: By which programs of others call it.
        language: Of pages, unless the user chose another one.
        uploads: Folder of files that readers add, an absolute path; None where they only read.
        at_once: Requests that are worked on at the same time.
        waiting: Requests that may wait besides; more are refused.
    """

    base: KnowledgeBase
    name: str = "kgrag"
    language: Language = "zh"
    uploads: Path | None = None
    at_once: int = AT_ONCE
    waiting: int = WAITING
    _keeping: threading.Lock = field(default_factory=threading.Lock, init=False)
    _kept: dict[Hashable, tuple[object, Response]] = field(default_factory=dict, init=False)

    @property
    def writable(self) -> bool:
        """Whether corrections and documents are accepted."""
        return self.uploads is not None

    @cached_property
    def ingesting(self) -> "Ingesting":
        """The ingest of files that readers add."""
        return Ingesting(self.base, self.uploads or Path())

    @cached_property
    def _limiter(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self.at_once)

    @cached_property
    def _tables(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(_TABLES_AT_ONCE)

    def state(self) -> tuple[int, date]:
        """Return what tables and statuses depend on: changes until now, and the day."""
        return self.base.store.change_counter(), date.today()

    def known(self) -> Known:
        """Return what is held; it is read again when it has changed, and on another day."""
        return _known(self.base, self.state())

    async def run(self, work: Callable[[], _T], limiter: anyio.CapacityLimiter | None = None) -> _T:
        """Return the result of work that blocks; it is left to itself when the server ends.

        Raises:
            BusyError: If too many wait already.
        """
        limiter = limiter or self._limiter
        self.check_busy(limiter)
        return await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)

    async def kept(self, request: Request, work: Callable[[], Response]) -> Response:
        """Return what depends on a request's address and the state only, made once for each.

        A browser that has it is told so (RFC 9110, 13.1.2). Work does not wait behind questions,
        nor questions behind it.

        Raises:
            BusyError: If too many wait already.
        """
        key = str(request.url), request.cookies.get("kgrag-lang")
        made = await anyio.to_thread.run_sync(self._made, key, None, abandon_on_cancel=True)
        made = made or await self.run(partial(self._made, key, work), self._tables)
        if made.headers["etag"] in request.headers.get("if-none-match", ""):
            return NotModifiedResponse(made.headers)
        again = Response(made.body, made.status_code)
        again.raw_headers = [*made.raw_headers]  # which others on its way add to
        return again

    def _made(self, key: Hashable, work: Callable[[], Response] | None) -> Any:
        """Return a response that was made in this state, or is made now; else None."""
        state = self.state()
        before, made = self._kept.get(key, (None, None))
        if before == state or work is None:
            return made if before == state else None
        made = work()
        made.headers["cache-control"] = "private, no-cache"
        made.headers["etag"] = f'W/"{hashlib.sha256(made.body).hexdigest()}"'
        with self._keeping:
            self._kept[key] = state, made
            while sum(_LEAST_KEPT + len(r.body) for _, r in self._kept.values()) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return made

    def check_busy(self, limiter: anyio.CapacityLimiter | None = None) -> None:
        """Raise a BusyError if too many wait already."""
        limiter = limiter or self._limiter
        if limiter.statistics().tasks_waiting >= self.waiting:
            n = int(limiter.total_tokens) + self.waiting
            raise BusyError("{n} requests are being worked on already: try again shortly", n=n)


@lru_cache(maxsize=1)
def _known(base: KnowledgeBase, _state: tuple[int, date]) -> Known:
    cards, statuses = base.documents(), base.statuses()
    by_id = {card.doc_id: card for card in cards if card.doc_id in statuses}
    return Known(by_id, statuses, facets(list(by_id.values()), statuses))


@dataclass(frozen=True, slots=True)
class IngestState(JsonReady):
    """How far an ingest is.

    Attributes:
        state: `receiving` files, `running`, `done`, `failed` as a whole, or `none` until now.
        done: Files that are done.
        of: Files in all.
        file: The one that is read.
        files: At the end the outcome of each, named as it is in the folder of uploads.
        error: Why it failed.
    """

    state: Literal["none", "receiving", "running", "done", "failed"] = "none"
    done: int = 0
    of: int = 0
    file: str = ""
    files: tuple[Outcome, ...] = ()
    error: str = ""

    @property
    def is_busy(self) -> bool:
        """Whether another ingest has to wait."""
        return self.state in ("receiving", "running")


class Ingesting:
    """The ingest of files that readers add: one at a time, in a thread of its own.

    Its state stands in the folder, where every process that serves the same one reads it, and is
    true while the lock there is held: that of a process that was killed is free.
    """

    def __init__(self, base: KnowledgeBase, folder: Path) -> None:
        """Initialise; paths below `folder` are told relative to it."""
        self._base = base
        self._folder = f"{folder}{os.sep}"
        self._file = folder / ".ingest.json"
        self._lock = self._new_lock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> IngestState:
        """The state of the one under way, or of the last, in whichever process."""
        try:
            told = _each_text(json.loads(self._file.read_text("utf-8")), unpacked)
            state = IngestState(**told | {"files": tuple(Outcome(**f) for f in told["files"])})
        except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none, or not ours
            return IngestState()
        with suppress(Timeout):
            if state.is_busy:
                with self._new_lock():
                    return replace(state, state="failed", file="", error=_STOPPED)
        return state

    def _tell(self, state: IngestState) -> None:
        write_whole(self._file, [json_line(_each_text(as_dict(state), packed))])

    def _new_lock(self) -> FileLock:
        # Each time another one: the same could be acquired twice within this process.
        return FileLock(self._file.with_suffix(".lock"), timeout=0, thread_local=False)

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Keep others waiting while files are received; `begin` is called inside.

        Raises:
            BusyError: If an ingest is under way, in this process or another one.
            OSError: If the folder cannot be written.
        """
        self._file.parent.mkdir(parents=True, exist_ok=True)
        before, begun, lock = self.state, self._thread, self._new_lock()
        try:
            lock.acquire()
        except Timeout as exc:
            raise BusyError(
                message("documents are being added already: add yours when that has ended")
            ) from exc
        self._lock = lock
        try:
            self._tell(IngestState("receiving"))
            yield
        finally:
            if self._thread is begun:  # nothing was begun
                self._tell(before)
                lock.release()

    def begin(self, files: Sequence[Path], refused: Sequence[Outcome] = ()) -> None:
        """Ingest files in a thread; `refused` are outcomes of others, told at the end."""
        self._tell(IngestState("running", of=len(files)))
        self._thread = threading.Thread(
            target=self._run, args=(files, refused), name="ingest", daemon=True
        )
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the ingest under way, if there is one."""
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        """Stop after the document under way; what is stored is whole."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join(_ENDING_S)

    def _run(self, files: Sequence[Path], refused: Sequence[Outcome]) -> None:
        n = len(files)
        try:
            outcomes = self._base.ingest(files, progress=self._told).outcomes if files else ()
            told = tuple(map(self._shown, (*refused, *outcomes)))
            ended = IngestState("done", done=n, of=n, files=told)
        except _GoneError:
            ended = IngestState("failed", of=n, error=_STOPPED)
        except KgragError as exc:
            ended = IngestState("failed", of=n, error=self._bare(said_by(exc)))
        except Exception as exc:
            _log.exception("an ingest failed")
            error = message("{error}: see the log of the server", error=type(exc).__name__)
            ended = IngestState("failed", of=n, error=error)
        with suppress(OSError):  # a full disk: whoever asks hears that it was stopped
            self._tell(ended)
        self._lock.release()

    def _told(self, file: str, done: int, n_files: int) -> None:
        if self._ending.is_set():
            raise _GoneError
        with suppress(OSError):  # it goes on; only how far it is cannot be told
            self._tell(IngestState("running", done=done, of=n_files, file=self._bare(file)))

    def _shown(self, outcome: Outcome) -> Outcome:
        return replace(
            outcome,
            source=self._bare(outcome.source),
            detail=self._bare(outcome.detail),
            warnings=tuple(map(self._bare, outcome.warnings)),
        )

    def _bare(self, text: str) -> str:
        return replaced(text, self._folder, "")


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return a tree of JSON with each of its texts changed; names of fields are none."""
    if isinstance(value, dict):
        return {name: _each_text(one, change) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_each_text(one, change) for one in value)
    return change(value) if isinstance(value, str) else value


class _GoneError(Exception):
    """The reader, or the server, does not wait any more."""


class EventStream(Response):
    """Server-sent events (WHATWG HTML, 9.2) of work in a thread, which ends if the reader leaves.

    An error of kgrag is the last event, `error`.
    """

    media_type = "text/event-stream"

    def __init__(self, desk: Desk, work: Callable[[Emit], None], language: Language) -> None:
        """Initialise.

        Args:
            desk: Where it is worked.
            work: Called with a function that sends an event.
            language: Of an error.

        Raises:
            BusyError: If too many wait already.
        """
        desk.check_busy()
        super().__init__()
        del self.headers["content-length"]
        self._desk = desk
        self._work = work
        self._language = language

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
            told = in_language(exc, self._language)
            emit("error", {"type": type(exc).__name__, "message": told})


def _body(body: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}
