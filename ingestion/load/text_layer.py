"""Whether a page's text layer is text, or what a wrong character map left."""

import unicodedata

_FEWEST = 50
_MOST_ODD = 0.35
_ODD = {"Co", "Cn", "Cs"}


def is_garbage(text: str) -> bool:
    r"""Say whether the text of a page is no text that anyone could read.

    It is not if more than a third are private-use, unassigned, replacement or control characters,
    any one of them counted 20 times at most: a contents page may have hundreds of one dot. What a
    poor OCR leaves is not told. Less than 50 characters are never garbage.

    Args:
        text: Of a page, or a piece of about a page's length.

    >>> is_garbage("".join(map(chr, range(0xE000, 0xE060)))), is_garbage("推进节能降碳。" * 9)
    (True, False)
    """
    shown = [c for c in text if not c.isspace()]
    if len(shown) < _FEWEST:
        return False
    odd = [c for c in shown if c == "\ufffd" or c < " " or unicodedata.category(c) in _ODD]
    counted = sum(min(odd.count(c), 20) for c in set(odd))
    return counted > _MOST_ODD * len(shown)
