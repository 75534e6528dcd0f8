"""The text of one paragraph of a Word file as it is shown, and the state of reading a file."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from kgrag.ingestion.load.raised import Script, Scripted, written
from kgrag.ingestion.load.word.formulas import M, equation, formula
from kgrag.ingestion.load.word.package import OFF, R, W, WordPackage, is_on, property_value
from kgrag.ingestion.load.word.styles import Numbering, WordStyles, script_of, style_of

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Deleted or moved-away text, the sound under a character, and a second copy of the same shape.
_LEFT_OUT = frozenset(
    {W + "del", W + "moveFrom", W + "rt", W + "pPr", W + "rPr", W + "sdtPr", _MC + "Fallback"}
)
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_V = "{urn:schemas-microsoft-com:vml}"
_O = "{urn:schemas-microsoft-com:office:office}"
# Smaller both ways is a bullet or a line: 0.5 cm in Word's units of 1/360,000 cm.
_SMALL = 180_000
# What programs write there by themselves: file names, counters, guesses.
_NO_ALT = re.compile(
    r"(?:.*[\\/].*|.*\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)|wps图片.*|.*(?:描述已自动生成|自动生成的说明"
    r"|automatically generated|AI 生成的内容可能不正确).*"
    r"|(?:img|image|picture|pic|图片|图像|截图|微信图片|微信截图|qq图片|qq截图|屏幕截图|photo|未命名|untitled|logo)?[\s_\-()（）\d]*"
    r"|[\da-f\-]{16,})",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_LONGEST_ALT = 200
_SYMBOL_FONT = dict(
    zip(
        (*range(0x20, 0x7F), *range(0xA0, 0xFF)),
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?"
        "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
        "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"
        "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
        "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x45: "☜", 0x46: "☞", 0x47: "☝", 0x48: "☟",
    0x52: "☼", 0x6C: "●", 0x6D: "○", 0x6E: "■", 0x6F: "□", 0x70: "□", 0x71: "□", 0x72: "□",
    0x73: "◆", 0x74: "◆", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x78: "☒", 0x9E: "·", 0x9F: "•",
    0xA1: "○", 0xA4: "◉", 0xA5: "◎", 0xA7: "▪", 0xA8: "☐", 0xAA: "✦", 0xAB: "★", 0xD8: "➢",
    0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧",
    0xF2: "⇩", 0xFB: "✘", 0xFC: "✔", 0xFD: "☒", 0xFE: "☑",
    **{0x80 + n: c for n, c in enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿")},
}  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0x98: "●",
    0x99: "●", 0x9A: "○", 0x9E: "◉", 0xA2: "■", 0xA3: "☐", 0xA4: "☐", 0xA5: "☐", 0xAE: "◆",
    **{0x69 + n: c for n, c in enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿")},
}  # fmt: skip
_WINGDINGS_3 = {0x21: "↔", 0x66: "←", 0x67: "→", 0x68: "↑", 0x69: "↓", 0x70: "▲", 0x71: "▼",
                0x74: "◀", 0x75: "▶", 0x7D: "▸"}  # fmt: skip
_FONTS = {
    "symbol": _SYMBOL_FONT,
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
}
_TICKS = ("☐", "☑")
_UNKNOWN = "\ufffd"
_SYMBOL = re.compile(r"SYMBOL\s+(0x[0-9a-f]++|\d++)(?:.*?\\f\s*\"([^\"]*)\")?", re.IGNORECASE)
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_CHARACTERS: dict[str, str] = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
    W + "softHyphen": "",
}


@dataclass(slots=True)
class Field:
    """An open field.

    Attributes:
        begin: Its first mark, which holds the state of a form.
        instruction: E.g. ` HYPERLINK "http://…" `, as far as it was read.
        in_result: Whether its result has begun.
    """

    begin: "Element"
    instruction: str = ""
    in_result: bool = False

    @property
    def kind(self) -> str:
        """The first word of its instruction in capitals, e.g. `TOC`; may be empty."""
        return next(iter(self.instruction.split()), "").upper()


@dataclass(slots=True)
class Reading:
    """The state of reading one file.

    Attributes:
        field_marks: The marks of fields that begin and end; any other mark is passed over.
        noted: (tag of the reference, id) of the notes that have a text.
        open_fields: From the outermost to the innermost.
        pending: Text whose paragraph mark is deleted: it goes on in the next paragraph.
        note_numbers: The notes referred to, in the order of their first mark, from 1.
        counts: What is to be said of the file, by kind.
        diagrams: Relation ids of the texts of diagrams (SmartArt) of the paragraph at hand.
        unknown_symbols: `font code` of characters that have no counterpart.
    """

    package: WordPackage
    numbering: Numbering
    styles: WordStyles
    field_marks: frozenset["Element"] = frozenset()
    noted: frozenset[tuple[str, str]] = frozenset()
    open_fields: list[Field] = field(default_factory=list)
    pending: str = ""
    note_numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    diagrams: list[str] = field(default_factory=list)
    unknown_symbols: set[str] = field(default_factory=set)

    @property
    def is_shown(self) -> bool:
        """Whether text here is shown: outside the instructions of fields."""
        return all(open_field.in_result for open_field in self.open_fields)

    @property
    def in_contents(self) -> bool:
        """Whether this is inside a generated table of contents."""
        return any(open_field.kind == "TOC" for open_field in self.open_fields)


@dataclass(slots=True)
class Line:
    """A paragraph while it is read: its text, its text boxes, and whether it links to a heading."""

    pieces: list[Scripted] = field(default_factory=list)
    boxes: "list[Element]" = field(default_factory=list)
    links_to_heading: bool = False

    @property
    def text(self) -> str:
        """The text, raised and lowered characters written out."""
        return written(self.pieces)


def field_marks(root: "Element") -> frozenset["Element"]:
    """Return the marks of complete fields: one without an end would hide all that follows."""
    whole: set[Element] = set()
    open_marks: list[list[Element]] = []
    for mark in root.iter(W + "fldChar"):
        if any(parent.tag in _LEFT_OUT for parent in mark.iterancestors()):
            continue
        kind = mark.get(W + "fldCharType")
        if kind == "begin":
            open_marks.append([mark])
        elif open_marks:
            open_marks[-1].append(mark)
            if kind == "end":
                whole.update(open_marks.pop())
    return frozenset(whole)


def marks(shape: "Element") -> Iterator[tuple[str, str]]:
    """Yield (kind, mark) of what a drawing, picture or object shows besides text.

    Args:
        shape: `w:drawing`, `w:pict` or `w:object`; what its text boxes hold is left out.

    Yields:
        `picture`, `chart`, `formula` or `object`, and the mark in the text: `[图片：厂区平面图]`.
    """
    if shape.tag == W + "object":
        yield from _object_marks(shape)
        return
    alt = _alt(shape)
    if _has(shape, _C + "chart") or _has(shape, _CX + "chart"):
        yield "chart", _mark("图表", alt)
    if _is_small(shape):
        return
    found = [blip.get(R + "embed") or blip.get(R + "link") for blip in _own(shape, _A + "blip")]
    found += [data.get(R + "id") for data in _own(shape, _V + "imagedata")]
    # A shape that is filled with several pictures is one to the reader, a group is several.
    for _ in set(filter(None, found)):
        yield "picture", _mark("图片", alt)


def diagram_relation(shape: "Element") -> str:
    """Return the relation id of a diagram's text (SmartArt); empty where there is none."""
    return next((ids.get(R + "dm") or "" for ids in shape.iter(_DGM + "relIds")), "")


def diagram_lines(root: "Element") -> Iterator[str]:
    """Yield the lines of a diagram's text (`dgm:dataModel`)."""
    for body in root.iter(_DGM + "t"):
        for paragraph in body.iter(_A + "p"):
            text = "".join(piece.text or "" for piece in paragraph.iter(_A + "t")).strip()
            if text:
                yield text


def _object_marks(shape: "Element") -> Iterator[tuple[str, str]]:
    program = next((o.get("ProgID") or "" for o in shape.iter(_O + "OLEObject")), "")
    if re.match(r"Equation|MathType", program, re.IGNORECASE):
        yield "formula", "[公式]"
        return
    noun = "表格" if "excel" in program.lower() or program.startswith("ET.") else "对象"
    yield "object", f"[嵌入{noun}]"


def _own(shape: "Element", tag: str) -> "Iterator[Element]":
    for element in shape.iter(tag):
        parents = element.iterancestors(W + "txbxContent", shape.tag)
        if next(parents, shape) is shape:
            yield element


def _has(shape: "Element", tag: str) -> bool:
    return next(_own(shape, tag), None) is not None


def _is_small(shape: "Element") -> bool:
    extent = next(shape.iter(_WP + "extent"), None)
    if extent is None:
        return False
    sides = (extent.get("cx", ""), extent.get("cy", ""))
    return all(side.isdecimal() and int(side) < _SMALL for side in sides)


def _alt(shape: "Element") -> str:
    texts = [p.get(key) for p in shape.iter(_WP + "docPr") for key in ("descr", "title")]
    texts += [s.get("alt") for s in shape.iter(_V + "shape")]
    texts += [d.get(_O + "title") for d in shape.iter(_V + "imagedata")]
    for text in texts:
        clean = " ".join((text or "").split())
        if clean and len(clean) <= _LONGEST_ALT and not _NO_ALT.fullmatch(clean):
            return clean
    return ""


def _mark(noun: str, alt: str) -> str:
    return f"[{noun}：{alt}]" if alt else f"[{noun}]"


def read_line(paragraph: "Element", reading: Reading) -> Line:
    """Return a paragraph's text and text boxes; fields, notes and counts are noted in the state.

    Results of fields are text, their instructions are not; tracked insertions are text, deletions
    are not; notes leave their number in brackets, pictures a mark.
    """
    line = Line()
    _walk(paragraph, reading, line, "")
    return line


def _walk(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    for child in element:
        tag = child.tag
        handle = _HANDLERS.get(tag)
        if handle is not None:
            handle(child, reading, line, script)
        elif tag in _CHARACTERS:
            _add(_CHARACTERS[tag], reading, line)
        elif tag not in _LEFT_OUT:
            _walk(child, reading, line, script)


def _add(text: str, reading: Reading, line: Line, script: Script = "") -> None:
    if reading.is_shown:
        line.pieces.append(Scripted(text, script))


def _run(run: "Element", reading: Reading, line: Line, script: Script) -> None:
    properties = run.find(W + "rPr")
    if _is_hidden(run, reading.styles.hidden):  # fields may begin and end in hidden runs
        for mark in run.iter(W + "fldChar", W + "instrText"):
            (_field_mark if mark.tag == W + "fldChar" else _instruction)(mark, reading, line, "")
        return
    if properties is None:
        _walk(run, reading, line, script)
        return
    own = script_of(run)
    if not own and properties.find(W + "vertAlign") is None:
        own = reading.styles.scripts.get(property_value(properties, "rStyle") or "", "")
    _walk(run, reading, line, cast("Script", own))


def _is_hidden(run: "Element", styles: frozenset[str]) -> bool:
    """Return whether a run is hidden or struck out, itself or by style, or white or tiny."""
    own = run.find(W + "rPr")
    if styles and (own is None or own.find(W + "vanish") is None):
        named = style_of(next(run.iterancestors(W + "p"))), property_value(run, "rPr/rStyle")
        if not styles.isdisjoint(named):
            return True
    if own is None:
        return False
    if any(is_on(own, name) for name in ("vanish", "strike", "dstrike")):
        return True
    if property_value(own, "sz") in ("0", "1", "2"):  # half points
        return True
    is_white = property_value(own, "color") == "FFFFFF"
    return is_white and _is_bare(run)


def _is_bare(run: "Element") -> bool:
    """Return whether a run is on the page's ground: cells and boxes may have a colour."""
    paragraph = next(run.iterancestors(W + "p"))
    grounds = (
        next(run.iterancestors(W + "tc", W + "txbxContent"), None),
        paragraph.find(f"{W}pPr/{W}shd"),
        run.find(f"{W}rPr/{W}shd"),
        run.find(f"{W}rPr/{W}highlight"),
    )
    return all(ground is None for ground in grounds)


def _text(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    text = element.text or ""
    font = _font(element.getparent())
    if is_symbol_font(font) or any("\ue000" <= c <= "\uf8ff" for c in text):
        text = "".join(_glyph(character, font, reading) for character in text)
    _add(text, reading, line, script)


def _glyph(character: str, font: str, reading: Reading) -> str:
    code = ord(character)
    if "\ue000" <= character <= "\uf8ff" or (code <= 0xFF and is_symbol_font(font)):
        return _known(font, code, reading)
    return character


def _known(font: str, code: int, reading: Reading) -> str:
    character = symbol(font, code)
    if character == _UNKNOWN:
        reading.unknown_symbols.add(f"{font or 'font not named'} {code:04X}")
    return character


def _font(run: "Element | None") -> str:
    fonts = None if run is None else run.find(f"{W}rPr/{W}rFonts")
    return "" if fonts is None else fonts.get(W + "ascii") or fonts.get(W + "hAnsi") or ""


def _symbol(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    font, code = element.get(W + "font", ""), element.get(W + "char", "")
    try:
        number = int(code, 16)
    except ValueError:
        number = 0
    _add(_known(font, number, reading), reading, line, script)


def _field_mark(mark: "Element", reading: Reading, line: Line, script: Script) -> None:
    if mark not in reading.field_marks:
        return
    kind = mark.get(W + "fldCharType")
    if kind == "begin":
        reading.open_fields.append(Field(mark))
    elif reading.open_fields:
        innermost = reading.open_fields[-1]
        if kind == "separate":
            innermost.in_result = True
        elif kind == "end":
            reading.open_fields.pop()
            _add(_shown_without_result(innermost), reading, line, script)


def _instruction(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    if reading.open_fields and not reading.open_fields[-1].in_result:
        reading.open_fields[-1].instruction += element.text or ""


def _link(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    if element.get(W + "anchor", "").startswith("_Toc"):
        line.links_to_heading = True
    _walk(element, reading, line, script)


def _note(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    key = (element.tag, element.get(W + "id", ""))
    if key in reading.noted and reading.is_shown:
        number = reading.note_numbers.setdefault(key, len(reading.note_numbers) + 1)
        _add(f"[{number}]", reading, line)


def _control(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    state = element.find(f"{W}sdtPr/{_W14}checkbox/{_W14}checked")
    if state is None:
        _walk(element, reading, line, script)
    else:
        _add(_TICKS[state.get(_W14 + "val", "1") not in OFF], reading, line)


def _shape(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    for kind, mark in marks(element):
        reading.counts[kind] += 1
        _add(mark, reading, line)
    diagram = diagram_relation(element)
    if diagram:
        reading.diagrams.append(diagram)
    _walk(element, reading, line, script)


def _box(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    line.boxes.append(element)


def _formula(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    text = formula(element).strip()
    before = line.pieces[-1].text if line.pieces else ""
    # Formulas of one paragraph stand on lines of their own.
    if element.getparent().tag == M + "oMathPara" and before and not before.endswith("\n"):
        text = "\n" + text
    _add(text, reading, line)


_HANDLERS: dict[str, Callable[["Element", Reading, Line, Script], None]] = {
    W + "r": _run,
    W + "t": _text,
    W + "sym": _symbol,
    W + "fldChar": _field_mark,
    W + "instrText": _instruction,
    W + "hyperlink": _link,
    W + "footnoteReference": _note,
    W + "endnoteReference": _note,
    W + "sdt": _control,
    W + "drawing": _shape,
    W + "pict": _shape,
    W + "object": _shape,
    W + "txbxContent": _box,
    M + "oMath": _formula,
}


def _shown_without_result(field: Field) -> str:
    """Return what a field shows by its instruction alone; nothing for most kinds."""
    if field.kind == "FORMCHECKBOX":
        return _legacy_box(field.begin)
    if field.kind == "FORMDROPDOWN":
        return _choice(field.begin)
    if field.kind == "SYMBOL":
        found = _SYMBOL.match(field.instruction.strip())
        return symbol(found[2] or "Symbol", int(found[1], 0)) if found else _UNKNOWN
    if field.kind == "EQ":
        return equation(field.instruction.strip()[2:].strip())
    return ""


def _legacy_box(begin: "Element") -> str:
    state = property_value(begin, "ffData/checkBox/checked", "1")
    if state is None:
        state = property_value(begin, "ffData/checkBox/default", "1")
    return _TICKS[state not in (None, *OFF)]


def _choice(begin: "Element") -> str:
    choices = begin.find(f"{W}ffData/{W}ddList")
    if choices is None:
        return ""
    entries: list[str] = [entry.get(W + "val", "") for entry in choices.findall(W + "listEntry")]
    for name in ("result", "default"):
        index = property_value(choices, name) or ""
        if index.isdecimal() and int(index) < len(entries):
            return entries[int(index)]
    return entries[0] if entries else ""


def is_symbol_font(font: str) -> bool:
    """Return whether a font shows other characters than their codes mean."""
    return font.strip().lower() in _FONTS


def symbol(font: str, code: int) -> str:
    """Return a font's character, U+FFFD for one without a counterpart in Unicode.

    Args:
        font: As the file names it; of an ordinary font the code is the character.
        code: Of the character; Word keeps those of symbol fonts from 0xF000 on.

    >>> symbol("Wingdings", 0xF0FE), symbol("Symbol", 0x61), symbol("SimSun", 0x2460)
    ('☑', 'α', '①')
    """
    table: dict[int, str] | None = _FONTS.get(font.strip().lower())
    short = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if table is not None and short <= 0xFF:
        return table.get(short, " " if short == 0x20 else _UNKNOWN)
    is_character = code >= 0x20 and not (0xD800 <= code <= 0xF8FF or code > 0x10FFFF)
    return chr(code) if is_character else _UNKNOWN
