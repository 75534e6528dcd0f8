"""How much was used in the last minute, and how long to wait for more."""

from collections import deque

_MINUTE_S = 60.0
_TINY_S = 1e-6  # lost to rounding: who slept as told must not be told to sleep on


class Entry:
    """One use; its amount may be corrected when the true one is known."""

    __slots__ = ("amount", "at")

    def __init__(self, at: float, amount: float) -> None:
        self.at = at
        self.amount = amount


class Budget:
    """An amount that may be used in any 60 seconds: a sliding window.

    Whatever way the provider cuts its minutes, it never sees more than the limit in one of them.
    Not safe for threads: `Limits` guards it.
    """

    def __init__(self, limit: float) -> None:
        """Begin unused.

        Args:
            limit: Most in 60 seconds; 0 for no limit.
        """
        self._limit = limit
        self._entries: deque[Entry] = deque()

    def wait(self, now: float, amount: float) -> float:
        """Return the seconds until so much may be used; 0 for at once.

        More than the whole limit may be used when nothing else is in the window: it would never
        be possible otherwise.
        """
        while self._entries and now - self._entries[0].at >= _MINUTE_S - _TINY_S:
            self._entries.popleft()
        if not self._limit:
            return 0.0
        over = sum(entry.amount for entry in self._entries) + amount - self._limit
        wait = 0.0
        for entry in self._entries:
            if over <= 0:
                break
            over -= entry.amount
            wait = entry.at + _MINUTE_S - now
        return wait

    def use(self, now: float, amount: float) -> Entry:
        """Enter a use and return it, for correction."""
        entry = Entry(now, amount)
        self._entries.append(entry)
        return entry
