"""Tables of contents and lists of attachments: lines that name headings and are none."""

import re
from collections.abc import Sequence
from itertools import pairwise

_CONTENTS_LINE = re.compile(r"(?:[.．…·‥]\s*+){2}[-—\d\s]*+$|\s\d{1,3}\s*+$")
_LEADERS = re.compile(r"(?:[.．…·‥⋯]\s*+){4}[-—\dIVX\s]*+$")
_CONTENTS_HEAD = re.compile(r"[#*\s]*(?:目\s*[录次]|(?i:contents|table of contents))[*\s：:]*$")
_LONGEST_ENTRY = 80  # characters
_MOST_ENTRIES = 400
_LEAST_RUN = 4  # short numbered lines one after the other that stand again below
_TAIL = re.compile(r"(?<![\s.．…·‥⋯\d\-—])[\s.．…·‥⋯\d\-—]++$")
_NOISE = re.compile(r"[\s#*：:、，.．…·]+")
_GAP = 2  # lines between two with leaders


def is_contents_line(line: str) -> bool:
    """Return whether a line stands in a table of contents: dot leaders, or a page at its end.

    >>> is_contents_line("一、总体要求 ........ 3"), is_contents_line("一、总体要求")
    (True, False)
    """
    return _CONTENTS_LINE.search(line) is not None


def contents_lines(lines: Sequence[str], marked: Sequence[bool]) -> set[int]:
    """Return the positions of the lines of a document that are of a table of contents.

    Args:
        lines: Of the document.
        marked: Of each whether it begins with the mark of a heading.
    """
    found = _with_leaders(lines)
    for i, line in enumerate(lines):
        if _CONTENTS_HEAD.match(line):
            found.update(_below(lines, i))
    found.update(_repeated(lines, marked))
    return found


def _with_leaders(lines: Sequence[str]) -> set[int]:
    """Return lines with leaders, and short ones between them (a number apart from its title)."""
    at = [i for i, line in enumerate(lines) if _LEADERS.search(line.rstrip())]
    found = set(at)
    for a, b in pairwise(at):
        between = range(a + 1, b)
        if len(between) <= _GAP and all(len(lines[i]) <= _LONGEST_ENTRY for i in between):
            found.update(between)
    return found


def _below(lines: Sequence[str], head: int) -> range:
    """Return the lines below 目录 up to the one that repeats an entry."""
    entries: dict[str, int] = {}
    for i in range(head + 1, min(len(lines), head + _MOST_ENTRIES)):
        key = _key(lines[i])
        if not key:
            continue
        if len(lines[i].strip()) > _LONGEST_ENTRY and not is_contents_line(lines[i]):
            break
        if key in entries and i - entries[key] >= 2:
            return range(head + 1, i)
        if len(entries) < 3:
            entries[key] = i
    return range(0)


def _repeated(lines: Sequence[str], marked: Sequence[bool]) -> set[int]:
    """Return runs of short numbered lines that stand again further below.

    The headings themselves may follow the entries at once: a line that stood before is none.
    """
    found: set[int] = set()
    keys = {i: _key(line) for i, line in enumerate(lines) if marked[i]}
    last = {key: i for i, key in keys.items()}
    first = {key: i for i, key in reversed(keys.items())}
    run: list[int] = []
    for i, line in enumerate([*lines, "。" * (_LONGEST_ENTRY + 1)]):
        if not line.strip():
            continue
        if (
            i < len(lines)
            and marked[i]
            and len(line.strip()) <= _LONGEST_ENTRY
            and line.strip()[-1] not in "。；;"
        ):
            run.append(i)
            continue
        entries = {j for j in run if not first[keys[j]] < j == last[keys[j]]}
        again = sum(last[keys[j]] > run[-1] or j not in entries for j in run)
        if len(run) >= _LEAST_RUN and again >= 0.7 * len(run):
            found.update(entries)
        run = []
    return found


def _key(line: str) -> str:
    return _NOISE.sub("", _TAIL.sub("", line.strip()))
