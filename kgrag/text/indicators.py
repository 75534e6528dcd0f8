"""Canonical names of indicators."""

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from importlib import resources

from kgrag.text.facets import NATIONAL
from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import own_region
from kgrag.text.words import identity_key

_LONGEST_PLACE = 16  # characters of the names of a place
_NATION = re.compile("全国(?!人|各|性)|我国|中国(?!式)")
_OWN = re.compile(r"(?:[我本全](省|市|县|州|旗|盟|区(?!域)|自治区)|(自治区))(?!级|直|属|内|外)")
# 四川盆地, 青海湖, 包头境内, 江苏沿海: what lies in a place, not the place.
_GOES_ON = re.compile(
    r"[、，,和与及至—-]|[级域内外直属]|湖(?![泊库])|平原|盆地|高原|流域|境|[东西南北中]部|沿|段|港|湾|新区|经济|片区|都市|主城|机场"
)

_LONGEST = 40  # characters; what is longer is a clause
_PRIVATE = re.compile(r"(?<=\d)[\ue000-\uf8ff\U000f0000-\U0010ffff](?=\d)")  # a scan's PM2.5
_GLOSS = re.compile(r"[(\[【]([A-Za-z\d.·-]{1,10}|一、二类|生产总值)[)\]】]")
_OF = re.compile(r"(?<=.)(?<![目标])的(?=.{2})(?!确)")
_AREAS = frozenset(["亩", "公顷", "平方公里", "平方米"])
_SHARE = "(?:比重|占比|比例|比率)"
_INDICATOR = re.compile(
    rf"(?:率|{_SHARE}|能耗|水耗|电耗|煤耗|能源消耗|强度|(?<![质能力数])量|浓度(?:均值|年均值|值)?"
    r"|系数|盖度|覆盖度|装机|装机规模|装机容量|面积|产值|增加值|(?:单位|万元).{2,12}排放)$"
)
_MEAN = "(?:年均值|年平均|年均|平均)?浓度(?:年均值|平均值|均值|值)?"
# (pattern, replacement), one after the other, behind the words of the list.
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile("(?<=占比|比重|比例|比率)[降升增]$"), ""),
    (re.compile(r"(占(?!比)[^占]{2,24})(?<=[量模机积])比$"), r"\1比重"),
    # Of buildings and land a share is one by area, whether it says so or not.
    (
        re.compile(r"(?<=.)(?<!竣工)总?面积(占(?!地)[^占]*(?:国土面积|建筑(?:总?面积)?))(?=比)"),
        r"\1",
    ),
    (re.compile(r"(?<=占)到?(?:当年|同期)?([^占新]*新建[^占新]*建筑)(?:总?面积)?(?=比)"), r"\1"),
    (
        re.compile(
            rf"^((?:城镇|县城)?)(新建(?:民用|公共|居住)?建筑)中?((?:绿色|装配式)建筑)(?:面积)?{_SHARE}$"
        ),
        r"\1\3占\2比重",
    ),
    (re.compile(r"^((?:绿色|装配式)建筑占)(城镇|县城)(?=新建)"), r"\2\1"),
    (re.compile("(?<=[率量度重例耗])指标$"), ""),
    (re.compile("(?<=[率比重例])[1-9]$"), ""),  # the mark of a footnote
    (re.compile(r"(单位.{2,14}?)(?:二氧化)?碳排放(?:强度|量)?$"), r"\1二氧化碳排放"),
    (re.compile(r"(单位GDP)(?:综合)?能耗(?:强度)?$"), r"\1能耗"),
    (re.compile(rf"(PM2\.5|PM10|二氧化硫|二氧化氮)(?:污染物)?{_MEAN}$"), r"\1浓度"),
    (re.compile("(二氧化硫|氮氧化物|化学需氧量|氨氮|挥发性有机物)排放总量$"), r"\1排放量"),
    (
        re.compile(
            rf"^(城市)?(?:环境)?空气(?:环境)?(?:质量)?优良(?:天数)?(?:率|{_SHARE})$"
            rf"|^(城市)?优良(?:空气)?天数(?:率|{_SHARE})$"
        ),
        r"\1\2空气质量优良天数比例",
    ),
    (
        re.compile(r"地表水(?:水环境)?(?:质量)?达到或[好优]于(?:III|3)类(?:水体)?比例$"),
        "地表水达到或优于III类水体比例",
    ),
    (re.compile("^(?:总发电|(?:电力|发电)总?)装机(?:总)?(?:容量|规模|量)?$"), "发电装机容量"),
    (re.compile("^(?:总装机(?:容量|规模|量)?|装机总(?:容量|规模|量))$"), "总装机容量"),
    (re.compile("^装机(?:容量|规模|量)?$"), "装机容量"),
    (re.compile("(?<!^)(?<!^总)总?装机总?(?:容量|规模|量)?$"), "装机容量"),
    (re.compile(rf"(?<!^)总?装机总?(?:容量|规模|量)?(?={_SHARE}$)"), "装机"),
)
_OF_ENERGY = re.compile(
    r"(.+?)(?:消费)?(?:总量|量)?占(?:全社会|全国|全[省市县州区]|自治区)?(?:一次)?"
    rf"能源(?:总?消费)?(?:总量|量|结构)?{_SHARE}"
    rf"|(.+?)(?:消费)?(?:总量|量)?在(?:一次|综合)?能源消费(?:总量|结构)?中{_SHARE}"
)
_NOT_COKE = re.compile(r"(?<=^煤炭)\(不含焦炭\)")  # coal by itself is told so
# Their share is of the energy consumed; one of 清洁能源 may be of what is installed or of vehicles.
_FUELS = frozenset(["煤炭", "石油", "天然气", "化石能源", "非化石能源"])
_CONSUMED = re.compile(rf"(.+?)消费(?:总?量)?{_SHARE}")
_ENDS_IN_SHARE = re.compile(rf"(.{{2,}}?){_SHARE}")
# 煤电装机占总装机比重: of all that is installed, or all power.
_OF_POWER_SYSTEM = re.compile(
    r"(.+?)(?:电力|发电)?(?:累计)?(?:发电)?总?(?:装机(?:总?规模|容量)?占(?:全部|电力|电源|发电)?总?装机(?:容量|规模)?"
    r"|发电量占(?:全部|电力|电源|总)*发电量)" + _SHARE
)
# What is installed in all (累计) is the capacity.
_CAPACITY = re.compile(
    "(新增)?(?:累计)?(.+?)(?:发电|电站)?(?:累计)?(?:发电)?(?:建成)?(装机(?:容量|比例))"
)
_OF_CAPACITY = re.compile(
    "^(?>.*?占(?!比)).*装机|^(?>.*?装机).*占(?!比)"
)  # 水电装机占总装机比重: stays as worded
_NUMBERED = re.compile("^[①-⑳]")
_BETWEEN = re.compile("(?<=风电)[和与及](?=光伏|太阳能)")
_SOURCE = re.compile("(新增|累计)?(.+?)(发电)?")
_OF_POWER = {"千瓦": "装机容量", "千瓦时": "发电量"}
_SHARES = ("%", "个百分点")
_OF_WHOLE = re.compile("[^占]{2,}占(?![比地有用])[^占]*(?:量|面积|装机|规模|容量|建筑)")
# What is told of a change: 化学需氧量排放量削减比例, 单位GDP能耗降低率.
_FALL = re.compile(rf"(?:降低|下降|减少|削减|降幅)(?:率|幅度|{_SHARE})?$")
_TELLING = ("亩", "微克/立方米", "%")  # other units by which a name is told, one of each kind


def is_of_fall(name: str) -> bool:
    """Return whether a name tells by how much something falls.

    >>> is_of_fall("能耗强度下降"), is_of_fall("能耗强度")
    (True, False)
    """
    return _FALL.search(name) is not None


def is_indicator(name: str) -> bool:
    """Return whether a name has an ending of indicators.

    >>> is_indicator("四川省森林覆盖率"), is_indicator("四川省绿色工厂")
    (True, False)
    """
    return len(name) <= _LONGEST and _INDICATOR.search(name) is not None


@functools.lru_cache(maxsize=20_000)  # the same indicators come again in every document
def indicator_name(name: str, unit: str = "") -> str:
    """Return the canonical name of an indicator; the name itself if unknown.

    What is measured never changes: per year, increments, sectors and kinds of place are kept.

    Args:
        name: From a text, without a place.
        unit: Of its value there, normalised as in `kgrag.qualifiers`; empty if unknown. 风电 is an
            indicator only with one.

    >>> indicator_name("万元国内生产总值能源消耗"), indicator_name("细颗粒物（PM2.5）年均浓度")
    ('单位GDP能耗', 'PM2.5浓度')
    >>> indicator_name("非化石能源占一次能源消费的比重"), indicator_name("新增风电装机规模")
    ('非化石能源消费比重', '新增风电装机容量')
    >>> indicator_name("风电", unit="千瓦"), indicator_name("风电", unit="千瓦时")
    ('风电装机容量', '风电发电量')
    >>> indicator_name("单位GDP能耗降低率", unit="%"), indicator_name("能耗强度", unit="%")
    ('单位GDP能耗', '单位GDP能耗')
    """
    if len(name) > _LONGEST:
        return name
    plain = name
    if unit in _SHARES:
        plain = _FALL.sub("", name) if is_indicator(_FALL.sub("", name)) else name
        plain += "比重" if _OF_WHOLE.fullmatch(plain) else ""
    found = _of_list(_by_unit(_of_list(_formed(plain)), unit))
    return name if identity_key(found) == identity_key(name) else found


def indicator_names(name: str) -> frozenset[str]:
    """Return all results of `indicator_name` for a name, over all units.

    >>> sorted(indicator_names("光伏发电"))
    ['光伏发电', '光伏发电量', '光伏装机容量']
    """
    return frozenset(indicator_name(name, unit) for unit in ("", *_OF_POWER, *_TELLING))


def in_known_words(text: str) -> str:
    """Return a text with the words of indicators in one form.

    >>> in_known_words("单位地区生产总值能源消耗下降14%")
    '单位GDP能耗下降14%'
    """
    pattern, full = _words()
    return pattern.sub(lambda word: full[word[0].casefold()], text)


def _of_list(name: str) -> str:
    return _whole().get(identity_key(name), name)


def _formed(name: str) -> str:
    plain = "".join(unicodedata.normalize("NFKC", _NUMBERED.sub("", name)).split())
    plain = _GLOSS.sub(r"\1", _PRIVATE.sub(".", plain))
    found = in_known_words(plain)
    if is_indicator(found):
        found = _OF.sub("", found)
    for form, replacement in _FORMS:
        if _OF_CAPACITY.search(found):
            break
        found = form.sub(replacement, found)
    return _capacity(_share(_of_system(_BETWEEN.sub("、", found))))


def _of_system(name: str) -> str:
    """Return 煤电装机比例 for 煤电装机占总装机比重, as for power."""
    match = _OF_POWER_SYSTEM.fullmatch(name)
    if not match or match[1] not in _section("电源"):
        return name
    return match[1] + ("装机" if "装机" in name else "发电量") + "比例"


def _share(name: str) -> str:
    """Return the name of a share: that of a source in consumption, or any in normal form."""
    plain = _NOT_COKE.sub("", name)
    told = _OF_ENERGY.fullmatch(plain) or _CONSUMED.fullmatch(plain)
    source = next(filter(None, told.groups()), "") if told else ""
    match = _ENDS_IN_SHARE.fullmatch(name)
    if source in _section("能源") or (match and (source := match[1]) in _FUELS):
        return f"{source}消费比重"
    if not match:
        return name
    of_all = "占" in match[1] or match[1].endswith("消费")
    return match[1] + ("比重" if of_all else "比例")


def _capacity(name: str) -> str:
    """Return the name of a capacity: 光伏发电装机容量 is 光伏装机容量."""
    match = _CAPACITY.fullmatch(name)
    if not match or match[2] not in _section("电源"):
        return name
    return (match[1] or "") + match[2] + match[3]


def _by_unit(name: str, unit: str) -> str:
    """Return the indicator of a source or an activity by its unit: 风电 500万千瓦."""
    if unit in _AREAS and name in _section("面积"):
        return f"{name}面积"
    if unit in _SHARES:
        return dict(_pairs("变化")).get(name, name)
    if unit == "微克/立方米" and name in _section("污染物"):
        return f"{name}浓度"
    match = _SOURCE.fullmatch(name) if unit in _OF_POWER else None
    if not match:
        return name
    lead, source, _ = match.groups(default="")
    if name.removeprefix(lead) in _section("电源"):
        source = name.removeprefix(lead)
    return lead + source + _OF_POWER[unit] if source in _section("电源") else name


@functools.cache
def _sections() -> Mapping[str, tuple[str, ...]]:
    text = resources.files("kgrag.text").joinpath("indicators.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            found[list(found)[-1]].append(line)
    return {section: tuple(lines) for section, lines in found.items()}


@functools.cache
def _section(name: str) -> frozenset[str]:
    return frozenset(word for line in _sections()[name] for word in line.split())


def _pairs(section: str) -> list[tuple[str, str]]:
    lines = [line.partition("：") for line in _sections()[section]]
    return [(other, name) for name, _, others in lines for other in others.split()]


@functools.cache
def _words() -> tuple[re.Pattern[str], Mapping[str, str]]:
    pairs = sorted(_pairs("词"), key=lambda pair: -len(pair[0]))
    found = [re.escape(word) for word, _ in pairs]
    bounded = [
        f"(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])" if word.isascii() else word for word in found
    ]
    return re.compile("|".join(bounded), re.IGNORECASE), {w.casefold(): n for w, n in pairs}


@functools.cache
def _whole() -> Mapping[str, str]:
    """Return canonical full names by their normalised synonyms."""
    return {identity_key(_formed(other)): name for other, name in _pairs("名")}


def split_place(name: str, regions: Sequence[str]) -> tuple[str, str]:
    """Split the name of an indicator into (place, rest); ("", name) without a place.

    Only names that are indicators by themselves are split: 成都市高新区 is kept. 全省 is the
    document's province; if that is unknown, the place is empty. 全市 in a province's document means
    any city, and is kept.

    Args:
        name: As in a document.
        regions: Full names of the place that the document governs, outermost first.

    >>> split_place("四川省森林覆盖率", ()), split_place("全省森林覆盖率", ("云岭省", "青川市"))
    (('四川省', '森林覆盖率'), ('云岭省', '森林覆盖率'))
    >>> split_place("全国森林覆盖率", ()), split_place("成都平原空气质量优良率", ())
    (('全国', '森林覆盖率'), ('', '成都平原空气质量优良率'))
    """
    if not is_indicator(name):
        return "", name
    place, end = _leading(name, regions)
    rest = name[end:].removeprefix("的")
    if not end or len(rest) < 2 or _GOES_ON.match(rest) or not is_indicator(rest):
        return "", name
    return place, rest


def _leading(name: str, regions: Sequence[str]) -> tuple[str, int]:
    """Return the place at the start of a name, and its end; ("", 0) for none."""
    if nation := _NATION.match(name):
        return NATIONAL, nation.end()
    if own := _OWN.match(name):
        word = own[1] or own[2]
        place = own_region(word, regions) or (own_region("自治区", regions) if word == "区" else ())
        return (place[-1] if place else ""), own.end() if place or not regions else 0
    mention = next(iter(regions_in(name[:_LONGEST_PLACE], within=regions)), None)
    if mention is None or mention.start:
        return "", 0
    return mention.region.name, mention.end
