"""Characters of Word's symbol fonts as Unicode: ticked boxes, arrows, Greek letters.

The tables follow the fonts' own encodings: Adobe's for Symbol (Symbol Encoding Vector), Microsoft's
for Wingdings and Wingdings 2 (their glyphs as Unicode 7.0 took them in), each glyph by the nearest
character that ordinary fonts show.
"""

_SYMBOL = dict(
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
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
}
TICKED, NOT_TICKED = "☑", "☐"
UNKNOWN = "\ufffd"


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
        return table.get(short, " " if short == 0x20 else UNKNOWN)
    is_character = code >= 0x20 and not (0xD800 <= code <= 0xF8FF or code > 0x10FFFF)
    return chr(code) if is_character else UNKNOWN
