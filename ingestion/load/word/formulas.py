r"""Formulas of Word as a line of text: (A+B)/C, x², √(x), ∑_(i=1)^(n) x_i.

The linear form that Word itself shows (Murray Sargent, UnicodeMath, Unicode Technical Note 28), and
not TeX: a reader, a search for a number and a model all read `(3.5)/(7)` without knowing `\\frac`,
and a bracket stands only where the parts would run into each other.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from kgrag.ingestion.load.raised import raised
from kgrag.ingestion.load.word.package import W

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# One number, word or bracket: it needs no further bracket beside a sign.
_WHOLE = re.compile(r"[\w.%′″⁰-₟²³¹]+|\([^()]*\)|\[[^\[\]]*\]|√\([^()]*\)")
_POWER = re.compile(r"[\d+\-−nik()]+")
_DELETED = {W + "del", W + "moveFrom", W + "rPr"}


def formula(element: "Element") -> str:
    """Return a formula (`m:oMath`, or any part of one) as a line of text.

    Args:
        element: An element of Office's mathematical markup, transitional namespace.
    """
    tag = element.tag
    if tag in (M + "t", W + "t"):
        return element.text or ""
    if not isinstance(tag, str) or tag in _DELETED or tag.endswith("Pr"):
        return ""
    write = _FORMS.get(tag.removeprefix(M)) if tag.startswith(M) else None
    return write(element) if write else _inside(element)


def _inside(element: "Element") -> str:
    return "".join(formula(child) for child in element)


def _part(element: "Element", name: str) -> str:
    child = element.find(M + name)
    return "" if child is None else _inside(child).strip()


def _stated(element: "Element", name: str, default: str) -> str:
    """Return a value of an element's own properties, e.g. the brackets of a delimiter."""
    own = element.find(f"{M}{element.tag.removeprefix(M)}Pr/{M}{name}")
    return default if own is None else own.get(M + "val", default)


def _is_on(element: "Element", name: str) -> bool:
    own = element.find(f"{M}{element.tag.removeprefix(M)}Pr/{M}{name}")
    return own is not None and own.get(M + "val", "1") in ("1", "on", "true")


def _bracketed(text: str) -> str:
    return text if _WHOLE.fullmatch(text) else f"({text})"


def _raised(text: str) -> str:
    if not text:
        return ""
    return raised(text) if _POWER.fullmatch(text) else f"^{_bracketed(text)}"


def _lowered(text: str) -> str:
    return f"_{_bracketed(text)}" if text else ""


def _fraction(element: "Element") -> str:
    above, below = _part(element, "num"), _part(element, "den")
    if _stated(element, "type", "bar") == "noBar":
        return f"({above} ¦ {below})"
    return f"{_bracketed(above)}/{_bracketed(below)}"


def _scripts(element: "Element") -> str:
    base = _part(element, "e")
    base = _bracketed(base) if base else ""
    return base + _lowered(_part(element, "sub")) + _raised(_part(element, "sup"))


def _scripts_before(element: "Element") -> str:
    marks = _lowered(_part(element, "sub")) + _raised(_part(element, "sup"))
    return marks + _part(element, "e")


def _root(element: "Element") -> str:
    degree = "" if _is_on(element, "degHide") else _part(element, "deg")
    if degree in ("", "2"):
        return f"√({_part(element, 'e')})"
    sign = {"3": "∛", "4": "∜"}.get(degree)
    return f"{sign}({_part(element, 'e')})" if sign else f"√({degree}&{_part(element, 'e')})"


def _sum(element: "Element") -> str:
    sign = _stated(element, "chr", "∫") or "∫"
    below = "" if _is_on(element, "subHide") else _part(element, "sub")
    above = "" if _is_on(element, "supHide") else _part(element, "sup")
    limits = (f"_({below})" if below else "") + (f"^({above})" if above else "")
    return f"{sign}{limits} {_part(element, 'e')}"


def _delimited(element: "Element") -> str:
    inner = _stated(element, "sepChr", "|").join(
        _inside(child).strip() for child in element.findall(M + "e")
    )
    return _stated(element, "begChr", "(") + inner + _stated(element, "endChr", ")")


def _matrix(element: "Element") -> str:
    rows = (
        ", ".join(_inside(cell).strip() for cell in row.findall(M + "e"))
        for row in element.findall(M + "mr")
    )
    return "[" + "; ".join(rows) + "]"


def _lines(element: "Element") -> str:
    return "; ".join(_inside(child).strip().replace("&", "") for child in element.findall(M + "e"))


def _function(element: "Element") -> str:
    argument = _part(element, "e")
    blank = "" if argument[:1] in "([{|" else " "
    return _part(element, "fName") + blank + argument


def _below(element: "Element") -> str:
    return f"{_part(element, 'e')}_({_part(element, 'lim')})"


def _above(element: "Element") -> str:
    return f"{_part(element, 'e')}^({_part(element, 'lim')})"


def _accented(element: "Element") -> str:
    base = _part(element, "e")
    mark = _stated(element, "chr", "\u0302")
    return base + mark if len(base) == 1 else _bracketed(base) + mark


def _barred(element: "Element") -> str:
    base = _part(element, "e")
    return base + "\u0305" if len(base) == 1 else f"¯({base})"


def _unseen(element: "Element") -> str:
    own = element.find(f"{M}phantPr/{M}show")
    is_shown = own is None or own.get(M + "val", "1") in ("1", "on", "true")
    return _part(element, "e") if is_shown else ""


_FORMS: dict[str, Callable[["Element"], str]] = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _scripts_before,
    "rad": _root,
    "nary": _sum,
    "d": _delimited,
    "m": _matrix,
    "eqArr": _lines,
    "func": _function,
    "limLow": _below,
    "limUpp": _above,
    "acc": _accented,
    "bar": _barred,
    "phant": _unseen,
}
