"""Word files with real footnotes, in fonts that show Chinese in Word and WPS."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from kgrag.answer.citation import Citation
from kgrag.notebook import page_words
from kgrag.status import mark
from kgrag.text.visible import visible, without_folders
from kgrag.types import Language

if TYPE_CHECKING:
    from docx.document import Document
    from docx.oxml.xmlchemy import BaseOxmlElement
    from docx.text.paragraph import Paragraph

_LATIN, _BODY, _HEADS = "Times New Roman", "宋体", "黑体"
_SMALL, _IN_TABLES = 9, 10  # points
_PAGE = (210, 297)  # mm, A4
_MARGIN = 25  # mm
_WIDE = 6  # columns from which a table's page lies on its side
_NARROWEST, _WIDEST, _MARKS = 8, 60, 10  # columns of a table, in characters; of footnotes in one
_TITLE = 255  # characters that a property of a file may have
_MARK, _NOTE, _CELL = "footnote reference", "footnote text", "Table Text"  # styles
_TOLD: Mapping[Language, tuple[str, str, str]] = {  # place, quote, note
    "zh": ("，{}", "：“{}”", "注：{}"),
    "en": (", {}", ": “{}”", "Note: {}"),
}


class Bold(str):
    """Words in bold type."""

    __slots__ = ()


Piece = str | Citation  # of a line: words, or a source that becomes a footnote
Line = Sequence[Piece]


class WordFile:
    """A Word file in the making; it is written from top to bottom.

    Texts are data: what they hold is neither field nor link, control characters are shown as
    escapes. A source cited again within a section has its reference repeated without the quote, so
    that every number remains true where footnotes are added or removed.

    Attributes:
        language: Of generated words, from here on.
    """

    def __init__(self, title: str, language: Language, *, columns: int = 0) -> None:
        """Begin a file.

        Args:
            title: A property of the file; `heading` writes one into the text.
            language: Of generated words.
            columns: Of its widest table: from 6 on, pages lie on their side.
        """
        from docx import Document

        self._document = Document()
        self.language = language
        self._cited: set[tuple[str, int, int]] = set()  # in this section
        _set_fonts(self._document)
        self._width = _set_page(self._document, on_its_side=columns >= _WIDE)
        properties = self._document.core_properties
        properties.title = visible(title)[:_TITLE]
        properties.author = properties.comments = ""
        properties.created = properties.modified = datetime.now(UTC)
        self._styles = _add_styles(self._document)
        self._notes = _footnotes(self._document)

    def heading(self, *line: Piece, level: int = 1) -> None:
        """Write a heading; one of level 1 begins a section, 0 is the file's title."""
        if level <= 1:
            self._cited.clear()
        self._fill(self._document.add_heading(level=level), line)

    def paragraph(self, *line: Piece, bullet: bool = False) -> None:
        """Write a paragraph."""
        self._fill(self._document.add_paragraph(style="List Bullet" if bullet else None), line)

    def note(self, text: str) -> None:
        """Write a note to the reader in small type."""
        from docx.shared import Pt

        paragraph = self._document.add_paragraph()
        self._fill(paragraph, [_TOLD[self.language][2].format(text)])
        for run in paragraph.runs:
            run.font.size = Pt(_SMALL)

    def table(self, rows: Iterable[Sequence[Line]], head: Sequence[Line] = ()) -> None:
        """Write a table with a header that is repeated on every page, if there is one."""
        from docx.oxml import OxmlElement

        bold = [[Bold(piece) if isinstance(piece, str) else piece for piece in c] for c in head]
        lines = [*([bold] if head else []), *rows]
        n_columns = max(map(len, lines), default=0)
        if not n_columns:
            return
        table = self._document.add_table(0, n_columns, style="Table Grid")
        for column, width in zip(table.columns, self._widths(lines, n_columns), strict=True):
            column.width = width
        for line in lines:
            row = table.add_row()
            for cell, pieces in zip(row.cells, line, strict=False):
                paragraph = cell.paragraphs[0]
                paragraph._p.style = self._styles[_CELL]
                self._fill(paragraph, pieces)
        if head:
            table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
        self._document.add_paragraph()  # two tables in a row would be one

    def data(self) -> bytes:
        """Return the file."""
        data = BytesIO()
        self._document.save(data)
        return data.getvalue()

    def _widths(self, lines: Sequence[Sequence[Line]], n_columns: int) -> Iterator[int]:
        """Yield the width of each column, by its longest line within bounds."""
        longest = [_NARROWEST] * n_columns
        for line in lines:
            for at, pieces in enumerate(line):
                words = "".join(piece for piece in pieces if isinstance(piece, str))
                n_marks = sum(isinstance(piece, Citation) for piece in pieces)
                widest = max(map(len, words.split("\n"))) + min(n_marks, _MARKS)
                longest[at] = max(longest[at], min(widest, _WIDEST))
        return (self._width * share // sum(longest) for share in longest)

    def _fill(self, paragraph: "Paragraph", line: Line) -> None:
        """Write a line into a paragraph, each source as a footnote."""
        follows = False  # a footnote: 12 might be one, or two
        for piece in line:
            if isinstance(piece, Citation):
                run = paragraph.add_run("," if follows else "")._r
                run.style = self._styles[_MARK]
                run.append(_element("footnoteReference", id=str(self._footnote(piece))))
            elif piece:
                paragraph.add_run(visible(piece)).bold = isinstance(piece, Bold) or None
            follows = isinstance(piece, Citation)

    def _footnote(self, cited: Citation) -> int:
        """Write a source as a footnote, and return the footnote's id."""
        number = len(self._notes) - 1  # behind both separators
        place = cited.doc_id, cited.start, cited.end
        told = source_words(cited, self.language, quoted=place not in self._cited)
        self._cited.add(place)
        note = _element("footnote", id=str(number))
        paragraph, mark_run, words = _element("p"), _element("r"), _element("r")
        paragraph.style, mark_run.style = self._styles[_NOTE], self._styles[_MARK]
        mark_run.append(_element("footnoteRef"))
        words.text = visible(f" {told}")
        paragraph.extend((mark_run, words))
        note.append(paragraph)
        self._notes.append(note)
        return number


def source_words(cited: Citation, language: Language, *, quoted: bool = True) -> str:
    """Return a source in words: how officials cite it, status, file, page and quote.

    No absolute path is given: a report leaves the machine that the folders are on.
    """
    where, quote, _ = _TOLD[language]
    place = page_words(without_folders(cited.file), language, page=cited.page, cells=cited.cells)
    told = f"{cited.reference}{mark(cited.status, language)}" + (
        where.format(place) if place else ""
    )
    return told + (quote.format(" ".join(cited.quote.split())) if quoted else "")


def _footnotes(document: "Document") -> "BaseOxmlElement":
    """Give a document an empty part of footnotes, and return the part's root.

    python-docx knows the part's names, but has no API for footnotes (1.2).
    """
    from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import XmlPart
    from docx.oxml.ns import qn

    root, declared = _element("footnotes"), _element("footnotePr")
    for number, name in ((-1, "separator"), (0, "continuationSeparator")):
        line, paragraph, run = (
            _element("footnote", type=name, id=str(number)),
            _element("p"),
            _element("r"),
        )
        run.append(_element(name))
        paragraph.append(run)
        line.append(paragraph)
        root.append(line)
        declared.append(_element("footnote", id=str(number)))
    document.settings.element.find(qn("w:compat")).addprevious(declared)
    package = document.part.package
    part = XmlPart(PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES, root, package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    return root


def _add_styles(document: "Document") -> Mapping[str, str]:
    """Add styles for footnotes and tables; return their ids by name."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import Pt

    for name, size in ((_NOTE, _SMALL), (_CELL, _IN_TABLES)):
        style = document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH, builtin=name == _NOTE)
        style.base_style = document.styles["Normal"]
        style.font.size = Pt(size)
        style.paragraph_format.space_after = 0
        style.paragraph_format.line_spacing = 1
    document.styles.add_style(_MARK, WD_STYLE_TYPE.CHARACTER, builtin=True).font.superscript = True
    return {name: document.styles[name].style_id for name in (_NOTE, _CELL, _MARK)}


def _set_fonts(document: "Document") -> None:
    """Name Chinese fonts in the place of the theme's, which are Japanese; all text is black."""
    from docx.oxml.ns import qn
    from docx.shared import RGBColor

    styles = document.styles.element
    for fonts in styles.iter(qn("w:rFonts")):
        theme = fonts.attrib.get(qn("w:asciiTheme"))
        if theme is not None:
            fonts.attrib.clear()
            for name in ("ascii", "hAnsi"):
                fonts.set(qn(f"w:{name}"), _LATIN)
            fonts.set(qn("w:eastAsia"), _HEADS if "major" in theme else _BODY)
            fonts.set(qn("w:hint"), "eastAsia")  # quotation marks are Chinese, too
    for spoken in (
        *styles.iter(qn("w:lang")),
        *document.settings.element.iter(qn("w:themeFontLang")),
    ):
        spoken.set(qn("w:eastAsia"), "zh-CN")
    for name in ("Title", *(f"Heading {level}" for level in range(1, 10))):
        document.styles[name].font.color.rgb = RGBColor(0, 0, 0)


def _set_page(document: "Document", *, on_its_side: bool) -> int:
    """Set the size of pages, and return the width between their margins."""
    from docx.enum.section import WD_ORIENTATION
    from docx.shared import Mm

    section = document.sections[0]
    width, height = reversed(_PAGE) if on_its_side else _PAGE
    section.orientation = WD_ORIENTATION.LANDSCAPE if on_its_side else WD_ORIENTATION.PORTRAIT
    section.page_width, section.page_height = Mm(width), Mm(height)
    section.left_margin = section.right_margin = Mm(_MARGIN)
    section.top_margin = section.bottom_margin = Mm(_MARGIN)
    return Mm(width - 2 * _MARGIN)


def _element(name: str, **attributes: str) -> "BaseOxmlElement":
    """Return an element of WordprocessingML."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    made = OxmlElement(f"w:{name}")
    for key, value in attributes.items():
        made.set(qn(f"w:{key}"), value)
    return made
