"""Match abbreviated titles."""

import re
from difflib import SequenceMatcher

from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.title_keys import title_key
from kgrag.text.titles import document_kinds

_MARKS_OF_A_SERIES = re.compile(
    rf"\d+(?:\.\d+)?|[{HAN_SMALL}]{{1,6}}五(?!年规划)|第[{HAN_SMALL}]++[个批次期部版]|[{HAN_SMALL}]{{1,6}}期"
    r"|试行|暂行|征求意见稿|修订|草案|[上下]半年"
)
# Words that people leave out or put in when they cite from memory.
_FILLERS = re.compile(
    "(?:关于|进一步|加快|推动|推进|深入|全面|切实|做好|加强|有关|相关|工作|全[省市区国]|我[省市区]|若干"
    "|国家|等|和|与|及|以及|新|年|版|年本)*"
)
_LONG = 20  # characters of a 关于… title in which a gap is a slip, not another subject
_GAP = 4  # characters left out or put in at most
_LONGEST = 200  # characters of a title; longer ones are one where they are equal

_SHORTEST = 8  # characters of a name that tells one title from others
_LEAST = 0.45  # of the title's characters that it keeps


def shortens(name: str, title: str) -> bool:
    """Return whether a name is a title with words omitted, in the same order.

    Kind, period and edition must be equal, and the name must not begin with another place.

    >>> shortens("武汉市绿色低碳发展实施方案", "武汉市加快建立健全绿色低碳循环发展经济体系实施方案")
    True
    >>> shortens("武汉市绿色低碳发展实施办法", "武汉市加快建立健全绿色低碳循环发展经济体系实施方案")
    False
    """
    short, whole = title_key(name), title_key(title)
    if not _SHORTEST <= len(short) < len(whole) or len(short) < _LEAST * len(whole):
        return False
    if series_marks(short) != series_marks(whole) or short[-2:] != whole[-2:]:
        return False
    place, end = leading_region(short)
    if place and short[:end] not in whole:
        return False
    rest = iter(whole)
    return all(character in rest for character in short)


def series_marks(key: str) -> tuple[str, ...]:
    """Return years, periods and editions of a title: 十四五 and 十三五 are two documents.

    >>> series_marks("十四五节能规划2021年版")
    ('十四五', '2021')
    """
    return tuple(_MARKS_OF_A_SERIES.findall(key))


def same_kind(one: str, other: str) -> bool:
    """Return whether two titles end in the same kind of document (文种).

    >>> same_kind("节能规划", "工业规划"), same_kind("节能的意见", "节能的实施意见")
    (True, False)
    """
    a, b = document_kinds(one), document_kinds(other)
    return a[-1] == b[-1] if a and b else one[-2:] == other[-2:]


def likeness(one: str, other: str) -> float:
    """Return the similarity of two keys in [0, 1]; 0 if they differ by more than slips.

    A slip is a replaced character, an additional filler (进一步, 工作), and in a long 关于… title a
    few omitted characters: 水 for 大气, 可再生能源 for 能源 are other subjects.

    >>> round(likeness("关于推动重点领域节能降碳意见", "关于推进重点领域节能降碳意见"), 2)
    0.93
    >>> likeness("云岭省大气污染防治条例", "云岭省水污染防治条例")
    0.0
    """
    if max(len(one), len(other)) > _LONGEST:
        return float(one == other)
    compare = SequenceMatcher(a=one, b=other, autojunk=False)
    is_long = min(len(one), len(other)) >= _LONG and one.startswith("关于")
    for tag, a, b, c, d in compare.get_opcodes():
        gone, come = one[a:b], other[c:d]
        if tag == "equal" or (_FILLERS.fullmatch(gone) and _FILLERS.fullmatch(come)):
            continue
        if tag == "replace" and len(gone) == len(come) == 1:
            continue
        if tag != "replace" and is_long and len(gone + come) <= _GAP:
            continue
        return 0.0
    return compare.ratio()
