"""Numbers that a scan broke by a gap: 0. 75亿吨, 达到83. 3%."""

import re
from collections.abc import Iterator

from kgrag.language.quantities import narrow

_GAP = r"(?:\.[ \t]{1,3}|[ \t]{1,2}\.[ \t]{0,2})"
_UNIT = (
    r"%|‰|个?百分点|[百千]?[万亿]|[十百千万亿]*"
    r"(?:元|吨|亩|公顷|平方|立方|公里|千米|千瓦|标准煤|微克|毫克|倍|米)"
)
# Behind a word or a sign, with a unit behind it: 1. 5个项目 at the start of a line is an item.
_BROKEN = re.compile(
    rf"(?:(?<![\d.])0{_GAP}|(?<=[一-鿿≥≤><=~])\d{{1,4}}{_GAP})\d{{1,4}}(?=\s*(?:{_UNIT}))"
)


def broken_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the decimal numbers of a text that a gap breaks, without units.

    >>> [text[a:b] for text in ["总量为0. 75亿吨", "1. 5个"] for a, b in broken_numbers(text)]
    ['0. 75']
    """
    for match in _BROKEN.finditer(narrow(text)):
        yield match.span()
