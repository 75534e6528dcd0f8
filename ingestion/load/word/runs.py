"""The text of one paragraph of a Word file as it is shown."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from kgrag.ingestion.load.raised import Script, lowered, raised
from kgrag.ingestion.load.word.formulas import M, formula
from kgrag.ingestion.load.word.headings import script_of
from kgrag.ingestion.load.word.package import W
from kgrag.ingestion.load.word.pictures import diagram_relation, marks
from kgrag.ingestion.load.word.reading import LEFT_OUT, Field, Line, Reading

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
TICKED, _NOT_TICKED = "☑", "☐"
_UNKNOWN = "\ufffd"

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SYMBOL = re.compile(r"SYMBOL\s+(0x[0-9a-f]++|\d++)(?:.*?\\f\s*\"([^\"]*)\")?", re.IGNORECASE)
_SWITCH = re.compile(r"\\([a-z]+)\s*(\d*)", re.IGNORECASE)
_WHOLE = re.compile(r"[\w.%]+|\([^()]*\)")
_CIRCLES = "○〇◯"


_DEEPEST = 20

_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_CHARACTERS: dict[str, str] = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
    W + "softHyphen": "",
}
_OFF = ("0", "false", "off")


def read_line(paragraph: "Element", reading: Reading) -> Line:
    """Return a paragraph's text, with what hangs on it.

    Results of fields are text, their instructions are not; tracked insertions are text, deletions
    are not; notes leave their number in brackets, pictures a mark.

    Args:
        paragraph: `w:p`.
        reading: The state of the file; fields, notes and counts are taken down there.
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
        elif tag not in LEFT_OUT:
            _walk(child, reading, line, script)


def _add(text: str, reading: Reading, line: Line, script: Script = "") -> None:
    if reading.is_shown:
        line.add(text, script)


def _run(run: "Element", reading: Reading, line: Line, script: Script) -> None:
    properties = run.find(W + "rPr")
    if properties is None:
        _walk(run, reading, line, script)
        return
    vanish = properties.find(W + "vanish")
    if vanish is not None and vanish.get(W + "val", "1") not in _OFF:
        _marks_of_fields(run, reading, line)
        return
    own = script_of(run)
    if not own and properties.find(W + "vertAlign") is None:
        style = properties.find(W + "rStyle")
        own = "" if style is None else reading.styles.scripts.get(style.get(W + "val", ""), "")
    _walk(run, reading, line, cast("Script", own))


def _marks_of_fields(run: "Element", reading: Reading, line: Line) -> None:
    """Take down where fields begin and end in a hidden run; its text is not shown."""
    for mark in run.iter(W + "fldChar", W + "instrText"):
        (_field_mark if mark.tag == W + "fldChar" else _instruction)(mark, reading, line, "")


def _text(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    text = element.text or ""
    font = _font(element.getparent())
    if is_symbol_font(font) or any("\ue000" <= c <= "\uf8ff" for c in text):
        text = "".join(_glyph(character, font, reading) for character in text)
    _add(text, reading, line, script)


def _glyph(character: str, font: str, reading: Reading) -> str:
    code = ord(character)
    if "\ue000" <= character <= "\uf8ff" or (code <= 0xFF and is_symbol_font(font)):
        return _known(symbol(font, code), font, code, reading)
    return character


def _known(character: str, font: str, code: int, reading: Reading) -> str:
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
    _add(_known(symbol(font, number), font, number, reading), reading, line, script)


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
        line.add(f"[{number}]")


def _control(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    state = element.find(f"{W}sdtPr/{_W14}checkbox/{_W14}checked")
    if state is None:
        _walk(element, reading, line, script)
    else:
        is_ticked = state.get(_W14 + "val", "1") not in _OFF
        _add(TICKED if is_ticked else _NOT_TICKED, reading, line)


def _shape(element: "Element", reading: Reading, line: Line, script: Script) -> None:
    for kind, mark, relation in marks(element):
        reading.counts[kind] += 1
        if relation:
            reading.pictures.append(relation)
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
    """Return what a field shows by its instruction alone; nothing for most kinds.

    Args:
        field: A field that has ended.
    """
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
    box = begin.find(f"{W}ffData/{W}checkBox")
    state = None if box is None else box.find(W + "checked")
    if state is None and box is not None:
        state = box.find(W + "default")
    is_ticked = state is not None and state.get(W + "val", "1") not in _OFF
    return TICKED if is_ticked else _NOT_TICKED


def _choice(begin: "Element") -> str:
    choices = begin.find(f"{W}ffData/{W}ddList")
    if choices is None:
        return ""
    entries: list[str] = [entry.get(W + "val", "") for entry in choices.findall(W + "listEntry")]
    for name in ("result", "default"):
        stated = choices.find(W + name)
        index = "" if stated is None else stated.get(W + "val", "")
        if index.isdecimal() and int(index) < len(entries):
            return entries[int(index)]
    return entries[0] if entries else ""


def equation(instruction: str) -> str:
    r"""Return an old equation field as a line of text, without its EQ.

    Fractions, roots, raised and lowered parts, and characters over each other, which is how
    circled numbers are made; of other forms the parts stand side by side.

    >>> equation(r"\f(3,4)"), equation(r"\o\ac(○,5)"), equation(r"10\s\up5(4)")
    ('3/4', '⑤', '10⁴')
    """
    text, _ = _parsed(instruction, 0, depth=0, stop="")
    return text


def _parsed(text: str, at: int, *, depth: int, stop: str) -> tuple[str, int]:
    """Return (text, place after it) up to a stopping character on the same level."""
    out = ""
    while at < len(text) and text[at] not in stop:
        if text[at] == "\\" and depth < _DEEPEST:
            piece, at = _switched(text, at, depth)
            out += piece
        else:
            out += text[at]
            at += 1
    return out, at


def _switched(text: str, at: int, depth: int) -> tuple[str, int]:
    names: list[str] = []
    while match := _SWITCH.match(text, at):
        names.append(match[1].lower())
        at = match.end()
        while at < len(text) and text[at] == " ":
            at += 1
    if not names:  # an escaped character
        return text[at + 1 : at + 2], at + 2
    if text[at : at + 1] != "(":
        return "", at
    parts, separator = [], ""
    while at < len(text) and separator != ")":
        part, at = _parsed(text, at + 1, depth=depth + 1, stop=",;，)")
        parts.append(part.strip())
        separator = text[at : at + 1]
    return _written(names, parts), at + 1


def _written(names: list[str], parts: list[str]) -> str:
    kind = names[0]
    if kind == "f" and len(parts) == 2:
        above, below = (part if _WHOLE.fullmatch(part) else f"({part})" for part in parts)
        return f"{above}/{below}"
    if kind == "r":
        return f"√({parts[-1]})" if len(parts) == 1 else f"√({'&'.join(parts)})"
    if kind == "s":
        return lowered(parts[0]) if "do" in names else raised(parts[0])
    if kind == "o":
        return _over_each_other(parts)
    if kind == "b":
        return f"({','.join(parts)})"
    return "".join(parts)


def _over_each_other(parts: list[str]) -> str:
    rest = [part for part in parts if part not in _CIRCLES]
    if len(rest) < len(parts) and len(rest) == 1 and rest[0].isdecimal():
        number = int(rest[0])
        return chr(0x2460 + number - 1) if 1 <= number <= 20 else f"({number})"
    return "".join(rest)


def is_symbol_font(font: str) -> bool:
    """Tell whether a font's characters are other ones than their codes say."""
    return font.strip().lower() in _FONTS


def symbol(font: str, code: int) -> str:
    """Return a font's character, U+FFFD for one that has no counterpart here.

    Args:
        font: As the file names it; of an ordinary font the code is taken at its word.
        code: Of the character, also from 0xF000 on, where Word keeps those of symbol fonts.

    >>> symbol("Wingdings", 0xF0FE), symbol("Symbol", 0x61), symbol("SimSun", 0x2460)
    ('☑', 'α', '①')
    """
    table: dict[int, str] | None = _FONTS.get(font.strip().lower())
    short = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if table is not None and short <= 0xFF:
        return table.get(short, " " if short == 0x20 else _UNKNOWN)
    is_character = code >= 0x20 and not (0xD800 <= code <= 0xF8FF or code > 0x10FFFF)
    return chr(code) if is_character else _UNKNOWN
