"""Room for the search indexes where a process may take only so much memory (`ulimit -v`).

A library in Rust ends the process where it gets none, so room is looked for before it is asked.
"""

import ctypes
import math
from contextlib import suppress
from pathlib import Path

_TAKEN = Path("/proc/self/statm")  # man 5 proc: its first number is the pages of the whole process
_ARENAS = -8  # M_ARENA_MAX of glibc's malloc.h


def spare_bytes() -> float:
    """Return how many more bytes of addresses the process may take; infinity without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        return limit - int(_TAKEN.read_text("ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # Windows knows no such limit, macOS not what is taken
        return math.inf


def check_room(n_bytes: int) -> None:
    """Refuse to go on where the process may not take so many more bytes.

    Where there is a limit, threads share what is allocated: glibc reserves 64 MB for each of them,
    590 MB while four small indexes are written, of which 20 are used.

    Raises:
        MemoryError: If there is less.
    """
    spare = spare_bytes()
    if math.isinf(spare):
        return
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENAS, 1)
    if spare < n_bytes:
        raise MemoryError(
            f"the search index needs {n_bytes / 1e6:.0f} MB, {max(spare, 0) / 1e6:.0f} are left of "
            "what ulimit -v allows"
        )
