"""Take what comes from elsewhere as long as it comes in time, whatever holds it up."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

from kgrag.errors import BrokenOffError

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None = None


def timely(
    produce: Callable[[], Generator[_T | None, None, None]],
    *,
    wait_s: float,
    deadline: float,
    late: str,
) -> Generator[_T, None, None]:
    """Yield what is produced, never waiting longer than is allowed.

    It is produced in a thread of its own: a library's timeout is one for each read, and an
    endpoint that sends a blank now and then never runs into it, nor does one whose name is
    looked up for ever. A thread that nobody waits for ends when it next yields.

    Args:
        produce: Called in the thread; what it raises is raised here. None is handed to nobody
            and is no sign of life, but lets the thread end.
        wait_s: Seconds to wait for each item.
        deadline: Moment, on the clock of `time.monotonic`, after which nothing is waited for.
        late: Text of the error.

    Raises:
        BrokenOffError: If the next item does not come in time.
    """
    arrived: SimpleQueue[_T | _End] = SimpleQueue()
    gone = threading.Event()

    def run() -> None:
        end = _End()
        try:
            with closing(produce()) as items:
                for item in items:
                    if gone.is_set():
                        break
                    if item is not None:
                        arrived.put(item)
        except BaseException as exc:  # whatever it is, it is raised where somebody waits
            end = _End(exc)
        arrived.put(end)

    threading.Thread(target=run, name="call", daemon=True).start()
    try:
        while True:
            left = min(wait_s, deadline - time.monotonic())
            try:
                item = arrived.get(timeout=max(0.0, left))
            except Empty:
                raise BrokenOffError(late) from None
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        gone.set()
