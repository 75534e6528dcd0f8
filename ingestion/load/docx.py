"""Word files: paragraphs and tables in the order of the body, list numbers written out."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.docx_tables import frame_cells, word_table_lines
from kgrag.ingestion.load.numbering import Numbering, paragraph_number, read_numbering
from kgrag.ingestion.load.parsed import Parsed, join_blocks, replace_unusable
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.language.text import normalize_name

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from lxml.etree import _Element as Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A small zip can unpack to terabytes; a real Word file's text does not come near this.
_MAX_UNPACKED = 1_000_000_000

# Deleted or moved-away text, the sound under a character, and a second copy of the same shape.
_LEFT_OUT = {_W + "del", _W + "moveFrom", _W + "rt", _W + "pPr", _MC + "Fallback"}
_CHARACTERS: dict[str, str] = {
    _W + "tab": "\t",
    _W + "br": "\n",
    _W + "cr": "\n",
    _W + "noBreakHyphen": "-",
    _W + "softHyphen": "",
}
_JUNK_TITLE = re.compile(
    r"(?:无标题|未命名|新建|文档|附件|untitled|document|microsoft word|normal|title|template)"
    r"[\s\d.\-_()（）]*.{0,12}",
    re.IGNORECASE,
)


_WRAPPERS = {_W + tag for tag in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")}
_GENERATORS = {
    "python-docx",
    "administrator",
    "admin",
    "user",
    "microsoft office user",
    "apache poi",
}


@dataclass(slots=True)
class _Reading:
    numbering: Numbering
    contents_styles: frozenset[str]
    n_boxes: int = 0
    n_contents: int = 0
    note_ids: list[tuple[str, str]] = field(default_factory=list)


def read_docx(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a Word file's text: a paragraph or table row a line, in the order of the body.

    Tables are Markdown rows, see `grid.table_lines`.
    Numbers of automatic lists are written out. Text boxes follow the paragraph that they hang
    on, foot- and endnotes come last; headers, footers, comments, deleted text and the generated
    table of contents (it repeats the headings) are left out. The title is what the first lines
    give, else the file's title property, if it says something.

    Args:
        data: The whole file.
        name: The file, for messages.
        stem: The title where neither text nor properties name one.

    Raises:
        IngestionError: It is damaged, locked with a password, or no Word file.
    """
    if data.startswith(_OLE_MAGIC):
        raise IngestionError(
            f"{name}: is an old or password-protected Word file; open it in Word, "
            "take the password away and save it as .docx"
        )
    try:
        _check_size(data, name)
        return _read(data, stem)
    except _damage() as exc:
        raise IngestionError(
            f"{name}: is damaged or no Word file ({exc}); open it in Word and save it again"
        ) from exc


def _damage() -> tuple[type[Exception], ...]:
    """Return what python-docx lets through of zip, XML and its own look-ups in a bad file."""
    from docx.exceptions import PythonDocxError
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    own = (PythonDocxError, OpcError, LxmlError, zipfile.BadZipFile, zlib.error)
    # RuntimeError: an encrypted entry, or nesting beyond any document.
    return (
        *own,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        RuntimeError,
        EOFError,
    )


def _check_size(data: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > _MAX_UNPACKED:
        raise IngestionError(
            f"{name}: unpacks to {unpacked:,} bytes, more than {_MAX_UNPACKED:,}; split it"
        )


def _read(data: bytes, stem: str) -> Parsed:
    import docx

    document = docx.Document(io.BytesIO(data))
    contents = frozenset(
        style.style_id for style in document.styles if (style.name or "").lower().startswith("toc ")
    )
    reading = _Reading(read_numbering(document), contents)
    blocks = list(_body_blocks(document.element.body, reading))
    notes = _notes(document, reading)
    # One pass over all, so that the warning counts the whole file.
    clean, warnings = replace_unusable("\x01".join((*blocks, *notes)))
    text, segments = join_blocks(clean.split("\x01"), "paragraph")
    properties = document.core_properties
    author = properties.author or ""
    return Parsed(
        text=text,
        title=find_title(text) or _property_title(properties.title) or guess_title(text, stem),
        segments=segments,
        warnings=(*warnings, *_warnings(reading, len(notes))),
        properties={"author": author} if author.lower() not in _GENERATORS | {""} else {},
    )


def _body_blocks(parent: "Element", reading: _Reading) -> Iterator[str]:
    for child in parent:
        if child.tag == _W + "p":
            yield from _paragraph_blocks(child, reading)
        elif child.tag == _W + "tbl":
            yield from _table_blocks(child, reading)
        elif child.tag in _WRAPPERS:
            yield from _body_blocks(child, reading)


def _paragraph_blocks(paragraph: "Element", reading: _Reading) -> Iterator[str]:
    style_of = paragraph.find(f"{_W}pPr/{_W}pStyle")
    style = None if style_of is None else style_of.get(_W + "val")
    if style in reading.contents_styles:
        reading.n_contents += 1
        return
    boxes: list[Element] = []
    text = "".join(_pieces(paragraph, reading, boxes))
    # Counted also where there is no text: Word shows such a number and goes on from it.
    label = reading.numbering.label(*paragraph_number(paragraph), style)
    if text.strip():
        yield from _with_label(label, text).split("\n")
    for box in boxes:
        reading.n_boxes += 1
        yield from _body_blocks(box, reading)


def _with_label(label: str, text: str) -> str:
    text = text.lstrip()
    if not label:
        return text
    # After 一、 and （一） Chinese text follows at once, after 1. or A there is a gap.
    return label + ("" if label[-1] in "、）．，：" else " ") + text


def _pieces(element: "Element", reading: _Reading, boxes: list["Element"]) -> Iterator[str]:
    for child in element:
        tag = child.tag
        if tag in (_W + "t", _M + "t"):
            yield child.text or ""
        elif tag in _CHARACTERS:
            yield _CHARACTERS[tag]
        elif tag == _W + "txbxContent":
            boxes.append(child)
        elif tag in (_W + "footnoteReference", _W + "endnoteReference"):
            reading.note_ids.append((tag, child.get(_W + "id", "")))
        elif tag in _LEFT_OUT or (tag == _W + "r" and _hidden(child)):
            continue
        else:
            yield from _pieces(child, reading, boxes)


def _hidden(run: "Element") -> bool:
    vanish = run.find(f"{_W}rPr/{_W}vanish")
    return vanish is not None and vanish.get(_W + "val", "1") not in ("0", "false", "off")


def _table_blocks(table: "Element", reading: _Reading) -> Iterator[str]:
    frame = frame_cells(table)
    if frame is None:
        yield from word_table_lines(table, lambda cell: _body_blocks(cell, reading))
        return
    for cell in frame:
        yield from _body_blocks(cell, reading)


def _notes(document: "WordDocument", reading: _Reading) -> list[str]:
    """Return the foot- and endnotes that the text refers to, in that order."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml.parser import parse_xml

    kinds = {
        RELATIONSHIP_TYPE.FOOTNOTES: _W + "footnote",
        RELATIONSHIP_TYPE.ENDNOTES: _W + "endnote",
    }
    texts: dict[tuple[str, str], str] = {}
    for relation in document.part.rels.values():
        tag = kinds.get(relation.reltype)
        if tag is None or relation.is_external:
            continue
        for note in parse_xml(relation.target_part.blob).findall(tag):
            key = (tag + "Reference", note.get(_W + "id", ""))
            texts[key] = " ".join(_body_blocks(note, reading)).strip()
    wanted = list(reading.note_ids)
    return [f"[{i}] {texts[key]}" for i, key in enumerate(wanted, 1) if texts.get(key)]


def _property_title(title: str | None) -> str:
    clean = " ".join((title or "").split())
    if len(normalize_name(clean)) < 4 or _JUNK_TITLE.fullmatch(clean):
        return ""
    return "" if re.search(r"\.(?:docx?|wps|pdf|txt)$", clean, re.IGNORECASE) else clean


def _warnings(reading: _Reading, n_notes: int) -> list[str]:
    facts: list[tuple[int, Callable[[int], str]]] = [
        (reading.n_boxes, lambda n: f"{n} text box(es) put after the paragraph they hang on"),
        (reading.n_contents, lambda n: f"generated table of contents left out ({n} lines)"),
        (n_notes, lambda n: f"{n} note(s) put at the end of the text"),
    ]
    found = [say(n) for n, say in facts if n]
    if reading.numbering.unknown:
        names = ", ".join(sorted(reading.numbering.unknown))
        found.append(f"list numbers written as digits for want of a rule: {names}")
    return found
