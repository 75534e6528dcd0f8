"""Whether a page's text layer is text, or what a wrong character map left."""

import re
import unicodedata
from itertools import pairwise

from kgrag.language.text import word_boundaries

_FEWEST = 50
_MOST_ODD = 0.35
_ODD = {"Co", "Cn", "Cs"}
_RUN = re.compile("[\u4e00-\u9fff]{5,}")  # shorter ones are names and figures of lists and tables
_FEWEST_IN_RUNS = 100
# Of Chinese text 0.33 and more, of the same text with its characters exchanged 0.21 and less in
# 99 of 100 pages; names of persons without anything between them 0.24.
_LEAST_IN_WORDS = 0.2
# The dictionary has few words in traditional characters: such text is known by these.
_TRADITIONAL = frozenset("為與國學會對這說來時個們過發經現實後點從關開應當體業產")
_MOST_TRADITIONAL = 0.03


def is_garbage(text: str) -> bool:
    r"""Say whether the text of a page is no text that anyone could read.

    It is not if more than a third are private-use, unassigned, replacement or control characters,
    any one of them counted 20 times at most: a contents page may have hundreds of one dot; or if
    Chinese characters hardly ever make a word with the next, as where a map has exchanged them
    for others. What a poor OCR leaves is not told. Less than 50 characters are never garbage.

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
    return counted > _MOST_ODD * len(shown) or _is_exchanged(text)


def _is_exchanged(text: str) -> bool:
    """Say whether hardly any Chinese character stands in a word of two or more."""
    runs = "\n".join(_RUN.findall(text))
    n = len(runs) - runs.count("\n")
    if n < _FEWEST_IN_RUNS:
        return False
    if sum(c in _TRADITIONAL for c in runs) > _MOST_TRADITIONAL * n:
        return False
    lengths = (b - a for a, b in pairwise(sorted(word_boundaries(runs))))
    return sum(length for length in lengths if length > 1) < _LEAST_IN_WORDS * n
