"""A quote in its document: the text around it, and its reference as officials write it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from kgrag.answer.citation import Citation
from kgrag.errors import OutOfRangeError
from kgrag.json_ready import JsonReady
from kgrag.status import Status
from kgrag.text.numbering import ANNEX, ARTICLE, ATTACHMENT, BARE, BOX, numbering_at
from kgrag.text.words import has_han
from kgrag.types import Document, Heading

# A division whose numbers count through the document, so that those above it are not named.
_ALONE = frozenset((ARTICLE, ATTACHMENT, ANNEX, BOX))
_INNER = str.maketrans("《》", "〈〉")


def reference(title: str, number: str, heading_path: Sequence[str]) -> str:
    r"""Return what is cited as officials write it: 《title》（文号）第X条.

    The article, or else the numbers of the headings around the place, without their words.

    Args:
        title: Of the document.
        number: Its 文号; empty for none.
        heading_path: Headings around the place, outermost first.

    >>> reference("节能条例", "云政发〔2022〕5号", ["第二章 管理", "第十条 用能单位"])
    '《节能条例》（云政发〔2022〕5号）第十条'
    >>> reference("节能方案", "", ["三、重点任务", "（二）工业"])
    '《节能方案》三、（二）'
    >>> reference("Energy Act", "No. 5", ["Part 2 Duties", "Article 7 Reports"])
    'Energy Act (No. 5), Article 7'
    """
    marks: list[str] = []
    for heading in heading_path:
        found = numbering_at(heading)
        if found is None or found.family == BARE:
            continue
        written = heading[: found.end].strip()
        marks = [written] if found.family in _ALONE else [*marks, written]
    if not has_han(title):
        cited = f"{title} ({number})" if number else title
        return ", ".join((cited, *marks))
    cited = f"《{title.translate(_INNER)}》"  # as in 《关于印发〈节能办法〉的通知》
    return cited + (f"（{number}）" if number else "") + "".join(marks).rstrip("、．.")


@dataclass(frozen=True, slots=True)
class Excerpt(JsonReady):
    """A quote with the paragraphs around it.

    Attributes:
        citation: Document, place and status of the quote; not a citation of a chunk.
        reference: How it is cited: 《title》（文号）第X条.
        before: The text ahead of the quote, from the beginning of a paragraph.
        after: The text behind it, up to the end of a paragraph.
    """

    citation: Citation
    reference: str
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
                f"{document.file or document.title} has the characters 0-{len(text)}, got "
                f"{start}-{end}"
            )
        cited = replace(Citation.of(document, headings, span, chunk_id=""), status=status)
        begins = _paragraph_start(text, start, paragraphs)
        ends = len(text) - _paragraph_start(text[::-1], len(text) - end, paragraphs)
        written = reference(cited.title, document.metadata.number, cited.heading_path)
        return cls(cited, written, text[begins:start], text[end:ends])


def _paragraph_start(text: str, offset: int, n: int) -> int:
    """Return where the n-th paragraph with text before that of an offset begins."""
    begin = text.rfind("\n", 0, offset) + 1
    while n > 0 and begin > 0:
        previous = text.rfind("\n", 0, begin - 1) + 1
        n -= bool(text[previous:begin].strip())
        begin = previous
    return begin
