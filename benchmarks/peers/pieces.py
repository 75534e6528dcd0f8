"""A tokenizer without a vocabulary, for systems whose own is a download."""

import re

_PIECE = re.compile(r"[\u3400-\u9fff]{1,2}|[A-Za-z]{1,4}|\d{1,3}|\s{1,4}|.", re.DOTALL)
_BITS = 21  # of a character


class Pieces:
    """A tokenizer of pieces: two Chinese characters, four letters, three digits, or a mark.

    >>> pieces = Pieces()
    >>> len(pieces.encode("节能目标2025年"))
    5
    >>> pieces.decode(pieces.encode("节能目标2025年"))
    '节能目标2025年'
    """

    def encode(self, content: str) -> list[int]:
        """Return the characters of each piece as one number."""
        return [_number(piece) for piece in _PIECE.findall(content)]

    def decode(self, tokens: list[int]) -> str:
        """Return the text of pieces."""
        return "".join(_text(token) for token in tokens)


def _number(piece: str) -> int:
    number = 0
    for char in piece:
        number = number << _BITS | ord(char)
    return number


def _text(number: int) -> str:
    chars = []
    while number:
        chars.append(chr(number & (1 << _BITS) - 1))
        number >>= _BITS
    return "".join(reversed(chars))
