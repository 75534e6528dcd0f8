"""Raised and lowered characters as Unicode has them, so that 10 to the fourth is not 104."""

_RAISED = str.maketrans("0123456789+-−=()nio", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱᵒ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_UP = frozenset(map(chr, _RAISED))
_DOWN = frozenset(map(chr, _LOWERED))


def raised(text: str) -> str:
    """Return a superscript in characters of its own, or with ^ where Unicode lacks some.

    Footnote marks in brackets, and marks that are no letters or digits, stay as they are.

    >>> [raised(text) for text in ("4", "-3", "a+b", "[1]", "①", "")]
    ['⁴', '⁻³', '^(a+b)', '[1]', '①', '']
    """
    bare = text.strip()
    if not bare or bare[0] in "[【〔" or not any(c.isascii() and c.isalnum() for c in bare):
        return text
    return bare.translate(_RAISED) if _UP.issuperset(bare) else f"^({bare})"


def lowered(text: str) -> str:
    """Return a subscript: digits as Unicode has them, other text as it is.

    >>> [lowered(text) for text in ("2", "max", "2.5")]
    ['₂', 'max', '2.5']
    """
    bare = text.strip()
    return bare.translate(_LOWERED) if bare and _DOWN.issuperset(bare) else text
