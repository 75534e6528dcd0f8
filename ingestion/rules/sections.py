"""Sections whose heading says how to read what they name: results (成效), bases (编制依据)."""

import re

from kgrag.text.numbering import DIVISIONS, RANK, numbering_at

_FAMILIES = DIVISIONS | {"chinese", "bracketed chinese", "digit", "bracketed digit"}
_NAME = re.compile(r"[ \t]*([^\n。；;]{2,40})。?$")
_ACHIEVED = re.compile(
    "成效|回顾|成就|成果|现状|进展|全面完成|圆满完成|取得"
    "|(?:现实|工作|发展|规划)基础(?!设施)|基础(?:和|与|及)(?:面临)?形势|形势与"
)
_TO_DO = re.compile(
    "[，,]|^(?:夯实|加强|强化|推进|推动|提升|完善|健全|持续)|巩固|扩大|见成效|考核|评估"
)
_BASES = re.compile("(?:编制|规划|设定|制定|政策|工作|法律|主要|有关|相关|文件|的){1,4}依据$")


def achieved_sections(text: str) -> list[tuple[int, int]]:
    r"""Return (start, end) of sections whose heading says that they report results, by place.

    What such a section names was done; the document does not order it. A section ends at the next
    heading of its depth or above.

    >>> achieved_sections("一、工作成效\n印发了规划。\n二、目标\n")
    [(0, 14)]
    """
    return _sections(text, _ACHIEVED, but=_TO_DO)


def basis_sections(text: str) -> list[tuple[int, int]]:
    r"""Return (start, end) of sections that list what the document rests on, by place.

    >>> basis_sections("二、编制依据\n（1）《节能办法》\n三、目标\n")
    [(0, 17)]
    """
    return _sections(text, _BASES, but=None)


def _sections(
    text: str, heading: re.Pattern[str], *, but: re.Pattern[str] | None
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start, depth = -1, -1
    at = 0
    for line in text.split("\n"):
        begin = at + len(line) - len(line.lstrip(" \t"))
        at += len(line) + 1
        mark = numbering_at(text, begin)
        if mark is None or mark.family not in _FAMILIES:
            continue
        name = _NAME.match(text, mark.end, at - 1)
        if name is None:
            continue
        if start >= 0 and RANK[mark.family] <= depth:
            found.append((start, begin))
            start = -1
        words = name[1].rstrip(" .…")
        if start < 0 and heading.search(words) and not (but and but.search(words)):
            start, depth = begin, RANK[mark.family]
    return [*found, (start, len(text))] if start >= 0 else found
