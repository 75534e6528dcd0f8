"""What fields of Word show that have no stored result: boxes to tick, symbols, old equations."""

import re
from typing import TYPE_CHECKING

from kgrag.ingestion.load.raised import lowered, raised
from kgrag.ingestion.load.word.package import W
from kgrag.ingestion.load.word.reading import Field
from kgrag.ingestion.load.word.symbols import NOT_TICKED, TICKED, UNKNOWN, symbol

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_OFF = ("0", "false", "off")
_SYMBOL = re.compile(r"SYMBOL\s+(0x[0-9a-f]++|\d++)(?:.*?\\f\s*\"([^\"]*)\")?", re.IGNORECASE)
_SWITCH = re.compile(r"\\([a-z]+)\s*(\d*)", re.IGNORECASE)
_WHOLE = re.compile(r"[\w.%]+|\([^()]*\)")
_CIRCLES = "○〇◯"


def shown_without_result(field: Field) -> str:
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
        return symbol(found[2] or "Symbol", int(found[1], 0)) if found else UNKNOWN
    if field.kind == "EQ":
        return equation(field.instruction.strip()[2:].strip())
    return ""


def _legacy_box(begin: "Element") -> str:
    box = begin.find(f"{W}ffData/{W}checkBox")
    state = None if box is None else box.find(W + "checked")
    if state is None and box is not None:
        state = box.find(W + "default")
    is_ticked = state is not None and state.get(W + "val", "1") not in _OFF
    return TICKED if is_ticked else NOT_TICKED


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


_DEEPEST = 20


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
