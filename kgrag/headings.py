"""Which sections a piece of text stands in."""

from collections.abc import Sequence

from kgrag.types import Heading


def heading_path(text: str, headings: Sequence[Heading], start: int, end: int) -> tuple[str, ...]:
    """Return the titles of the sections around `text[start:end]`, outermost first.

    Headings that open the piece, one directly after the other, are part of its path.

    Args:
        text: The document's text.
        headings: Of the document, in text order.
        start: Offset of the piece's first character.
        end: Offset after its last.
    """
    stack: list[Heading] = []
    reach = start
    for heading in headings:
        opens_piece = heading.start < end and not text[reach : heading.start].strip()
        if heading.start > start and not opens_piece:
            break
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        reach = max(reach, heading.end)
    return tuple(h.text for h in stack)
