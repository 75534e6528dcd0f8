"""A pool of processes that read files, or none for a few small ones."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import IngestConfig
from kgrag.ingestion.load import Failure, Source, load_all
from kgrag.ingestion.load.context import Seeing
from kgrag.ingestion.workers.executor import Executor, Reader
from kgrag.ingestion.workers.task import Made, Setting, Task, made_of
from kgrag.ingestion.workers.worker import Worker, n_workers
from kgrag.text.messages import Message, message
from kgrag.types import Document

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision

_PLAIN = ("txt", "md", "jsonl")  # read by kgrag alone, in time that grows with their length
_FEW_BYTES = 100_000  # of plain files: read sooner than a process is there
_TICK_S = 0.5  # between reports of a page that is read
_AHEAD = 3  # files for each process that may be read and wait for their turn


class Pool:
    """Reads files in processes that are started on demand; they end with `close`."""

    def __init__(
        self,
        setting: Setting,
        limits: IngestConfig,
        *,
        alone: bool = False,
        vision: "Vision | None" = None,
        told: Callable[[Message], object] = bool,
        executor: Executor | None = None,
    ) -> None:
        """Initialise; no process is started yet.

        Args:
            setting: Common to all files.
            limits: Of time, memory, and the number of processes.
            alone: Read in this process, without limits of time and memory.
            vision: Reads pictures of pages, in this process: its limits are for all files.
            told: Hears regularly of the page that is read of a file that is waited for.
            executor: Where the processes are; None for this machine.
        """
        self._setting = setting
        self._limits = limits
        self._alone = alone
        self._vision = vision
        self._told = told
        self._n = executor.n_readers if executor else n_workers(limits)
        self._begin: Callable[[Setting, IngestConfig], Reader] = (
            executor.reader if executor else Worker
        )
        self._threads = None if alone else ThreadPoolExecutor(self._n, "read")
        self._own = threading.local()  # each thread has a process of its own
        self._lock = threading.Lock()
        self._workers: set[Reader] = set()
        self._is_closed = False
        self._pages: dict[str, Message] = {}  # the last one that was read, by file

    @property
    def max_bytes(self) -> int:
        """The largest file that is read."""
        return self._setting.max_bytes

    @property
    def ahead(self) -> int:
        """Number of files to submit ahead of the results."""
        return 0 if self._alone else _AHEAD * self._n

    def submit(self, task: Task) -> "Future[Made]":
        """Submit a file; files are started in order."""
        if self._threads is not None:
            return self._threads.submit(self._made, task, self._read)
        done: Future[Made] = Future()
        try:
            done.set_result(self._made(task, lambda one: made_of(one, self._setting)))
        except MemoryError:
            done.set_result(
                Failure(task.name, message("needs more memory than there is; split it"))
            )
        return done

    def result(self, task: Task, making: "Future[Made]") -> Made:
        """Wait for what a submitted file becomes."""
        while not making.done():
            wait([making], _TICK_S)
            if page := self._pages.get(task.name):
                self._told(page)
        return making.result()

    def close(self) -> None:
        """Kill all processes; results that were not taken are lost."""
        with self._lock:
            self._is_closed = True
            if self._vision:
                self._vision.models.stop()
            for worker in self._workers:
                worker.kill()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.end()

    def _page_of(self, task: Task, number: int, of: int) -> None:
        if of:
            name = Path(task.name).name
            said = message("{file}: page {number} of {all}", file=name, number=number, all=of)
            self._pages[task.name] = said

    def _read(self, task: Task) -> Made:
        worker: Reader | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._begun()
        made = worker.read(task, partial(self._page_of, task))
        if not worker.goes_on:
            worker.end()
            with self._lock:
                self._workers.discard(worker)
            self._own.worker = None
        return made

    def _made(self, task: Task, read: Callable[[Task], Made]) -> Made:
        made = read(replace(task, sight=Seeing(wanted=self._vision is not None)))
        if self._vision and isinstance(made, list):
            sight = self._vision.seen(task.name, made, partial(self._page_of, task))
            made = read(replace(task, sight=sight))
        return made

    def _begun(self) -> Reader:
        if self._is_closed:
            raise CancelledError
        worker = self._begin(self._setting, self._limits)
        with self._lock:
            self._workers.add(worker)
            if self._is_closed:
                worker.kill()
        self._own.worker = worker
        return worker


def is_small(sources: Sequence[Source]) -> bool:
    """Return whether files are so few and small that no process is worth starting."""
    left = _FEW_BYTES
    for source in sources:
        if source.media_type not in _PLAIN:
            return False
        try:
            left -= source.path.stat().st_size
        except OSError:
            continue
        if left < 0:
            return False
    return True


def read_within(
    sources: Iterable[tuple[Source, Mapping[str, str]]],
    limits: IngestConfig,
    vision: "Vision | None" = None,
    told: Callable[[Message], object] = bool,
) -> Iterator[Document | Failure]:
    """Yield every document of files, or a failure, one file after the other.

    Args:
        sources: Files with the properties of their sidecar files.
        limits: Of time, memory and size.
        vision: As for `Pool`.
        told: As for `Pool`.

    Raises:
        PluginError: If the plugin for a file cannot be used.
    """
    for source, stated in sources:
        if source.media_type is None or source.media_type == "jsonl":  # bounded line by line
            yield from load_all(source, stated=stated, max_bytes=limits.max_bytes)
            continue
        setting = Setting(limits.max_bytes, ocr=limits.ocr)
        pool = Pool(setting, limits, alone=is_small([source]), vision=vision, told=told)
        with closing(pool):
            task = Task(source.path, source.within, dict(stated))
            made = pool.result(task, pool.submit(task))
        if isinstance(made, Document | Failure):
            yield made
