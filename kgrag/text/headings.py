"""The path of section titles of a span."""

import bisect
from collections.abc import Sequence

from kgrag.types import Heading

_MOST_OPENING = 20  # headings one after the other that are followed: more are a list of titles


class HeadingTree:
    """The headings of a document, indexed for look-up by offset.

    Attributes:
        text: The document's text.
        headings: In text order.
    """

    def __init__(self, text: str, headings: Sequence[Heading]) -> None:
        self.text = text
        self.headings = headings
        self._starts = [heading.start for heading in headings]
        self._paths = _paths(headings)

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """Return the titles of the sections around `text[start:end]`, outermost first.

        Consecutive headings at the start of the span are part of its path.
        """
        last = bisect.bisect_right(self._starts, start) - 1
        reach = max(start, self.headings[last].end) if last >= 0 else start
        for heading in self.headings[last + 1 : last + 1 + _MOST_OPENING]:
            if heading.start >= end or self.text[reach : heading.start].strip():
                break
            last += 1
            reach = max(reach, heading.end)
        return self._paths[last] if last >= 0 else ()


def _paths(headings: Sequence[Heading]) -> list[tuple[str, ...]]:
    stack: list[Heading] = []
    paths = []
    for heading in headings:
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        paths.append(tuple(h.text for h in stack))
    return paths
