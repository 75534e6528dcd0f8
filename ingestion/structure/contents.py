"""Detection of tables of contents."""

import re
from collections.abc import Sequence
from itertools import pairwise

_CONTENTS_LINE = re.compile(r"(?:[.．…·‥]\s*+){2}[-—\d\s]*+$|\s\d{1,3}\s*+$")
_LEADERS = re.compile(r"(?:[.．…·‥⋯]\s*+){4}[-—\dIVX\s]*+$")
_HEAD = re.compile(r"[#*\s]*(?:目\s*[录次]|(?i:contents|table of contents))[*\s：:]*$")
_LONGEST_ENTRY = 80  # characters
_MOST_ENTRIES = 400
_LEAST_RUN = 4  # short numbered lines one after the other that stand again below
_AGAIN = 0.7  # share of them
_TAIL = re.compile(r"(?<![\s.．…·‥⋯\d\-—])[\s.．…·‥⋯\d\-—]++$")
_NOISE = re.compile(r"[\s#*：:、，.．…·]+")
_GAP = 2  # lines between two with leaders: a number apart from its title


def is_contents_line(line: str) -> bool:
    """Return whether a line stands in a table of contents: dot leaders, or a page at its end.

    >>> is_contents_line("一、总体要求 ........ 3"), is_contents_line("一、总体要求")
    (True, False)
    """
    return _CONTENTS_LINE.search(line) is not None


def contents_lines(lines: Sequence[str], marked: Sequence[bool]) -> set[int]:
    """Return the indexes of the lines of a table of contents.

    Args:
        lines: Of the document, stripped, none empty.
        marked: Of each whether it begins with the mark of a heading.
    """
    leaders = [i for i, line in enumerate(lines) if _LEADERS.search(line)]
    found = set(leaders)
    for a, b in pairwise(leaders):
        if b - a <= _GAP + 1 and all(len(lines[i]) <= _LONGEST_ENTRY for i in range(a + 1, b)):
            found.update(range(a + 1, b))
    keys = [_NOISE.sub("", _TAIL.sub("", line)) for line in lines]
    for i, line in enumerate(lines):
        if _HEAD.match(line):
            found.update(_below(lines, keys, i + 1))
    found.update(_repeated(lines, keys, marked))
    return found


def _below(lines: Sequence[str], keys: Sequence[str], first: int) -> range:
    """Return the lines below 目录 up to the one that repeats an entry."""
    entries: dict[str, int] = {}
    for i in range(first, min(len(lines), first + _MOST_ENTRIES)):
        if len(lines[i]) > _LONGEST_ENTRY and not is_contents_line(lines[i]):
            break
        if keys[i] in entries and i - entries[keys[i]] >= 2:
            return range(first, i)
        if keys[i] and len(entries) < 3:
            entries[keys[i]] = i
    return range(0)


def _repeated(lines: Sequence[str], keys: Sequence[str], marked: Sequence[bool]) -> set[int]:
    """Return runs of short numbered lines that are repeated further below.

    The headings themselves may follow directly: a line that was repeated before is none.
    """
    found: set[int] = set()
    last = {keys[i]: i for i in range(len(lines)) if marked[i]}
    first = {keys[i]: i for i in reversed(range(len(lines))) if marked[i]}
    run: list[int] = []
    for i, line in enumerate([*lines, ""]):
        if 0 < len(line) <= _LONGEST_ENTRY and line[-1] not in "。；;" and marked[i]:
            run.append(i)
            continue
        entries = {j for j in run if not first[keys[j]] < j == last[keys[j]]}
        again = sum(last[keys[j]] > run[-1] or j not in entries for j in run)
        if len(run) >= _LEAST_RUN and again >= _AGAIN * len(run):
            found |= entries
        run = []
    return found
