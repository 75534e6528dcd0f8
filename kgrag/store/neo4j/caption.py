"""Names as Neo4j Browser can draw them: broken into lines."""

from unicodedata import east_asian_width

_WIDTH, _LINES = 4, 4  # full-width characters in a line, lines in a circle
_EN_SPACE = "\u2002"  # half a character; the Browser breaks lines at the plain space only


def caption(name: str) -> str:
    r"""Return a name in pieces of one width, parted by blanks; cut to 16 full-width characters.

    Neo4j Browser breaks a caption at blanks only, and writes pieces that are short side by side
    in one line, so the last piece is filled up on both sides. A name that has blanks of its own
    is broken at these.

    >>> caption("节能减排"), caption("National Energy Administration")
    ('节能减排', 'National Energy Administration')
    >>> caption("云岭省节约能源条例").split(" ")
    ['云岭省节', '约能源条', '\u2002\u2002\u2002例\u2002\u2002\u2002']
    """
    words = name.split()
    if len(words) > 1 and all(_width(word) <= 2 * _WIDTH for word in words):
        return " ".join(words)
    pieces = [""]
    for character in "".join(words):
        if _width(pieces[-1] + character) > _WIDTH:
            pieces.append("")
        pieces[-1] += character
    if len(pieces) > _LINES:
        pieces = [*pieces[: _LINES - 1], pieces[_LINES - 1][:-1] + "…"]
    if len(pieces) > 1:
        blank = _EN_SPACE * int(_WIDTH - _width(pieces[-1]))
        pieces[-1] = f"{blank}{pieces[-1]}{blank}"
    return " ".join(pieces)


def _width(text: str) -> float:
    return sum(1.0 if east_asian_width(c) in "WFA" else 0.5 for c in text)
