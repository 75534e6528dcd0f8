"""Where files are read and texts encoded: in this process, in others, or on a Ray cluster."""

import os
import secrets
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from kgrag.config import IngestConfig
from kgrag.embedding.embedder import Embedder, Vectors
from kgrag.ingestion.load.context import Pages
from kgrag.ingestion.workers.task import Made, Setting, Task
from kgrag.ingestion.workers.worker import Worker, n_workers


class Reader(Protocol):
    """Reads files one by one, in a process that may end with a file."""

    @property
    def goes_on(self) -> bool:
        """Return whether it can read another file."""
        ...

    def read(self, task: Task, told: Pages = max) -> Made:
        """Return a file's result, or a failure; see `Worker.read`."""
        ...

    def kill(self) -> None:
        """End what is being read, from another thread."""
        ...

    def end(self) -> None:
        """Kill it, and wait."""
        ...


class Executor(Protocol):
    """Computes what a run stores; the result does not depend on which one it is.

    Attributes:
        n_readers: Files read at once; 0 to read in this process.
        ahead: Batches of texts that may be encoded and wait for their turn.
    """

    n_readers: int
    ahead: int

    def reader(self, setting: Setting, limits: IngestConfig) -> Reader:
        """Return what reads one of `n_readers` files."""
        ...

    def encode(self, texts: Sequence[str]) -> "Future[Vectors]":
        """Return the coming `float32[len(texts), dimension]` of a batch of passages."""
        ...

    def close(self) -> None:
        """End what was started; results that were not taken are lost."""
        ...


class LocalExecutor:
    """Reads in processes of this machine, and encodes in a thread meanwhile; or both in turn."""

    def __init__(self, embedder: Embedder, n_readers: int) -> None:
        """Initialise; no process is started yet. Without readers, all is done by the caller."""
        self.n_readers = n_readers
        self.ahead = int(n_readers > 0)
        self._embedder = embedder
        self._thread = ThreadPoolExecutor(1, "encode") if n_readers else None

    def reader(self, setting: Setting, limits: IngestConfig) -> Reader:
        """Return a process that reads files."""
        return Worker(setting, limits)

    def encode(self, texts: Sequence[str]) -> "Future[Vectors]":
        """Return the coming vectors; the encoder uses all processors for a batch."""
        if self._thread is not None:
            return self._thread.submit(self._embedder.embed, texts, "passage")
        done: Future[Vectors] = Future()
        done.set_result(self._embedder.embed(texts, "passage"))
        return done

    def close(self) -> None:
        """Leave the batch that is being encoded to itself."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)


def executor_of(limits: IngestConfig, embedder: Embedder, *, is_small: bool) -> Executor:
    """Return the configured executor; by default that of few and small files is this process.

    Raises:
        MissingDependencyError: If Ray is wanted, and not installed.
        IngestionError: If there is no cluster at its address.
    """
    if limits.executor == "ray":
        _before_ray(limits.address)
        from kgrag.ingestion.workers.ray_executor import RayExecutor

        return RayExecutor(limits, embedder)
    is_alone = limits.executor == "local" or (limits.executor == "auto" and is_small)
    return LocalExecutor(embedder, 0 if is_alone else n_workers(limits))


def _before_ray(address: str) -> None:
    """Set what Ray reads when it is imported: it reports nothing to its makers.

    The ports of one that is started here are open to the network: who uses it needs a token.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if not address and "ray" not in sys.modules:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
