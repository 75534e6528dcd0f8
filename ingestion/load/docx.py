"""Word files: paragraphs and tables in the order of the body, as they are shown."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.grid import Cell, table_lines
from kgrag.ingestion.load.libreoffice import OLE, as_office, is_old_word
from kgrag.ingestion.load.parsed import (
    DOCUMENT_NUMBER,
    Block,
    Parsed,
    join_blocks,
    replace_unusable,
    visible,
)
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.ingestion.load.word.package import (
    NotWordError,
    W,
    WordPackage,
    is_on,
    open_package,
    property_value,
)
from kgrag.ingestion.load.word.runs import (
    Line,
    Reading,
    diagram_lines,
    field_marks,
    read_line,
)
from kgrag.ingestion.load.word.styles import paragraph_number, read_numbering, read_styles, style_of
from kgrag.text.messages import message
from kgrag.text.words import normalize_name

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_FEW_ROWS = 3  # a table of so many rows that holds tables lays out the page
_MOST_COLUMNS = 1000

_JUNK_TITLE = re.compile(
    r"(?:无标题|未命名|新建|文档|附件|untitled|document|microsoft word|normal|title|template)"
    r"[\s\d.\-_()（）]*.{0,12}",
    re.IGNORECASE,
)
# Content controls and marks of changes that may stand around paragraphs, rows and cells.
_WRAPPERS = {W + tag for tag in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")}
_ELSEWHERE = {W + "altChunk", W + "subDoc"}
_GENERATORS = {
    "python-docx",
    "administrator",
    "admin",
    "user",
    "microsoft office user",
    "apache poi",
}
_CONTENTS_LINE = re.compile(r"[\t .…·][\dIVXLivxl]")
_CHAPTER = re.compile(r"第.{1,5}[编篇章节部分条]")
_MARKS = re.compile(r"\[(?:图片|图表|嵌入对象)[^\[\]]*+\]")
_NOTES = ("footnote", "endnote")


def read_docx(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a Word file's text: a paragraph or table row a line, in the order of the body.

    Tables are Markdown rows, see `grid.table_lines`. Headings carry their level. Numbers of lists,
    raised and lowered characters and formulas are written out; a picture leaves `[图片]`, a note
    its number. Text boxes follow their paragraph, foot- and endnotes come last; headers (but for
    a document's number), footers, comments, what is deleted, struck out or hidden, and the
    generated table of contents are left out. The title is that of
    the first lines, else the file's title property. Macros are ignored.

    Args:
        data: .docx, .docm or their templates, transitional or strict.
        name: The file, for messages.
        stem: The title where neither text nor properties name one.

    Raises:
        IngestionError: It is damaged, locked with a password, no Word file, larger than a text
            can be, or holds nothing but pictures.
    """
    if is_old_word(data):  # under a new name
        data = as_office(data, suffix="doc", name=name)
    elif data.startswith(OLE):
        raise IngestionError(
            "{name}: is locked with a password; open it in Word, take the password away and "
            "save it as .docx",
            name=name,
        )
    try:
        return _read(open_package(data, name), stem)
    except (NotWordError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError,
            NotImplementedError, RecursionError) as exc:  # fmt: skip
        raise IngestionError(
            "{name}: is damaged or no Word file ({error}); open it in Word and save it again",
            name=name,
            error=exc,
        ) from exc


def read_office(data: bytes, *, name: str, stem: str, suffix: str) -> Parsed:
    """Return the text of a file that LibreOffice converts to .docx.

    Args:
        data: The whole file.
        name: As for `read_docx`.
        stem: As for `read_docx`.
        suffix: Of its format, without dot, e.g. `doc`.

    Raises:
        IngestionError: It cannot be converted or read.
    """
    parsed = read_docx(as_office(data, suffix=suffix, name=name), name=name, stem=stem)
    said = message("read through LibreOffice, from .{suffix}", suffix=suffix)
    return replace(parsed, warnings=(*parsed.warnings, said))


def _read(package: WordPackage, stem: str) -> Parsed:
    root = package.tree(package.main)
    body = None if root is None else root.find(W + "body")
    if body is None:
        raise NotWordError(message("{main} holds no text", main=package.main))
    notes = _note_elements(package)
    styles = next(iter(package.related("styles")), None)
    reading = Reading(
        package,
        read_numbering(next(iter(package.related("numbering")), None), styles),
        read_styles(styles),
        field_marks(body),
        frozenset(key for key, note in notes.items() if "".join(note.itertext(W + "t")).strip()),
    )
    blocks = [*_body_blocks(body, reading), *_note_blocks(notes, reading)]
    blocks = [*_numbers_above(package, blocks), *blocks]
    n_pictures = reading.counts["picture"]
    if n_pictures and not _MARKS.sub("", "".join(block.text for block in blocks)).strip():
        raise IngestionError(
            "{package}: its text is a picture ({n_pictures} in it, and no letters); save the "
            "original as text, or export it as PDF and read that with OCR",
            package=package.name,
            n_pictures=n_pictures,
        )
    return _parsed(blocks, reading, package, stem)


def _parsed(blocks: list[Block], reading: Reading, package: WordPackage, stem: str) -> Parsed:
    blocks = [block for block in blocks if block.text.strip()]
    # One pass over all, so that the warning counts the whole file.
    clean, warnings = replace_unusable(visible("\x01".join(block.text for block in blocks)))
    levels = (block.level for block in blocks)
    text, segments = join_blocks(clean.split("\x01"), "paragraph", levels)
    properties = package.properties()
    author = properties.get("creator", "")
    return Parsed(
        text=text,
        title=find_title(text) or _property_title(properties.get("title"))
        or guess_title(text, stem),
        segments=segments,
        warnings=(*warnings, *_warnings(reading)),
        properties={"author": author} if author.lower() not in _GENERATORS | {""} else {},
    )  # fmt: skip


def _numbers_above(package: WordPackage, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the document's number where only a header has it."""
    below = "".join("".join(block.text.split()) for block in blocks)
    for header in package.related("header"):
        for paragraph in header.iter(W + "p"):
            text = "".join("".join(paragraph.itertext(W + "t")).split())
            if DOCUMENT_NUMBER.fullmatch(text) and text not in below:
                below += text
                yield Block(text)


def _body_blocks(parent: "Element", reading: Reading) -> Iterator[Block]:
    for child in parent:
        if child.tag == W + "p":
            yield from _paragraph_blocks(child, reading)
        elif child.tag == W + "tbl":
            yield from _pending(reading)
            yield from _table_blocks(child, reading)
        elif child.tag in _WRAPPERS:
            yield from _body_blocks(child, reading)
        elif child.tag in _ELSEWHERE:
            reading.counts["elsewhere"] += 1
    if parent.tag not in _WRAPPERS:
        yield from _pending(reading)


def _pending(reading: Reading) -> Iterator[Block]:
    text, reading.pending = reading.pending, ""
    yield from map(Block, text.split("\n"))


def _paragraph_blocks(paragraph: "Element", reading: Reading) -> Iterator[Block]:
    style = style_of(paragraph)
    in_contents = reading.in_contents
    line = read_line(paragraph, reading)
    text = line.text
    if _is_contents(line, text, style, reading, in_contents=in_contents or reading.in_contents):
        reading.counts["contents"] += 1
        return
    if paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None:
        # The mark at its end is deleted: it goes on in the next paragraph, under whose style.
        reading.pending += text
        text = ""
    else:
        # Counted also where there is no text: Word shows such a number and goes on from it.
        label = reading.numbering.label(*paragraph_number(paragraph), style)
        text, reading.pending = reading.pending + text, ""
        if text.strip():
            yield from _lines(_with_label(label, text), reading.styles.level(paragraph))
    yield from _hanging(line, reading)


def _hanging(line: Line, reading: Reading) -> Iterator[Block]:
    """Yield the texts of a paragraph's boxes and diagrams."""
    relations, reading.diagrams = reading.diagrams, []
    for relation in relations:
        found = reading.package.relations.get(relation)
        root = None if found is None else reading.package.tree(found.path)
        lines = [] if root is None else list(diagram_lines(root))
        reading.counts["diagram"] += 1
        yield from map(Block, lines)
    for box in line.boxes:
        reading.counts["box"] += 1
        yield from _body_blocks(box, reading)


def _is_contents(
    line: Line, text: str, style: str | None, reading: Reading, *, in_contents: bool
) -> bool:
    if style in reading.styles.contents:
        return True
    return in_contents and (line.links_to_heading or bool(_CONTENTS_LINE.search(text, 1)))


def _lines(text: str, level: int) -> Iterator[Block]:
    """Yield the lines of a paragraph; a heading is one line, however it is broken."""
    parts = [part.strip() for part in text.split("\n")]
    if not level:
        yield from map(Block, parts)
        return
    joined = ""
    for part in filter(None, parts):
        is_tight = joined and not _CHAPTER.fullmatch(joined) and _is_wide(joined[-1] + part[0])
        joined += ("" if is_tight or not joined else " ") + part
    yield Block(joined, level)


def _is_wide(pair: str) -> bool:
    return all("\u3000" <= character <= "\u9fff" or character > "\uff00" for character in pair)


def _with_label(label: str, text: str) -> str:
    text = text.lstrip()
    if not label:
        return text
    # After 一、 and （一） Chinese text follows at once, after 1. or A there is a gap.
    return label + ("" if label[-1] in "、）．，：" else " ") + text


def _table_blocks(table: "Element", reading: Reading) -> Iterator[Block]:
    frame = frame_cells(table)
    if frame is None:
        lines = word_table_lines(
            table, lambda cell: (block.text for block in _body_blocks(cell, reading))
        )
        yield from map(Block, lines)
        return
    for cell in frame:
        yield from _body_blocks(cell, reading)


def _note_elements(package: WordPackage) -> dict[tuple[str, str], "Element"]:
    return {
        (f"{W}{kind}Reference", note.get(W + "id", "")): note
        for kind in _NOTES
        for root in package.related(kind + "s")
        for note in root.findall(W + kind)
    }


def _note_blocks(notes: dict[tuple[str, str], "Element"], reading: Reading) -> Iterator[Block]:
    """Yield the notes that the text refers to, in that order, each once."""
    met: set[tuple[str, str]] = set()
    while len(met) < len(reading.note_numbers):  # a note may refer to a further one
        for key, number in list(reading.note_numbers.items()):
            if key not in met:
                met.add(key)
                reading.field_marks = field_marks(notes[key])
                texts = [block.text.strip() for block in _body_blocks(notes[key], reading)]
                yield Block(f"[{number}] " + " ".join(filter(None, texts)))


def _property_title(title: str | None) -> str:
    clean = " ".join((title or "").split())
    if len(normalize_name(clean)) < 4 or _JUNK_TITLE.fullmatch(clean):
        return ""
    return "" if re.search(r"\.(?:docx?|wps|pdf|txt)$", clean, re.IGNORECASE) else clean


def _warnings(reading: Reading) -> list[str]:
    facts = (
        ("box", "{n} text box(es) put after the paragraph they hang on"),
        ("diagram", "{n} diagram(s): their texts put after the paragraph, as lines"),
        ("contents", "generated table of contents left out ({n} lines)"),
        ("picture", "{n} picture(s), marked [图片]: text in them is not read"),
        ("chart", "{n} chart(s), marked [图表]: their figures are not read"),
        ("formula", "{n} formula(s) of an old equation editor, marked [公式]: not read"),
        ("object", "{n} embedded file(s), marked [嵌入…]: not read"),
        ("elsewhere", "{n} document(s) inserted whole (altChunk, subdocument) are not "
                      "read; open the file in Word and save it again"),
    )  # fmt: skip
    found: list[str] = [message(said, n=n) for kind, said in facts if (n := reading.counts[kind])]
    if reading.note_numbers:
        found.append(message("{n} note(s) put at the end of the text", n=len(reading.note_numbers)))
    if reading.numbering.unknown:
        names = ", ".join(sorted(reading.numbering.unknown))
        found.append(
            message("list numbers written as digits for want of a rule: {names}", names=names)
        )
    if reading.unknown_symbols:
        names = ", ".join(sorted(reading.unknown_symbols)[:5])
        found.append(
            message("symbols without a Unicode character, written as \ufffd: {names}", names=names)
        )
    return found


@dataclass(frozen=True, slots=True)
class _Slot:
    element: "Element"
    column: int
    width: int
    merge: str | None  # downwards: "restart", "continue" the cell above


def frame_cells(table: "Element") -> "list[Element] | None":
    """Return the cells, in order, of a table that only frames text; None for any other.

    Such a table has one column, or few rows whose cells hold tables of their own.
    """
    rows = [list(_inside(row, "tc")) for row in _rows(table)]
    cells = [cell for row in rows for cell in row]
    holds_tables = len(rows) <= _FEW_ROWS and any(
        sum(len(list(_inside(row, "tc"))) > 1 for row in _rows(inner)) > 1
        for cell in cells
        for inner in cell.iter(W + "tbl")
    )
    return cells if holds_tables or all(len(row) < 2 for row in rows) else None


def word_table_lines(table: "Element", read: "Callable[[Element], Iterable[str]]") -> list[str]:
    """Return a table as lines, see `grid.table_lines`; deleted rows are left out.

    Args:
        table: A `w:tbl` that frames no text.
        read: Returns the lines of a cell; called once for each that is shown, in order.
    """
    rows: list[list[Cell]] = []
    above: dict[int, tuple[int, int]] = {}  # column: (row, place in it) of the cell that goes on
    n_header = 0
    for number, row in enumerate(_rows(table)):
        if n_header == number and is_on(row, "trPr/tblHeader"):
            n_header += 1
        cells: list[Cell] = []
        below: dict[int, tuple[int, int]] = {}
        for slot in _slots(row):
            held = above.get(slot.column) if slot.merge == "continue" else None
            if held:
                i, j = held
                rows[i][j] = replace(rows[i][j], row_span=number - i + 1)
            else:
                held = number, len(cells)
                cell = Cell.of_lines(read(slot.element))
                cells.append(replace(cell, col_span=slot.width, column=slot.column))
            if slot.merge:
                below[slot.column] = held
        rows.append(cells)
        above = below
    return table_lines(rows, n_header or None)


def _rows(table: "Element") -> "list[Element]":
    rows = _inside(table, "tr")
    return [row for row in rows if row.find(f"{W}trPr/{W}del") is None]


def _inside(parent: "Element", tag: str) -> "Iterator[Element]":
    """Yield rows or cells, also those that a content control wraps."""
    for child in parent:
        if child.tag == W + tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _inside(child, tag)


def _slots(row: "Element") -> Iterator[_Slot]:
    """Yield the cells of a row; one that goes on to the left (the old `hMerge`) widens that."""
    column = _number(row, "trPr/gridBefore", default=0)
    held: _Slot | None = None
    for cell in _inside(row, "tc"):
        width = _number(cell, "tcPr/gridSpan", default=1) or 1
        if held and property_value(cell, "tcPr/hMerge", "continue") == "continue":
            held = replace(held, width=held.width + width)
        else:
            if held:
                yield held
            held = _Slot(cell, column, width, property_value(cell, "tcPr/vMerge", "continue"))
        column += width
    if held:
        yield held


def _number(element: "Element", path: str, *, default: int) -> int:
    told = property_value(element, path) or ""
    return min(int(told), _MOST_COLUMNS) if told.isascii() and told.isdigit() else default
