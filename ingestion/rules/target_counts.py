"""Names of what is counted, where they stand around what is done: 3座油库和5辆车完成治理."""

import re
from collections.abc import Sequence
from itertools import pairwise

from kgrag.ingestion.rules import target_names as names
from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules import target_words as words
from kgrag.ingestion.rules.target_statement import Statement
from kgrag.ingestion.rules.target_values import SHARES, Value
from kgrag.language.quantities import COUNTS

_WHEN = re.compile(r"(?:已?[于在])?(?:19|20)\d\d年(?:\d{1,2}月)?[底末]?[之以]?前?已?")
_ITEM = re.compile(r"(?P<noun>[^,;、和与及的\d]{2,16}?)(?:、|和|以?及|与)")
_WORKING = re.compile(r"(?:完成|实施|推进|推动|开展|启动)了?(?P<of>[^,;、\d的]{0,8})$")
_WORK = re.compile(
    r"(?P<noun>[^,;、的\d]{2,24}?)的?(?P<said>(?:超低排放|节能|提标|深度|油气回收|综合|升级)*(?:整改|整治|治理|改造|修复|处理|清理|提标|验收)(?:任务|工作)?(?:[和及与][^,;、\d]{2,16})?)$"
)
_WORKED = re.compile(r"(?:整改|整治|治理|改造|修复|处理|清理|提标|验收|建造|建设|恢复|种植)$")
_PLACES = r"(?:重点)?(?:行业|领域|省|市|县|区|乡镇|街道|城市)"
_KINDS = re.compile(
    rf"(?:\d{{1,6}}|[两二三四五六七八九十]{{1,4}})个?大?(?:类|方面|领域)$|\d{{1,6}}个{_PLACES}$"
)
_AT = re.compile(r"(?:组织|已|累计|共|每年|全年|要)*(?:在|对|将|把)[^,;]{0,20}")
_WORK_THERE = re.compile(
    r"(?P<noun>[^,;、的\d]{2,20}?)(?:全面|深入|组织|逐步|先行|率先)*"
    r"(?:推进|开展|实施|进行|启动|试行|推行)(?P<work>[^,;、\d]{2,20})$"
)
_WHERE = re.compile(rf"{_PLACES}\d")
_COVERED = re.compile(r"(?:覆盖|惠及)(?P<others>(?:全部|所有)?[^,;\d]{2,12}(?:以及|及|和))?$")
_COVERED_NOUN = re.compile(r"(?!的)[^,;、的\d]{1,20}$")
_WITH_AMOUNT = re.compile(r"(?![以及])[^,;、的\d]{2,30}")
_TOGETHER = re.compile(r"(?:次|、)?(?:共计?|合计|总计)?")
_LONGEST_SHARE = 8  # characters of 占比, 绿化面积占比
_WHAT_IS_MADE = re.compile(r"的(?P<noun>[^,;、的\d]{2,20})$")


def without_kinds(before: str) -> str:
    """Return the words before a number without a count of kinds: 共5类17个项目.

    >>> without_kinds("建设3大类")
    '建设'
    """
    return _KINDS.sub("", before)


def without_when(behind: str) -> str:
    """Return words behind a number without what says when: 油库于2017年底全部完成治理.

    >>> without_when("油库于2017年底全部完成治理")
    '油库全部完成治理'
    """
    return _WHEN.sub("", behind)


def done_together(
    text: str, clause: tuple[int, int], inside: Sequence[Value]
) -> list[tuple[str, Value]]:
    """Return (name, value) of several that are counted and have one thing done to them.

    Args:
        text: The passage.
        clause: (start, end) in it.
        inside: The values of the clause; all must be counts, with 、 or 和 between them.
    """
    if len(inside) < 2 or any(value.unit not in p.DONE_TO for value in inside):
        return []
    before = names.without_times(text[clause[0] : inside[0].start])
    behind = without_when(text[inside[-1].end : clause[1]])
    working = _WORKING.search(before)
    is_object = working is not None
    done = _WORK.fullmatch(behind) if is_object else p.RESULT.match(behind)
    if not done or not (is_object or p.RESULT_LEAD.fullmatch(words.lead_stripped(before))):
        return []
    nouns = []
    for value, following in pairwise(inside):
        item = _ITEM.fullmatch(text, value.end, following.start)
        if not item:
            return []
        if names.LEVEL_ONLY.fullmatch(item["noun"]) or (is_object and _WORKED.search(item["noun"])):
            return []
        nouns.append(item["noun"])
    if working and nouns:
        nouns[0] = working["of"] + nouns[0]
    return [
        (noun + done["said"], value)
        for noun, value in zip([*nouns, done["noun"]], inside, strict=True)
    ]


def with_amount(
    text: str, clause: tuple[int, int], inside: Sequence[Value]
) -> list[tuple[str, Value]]:
    """Return (name, value) of a count and of how much they are together: 8台260万千瓦机组改造.

    Args:
        text: The passage.
        clause: (start, end) in it; a verb of building must open it, or end what is counted.
        inside: The values of the clause; empty is returned for more than two.
    """
    if len(inside) != 2:
        return []
    first, second = inside
    is_amount = second.unit in p.MEASURED_NOUNS and second.unit not in COUNTS
    if first.unit.removesuffix("次") not in COUNTS or not is_amount or second.after:
        return []
    noun = _WITH_AMOUNT.fullmatch(text, second.end, clause[1])
    if not noun or not _TOGETHER.fullmatch(text, first.end, second.start):
        return []
    before = names.without_times(text[clause[0] : first.start]).lstrip(",")
    verb = words.opening_verb(before)
    if not verb and not (p.RESULT.match(noun[0]) and not words.lead_stripped(before)):
        return []
    name = (before.split(verb, 1)[1].removesuffix("共") if verb else "") + noun[0]
    return [(name, first), (name, second)]


def without_sums(text: str, end: int, inside: Sequence[Value]) -> list[Value]:
    """Return the values of a clause without how many a list is of, or where the counted are.

    甲、乙等2项排放量分别…; 12个行业170个污染源.

    Args:
        text: The passage.
        end: Of the clause.
        inside: Its values.
    """
    return [
        value
        for value in inside
        if not (
            value.unit in COUNTS
            and text[value.start - 1 : value.start] == "等"
            and "分别" in text[value.end : end]
        )
        and not (value.unit == "个" and _WHERE.match(text, value.end))
    ]


def work_there(before: str, behind: str) -> str:
    """Return what is done where or to whom that are counted; empty for neither.

    >>> work_there("在条件好的", "县推进清洁取暖示范"), work_there("对", "企业开展监督检查")
    ('', '企业监督检查')
    >>> work_there("在条件好的", "试点县推进清洁取暖示范")
    '试点县清洁取暖示范'
    """
    there = _WORK_THERE.match(behind) if _AT.fullmatch(without_when(before).lstrip(",")) else None
    return there["noun"] + there["work"].removesuffix("工作") if there else ""


def share_of(rest: str, value: Value, behind: str) -> str | None:
    """Return what has a share, or what a share does; None for neither.

    70%以上新建建筑达到绿色建筑标准, 新建建筑100%执行标准, 燃气管网覆盖90%以上乡镇.
    """
    if name := _covered(rest, behind):
        return name
    share = p.SHARE_OF_NOUN.match(behind)
    goes_on = p.CHAIN.search(behind)
    if goes_on and words.is_predicate(goes_on[0]):
        return None
    if share and not rest and share["noun"].startswith(p.SAYS_WHAT):
        return None
    if not share or value.after not in ("", "以上") or behind.startswith("的目标"):
        return None
    if rest and p.INDICATOR_END.search(rest):
        return None
    prefix = "" if rest.endswith(("、", "和", "及", "与")) else names.indicator_in(rest)
    is_whole = behind.startswith(("全覆盖", "覆盖", "达标", "全达标"))
    return prefix if is_whole else prefix + share["noun"]


def _covered(rest: str, behind: str) -> str:
    """Return what covers a share of what; empty for another form."""
    said = _COVERED.search(rest)
    if not said or not _COVERED_NOUN.match(behind):
        return ""
    return names.indicator_in(rest[: said.start()] + said[0][:2]) + behind


def made_of(rest: str, value: Value, chain: str, behind: str) -> str:
    """Return the share that what is to be made has: 打造占比不少于70%的蓝绿空间; else empty."""
    at_least = p.IS_LOW.search(chain) or value.after in p.AFTER_LOW
    if value.unit not in SHARES or not at_least:
        return ""
    verb = p.BUILD_LEAD.match(rest)
    made = _WHAT_IS_MADE.match(behind)
    name = rest[verb.end() :] if verb else ""
    if not made or not 1 < len(name) <= _LONGEST_SHARE or not p.INDICATOR_END.search(name):
        return ""
    return made["noun"] + name


def goes_on(found: Sequence[Statement], clause: tuple[int, int], rest: str, value: Value) -> bool:
    """Return whether a number is the next of a list of amounts: 减排氮氧化物5万吨、烟尘2万吨.

    Args:
        found: What the sentence states before.
        clause: (start, end) in the passage.
        rest: The words before the number.
        value: The number.
    """
    before = found[-1] if found and found[-1].clause == clause else None
    if not before or before.value.unit != value.unit or p.PLACE.fullmatch(rest, 1):
        return False
    is_next = before.value.end + len(rest) == value.start
    return is_next and p.NEXT_ITEM.fullmatch(rest) is not None
