"""When vectors are written, how many per segment, and in which format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# As they were given, without or with codes to scan, one for each number; or in 8 bits, with
# codes that two numbers share.
Form = Literal["plain", "scanned", "bytes"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of an index, in vectors.

    Attributes:
        few: Up to so many unwritten vectors are kept in memory.
        exact: Up to so many in all are searched by one exact product.
        small: Segments up to this size are searched exactly in a larger index, too.
        floats: Up to so many in all are kept in float32, preselected by codes.
        segment: Maximum of a segment, except for a larger single document.
        dead: Share of dead rows above which a segment is rewritten.
    """

    few: int = 4096
    exact: int = 8192
    small: int = 8192
    floats: int = 131_072
    segment: int = 524_288
    dead: float = 0.25

    def form(self, n_rows: int, n_all: int) -> Form:
        """Return the format of a new segment of `n_rows` of `n_all` vectors."""
        if n_all <= self.exact or n_rows <= self.small:
            return "plain"
        return "scanned" if n_all <= self.floats else "bytes"


LIMITS = Limits()


def rewritten(sizes: Sequence[tuple[int, int]], n_new: int, limits: Limits) -> list[int]:
    """Return the indexes of segments to rewrite when vectors are added.

    Those with many dead rows; and each that is not larger than all that is written already, if
    it is less than half full. So a vector is rewritten only when its segment doubles: a number of
    times that is logarithmic in that of vectors (Bentley and Saxe, 1980, "Decomposable searching
    problems I", Journal of Algorithms 1(4), section 2).

    Args:
        sizes: Living rows and all rows of each segment.
        n_new: Vectors to be added.
        limits: Maximum share of dead rows, and size of a segment.

    >>> rewritten([(400, 400), (100, 100), (9, 10), (5, 10)], 4, Limits(segment=1000))
    [2, 3]
    """
    again = {i for i, (alive, rows) in enumerate(sizes) if rows - alive > limits.dead * rows}
    n_written = n_new + sum(sizes[i][0] for i in again)
    for alive, i in sorted((alive, i) for i, (alive, _) in enumerate(sizes) if i not in again):
        if alive > n_written or 2 * alive >= limits.segment:
            break
        again.add(i)
        n_written += alive
    return sorted(again)


def parts(lengths: Mapping[str, int], most: int) -> list[dict[str, int]]:
    """Split documents in order into the fewest parts of about equal size with `most` vectors each.

    A part exceeds this by less than its last document.

    >>> parts({"a": 3, "b": 1, "c": 2, "d": 2}, 5)
    [{'a': 3, 'b': 1}, {'c': 2, 'd': 2}]
    """
    n = sum(lengths.values())
    n_parts = -(-n // most)
    found: list[dict[str, int]] = [{} for _ in range(n_parts)]
    before = 0
    for doc_id, length in lengths.items():
        found[before * n_parts // n][doc_id] = length
        before += length
    return [part for part in found if part]
