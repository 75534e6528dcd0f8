"""Reading files and encoding texts on the machines of a Ray cluster.

Files travel as bytes, so that no other machine needs the folder. Tasks of Ray read them, each in a
process with the limits of time and memory; an actor on each machine encodes texts. What a lost
process or machine was doing is done again elsewhere. Only the caller writes to the knowledge base.
"""

import logging
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from queue import SimpleQueue
from typing import Any, cast

import numpy as np

from kgrag.config import IngestConfig
from kgrag.embedding.choose import is_here, open_embedder
from kgrag.embedding.embedder import Embedder, Vectors
from kgrag.errors import IngestionError, KgragError, ModelError, ModelNotFoundError, needs_extra
from kgrag.ingestion.load import Failure, Source, file_bytes
from kgrag.ingestion.load.context import Pages
from kgrag.ingestion.load.ocr.engine import is_installed
from kgrag.ingestion.workers.task import RULES_VERSION, Made, Setting, Task
from kgrag.ingestion.workers.worker import Worker, n_workers
from kgrag.text.messages import message, without_start

with needs_extra("ray", "ingestion on Ray"):
    import ray
    from ray import exceptions
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

_RETRIES = 3  # where a process or machine is lost: a file or text may be what kills it
_STORE_BYTES = 256 << 20  # shared memory of a Ray of our own; more goes to the disk
_AHEAD = 2  # batches for each encoder: one that it encodes, and the next
_DIED = (
    exceptions.ActorDiedError,
    exceptions.ActorUnavailableError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,  # a result, with the machine that had it
    exceptions.OutOfMemoryError,
    exceptions.WorkerCrashedError,
)


class RayExecutor:
    """Reads files and encodes texts on a Ray cluster; for attributes see `Executor`."""

    def __init__(self, limits: IngestConfig, embedder: Embedder) -> None:
        """Connect to the cluster at an address, or start one of this machine.

        An encoder behind an endpoint, or given by a program, is called from here.

        Raises:
            IngestionError: If there is no cluster, or none with processors.
        """
        self._end = _connect(limits)
        nodes = [n for n in ray.nodes() if n["Alive"] and n["Resources"].get("CPU")]
        if not nodes:
            self._end()
            raise IngestionError(
                message("the Ray cluster has no processors; add a machine: ray start")
            )
        self.n_readers = limits.workers or int(sum(n["Resources"]["CPU"] for n in nodes))
        self._embedder = embedder
        is_found = is_here(embedder.name.partition("@")[0])
        self._actors = [_encoder_on(node, embedder.name) for node in nodes if is_found]
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for actor in self._actors:
            self._idle.put(actor)
        n_encoders = len(self._actors) or 1
        self.ahead = _AHEAD * n_encoders
        self._threads = ThreadPoolExecutor(n_encoders, "encode")

    def reader(self, setting: Setting, limits: IngestConfig) -> "_RayReader":
        """Return what has files read by tasks of Ray."""
        return _RayReader(setting, limits)

    def encode(self, texts: Sequence[str]) -> "Future[Vectors]":
        """Return the coming vectors of a batch, by the next actor that is free."""
        return self._threads.submit(self._encoded, texts)

    def close(self) -> None:
        """Kill the actors; end Ray if it was started for this run."""
        for actor in self._actors:
            with suppress(exceptions.RayError):
                ray.kill(actor)
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._end()

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if not self._actors:
            return self._embedder.embed(texts, "passage")
        actor = self._idle.get()
        try:
            shared = _answer(actor.embed.remote(texts))
            return np.array(shared, np.float32)  # a copy: Ray's memory is freed
        except _DIED as exc:
            raise ModelError(
                "the encoder died on the Ray cluster {n} times ({error}); allow it more memory, "
                "and run it again to go on",
                n=_RETRIES + 1,
                error=type(exc).__name__,
            ) from exc
        finally:
            self._idle.put(actor)


class _RayReader:
    """Reads one file at a time, by a task of Ray."""

    goes_on = True

    def __init__(self, setting: Setting, limits: IngestConfig) -> None:
        self._max_bytes = setting.max_bytes
        self._common = ray.put((setting, limits, _identity()))
        # Tried again here: Ray would repeat for ever what its monitor of memory has killed.
        self._read = ray.remote(_read).options(max_retries=0)
        self._lock = threading.Lock()
        self._is_killed = False
        self._reading: Any = None

    def read(self, task: Task, told: Pages = max) -> Made:
        """Return a file's result, or a failure; its pages are not told of.

        Raises:
            KgragError: For errors that are not the file's.
        """
        del told
        if task.path is not None:
            try:
                data = file_bytes(Source(task.path, task.within), max_bytes=self._max_bytes)
            except IngestionError as exc:
                return Failure(task.name, without_start(exc, task.name))
            task = replace(task, data=data)
        died = ""
        for _ in range(_RETRIES + 1):
            with self._lock:
                if self._is_killed:
                    raise CancelledError
                self._reading = self._read.remote(task, self._common)
            try:
                return cast("Made", _answer(self._reading))
            except _DIED as exc:
                died = type(exc).__name__
            finally:
                self._reading = None
        said = (
            "ended the process of Ray that read it, {n} times ({error}); it may be damaged, or "
            "need more memory than its machine has: open it and save it again, or split it"
        )
        return Failure(task.name, message(said, n=_RETRIES + 1, error=died))

    def kill(self) -> None:
        """Cancel the task, with the process that reads."""
        with self._lock:
            self._is_killed = True
            if self._reading is not None:
                with suppress(exceptions.RayError):
                    ray.cancel(self._reading, force=True)

    def end(self) -> None:
        """Cancel the task."""
        self.kill()


_kept: list[tuple[Setting, Worker]] = []  # of a process of Ray: at most one, for the next file


def _read(task: Task, common: tuple[Setting, IngestConfig, str]) -> Made:
    """Return a file's result, or a failure; runs on a machine of the cluster."""
    setting, limits, driver = common
    _check_identity(driver)
    if _kept and not (_kept[0][0] == setting and _kept[0][1].goes_on):
        _kept.pop()[1].end()
    if not _kept:
        _kept.append((setting, Worker(setting, limits)))
    return _kept[0][1].read(task)


class _Encoder:
    """An actor that encodes with an installed model, opened for the first batch."""

    def __init__(self, name: str, threads: int, driver: str) -> None:
        self._name, self._threads, self._driver = name, threads, driver
        self._embedder: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return `float32[len(texts), dimension]`."""
        if self._embedder is None:
            _check_identity(self._driver)
            try:
                self._embedder = open_embedder(self._name, threads=self._threads)
            except ModelNotFoundError as exc:
                node = ray.util.get_node_ip_address()
                said = "{error} (on {node} of the Ray cluster)"
                raise ModelNotFoundError(said, error=exc, node=node) from exc
        return self._embedder.embed(texts, "passage")


def _encoder_on(node: Mapping[str, Any], name: str) -> Any:
    """Start an encoder on a node, or on another when that is gone; it is not waited for."""
    threads = max(1, int(node["Resources"]["CPU"]))
    there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
    # No processor is reserved, so that files can be read on machines of one processor, too.
    options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": _RETRIES}
    made = ray.remote(_Encoder).options(**options, scheduling_strategy=there)
    return made.remote(name, threads, _identity())


def _answer(reference: Any) -> Any:
    """Return what a task gave.

    Raises:
        KgragError: As the task raised it, or because the cluster failed.
        CancelledError: If it was cancelled.
        RayError: One of `_DIED`, if its process died each time.
    """
    try:
        return ray.get(reference)
    except _DIED:
        raise
    except exceptions.TaskCancelledError as exc:
        raise CancelledError from exc
    except exceptions.RayError as exc:
        cause = exc.cause if isinstance(exc, exceptions.RayTaskError) else exc
        if isinstance(cause, KgragError):
            raise cause from None
        raise IngestionError(
            "the Ray cluster failed: {error}; its machines need the same kgrag, with its extras",
            error=_first_line(cause),
        ) from exc


def _first_line(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {exc}".partition("\n")[0][:300]


def _identity() -> str:
    """Return what decides the results of reading, besides the settings."""
    extras = "with" if is_installed() else "without"
    return f"kgrag {version('kgrag')}, rules {RULES_VERSION}, {extras} kgrag[ocr]"


def _check_identity(driver: str) -> None:
    own = _identity()
    if own != driver:
        raise IngestionError(
            "{node} of the Ray cluster has {own}, this machine {driver}; install the same there",
            node=ray.util.get_node_ip_address(),
            own=own,
            driver=driver,
        )


def _connect(limits: IngestConfig) -> Callable[[], object]:
    """Connect to Ray; return what ends the connection, or the Ray that was started."""
    if ray.is_initialized():  # by the program that calls us
        return lambda: None
    before = signal.getsignal(signal.SIGTERM)  # Ray sets its own
    own: dict[str, Any] = {}
    if not limits.address:
        own = {"num_cpus": n_workers(limits), "object_store_memory": _STORE_BYTES}
        own["include_dashboard"] = False
    try:
        ray.init(limits.address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
    except BaseException as exc:
        ray.shutdown()
        if not isinstance(exc, Exception):
            raise
        raise IngestionError(
            "Ray cannot be used ({where}): {error}; start it (ray start --head), set "
            "RAY_AUTH_MODE=token where it asks for one, or leave --address out",
            where=limits.address or "local",
            error=_first_line(exc),
        ) from exc
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
    end: Callable[[], object] = ray.shutdown
    return end
