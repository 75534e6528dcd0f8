r"""Formulas of Word as a line of text: (A+B)/C, x², √(x), ∑_(i=1)^(n) x_i.

The linear form that Word itself shows (Murray Sargent, UnicodeMath, Unicode Technical Note 28), not
TeX: a reader, a search for a number and a model all read `(3.5)/(7)` without knowing `\frac`, and
brackets stand only where the parts would run into each other.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from kgrag.ingestion.load.raised import lowered, raised
from kgrag.ingestion.load.word.package import W
from kgrag.ingestion.load.word.styles import circled

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# One number, word or bracket: it needs no further bracket beside a sign.
_WHOLE = re.compile(r"[\w.%′″⁰-₟²³¹]+|\([^()]*\)|\[[^\[\]]*\]|√\([^()]*\)")
_POWER = re.compile(r"[\d+\-−nik()]+")
_DELETED = {W + "del", W + "moveFrom", W + "rPr"}
_ON = ("1", "on", "true")
_ROOTS = {"": "√(", "2": "√(", "3": "∛(", "4": "∜("}
_SWITCHED = re.compile(r"((?:\\[a-z]++\s*+\d*+\s*+){1,9})\(([^()\\]*)\)", re.IGNORECASE)
_AWAY = 0xE000  # private use
_OPERAND = re.compile(r"[\w.%]+|\([^()]*\)")
_CIRCLES = "○〇◯"
_DEEPEST = 20


def formula(element: "Element") -> str:
    """Return a formula (`m:oMath`, or any part of one) as a line of text."""
    tag = element.tag
    if tag in (M + "t", W + "t"):
        return element.text or ""
    if not isinstance(tag, str) or tag in _DELETED or tag.endswith("Pr"):
        return ""
    write = _FORMS.get(tag.removeprefix(M)) if tag.startswith(M) else None
    return write(element) if write else _inside(element)


def _inside(element: "Element") -> str:
    return "".join(formula(child) for child in element)


def _part(element: "Element", name: str = "e") -> str:
    child = element.find(M + name)
    return "" if child is None else _inside(child).strip()


def _parts(element: "Element") -> list[str]:
    return [_inside(child).strip() for child in element.findall(M + "e")]


def _stated(element: "Element", name: str, default: str) -> str:
    """Return a value of an element's own properties, e.g. the brackets of a delimiter."""
    own = element.find(f"{M}{element.tag.removeprefix(M)}Pr/{M}{name}")
    return default if own is None else own.get(M + "val", default)


def _is_on(element: "Element", name: str, *, default: bool = False) -> bool:
    own = element.find(f"{M}{element.tag.removeprefix(M)}Pr/{M}{name}")
    return default if own is None else own.get(M + "val", "1") in _ON


def _bracketed(text: str) -> str:
    return text if _WHOLE.fullmatch(text) else f"({text})"


def _marks(element: "Element") -> str:
    """Return the lower and upper index of a base."""
    low, up = _part(element, "sub"), _part(element, "sup")
    high = raised(up) if _POWER.fullmatch(up) else f"^{_bracketed(up)}"
    return (f"_{_bracketed(low)}" if low else "") + (high if up else "")


def _fraction(element: "Element") -> str:
    above, below = _part(element, "num"), _part(element, "den")
    if _stated(element, "type", "bar") == "noBar":
        return f"({above} ¦ {below})"
    return f"{_bracketed(above)}/{_bracketed(below)}"


def _scripts(element: "Element") -> str:
    base = _part(element)
    return (_bracketed(base) if base else "") + _marks(element)


def _root(element: "Element") -> str:
    degree = "" if _is_on(element, "degHide") else _part(element, "deg")
    return _ROOTS.get(degree, f"√({degree}&") + _part(element) + ")"


def _sum(element: "Element") -> str:
    sign = _stated(element, "chr", "∫") or "∫"
    below = "" if _is_on(element, "subHide") else _part(element, "sub")
    above = "" if _is_on(element, "supHide") else _part(element, "sup")
    limits = (f"_({below})" if below else "") + (f"^({above})" if above else "")
    return f"{sign}{limits} {_part(element)}"


def _delimited(element: "Element") -> str:
    inner = _stated(element, "sepChr", "|").join(_parts(element))
    return _stated(element, "begChr", "(") + inner + _stated(element, "endChr", ")")


def _function(element: "Element") -> str:
    argument = _part(element)
    return _part(element, "fName") + ("" if argument[:1] in "([{|" else " ") + argument


def _accented(element: "Element") -> str:
    base = _part(element)
    return (base if len(base) == 1 else _bracketed(base)) + _stated(element, "chr", "\u0302")


def _barred(element: "Element") -> str:
    base = _part(element)
    return base + "\u0305" if len(base) == 1 else f"¯({base})"


_FORMS: dict[str, Callable[["Element"], str]] = {
    "f": _fraction,
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), _scripts),
    "sPre": lambda element: _marks(element) + _part(element),
    "rad": _root,
    "nary": _sum,
    "d": _delimited,
    "m": lambda element: f"[{'; '.join(', '.join(_parts(r)) for r in element.findall(M + 'mr'))}]",
    "eqArr": lambda element: "; ".join(_parts(element)).replace("&", ""),
    "func": _function,
    "limLow": lambda element: f"{_part(element)}_({_part(element, 'lim')})",
    "limUpp": lambda element: f"{_part(element)}^({_part(element, 'lim')})",
    "acc": _accented,
    "bar": _barred,
    "phant": lambda element: _part(element) if _is_on(element, "show", default=True) else "",
}


def equation(instruction: str) -> str:
    r"""Return an old equation field as a line of text, without its EQ.

    Fractions, roots, raised and lowered parts, and characters over each other, which is how
    circled numbers are made; of other forms the parts stand side by side.

    >>> equation(r"\f(3,4)"), equation(r"\o\ac(○,5)"), equation(r"10\s\up5(4)")
    ('3/4', '⑤', '10⁴')
    """
    text = re.sub(
        r"\\([^a-z])", lambda escaped: _kept(escaped[1]), instruction, flags=re.IGNORECASE
    )
    text += ")" * min(_DEEPEST, max(0, text.count("(") - text.count(")")))
    for _ in range(_DEEPEST):  # the innermost first
        text, n = _SWITCHED.subn(_written, text)
        if not n:
            break
    text = text.replace("\\", "")
    return "".join(chr(ord(c) - _AWAY) if _AWAY <= ord(c) < _AWAY + 256 else c for c in text)


def _kept(text: str) -> str:
    """Return a text with its marks moved away, so that they are none of the field."""
    return "".join(chr(ord(c) + _AWAY) if c in "()\\,;" else c for c in text)


def _written(match: re.Match[str]) -> str:
    names = [name.lower() for name in re.findall(r"\\([a-z]+)", match[1], re.IGNORECASE)]
    parts = [part.strip() for part in re.split("[,;，]", match[2])]
    kind, text = names[0], "".join(parts)
    if kind == "f" and len(parts) == 2:
        text = "/".join(part if _OPERAND.fullmatch(part) else f"({part})" for part in parts)
    elif kind == "r":
        text = f"√({'&'.join(parts)})"
    elif kind == "s":
        text = lowered(parts[0]) if "do" in names else raised(parts[0])
    elif kind == "o":
        text = _over_each_other(parts)
    elif kind == "b":
        text = f"({','.join(parts)})"
    return _kept(text)


def _over_each_other(parts: list[str]) -> str:
    rest = [part for part in parts if part not in _CIRCLES]
    if len(rest) < len(parts) and len(rest) == 1 and rest[0].isdecimal():
        return circled(int(rest[0])) or f"({int(rest[0])})"
    return "".join(rest)
