"""End the waiting of many calls at once, as when a run is interrupted."""

import threading

from kgrag.errors import ModelUnavailableError


class Stop:
    """Lets calls wait until it is set; from then on nothing waits and nothing is begun."""

    def __init__(self) -> None:
        self._set = threading.Event()

    def set(self) -> None:
        """End all that waits, now and later."""
        self._set.set()

    def check(self) -> None:
        """Return if calls may go on.

        Raises:
            ModelUnavailableError: If it is set.
        """
        if self._set.is_set():
            raise ModelUnavailableError("stopped: no further call is made")

    def sleep(self, seconds: float) -> None:
        """Wait.

        Raises:
            ModelUnavailableError: As soon as it is set.
        """
        self._set.wait(seconds)
        self.check()
