"""A quote in its document: the text around it, and its reference as officials write it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from kgrag.errors import OutOfRangeError
from kgrag.json_ready import JsonReady
from kgrag.notebook import place_words
from kgrag.status import Status
from kgrag.text.headings import HeadingTree
from kgrag.text.numbering import ANNEX, ARTICLE, ATTACHMENT, BARE, BOX, numbering_at
from kgrag.text.words import has_han
from kgrag.types import Document, Heading, Language

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
        doc_id: The document.
        title: Its title.
        number: Its 文号; empty if it has none.
        file: Its file as ingested.
        heading_path: Sections around the quote, outermost first.
        page: 1-based page, if the file has pages.
        start: First character of the quote in the document's text.
        end: Offset after the quote.
        before: The text ahead of the quote, from the beginning of a paragraph.
        quote: `document.text[start:end]`.
        after: The text behind it, up to the end of a paragraph.
        status: Whether the document is in force; None if not determined.
    """

    doc_id: str
    title: str
    number: str
    file: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    before: str
    quote: str
    after: str
    status: Status | None = None

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
        pages = (s for s in document.segments if s.kind == "page" and s.start <= start < s.end)
        begins = _paragraph_start(text, start, paragraphs)
        ends = len(text) - _paragraph_start(text[::-1], len(text) - end, paragraphs)
        return cls(
            doc_id=document.doc_id,
            title=document.title,
            number=document.metadata.number,
            file=document.file,
            heading_path=HeadingTree(text, headings).path(start, end),
            page=next((page.number for page in pages), None),
            start=start,
            end=end,
            before=text[begins:start],
            quote=text[start:end],
            after=text[end:ends],
            status=status,
        )

    @property
    def reference(self) -> str:
        """Return how it is cited: 《title》（文号）第X条."""
        return reference(self.title, self.number, self.heading_path)

    def place(self, language: Language) -> str:
        """Return file, page and characters in words."""
        return place_words(self.file, self.start, self.end, language, page=self.page)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        return {**JsonReady.to_dict(self), "reference": self.reference}


def _paragraph_start(text: str, offset: int, n: int) -> int:
    """Return where the n-th paragraph with text before that of an offset begins."""
    begin = text.rfind("\n", 0, offset) + 1
    while n > 0 and begin > 0:
        previous = text.rfind("\n", 0, begin - 1) + 1
        n -= bool(text[previous:begin].strip())
        begin = previous
    return begin
