"""What an indicator is called: words before or behind a number, and what those before lend it."""

import re

from kgrag.ingestion.statements.target_grammar import SHARES, Value, ends, pattern, reaches, words
from kgrag.text.places import names_place
from kgrag.text.quantities import COUNTS
from kgrag.text.tagged import Tagged

_NAME = re.compile(r"[一-鿿A-Za-z]{2}")
_HAN = re.compile("[一-鿿]{2}$")
_COMPARED = re.compile(
    r"^(?:高[于出]|低于|超过|相当于|比(?![例重率])|较(?![大高好])|约为|仅为)|[<>≤≥=]|(?:尚未|未|没有|无法)$"
)
_OF_BEFORE = re.compile(
    r"约?占|其?(?:年均增速|年均增长率|增速|增幅|降幅|占比|产值|面积|总量|覆盖率|利用率|比重|平均值)$"
)
_SHARE = re.compile(r"占|(?:(?:年均)?(?:增速|增长率|增幅)|占比|比重)$")
_EXAMPLES = re.compile(
    r"^[^等]{0,30}(?:[河湖江库镇县市区村厂]|湿地)等(?=[一-鿿]{3})"
    r"|^[^,]{2,20}包括[^,]+等(?:方面|类)?的?(?=[一-鿿]{2})"
    r"|^以[^,;]{2,40}?为[^,;]{2,8}的(?=[一-鿿“\"]{2})"
)
"""What an indicator is told by ahead of its name: 东河、西河等河道, 以甲为特征的乙."""
_OF_OTHERS = re.compile(r"^[^,]{0,30}(?:城市|地区|县城|单列市|农村|城镇)(?=[^,]{4})")
_OF_THOSE = re.compile("(?:行业|领域)?(?:达到|优于|高于|低于)[^、]{2,14}(?:比例|比重|占比)$")
_SPLITS = tuple(map(re.compile, (r"、|以及|和(?!谐)|及(?!以)|与", r"、|以及|和(?!谐)", "、")))
_COUNTED = re.compile(r"(?:等)?[一二三四五六七八九十两\d]{1,8}(?:项|种|类|大|个|座|家)(?:主要)?")
_AND_OTHERS = re.compile(r"(?<=[一-鿿])等(?P<end>[^级于待、,]{3,12})$")
_LEVEL = re.compile(r"主城区|中心城区|建制镇|城区|城市|县城|城镇|农村|乡镇|[省市县区镇乡村]")
_OF_CITY = re.compile(r"^[一-鿿]{2,4}市(?=.{2})")
_SIZE = re.compile(r"(?:直径|(?<!服务)半径|粒径|管径|口径|厚度|间距|层高|车速)$")
_OF_STANDARD = re.compile(r"取值|缺省值|排放因子|于一体|(?:标杆|基准|准入|限定|先进)(?:水平|值)?$")
_LONGEST = 60  # characters of an indicator
_SIZES = ("及以上", "以上", "及以下", "以下")
_LENGTHS = frozenset(("米", "公里", "平方米", "公顷", "亩", "千伏", "千瓦", "吨", "元"))
_GOES_ON = re.compile(r"(?![、和及与的并以其次])[一-鿿]{2}")
_SEVERAL = re.compile(r"分别|(?<![年平])均|各")
_PLANNED = re.compile(
    r"^(?:成功|重点|引导|均|都|将|要|应|力争|确保|争取|努力|预计|计划|总体|基本|已经|已|在|全市|全省|全县|年内)+"
)
_WHICH = re.compile(r"的(?!目标|水平|比例|速度|增速)")
_PLACE = re.compile(r"[一-鿿]{2,6}(?:示范区|开发区|新区|[省市县区州盟旗])")


def named(name: str) -> bool:
    """Return whether words can name something."""
    return len(name) > 1 and _NAME.search(name) is not None


def can_be_indicator(name: str, value: Value, verb: str, chain: str) -> bool:
    """Return whether words can name an indicator of a value.

    Args:
        name: The words.
        value: The number.
        verb: A verb of building; empty.
        chain: The words between both.
    """
    if not named(name) or len(name) > _LONGEST or _COMPARED.search(name):
        return False
    if name[-1] in "省市州盟旗" and names_place(name):
        return False
    if (_SIZE.search(name) and not verb) or _OF_STANDARD.search(name):
        return False
    return value.unit not in COUNTS or not ends(name, "parts") or reaches(chain)


def behind_lead(read: Tagged, start: int, end: int) -> int:
    """Return where words begin behind those that only lead in an indicator."""
    lead = pattern("lead").match(read.code, start, end)
    return lead.end() if lead else start


def without_times(read: Tagged, start: int, end: int) -> tuple[int, int]:
    """Return the words before a number without what says when: behind it, or all ahead of it."""
    for time in pattern("when").finditer(read.code, start, end):
        if not named(read.words(behind_lead(read, time.end(), end), end)):
            return start, time.start()
        start = time.end()
    return start, end


def bare(read: Tagged, start: int, end: int) -> tuple[int, int]:
    """Return the words before a number without times and what leads in."""
    start, end = without_times(read, start, end)
    return behind_lead(read, start, end), end


def indicator(read: Tagged, start: int, end: int) -> str:
    """Return the indicator that words before a number name; empty for none."""
    start, end = bare(read, start, end)
    while (trail := pattern("trail").search(read.code, start, end)) and trail.start() > start:
        end = trail.start()
    name = read.words(start, end)
    return name if named(name) else ""


def counted_noun(read: Tagged, start: int, end: int, *, is_followed: bool) -> tuple[int, int]:
    """Return where what is counted stands behind a number; an empty span for nothing.

    Args:
        read: The passage.
        start: Behind the number.
        end: The next number or the end of the clause.
        is_followed: Whether a number stands behind: then the noun ends at the last 、 or 和.
    """
    words_ = read.words(start, end)
    if words_[:1] in ("、", "和", "及", "与"):
        return start, start
    if is_followed:
        last = [m.start() for m in pattern("joins").finditer(read.code, start, end)]
        end = last[-1] if last else start
    if read.code.startswith("的", start):
        start += 1
    return (start, end) if named(read.words(start, end)) else (start, start)


def is_within_name(read: Tagged, left: int, at: int, right: int) -> bool:
    """Return whether a number is part of a name: 站点500米覆盖率, 淘汰10蒸吨以下燃煤锅炉30台."""
    value = read.spans[at].value
    if not isinstance(value, Value):
        return False
    before, behind = read.words(left, at), read.words(at + 1, right)
    if value.after in _SIZES and value.unit not in (*SHARES, *COUNTS):
        whole = 1 < len(behind) <= 16 and _GOES_ON.match(behind)
        return bool(whole and behind_lead(read, left, at) < at)
    if value.unit not in _LENGTHS or value.after or not _HAN.search(before):
        return False
    chain = pattern("chain").search(read.code, at + 1, right)
    name = read.words(at + 1, chain.start() if chain else right)
    return bool(
        _GOES_ON.match(behind)
        and not pattern("chain").search(read.code, left, at)
        and not pattern("build_run").search(read.code, left, at)
        and ends(name, "heads")
    )


def of_before(name: str, before: str, *, is_share: bool = False) -> str:
    """Return an indicator with what the one before lends it.

    占比 is that of what stands before; 地级城市达到15% is of the same indicator.

    Args:
        name: The indicator's words.
        before: The indicator before; may be empty.
        is_share: Whether its value is one; then a part of all has that of the whole.
    """
    if not name or not before:
        return name or before
    if _OF_BEFORE.match(name):
        return before + name.removeprefix("约")
    if is_share and ends(name, "parts_of_all") and ends(before, "heads"):
        return name + _OF_OTHERS.sub("", before)
    return name


# --- lists ---


def items(names: str, n: int) -> list[str]:
    """Return the n indicators of a list, each whole; empty where it has another number.

    >>> items("农药、化肥利用率", 2), items("新增和更新的公交车辆和物流车辆", 2)
    (['农药利用率', '化肥利用率'], ['新增和更新的公交车辆', '物流车辆'])
    """
    for split in _SPLITS:
        found = [item for item in split.split(names) if item]
        if len(found) != n:
            continue
        last, end = found[-1], ""
        if (counted := _COUNTED.search(last)) and counted.start():
            end = _shared_end(last[counted.end() :])
            found[-1] = last[: counted.start()] + end
        elif (others := _AND_OTHERS.search(last)) and ends(last, "heads"):
            end = others["end"]
            found[-1] = last[: others.start()] + end
        else:
            end = _shared_end(last)
        return [_whole(item, found[-1], end) for item in found]
    if n == 2:
        for mark in reversed(list(re.finditer("[和与及]", names))):
            first, last = names[: mark.start()], names[mark.end() :]
            if len(first) > 2 and first[-2:] == last[-2:]:
                return [first, last]
    return []


def each_alone(names: str, value: Value, *, is_shared: bool) -> list[str]:
    """Return the indicators of a list that have one value together; empty for one alone.

    >>> from kgrag.ingestion.statements.target_grammar import values
    >>> each_alone("森林覆盖率、污水处理率", values(" 95%")[0], is_shared=True)
    ['森林覆盖率', '污水处理率']
    """
    if not is_shared and value.unit != "%":
        return []
    found = [item for item in _SPLITS[0 if is_shared else 1].split(names) if item]
    if len(found) < 2:
        return []
    if is_shared and not all(ends(item, "complete") for item in found):
        found = items(names, len(found))
    at_least = "complete" if is_shared else "rates"
    return found if all(len(item) > 3 and ends(item, at_least) for item in found) else []


def _shared_end(name: str) -> str:
    """Return the end of a list's last item that all of them share: 利用率."""
    if told := _OF_THOSE.search(name):
        return told[0]
    for end in words("shared_ends"):
        if name.endswith(end) and name != end:
            return end
    return ""


def _whole(item: str, last: str, end: str) -> str:
    """Return an item of a list with the end that only the last has."""
    if item is last or (ends(item, "complete") and not item.endswith("需氧量")):
        return item
    if item.endswith("排放") and "排放" not in end:
        return item
    level = _LEVEL.match(last)
    if level and _LEVEL.fullmatch(_OF_CITY.sub("", item)):  # 市、县污泥处理率
        return item + last[level.end() :]
    shared = last.find(item[-2:]) if len(item) > 2 else -1
    if 0 < shared < len(last) - 2:  # 甲地区、乙地区煤炭消费量
        return item + last[shared + 2 :]
    return item + (end.removeprefix("发电") if item.endswith("电") and end != "发电量" else end)


def of_all(name: str) -> bool:
    """Return whether an indicator without a verb is a share or a rate of the one before."""
    return _SHARE.match(name) is not None


def spoken(chain: str) -> str:
    """Return words before a number without those of several values or of a plan."""
    return _PLANNED.sub("", _SEVERAL.sub("", chain))


def is_threshold(value: Value, behind: str) -> bool:
    """Return whether a number only says who is meant: 超过1万吨的企业, 1万吨以上企业."""
    if behind in ("的", "者", "时") or _WHICH.match(behind):
        return True
    return bool(
        value.after
        and value.unit != "%"
        and behind.removeprefix("的").startswith(words("thresholds"))
    )


def without_examples(name: str) -> str:
    """Return an indicator without what only tells which are meant: 东河、西河等河道.

    >>> without_examples("东河、西河等生态河道")
    '生态河道'
    """
    return _EXAMPLES.sub("", name)


def is_part(name: str) -> bool:
    """Return whether a name is that of a part of a sum by where it is: 其中甲市5个."""
    return _PLACE.fullmatch(name) is not None
