"""What the command line says when the machine itself runs short: of memory, space, open files."""

import errno
import re

_MEMORY = "memory is short"
_ENOUGH = (
    f"{_MEMORY} ({{}}): end other programs, take in fewer files at once, or allow more memory; "
    "what was stored is whole: run it again to go on"
)
# What libraries in C, C++ and Rust say in errors of other classes, or where one cannot be loaded.
_ALLOCATION = re.compile(
    r"bad_alloc|cannot allocate|failed to allocate|out of memory|can't start new thread"
    r"|failed to map segment|memory allocation",
    re.IGNORECASE,
)
_FILES = re.compile(r"too many open files", re.IGNORECASE)
_MORE_FILES = "allow more open files (ulimit -n), and run it again"
_REMEDIES = {
    errno.ENOSPC: "free space on the disk, and run it again",
    errno.EDQUOT: "free space within your quota, and run it again",
    errno.EFBIG: "allow larger files (ulimit -f), and run it again",
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: _MORE_FILES,
    errno.EROFS: "name a place that may be written",
    errno.EACCES: "name a place that you may read and write",
    errno.EPERM: "name a place that you may read and write",
    errno.EIO: "check the disk, and run it again",
}
_OTHER = "see to that place, or name another"


def shortage(exc: BaseException) -> str | None:
    """Return what to tell of an error that the machine is to blame for; None for any other.

    >>> shortage(OSError(28, "No space left on device", "out.jsonl"))
    'out.jsonl: No space left on device: free space on the disk, and run it again'
    >>> shortage(KeyError("a")) is None
    True
    """
    if isinstance(exc, MemoryError):
        return _ENOUGH.format(str(exc) or "MemoryError")
    if isinstance(exc, OSError) and exc.errno is not None:
        if exc.errno == errno.ENOMEM:
            return _ENOUGH.format(exc.strerror)
        place = f"{exc.filename}: " if exc.filename else ""
        return f"{place}{exc.strerror}: {_REMEDIES.get(exc.errno, _OTHER)}"
    said = str(exc)
    if _FILES.search(said):
        return f"{said}: {_MORE_FILES}"
    return _ENOUGH.format(said) if _ALLOCATION.search(said) else None
