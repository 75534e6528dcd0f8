"""See what SQLite would drop in silence: commits behind a damaged place of a log that a crash left.

SQLite takes a write-ahead log (sqlite.org/walformat.html) up to the first frame whose checksum is
wrong, which is right for the torn end that a crash leaves. Commits behind such a frame were told to
be stored, and are lost: a bit flipped, or the power failed before the disk had written all.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgrag.store.sqlite.opening import log_of

_Words = npt.NDArray[np.uint32]

_HEADER_BYTES, _FRAME_HEADER_BYTES, _PAGE_BYTES = 32, 24, 8192
_FRAME_BYTES = _FRAME_HEADER_BYTES + _PAGE_BYTES
_MAGIC = 0x377F0683  # or 1 less, where words are summed up with their lowest byte first
_AT_ONCE = 512  # frames that are read
_SUMMED_BYTES = 24  # of the header
_FRAME_PAIRS = (8 + _PAGE_BYTES) // 8  # of words, in the sums of a frame
_REMEDY = (
    "what was stored behind that is lost (the power failed, or a bit flipped): run again what ran "
    "last, `kgrag ingest` with the same files, and then `kgrag verify`"
)
_LOCKS = Path("/proc/locks")  # man 5 proc: the third from the end of a line is MAJOR:MINOR:INODE


def lost_in_log(file: Path) -> str:
    """Return what is lost behind a damaged place of a database's log, in words; empty for nothing.

    It can be known only before SQLite first opens the database. Without a log nothing is read.

    Args:
        file: The database.
    """
    log = log_of(file)
    try:
        if not log.stat().st_size > _HEADER_BYTES or _in_use(file):
            return ""
        at, is_lost = _read(log)
    except OSError:  # SQLite will say it
        return ""
    return f"{log} is damaged at byte {at}: {_REMEDY}" if is_lost else ""


def _in_use(file: Path) -> bool:
    """Say whether a process has the database open, so that its log is not read anew.

    Asking by a lock of our own would let go of those that this process may have.
    """
    try:
        held = {line.split()[-3].rpartition(":")[2] for line in _LOCKS.read_text().splitlines()}
    except (OSError, IndexError):  # not Linux
        return False
    return any(
        str(beside.stat().st_ino) in held
        for beside in (file, file.with_name(file.name + "-shm"))
        if beside.exists()
    )


def _read(log: Path) -> tuple[int, bool]:
    """Return the byte where a log ceases to be whole, and whether a commit follows."""
    with log.open("rb") as opened:
        header = opened.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES:  # a process that came meanwhile has emptied it
            return 0, False
        seen = _Seen.from_header(header)
        while block := opened.read(_FRAME_BYTES * _AT_ONCE):
            seen.add(block)
        opened.seek(0)
        begun_anew = opened.read(_HEADER_BYTES) != header  # by a process that came meanwhile
    at = _HEADER_BYTES + seen.n_whole * _FRAME_BYTES if seen.n_whole or seen.begins_well else 0
    return at, seen.is_lost and not begun_anew


@dataclass(slots=True)
class _Seen:
    """What a log says up to a place.

    Attributes:
        order: Of the bytes of a word, where they are summed up.
        begins_well: Whether its header is whole.
        salts: Of its frames, shape (2,); others are of an earlier round. None: of the first frame.
        sums: Of all so far, shape (2,).
        n_whole: Frames before the first that is not whole.
        ended: Whether there was one.
        is_lost: Whether a commit came after it.
    """

    order: str
    begins_well: bool
    salts: _Words | None
    sums: _Words
    n_whole: int = 0
    ended: bool = False
    is_lost: bool = False

    @classmethod
    def from_header(cls, header: bytes) -> "_Seen":
        """Read the header: magic, version, page, count, salts, sums: of two words the last two."""
        words = np.frombuffer(header, ">u4").astype(np.uint32)
        order = ">u4" if words[0] & 1 else "<u4"
        summed = np.frombuffer(header[:_SUMMED_BYTES], order).astype(np.uint32)
        well = words[0] | 1 == _MAGIC and (_added(summed[None])[0] == words[6:]).all()
        return cls(order, bool(well), words[4:6] if well else None, words[6:], ended=not well)

    def add(self, block: bytes) -> None:
        """Read frames; what is left of one at the end is no frame."""
        n_frames = len(block) // _FRAME_BYTES
        if not n_frames:
            return
        frames = np.frombuffer(block, np.uint8, n_frames * _FRAME_BYTES).reshape(n_frames, -1)
        # page, pages after the commit that it ends or 0, salts, sums
        heads = frames[:, :_SUMMED_BYTES].copy().view(">u4").astype(np.uint32)
        if self.salts is None:
            self.salts = heads[0, 2:4]
        ours = (heads[:, 2:4] == self.salts).all(axis=1)
        summed = np.concatenate((frames[:, :8], frames[:, _SUMMED_BYTES:]), axis=1)
        added = _added(summed.view(self.order).astype(np.uint32))
        at = 0
        while at < n_frames and not self.ended:
            sums = _weights(_FRAME_PAIRS)[1] @ self.sums + added[at]
            self.ended = not (ours[at] and (sums == heads[at, 4:]).all())
            if not self.ended:
                self.sums = sums
                at += 1
        self.n_whole += at
        self.is_lost |= bool((ours & (heads[:, 1] != 0))[at:].any())


def _added(words: _Words) -> _Words:
    """Return what words add to the two sums, modulo 2^32.

    Args:
        words: Shape (n, 2 k).

    Returns:
        Shape (n, 2).
    """
    return words @ _weights(words.shape[1] // 2)[0]


@cache
def _weights(n_pairs: int) -> tuple[_Words, _Words]:
    """Return how often each word counts in the sums, shape (2 n, 2), and the sums before, (2, 2).

    For each pair of words a, b: s1 += a + s2; s2 += b + s1.
    """
    step, taken = np.array([[1, 1], [1, 2]], np.uint32), np.array([[1, 0], [1, 1]], np.uint32)
    power, weights = np.eye(2, dtype=np.uint32), []
    for _ in range(n_pairs):
        weights.append((power @ taken).T)
        power = power @ step
    return np.concatenate(weights[::-1]), power
