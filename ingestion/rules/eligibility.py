"""Read by rule who or what may apply: the items under 申报条件 and 应当具备下列条件."""

import re
from collections.abc import Iterator

from kgrag.ingestion.rules.condition_parts import NO_RANK, Stated, lines_of, marked, unmarked
from kgrag.ingestion.rules.finding import SELF
from kgrag.qualifiers import Qualifiers

ASKS = "申请条件"
CONFIDENCE = 0.93  # precision that was measured
_LONGEST_ITEM = 400
_MOST_ITEMS = 40
_HEADING = re.compile(
    r"^[^，。；]{0,14}?(?:申报|申请|推荐|认定|参评|参选|揭榜|遴选|创建|准入|入库|入选|评选|资助|支持|奖励|补助|扶持)[^，。；]{0,8}?条件"
    r"(?:（[^）]{0,20}）)?[：:。]?$"
)
_SENTENCE = re.compile(
    r"(?P<who>[^，。；：\n]{2,50}?)(?:应当|应该|应|须|需|必须|还应|还应当)?(?:同时|还|均|当){0,3}(?:具备|符合|满足|达到)"
    r"(?:以下|下列|如下)[^，。；：\n]{0,8}?(?:条件|要求)(?:之一)?(?:的)?[^，。；：\n]{0,12}[：:]$"
)
_APPLIES = re.compile(
    r"申[请报]|单位|企业|机构|个人|人员?$|项目|产品|技术|园区|主体|者|工厂|社区|城市|地区|公司|协会|组织|员$|法人|平台|基地|资金"
)
_ASKS = re.compile(r"申[请报]|机构$|单位$|主体$")
_PREFIX = re.compile(r"^(?:凡|其中|本办法所称)")


def eligibility(text: str) -> Iterator[Stated]:
    """Yield (who or what applies, 申请条件, the item), one for each item, in text order.

    The subject is what the sentence ahead of the list names, `SELF` under a heading alone. An item
    that only names a group of items is their `condition`.

    Args:
        text: Paragraphs, each on a line, without blanks.
    """
    lines = lines_of(text)
    for i, (start, end) in enumerate(lines):
        line = text[start:end][:200]
        rank, rest = marked(line)
        if _HEADING.match(unmarked(rest)) and len(rest) <= 30:
            yield from _items(text, lines, i, rank, SELF)
        elif line.endswith(("：", ":")) and (
            told := _SENTENCE.search(re.split("[。；]", rest)[-1])
        ):
            who = _PREFIX.sub("", unmarked(told["who"]))
            if _APPLIES.search(who) and ("条件" in told[0] or _ASKS.search(who)):
                yield from _items(text, lines, i, rank, who)


def _items(
    text: str, lines: list[tuple[int, int]], head: int, outer: int, subject: str
) -> Iterator[Stated]:
    """Yield the items below a line, as far as their markers are of an inner rank."""
    first = NO_RANK
    group = ""
    for at in range(head + 1, min(head + 1 + _MOST_ITEMS, len(lines))):
        start, end = lines[at]
        rank, rest = marked(text[start:end][:_LONGEST_ITEM])
        if rank == NO_RANK:
            if rest.endswith(("：", ":")) or (at == head + 1 and "条件" in rest):
                continue
            return
        if rank < 4 or (outer < NO_RANK and rank <= outer) or rank < first < NO_RANK:
            return
        first = min(first, rank)
        following = NO_RANK
        if at + 1 < len(lines):
            following = marked(text[lines[at + 1][0] : lines[at + 1][0] + 8])[0]
        item = unmarked(rest)
        if len(item) <= 16 and item.endswith(("要求", "条件")):
            group = item
            continue
        if rank < following < NO_RANK and len(item) <= 30:
            group = item
            continue
        if rank == first and following <= rank:
            group = group if rank > first else ""
        if len(item) >= 4 and not group.startswith("其他"):
            qualifiers = Qualifiers("condition", condition=group)
            yield Stated(start, end, subject, ASKS, item, qualifiers, CONFIDENCE)
