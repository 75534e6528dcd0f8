"""A quote in its document: the text around it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from kgrag.answer.citation import Citation
from kgrag.errors import OutOfRangeError
from kgrag.json_ready import JsonReady
from kgrag.status import Status
from kgrag.types import Document, Heading


@dataclass(frozen=True, slots=True)
class Excerpt(JsonReady):
    """A quote with the paragraphs around it.

    Attributes:
        citation: Document, place and status of the quote; not a citation of a chunk.
        before: The text ahead of the quote, from the beginning of a paragraph.
        after: The text behind it, up to the end of a paragraph.
    """

    citation: Citation
    before: str
    after: str

    @classmethod
    def of(
        cls,
        document: Document,
        headings: Sequence[Heading],
        span: tuple[int, int],
        *,
        paragraphs: int = 1,
        status: Status | None = None,
    ) -> Self:
        """Return a place of a document with the paragraphs around it.

        Args:
            document: With text and segments.
            headings: Of the document.
            span: (start, end) of the quote.
            paragraphs: Before and behind those of the quote, blank ones not counted.
            status: Of the document.

        Raises:
            OutOfRangeError: If the document has no such characters.
        """
        start, end = span
        text = document.text
        if not 0 <= start < end <= len(text):
            raise OutOfRangeError(
                "{title} has the characters 0-{n}, got {start}-{end}",
                title=document.title,
                n=len(text),
                start=start,
                end=end,
            )
        cited = replace(Citation.of(document, headings, span, chunk_id=""), status=status)
        begins = _paragraph_start(text, start, paragraphs)
        ends = len(text) - _paragraph_start(text[::-1], len(text) - end, paragraphs)
        return cls(cited, text[begins:start], text[end:ends])


def _paragraph_start(text: str, offset: int, n: int) -> int:
    """Return where the n-th paragraph with text before that of an offset begins."""
    begin = text.rfind("\n", 0, offset) + 1
    while n > 0 and begin > 0:
        previous = text.rfind("\n", 0, begin - 1) + 1
        n -= bool(text[previous:begin].strip())
        begin = previous
    return begin
