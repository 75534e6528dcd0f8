"""Citations, and the results of offline checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from kgrag.answer.address import Address
from kgrag.json_ready import JsonReady, as_dict
from kgrag.notebook import passage_html, place_html, place_words, spot_words
from kgrag.status import Status
from kgrag.text.headings import HeadingTree
from kgrag.text.numbering import ANNEX, ARTICLE, ATTACHMENT, BARE, BOX, numbering_at
from kgrag.text.table_rows import columns_above
from kgrag.text.words import has_han
from kgrag.types import Document, Heading, Language

MARKED = ("\x02", "\x03")  # around the marked sentence of a quote, until it is rendered
# A division whose numbers count through the document, so that those above it are not named.
_ALONE = frozenset((ARTICLE, ATTACHMENT, ANNEX, BOX))
_INNER = str.maketrans("《》", "〈〉")
_OF_ANSWERS = ("number", "chunk_id", "also_in", "columns", "lead", "marked")
_REMARKS: Mapping[Language, tuple[str, ...]] = {
    "zh": (
        "〔引文中没有：{}〕",
        "〔与引文不符：{}〕",
        "〔只见于引文以外的别处：{}〕",
        "〔算得：{}〕",
        "〔无引用〕",
    ),
    "en": (
        " [not in the cited text: {}]",
        " [the cited text says otherwise: {}]",
        " [only elsewhere, not in the cited text: {}]",
        " [computed: {}]",
        " [no citation]",
    ),
}


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
    >>> reference("节能方案", "", ["附件 分工表", "二、工业", "（一）钢铁"])
    '《节能方案》附件，二、（一）'
    """
    marks: list[str] = []
    joint = ""
    for heading in heading_path:
        found = numbering_at(heading)
        if found is None or found.family == BARE:
            continue
        written = heading[: found.end].strip()
        marks = [written] if found.family in _ALONE else [*marks, f"{joint}{written}"]
        joint = "，" if found.family in _ALONE and has_han(written) else ""  # 附件二 is another
    if not has_han(title):
        cited = f"{title} ({number})" if number else title
        return ", ".join((cited, *marks))
    cited = f"《{title.translate(_INNER)}》"  # as in 《关于印发〈节能办法〉的通知》
    return cited + (f"（{number}）" if number else "") + "".join(marks).rstrip("、．.")


def with_bold(text: str) -> str:
    """Return the text of a block with its marked sentence in bold, as Markdown writes it."""
    return text.replace(MARKED[0], "**").replace(MARKED[1], "**")


@dataclass(frozen=True, slots=True)
class Citation(JsonReady):
    """The source of a sentence of an answer, or of a row of a table.

    Attributes:
        number: The [n] in the answer, from 1; 0 in a table.
        doc_id: The document.
        title: Its title.
        file: Its file as ingested.
        heading_path: Sections around the quote, outermost first.
        page: 1-based page or slide, if the file has such.
        start: First character of the quote in the document's text.
        end: Offset after the quote.
        quote: `document.text[start:end]`, verbatim; in a table the sentences around it on one line.
            Never blank.
        chunk_id: The retrieved chunk around the quote; empty in a table.
        status: Whether the document is in force; None if not determined.
        also_in: Other files with the same or nearly the same text.
        document_number: The document's 文号; empty for none.
        columns: The header of the table that the quote is a row of; empty for other quotes.
        lead: The sentence that leads in the list, or the header of the table, that the quote goes
            on with; empty for none.
        marked: (start, end) of the sentence nearest to the question in the document's text.
        cells: Of the sheet that the quote is from, `项目!A12:F12`; empty for other files.
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
    document_number: str = ""
    columns: str = ""
    lead: str = ""
    marked: tuple[int, int] | None = None
    cells: str = ""

    def __post_init__(self) -> None:
        if not self.quote.strip():
            raise ValueError(f"{self.address} of {self.title!r} quotes nothing")

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
        return cls(
            number=0,
            doc_id=document.doc_id,
            title=document.title,
            file=document.file,
            heading_path=HeadingTree(document.text, headings).path(start, end),
            page=document.page_at(start),
            start=start,
            end=end,
            quote=document.text[start:end],
            chunk_id=chunk_id,
            document_number=document.metadata.number,
            columns=columns_above(document.text, start, end),
            cells=document.cells_at(start, end),
        )

    @property
    def reference(self) -> str:
        """The place as officials write it: 《title》（文号）第X条."""
        return reference(self.title, self.document_number, self.heading_path)

    @property
    def address(self) -> str:
        """The address of the quote; see `kgrag.answer.address.Address`."""
        return str(Address(self.doc_id, self.start, self.end))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with address and reference.

        The source of a row of a table is without what only citations of answers have.
        """
        told = as_dict(self, without=() if self.number else _OF_ANSWERS)
        return told | {"address": self.address, "reference": self.reference}

    def place(self, language: Language) -> str:
        """Return file, page and characters in words."""
        start, end = self.start, self.end
        return place_words(self.file, start, end, language, page=self.page, cells=self.cells)

    def spot(self, language: Language) -> str:
        """Return page, slide or cells in words; empty if there are none."""
        return spot_words(self.file, language, page=self.page, cells=self.cells)

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
            cells=self.cells,
        )
        return passage_html(where, self.quote)


@dataclass(frozen=True, slots=True)
class SentenceCheck(JsonReady):
    """Result of the offline checks for one sentence of an answer.

    Attributes:
        start: First character of the sentence in the answer's text; in a claim 0.
        end: Offset after it.
        numbers: Its [n].
        missing: Its parts (quantities, times, names, …) that the cited clause does not state.
        cited: Whether it has a citation of a passage, or needs none.
        elsewhere: Those that only the rest of the passage has: they may belong to something else.
        contrary: Its parts that the clause states otherwise, with what it says.
        computed: Its figures that follow from those of the clause, with these.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    missing: tuple[str, ...]
    cited: bool
    elsewhere: tuple[str, ...] = ()
    contrary: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()

    @property
    def unstated(self) -> bool:
        """Whether the cited clause says otherwise, or does not say so."""
        return bool(self.missing or self.elsewhere or self.contrary)

    @property
    def supported(self) -> bool:
        """Whether no problem was found."""
        return self.cited and not self.unstated

    def remark(self, language: Language) -> str:
        """Return the remark after the sentence; empty without a problem or anything computed."""
        *forms, uncited = _REMARKS[language]
        if not self.cited:
            return uncited
        joint = ", " if language == "en" else "、"
        found = (self.missing, self.contrary, self.elsewhere, self.computed)
        return "".join(
            form.format(joint.join(some)) for form, some in zip(forms, found, strict=True) if some
        )

    def remarked(self, text: str, language: Language) -> str:
        """Return the sentence with its remark; in a table before the bar that ends the row."""
        row = text.rstrip()
        end = len(row.rstrip("| ")) if row.endswith("|") else len(text)
        return text[:end] + self.remark(language) + text[end:]
