"""Sections that report what was done (“十三五”成效): what they name is not ordered."""

import re
from collections.abc import Sequence

_NUMBERED = (
    r"第[一二三四五六七八九十百\d]+[篇编章部]",
    r"第[一二三四五六七八九十百\d]+节",
    r"[一二三四五六七八九十]{1,3}、",
    r"[（(][一二三四五六七八九十]{1,3}[）)]",
    r"\d{1,2}[.．、](?!\d)",
    r"[（(]\d{1,2}[）)]",
)
_HEADING = re.compile(
    r"^[ \t]*(?:"
    + "|".join(f"({form})" for form in _NUMBERED)
    + r")[ \t]*([^\n。；;]{2,40})[。]?$",
    re.MULTILINE,
)
_ACHIEVED = re.compile(
    "成效|回顾|成就|成果|现状|进展|全面完成|圆满完成|取得|(?:现实|工作|发展|规划)基础(?!设施)|基础(?:和|与|及)形势|形势与"
)
_TO_DO = re.compile("^(?:夯实|加强|强化|推进|推动|提升|完善|健全|巩固|扩大|加快|持续)")


def achieved_sections(text: str) -> Sequence[tuple[int, int]]:
    r"""Return (start, end) of sections whose heading says that they report results, by place.

    A section ends at the next heading of its depth or above.

    >>> achieved_sections("一、工作成效\n印发了规划。\n二、目标\n")
    [(0, 14)]
    """
    found: list[tuple[int, int]] = []
    start, depth = -1, -1
    for match in _HEADING.finditer(text):
        level = _level(match)
        if start >= 0 and level <= depth:
            found.append((start, match.start()))
            start = -1
        words = match.group(len(_NUMBERED) + 1)
        if start < 0 and _ACHIEVED.search(words) and not _TO_DO.match(words):
            start, depth = match.start(), level
    return [*found, (start, len(text))] if start >= 0 else found


def _level(match: re.Match[str]) -> int:
    return next(i for i in range(len(_NUMBERED)) if match.group(i + 1))
