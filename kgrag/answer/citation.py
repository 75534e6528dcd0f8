"""Citations, and the results of offline checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from kgrag.answer.address import Address
from kgrag.json_ready import JsonReady, as_dict
from kgrag.notebook import passage_html, place_html, place_words
from kgrag.status import Status
from kgrag.text.headings import HeadingTree
from kgrag.types import Document, Heading, Language

_REMARKS: Mapping[Language, tuple[str, str, str, str]] = {
    "zh": ("〔引文中没有：{}〕", "〔与所引文字不符：{}〕", "〔所引句中没有：{}〕", "〔无引用〕"),
    "en": (
        " [not in the cited text: {}]",
        " [the cited text says otherwise: {}]",
        " [not in the quoted sentence: {}]",
        " [no citation]",
    ),
}


@dataclass(frozen=True, slots=True)
class Citation(JsonReady):
    """The source of a sentence of an answer.

    Attributes:
        number: The [n] in the answer, from 1.
        doc_id: The document.
        title: Its title.
        file: Its file as ingested.
        heading_path: Sections around the quote, outermost first.
        page: 1-based page, if the file has pages.
        start: First character of the quote in the document's text.
        end: Offset after the quote.
        quote: `document.text[start:end]`, verbatim.
        chunk_id: The retrieved chunk around the quote.
        status: Whether the document is in force; None if not determined.
        also_in: Other files with the same or nearly the same text.
    """

    number: int
    doc_id: str
    title: str
    file: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    quote: str
    chunk_id: str
    status: Status | None = None
    also_in: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        document: Document,
        headings: Sequence[Heading],
        span: tuple[int, int],
        chunk_id: str,
    ) -> Self:
        """Return the citation of `document.text[start:end]`; the answer numbers it.

        Args:
            document: With text and segments.
            headings: Of the document.
            span: (start, end) of the quote.
            chunk_id: The retrieved chunk around it.
        """
        start, end = span
        pages = (s for s in document.segments if s.kind == "page" and s.start <= start < s.end)
        return cls(
            number=0,
            doc_id=document.doc_id,
            title=document.title,
            file=document.file,
            heading_path=HeadingTree(document.text, headings).path(start, end),
            page=next((page.number for page in pages), None),
            start=start,
            end=end,
            quote=document.text[start:end],
            chunk_id=chunk_id,
        )

    @property
    def address(self) -> str:
        """The address of the quote; see `kgrag.answer.address.Address`."""
        return str(Address(self.doc_id, self.start, self.end))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with the address."""
        return as_dict(self) | {"address": self.address}

    def place(self, language: Language) -> str:
        """Return file, page and characters in words."""
        return place_words(self.file, self.start, self.end, language, page=self.page)

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        where = place_html(
            self.title,
            self.heading_path,
            file=self.file,
            start=self.start,
            end=self.end,
            status=self.status,
            page=self.page,
        )
        return passage_html(where, self.quote)


@dataclass(frozen=True, slots=True)
class SentenceCheck(JsonReady):
    """Result of the offline checks for one sentence of an answer.

    Attributes:
        start: First character of the sentence in the answer's text.
        end: Offset after it.
        numbers: Its [n].
        missing: Its numbers, dates and names that are not in the cited text, as written.
        cited: Whether it has a citation of a passage, or needs none.
        elsewhere: Its numbers that are in the cited passage, but not in the quote: they may belong
            to something else.
        contrary: Its figures, years, agencies and modal words that the cited text states of
            something else, or otherwise.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    missing: tuple[str, ...]
    cited: bool
    elsewhere: tuple[str, ...] = ()
    contrary: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether no problem was found."""
        return self.cited and not self.missing and not self.contrary

    def remark(self, language: Language) -> str:
        """Return the remark after the sentence; empty without a problem."""
        *forms, uncited = _REMARKS[language]
        if not self.cited:
            return uncited
        joint = ", " if language == "en" else "、"
        found = (self.missing, self.contrary, self.elsewhere)
        return "".join(
            form.format(joint.join(some)) for form, some in zip(forms, found, strict=True) if some
        )


def with_remarks(
    text: str, checks: Sequence[SentenceCheck], language: Language
) -> tuple[str, tuple[SentenceCheck, ...]]:
    """Return a text with the remarks after its sentences, and the checks with their new places.

    In a table a remark comes before the bar that ends the row.
    """
    parts: list[str] = []
    moved: list[SentenceCheck] = []
    reach = added = 0
    for check in checks:
        told = check.remark(language)
        row = text[check.start : check.end].rstrip()
        end = check.start + len(row.rstrip("| ")) if row.endswith("|") else check.end
        parts += [text[reach:end], told]
        start, reach = check.start + added, end
        added += len(told)
        moved.append(replace(check, start=start, end=check.end + added))
    return "".join([*parts, text[reach:]]), tuple(moved)
