"""Words of a clause: its lead, the verb of building, the indicators of a list."""

import re
from collections.abc import Iterator, Sequence

from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules.target_values import Value

_CLAUSE_END = re.compile(r"[,;:]")
_BETWEEN = re.compile(rf"(?:{p.AND}|,)?(?:{p.LIMIT_LOW}|{p.LIMIT_HIGH}|{p.ABOVE}|{p.ABOUT}|达到)?")
_SPLITS = (
    re.compile(r"、|以及|和(?!谐)|及(?!以)|与"),
    re.compile(r"、|以及|和(?!谐)"),
    re.compile("、"),
)
_AND = re.compile(r"和(?!谐)|与|及")
_LEVEL_HEAD = re.compile(r"主城区|中心城区|建制镇|城区|城市|县城|城镇|农村|乡镇|[省市县区镇乡村]")
_RATE = re.compile(r"(?:率|比例|比重|占比)$")
_DONE_WITH = frozenset(
    ("消费", "装机", "生产", "发电", "处理", "处置", "利用", "回收", "回用", "收集", "排放", "消纳")
)
_OF_POWER = re.compile(r"发电(?:累计|装机)")  # 风电累计装机, but 风电发电量
_OF_CITY = re.compile(r"^[一-鿿]{2,4}市(?=.{2})")
_DONE = re.compile(r"(?:累计)?(?:完成|落实|形成|实现|拥有)$")
_ENUMERATED = re.compile(r"(?:等)?[一二三四五六七八九十两\d]{1,8}(?:项|种|类|大|个|座|家)(?:主要)?")
_AND_OTHERS = re.compile(r"(?<=[一-鿿])等(?P<end>[^级于待、,]{3,12})$")
_GROUP_END = re.compile(
    r"(?:(?:行业|领域)?(?:达到|优于|高于|低于)[^、]{2,14}(?:比例|比重|占比)|发电(?:累计)?装机(?:容量|规模)?|(?:累计)?装机(?:容量|规模)?|发电量|机械化(?:程度|率)|浓度均值|平均浓度|年均浓度|重点工程减排量|使用比例|使用量|排放总量|减排量|排放量|货运量|消费量|用水量|蓄积量|浓度|占比|比重|比例|面积|产量|产值|规模|能力|(?:单位[^、]{2,12})?(?:碳?排放)?强度"
    r"|(?:综合利用|资源化利用|利用|无害化处理|处理|处置|收集|治理|覆盖|达标|回收|普及|合格|完成|增长|下降)率|率|数量|数)$"
)
_COMPLETE = re.compile(
    r"(?:率|比重|占比|比例|面积|规模|能力|(?<!需氧)量|浓度|产值|指数|数|能耗|水耗|电耗|煤耗|消耗|强度|增加值|收入|投资|里程"
    r"|库容|系数|浓度均值|水平)$"
)


def clauses(
    text: str, span: tuple[int, int], numbers: Sequence[Value]
) -> Iterator[tuple[int, int, list[Value]]]:
    """Yield (start, end, values in it) of the clauses of a sentence; none ends within a number."""
    at, i = span[0], 0
    while at < span[1]:
        j = i
        stop = at
        while True:
            mark = _CLAUSE_END.search(text, stop, span[1])
            stop = mark.start() if mark else span[1]
            while j < len(numbers) and numbers[j].end <= stop:
                j += 1
            inside = j < len(numbers) and numbers[j].start < stop < span[1]
            if not inside or numbers[j].end <= stop:
                break
            stop = numbers[j].end
        yield at, stop, list(numbers[i:j])
        at, i = stop + 1, j


def verb_and_name(bare: str, rest: str) -> tuple[str, str]:
    """Return the verb of building that opens a clause, and what is built; "" for none."""
    lead = rest[: len(rest) - len(bare)]
    place = p.IN_PLACE.match(bare)
    bare = bare[place.end() :] if place else bare
    verb = p.BUILD_LEAD.match(bare)
    if verb and (verb.end() == len(bare) or names_something(bare[verb.end() :])):
        name = bare[verb.end() :]
        if not name or p.BUILD.fullmatch(name):
            planted = p.PLANTED.search(verb[0] + name)
            name = planted[0] if planted else ""
        return ("累计" if lead.endswith("累计") else "") + verb[0], name
    done = _DONE.search(lead)
    if done:
        return done[0], bare
    inside = p.BUILD_INSIDE.match(bare) or p.DONE_BY.match(bare)
    return (inside["verb"], bare[inside.end() :]) if inside else ("", "")


def verb_before(text: str, at: int) -> str:
    """Return the verb of building that opens the clause around a place; empty for none."""
    return opening_verb(text[max(text.rfind(mark, 0, at) for mark in ",;:。") + 1 : at])


def opening_verb(words: str) -> str:
    """Return the verb of building that words begin with; empty for none."""
    lead = p.BUILD_LEAD.match(words) or p.BUILD_LEAD.match(lead_stripped(words))
    return lead[0] if lead else ""


def is_between(between: str) -> bool:
    """Return whether words only stand between two values of a list."""
    return bool(between) and _BETWEEN.fullmatch(between) is not None


def goes_on_to(behind: str) -> bool:
    """Return whether a number is where a value began: 由30%提高到50%."""
    return p.IS_TO.search(behind) is not None


def is_predicate(chain: str) -> bool:
    """Return whether words say that an indicator has a value."""
    return bool(p.IS_LEVEL.search(chain) or p.IS_UP.search(chain) or p.IS_DOWN.search(chain))


def is_threshold(value: Value, behind: str) -> bool:
    """Return whether a number only says who is meant: 超过1万吨的企业."""
    if behind in ("的", "者", "时"):
        return True
    return bool(value.after and value.unit not in ("%",) and p.THRESHOLD.match(behind))


def has_words(rest: str) -> bool:
    """Return whether a clause has words besides its lead."""
    return bool(re.search(r"[一-鿿]{3}", lead_stripped(rest)))


def names_something(name: str) -> bool:
    """Return whether a name can be one of an indicator."""
    return len(name) > 1 and re.search(r"[一-鿿A-Za-z]{2}", name) is not None


def lead_stripped(text: str) -> str:
    """Return a clause without the words that lead in its indicator."""
    while True:
        match = p.LEADS.match(text)
        if not match:
            return text
        text = text[match.end() :]


def spoken(chain: str) -> str:
    """Return the chain without the words that belong to several values or to the plan."""
    chain = re.sub(r"分别|(?<![年平])均|各", "", chain)
    return re.sub(
        r"^(?:成功|重点|引导|分别|均|都|各|将|要|应|力争|确保|争取|努力|预计|计划|总体|基本|已经|已|在|全市|全省|全县|年内)+",
        "",
        chain,
    )


def items(names: str, n: int) -> list[str]:
    """Return the n indicators of a list, each whole; empty where it has another number."""
    for pattern in _SPLITS:
        items = [item for item in pattern.split(names) if item]
        if len(items) != n:
            continue
        end = ""
        counted = _ENUMERATED.search(items[-1])
        if counted and counted.start() > 0:
            tail = items[-1][counted.end() :]
            ending = _GROUP_END.search(tail)
            end = ending[0] if ending else ""
            items[-1] = items[-1][: counted.start()] + end
        elif (others := _AND_OTHERS.search(items[-1])) and p.INDICATOR_END.search(items[-1]):
            end = others["end"]
            items[-1] = items[-1][: others.start()] + end
        else:
            ending = _GROUP_END.search(items[-1])
            end = ending[0] if ending and ending.start() else ""
        return _with_what([_whole(item, items[-1], end) for item in items], end)
    return _pair(names) if n == 2 else []


def _with_what(items: list[str], end: str) -> list[str]:
    """Return indicators with what only the first says that both are of: 风电装机和消费比重.

    >>> _with_what(["风电装机比重", "消费比重"], "比重")
    ['风电装机比重', '风电消费比重']
    """
    of = items[0].removesuffix(end)[:-2]
    if len(of) < 2 or not end:
        return items
    return [
        of + item if item.removesuffix(end) in _DONE_WITH and item is not items[0] else item
        for item in items
    ]


def _pair(names: str) -> list[str]:
    """Return two indicators that end alike, of which one holds an 和 itself.

    >>> _pair("新增和更新的公交车辆和物流配送车辆")
    ['新增和更新的公交车辆', '物流配送车辆']
    """
    for match in reversed(list(_AND.finditer(names))):
        first, last = names[: match.start()], names[match.end() :]
        if len(first) > 2 and first[-2:] == last[-2:]:
            return [first, last]
    return []


def all_items(names: str) -> list[str]:
    """Return the indicators of a list, each complete by its own words; empty for one alone.

    >>> all_items("森林覆盖率、污水处理率")
    ['森林覆盖率', '污水处理率']
    """
    found = [item for item in _SPLITS[0].split(names) if item]
    if len(found) < 2 or not all(_COMPLETE.search(item) for item in found):
        found = items(names, len(found)) if len(found) > 1 else []
        if not all(_COMPLETE.search(item) and len(item) > 3 for item in found):
            return []
    return found


def all_rates(names: str, value: Value) -> list[str]:
    """Return the shares of a list that have one value together, each named in full.

    Empty where one is not: 农药、化肥利用率.
    """
    found = _SPLITS[1].split(names) if value.unit == "%" else []
    if len(found) < 2:
        return []
    return found if all(len(item) > 3 and _RATE.search(item) for item in found) else []


def counts_list(before: str, value: Value) -> bool:
    """Return whether a number counts the list that stands before it: 甲、乙2家."""
    n = before.count("、") + 1
    return n > 1 and value.number in (n, n + before.count("和"))


def _whole(item: str, last: str, end: str) -> str:
    """Return an item of a list with the end that only the last has: 农药、化肥利用率."""
    if item is last or _COMPLETE.search(item):
        return item
    if item.endswith("排放") and "排放" not in end:
        return item
    level = _LEVEL_HEAD.match(last)
    if level and _LEVEL_HEAD.fullmatch(_OF_CITY.sub("", item)):  # 市、县污泥处理率
        return item + last[level.end() :]
    shared = last.find(item[-2:]) if len(item) > 2 else -1
    if 0 < shared < len(last) - 2:  # 甲地区、乙地区煤炭消费量
        return item + last[shared + 2 :]
    return item + (end[2:] if item.endswith("电") and _OF_POWER.match(end) else end)
