"""Items of lists: their marks and ranks, what stands below a line, what stands above it."""

import re
from collections.abc import Iterator

from kgrag.text.numbering import ANNEX, ARTICLE, ATTACHMENT, DIVISIONS, numbering_at

# Ranks of marks, outermost first.
_RANKS = {
    **dict.fromkeys((ATTACHMENT, ANNEX), 0), **dict.fromkeys(DIVISIONS, 1), ARTICLE: 2,
    "chinese": 3, "bracketed chinese": 4, "digit": 5, "bracketed digit": 6, "half bracket": 6,
    "circle": 7,
}  # fmt: skip
NO_RANK = 8
INNER = range(4, NO_RANK)  # （一） and inner ones
_MARKS = "，,、。；;：: "
_MOST_ITEMS = 60
_LEAD_END = re.compile("[。：:，；】]")
_LEAD = range(4, 31)  # characters
_NAMES = re.compile(
    r"(?:项目|企业|单位|机构|工厂|园区|平台|产品|活动|奖励|补助|补贴|资助|扶持|建设|改造|创建|认证|示范|服务)$"
)
_FORMAL = re.compile(
    r"标准|方式|内容|条件|程序|对象|范围|依据|要求|数量|管理|^[到至和及对]|^(?:返还|奖励|补助|补贴|扶持|资助|[、和及])+$"
)


def marked(line: str) -> tuple[int, str]:
    """Return (rank, rest) of a line; the rank is that of its marker, NO_RANK for none.

    >>> marked("（一）依法注册"), marked("依法注册")
    ((4, '依法注册'), (8, '依法注册'))
    """
    mark = numbering_at(line)
    if mark and mark.family in _RANKS:
        return _RANKS[mark.family], line[mark.end :]
    return NO_RANK, line


def unmarked(text: str) -> str:
    """Return a text without the markers that it begins with, and marks at its ends."""
    rank, rest = marked(text.strip(_MARKS))
    while rank < NO_RANK:
        rank, rest = marked(rest)
    return rest.strip(_MARKS)


def items_below(text: str, end: int) -> Iterator[str]:
    """Yield the items on the lines below one; they end with the first line of another rank.

    Args:
        text: Paragraphs, each on a line.
        end: Where the line above ends.
    """
    first = None
    for line in text[end + 1 :].split("\n", _MOST_ITEMS)[:_MOST_ITEMS]:
        rank, rest = marked(line)
        first = rank if first is None else first
        if rank != first or rank not in INNER:
            return
        yield rest.strip(_MARKS).removesuffix("的")


class Heads:
    """The leads of the items around a line, as lines are entered in order."""

    def __init__(self) -> None:
        self._leads: list[tuple[int, str]] = []

    def enter(self, line: str) -> None:
        """Take note of a line: it ends the items of its rank and of inner ones."""
        rank, _ = marked(line)
        if rank < NO_RANK:
            self._leads = [(r, lead) for r, lead in self._leads if r < rank]
            self._leads.append((rank, _LEAD_END.split(unmarked(line).lstrip("【"), maxsplit=1)[0]))

    def nearest(self) -> str:
        """Return the innermost lead that names a kind of project or who; empty for none."""
        return next(
            (
                lead
                for _, lead in reversed(self._leads)
                if len(lead) in _LEAD and _NAMES.search(lead) and not _FORMAL.search(lead)
            ),
            "",
        )
