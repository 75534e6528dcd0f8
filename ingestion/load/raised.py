"""Superscripts and subscripts in Unicode, so that 10 to the fourth is not 104."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, NamedTuple

Script = Literal["", "raised", "lowered"]

_RAISED = str.maketrans("0123456789+-−–=()nio", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱᵒ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_SEPARATORS = ".,，、"  # between the marks of notes, and in 2.5; they have no raised form
_UP = frozenset(map(chr, _RAISED)) | frozenset(_SEPARATORS)
_DOWN = frozenset(map(chr, _LOWERED))
_LONGEST = 20  # a longer stretch is a line set small, not an exponent


class Scripted(NamedTuple):
    """A piece of text, raised or lowered or neither."""

    text: str
    script: Script = ""


def raised(text: str) -> str:
    """Return a superscript in Unicode, or with ^ where Unicode lacks characters.

    Footnote marks in brackets, and marks that are no letters or digits, do not change.

    >>> [raised(text) for text in ("4", "-3", "1,2", "a+b", "[1]", "①", "")]
    ['⁴', '⁻³', '¹,²', '^(a+b)', '[1]', '①', '']
    """
    bare = text.strip()
    if not bare or bare[0] in "[【〔（" or not any(c.isascii() and c.isalnum() for c in bare):
        return text if bare not in ("-", "−", "–", "+") else bare.translate(_RAISED)
    if len(bare) > _LONGEST:
        return text
    return bare.translate(_RAISED) if _UP.issuperset(bare) else f"^({bare})"


def lowered(text: str) -> str:
    """Return a subscript: digits in Unicode, other text unchanged.

    >>> [lowered(text) for text in ("2", "max", "2.5")]
    ['₂', 'max', '2.5']
    """
    bare = text.strip()
    return bare.translate(_LOWERED) if bare and _DOWN.issuperset(bare) else text


def written(pieces: Iterable[Scripted]) -> str:
    """Return the pieces of a line as text, neighbours of one kind joined.

    A subscript without Unicode characters next to digits of the line is written as `_(…)`.

    >>> written([Scripted("3.5×10"), Scripted("-", "raised"), Scripted("4", "raised")])
    '3.5×10⁻⁴'
    >>> written([Scripted("PM"), Scripted("2.5", "lowered"), Scripted("年均")])
    'PM2.5年均'
    """
    runs = [
        Scripted("".join(piece.text for piece in group), script)
        for script, group in groupby(_solid(pieces), key=lambda piece: piece.script)
    ]
    out = ""
    for i, (text, script) in enumerate(runs):
        if script == "raised":
            out += raised(text)
        elif script == "lowered":
            following = runs[i + 1].text if i + 1 < len(runs) else ""
            low = lowered(text)
            out += f"_({low})" if _meet(out, low) or _meet(low, following) else low
        else:
            out += text
    return out


def _meet(left: str, right: str) -> bool:
    """Return whether digits of two pieces would make one number."""
    return left[-1:].isdecimal() and right[:1].isdecimal()


def _solid(pieces: Iterable[Scripted]) -> Iterator[Scripted]:
    """Yield pieces; blanks are neither raised nor lowered."""
    for piece in pieces:
        if piece.script and not piece.text.strip():
            yield Scripted(piece.text)
        elif piece.text:
            yield piece
