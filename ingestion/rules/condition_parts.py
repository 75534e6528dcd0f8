"""What the rules of conditions share: a found condition, markers of items, amounts of money."""

import re
from dataclasses import dataclass
from decimal import Decimal

from kgrag.language.quantities import Quantity
from kgrag.qualifiers import Qualifiers
from kgrag.text.numbering import ANNEX, ARTICLE, ATTACHMENT, DIVISIONS, numbering_at

LONGEST = 120  # characters of a subject or an object

# Ranks of marks, outermost first.
_RANKS = {
    **dict.fromkeys((ATTACHMENT, ANNEX), 0), **dict.fromkeys(DIVISIONS, 1), ARTICLE: 2,
    "chinese": 3, "bracketed chinese": 4, "digit": 5, "bracketed digit": 6, "half bracket": 6,
    "circle": 7,
}  # fmt: skip
NO_RANK = 8

_LEAD_END = re.compile("[。：:，；】]")
_SHORTEST_LEAD, _LONGEST_LEAD = 4, 30  # characters
_NAMES = re.compile(
    r"(?:项目|企业|单位|机构|工厂|园区|平台|产品|活动|奖励|补助|补贴|资助|扶持|建设|改造|创建|认证|示范|服务)$"
)
_FORMAL = re.compile(
    r"标准|方式|内容|条件|程序|对象|范围|依据|要求|数量|管理|^[到至和及对]|^(?:返还|奖励|补助|补贴|扶持|资助|[、和及])+$"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A condition between two offsets of the unwrapped text."""

    start: int
    end: int
    subject: str
    predicate: str
    object: str
    qualifiers: Qualifiers
    confidence: float


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
    rank, rest = marked(text.strip("，,、。；;：: "))
    while rank < NO_RANK:
        rank, rest = marked(rest)
    return rest.strip("，,、。；;：: ")


def number(quantity: Quantity) -> str:
    """Return a quantity's value as text, without needless zeros; of a range's first the larger.

    >>> from kgrag.language.quantities import quantities
    >>> number(quantities("20万元")[0])
    '200000'
    """
    value = max(quantity.values)
    whole = value.to_integral_value()
    return str(whole if value == whole else Decimal(value).normalize())


def lines_of(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the lines of a text."""
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


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
        for _, lead in reversed(self._leads):
            if (
                _NAMES.search(lead)
                and _SHORTEST_LEAD <= len(lead) <= _LONGEST_LEAD
                and not _FORMAL.search(lead)
            ):
                return lead
        return ""
