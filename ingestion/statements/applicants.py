"""Who or what may apply: the items under 申报条件 and 应当具备下列条件."""

import re
from collections.abc import Iterator

from kgrag.ingestion.rules.finding import SELF, Finding
from kgrag.ingestion.rules.unwrapped import Unwrapped
from kgrag.ingestion.statements.items import INNER, NO_RANK, marked, unmarked
from kgrag.qualifiers import Qualifiers

ASKS = "申请条件"
CONFIDENCE = 0.93  # precision that was measured
_LONGEST_ITEM = 400
_MOST_ITEMS = 40
_GROUP = 30  # characters of a line that only names a group of items
_HEADING = re.compile(
    r"^[^，。；]{0,14}?(?:申报|申请|推荐|认定|参评|参选|揭榜|遴选|创建|准入|入库|入选|评选|资助|支持|奖励|补助|扶持)[^，。；]{0,8}?条件"
    r"(?:（[^）]{0,20}）)?[：:。]?$"
)
_SENTENCE = re.compile(
    r"(?:^|[。；])(?:凡|其中|本办法所称)?(?P<who>[^，。；：\n]{2,50}?)(?:还?应当?|应该|须|需|必须)?(?:同时|还|均|当){0,3}(?:具备|符合|满足|达到)"
    r"(?:以下|下列|如下)[^，。；：\n]{0,8}?(?P<what>条件|要求)(?:之一)?(?:的)?[^，。；：\n]{0,12}[：:]$"
)
_APPLIES = re.compile(
    r"申[请报]|单位|企业|机构|个人|人员?$|项目|产品|技术|园区|主体|者|工厂|社区|城市|地区|公司|协会|组织|员$|法人|平台|基地|资金"
)
_ASKS = re.compile(r"申[请报]|机构$|单位$|主体$")


def applicants(flat: Unwrapped) -> Iterator[Finding]:
    """Yield (who or what applies, 申请条件, the item), one for each item, in text order.

    The subject is what the sentence ahead of the list names, `SELF` under a heading alone. An item
    that only names a group of items is their `condition`.

    Args:
        flat: The document, its lines put together.
    """
    lines = flat.text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for i, line in enumerate(lines):
        if "条件" not in line[:200] and "要求" not in line[:200]:
            continue
        rank, rest = marked(line[:200])
        subject = SELF if len(rest) <= _GROUP and _HEADING.match(unmarked(rest)) else _who(rest)
        for at, group, item in _items(lines, i, rank) if subject else ():
            span = flat.span(starts[at], starts[at] + len(lines[at]))
            qualifiers = Qualifiers("condition", condition=group)
            yield Finding(subject, ASKS, item, *span, qualifiers, confidence=CONFIDENCE)


def _who(line: str) -> str:
    """Return of whom a line says that they must meet what is listed below; empty for none."""
    told = _SENTENCE.search(line)
    who = unmarked(told["who"]) if told else ""
    applies = told and _APPLIES.search(who) and (told["what"] == "条件" or _ASKS.search(who))
    return who if applies else ""


def _items(lines: list[str], head: int, outer: int) -> Iterator[tuple[int, str, str]]:
    """Yield (line, group, item) below a line, as far as their markers are of an inner rank."""
    first = NO_RANK
    group = ""
    for at in range(head + 1, min(head + 1 + _MOST_ITEMS, len(lines))):
        rank, rest = marked(lines[at][:_LONGEST_ITEM])
        if rank == NO_RANK:
            if rest.endswith(("：", ":")) or (at == head + 1 and "条件" in rest):
                continue
            return
        if rank not in INNER or (outer < NO_RANK and rank <= outer) or rank < first < NO_RANK:
            return
        first = min(first, rank)
        following = marked(lines[at + 1][:8])[0] if at + 1 < len(lines) else NO_RANK
        item = unmarked(rest)
        names_group = len(item) <= _GROUP // 2 and item.endswith(("要求", "条件"))
        if names_group or (rank < following < NO_RANK and len(item) <= _GROUP):
            group = item
            continue
        if rank == first and following <= rank:
            group = ""
        if len(item) >= 4 and not group.startswith("其他"):
            yield at, group, item
