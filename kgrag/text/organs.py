"""Canonical names of organs: ministries by all their names, local organs with their place."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

from kgrag.text.leading_region import leading_region
from kgrag.text.region_mentions import names_in
from kgrag.text.regions import own_region, region_at, regions_named

_LEVEL = (
    r"(?:[我本]|全(?!国))?(自治区|地区|省(?!际|域|道)|市(?!场|政(?!府|协|务|法|策)|民(?!政|族|宗|委|航)|容|域|际|话)"
    r"|州|盟|县(?!域|城)|区(?!域|块|间|划|位)|旗(?!下))级?"
)
_BARE = re.compile(_LEVEL)
# 各市人民政府, 省直有关部门: no organ, but all of a kind.
_COLLECTIVE = re.compile(
    r"各|[省市县区][和与][市县区]|有关|相关|其他|所在|属地|当地|地方(?!金融)|上述|\d|以上|其余|两(?!江)|多|等(?:部门|单位|地|有关|相关)|等$"
    r"|[、，；,;及]|(?<=[厅局委府会办部室])[和与]|以上|[省市州县区]直|[省市州县区]属"
    r"|级(?:有关|相关|各|部门|单位|人民政府|政府)"
)
_ORGAN = re.compile(
    r"(?:政府|行署|委|厅|局|[部署院办]|办公[厅室]|委员会|[会组社馆站所队]|中心|公司|集团|银行|[分支]行|部门|单位"
    r"|机构|指挥部|政协|人大|妇联|科协|残联|文联|侨联|工商联|大学|学院|学校|海关|法庭|工委|总部|联合会)$"
)
_PARTY = re.compile(
    r"(?:党委|委)(?=$|办公[厅室]?$|办$|[一-鿿]{2,20}(?:部|委|局|办|办公室|委员会)$)"
)
_GOVERNMENT = re.compile(r"(?:人民)?政府(?=$|办|研究|口岸|驻|参事|新闻|法制|督查)")
_CONGRESS = re.compile(r"(?:人民代表大会|人大)(?:(?:常务委员会|常委会|常委)(办公[厅室])?)?$")
_KIND = re.compile(r"(委员会|委|厅|局|办公室|办)$")
_TAX = re.compile(r"国家税务总局(?=.{2,30}税务局)")  # stands before the names of its bureaus
_ALIAS = re.compile(
    r"(?<=[厅局委])[（(〔][一-鿿]{2,12}[厅局委办][）)〕]$"
)  # 市发展改革委（市能源局）
_TWO = re.compile(r"委(?:员会)?(?:自治区|[省市州县区旗])(?:人民)?政府|.中共")  # 省委省政府
_BANK = re.compile(r"(?:人民银行|人行)(?=.{2,8}(?:[分支]行|营(?:业)?管(?:理)?部|总部)$)")
_MANAGED = re.compile(r"(?<=[一-鿿]{2}[区城园岛港])管委会$")  # 高新区管委会
_INNER = re.compile(r"办公厅|办公室|党组|[一-鿿]{2,12}司")
_LONGEST = 40  # characters of the name of an organ
_LONGEST_LIST = 200  # characters of a list of organs
_MARKS = re.compile(r"[、，,；;]")
_ALIASED = re.compile(r"[（(][^（(）)、，,；;]*+[、，,；;]")
# How organs end that every place has.
_PLACELESS = re.compile(
    r"(?:人民政府|政府|行署|党委|党组|管委会?|领导小组|工作组|协调小组|专班|联席会议|指挥部|委员会|部门|机关"
    r"|办公[厅室])$"
    r"|^[一-鿿（）()、]{1,24}(?:[厅局委]|(?<![督举主承协申交创兴经代难])办|[一-鿿）)](?<!纷调)处)$"
    r"|(?:监测|信息|评估|宣教|后勤|协调|监察|执法)中心$"
    r"|^(?:组织部|宣传部|统战部|总工会|工会|妇联|团委|残联|科协|工商联|文联|供销社|供销合作社|红十字会"
    r"|人大|人大常委会|政协|(?:高级|中级)?(?:人民)?法院|(?:人民)?检察院|海关)$"
)
_ALL_UNITS = re.compile(r"(?:各|有关|相关).{0,20}单位$|各(?:有关|相关)?[省市区县旗州、]{1,6}$")
_ASIDE = re.compile(r"(?<=.{2})[（(](?:单位|部门|管委会|不含[^（）()]{1,12})[）)]$")
# What tells whose it is: the country's, another country's, a body's of that name.
_PLACED = re.compile(
    r"中国|国家|全国|国务院|中央|中华|联合国|国际|世界|亚洲|欧盟|欧洲|[美英德法韩]国|日本|办理|公办|格局|布局|结局|全局|大局|当局"
    r"|餐厅|大厅|客厅|展厅|歌厅|影厅|营业厅|之处|好处|益处|型"
)
_LOCAL_KINDS = ("厅", "局", "委", "委员会")
_OWN_WHOLE = re.compile("环科院|环境科学研究院|金融办|金融工作办公室")
_SUFFIXED = tuple("省市区州县旗盟")
_TITLE = re.compile(r"^(?:中华人民共和国|原)")
_BLANK = re.compile(r"\s+")


def central_organs() -> Iterator[tuple[str, str]]:
    """Yield (name, full name) of every name of a central organ, former ones included."""
    yield from _central_names().items()


def is_central_organ(name: str) -> bool:
    """Return whether a name is that of a central organ.

    >>> is_central_organ("工信部"), is_central_organ("四川省林业局")
    (True, False)
    """
    return bool(_of_the_centre(name, national=False))


def canonical_organ(name: str, *, regions: Sequence[str]) -> str:
    """Return the current full name of an organ; the name itself if uncertain.

    As `full_organ_name`, but a former central organ is replaced by its successor.

    Args:
        name: As in a text.
        regions: Full names of the place that the document governs, outermost first; empty for a
            national document.

    >>> canonical_organ("工信部", regions=()), canonical_organ("原环境保护部", regions=())
    ('工业和信息化部', '生态环境部')
    >>> canonical_organ("省林业局", regions=("四川省", "成都市"))
    '四川省林业局'
    >>> canonical_organ("市发改委", regions=("四川省", "成都市"))
    '成都市发展和改革委员会'
    >>> canonical_organ("市林业局", regions=("四川省",))
    '市林业局'
    """
    full = full_organ_name(name, regions=regions)
    return _successors().get(full, full)


def full_organ_name(name: str, *, regions: Sequence[str]) -> str:
    """Return the full name of an organ at the time of the text; the name itself if uncertain.

    Central organs are looked up. A level without a place (省林业局) is completed by the document's
    place, as is a field without a level (财政局, in lists after the first organ); 民政厅 and the
    like are the province's.

    >>> full_organ_name("原环保部", regions=())
    '环境保护部'
    """
    bare = _TAX.sub("", _BLANK.sub("", name))
    bare = _ALIAS.sub("", bare) or bare
    known = _of_the_centre(bare, national=not regions)
    if known:
        return known
    if len(bare) > _LONGEST or _COLLECTIVE.search(bare) or not _ORGAN.search(bare):
        return name
    if _BANK.match(bare):
        return _BANK.sub("中国人民银行", bare, count=1)
    return _MANAGED.sub("管理委员会", _local(bare, regions) or name)


def _of_the_centre(name: str, *, national: bool) -> str:
    bare = _TITLE.sub("", name[:_LONGEST])
    if full := _central_name(bare, national=national):
        return full
    for end in range(len(bare) - 2, 1, -1):
        if _INNER.fullmatch(bare, end) and (full := _central_name(bare[:end], national=national)):
            return full + bare[end:]
    return ""


def _central_name(name: str, *, national: bool) -> str:
    return _central_names().get(name) or (national_names().get(name, "") if national else "")


def is_bare_organ(name: str) -> bool:
    """Return whether an organ's name lacks its place, so that many places have one.

    A level without a place (市林业局), a name without both (市场监管局, 领导小组办公室, 气候处),
    all of a kind (主管部门, 各市人民政府), a list with any such; not central organs, nor full names
    of bodies and firms.

    >>> [is_bare_organ(n) for n in ("市林业局", "自治区党委", "市场监管局", "各市人民政府")]
    [True, True, True, True]
    >>> [is_bare_organ(n) for n in ("市场监管总局", "成都市林业局", "国家电网公司", "清华大学")]
    [False, False, False, False]
    """
    bare = _BLANK.sub("", name[: 2 * _LONGEST_LIST])
    if len(bare) > _LONGEST_LIST:
        return False
    bare = _ASIDE.sub("", _ALIAS.sub("", bare))
    parts = [part for part in _MARKS.split(bare) if part]
    if len(parts) > 1 and not _ALIASED.search(bare):
        last = _ORGAN.search(parts[-1]) or _is_bare(parts[-1])
        return bool(last) and any(_is_bare(part) for part in parts)
    return _is_bare(bare)


def _is_bare(name: str) -> bool:
    if len(name) > _LONGEST:
        return False
    level = _BARE.match(name)
    if level and _ORGAN.search(name, level.end()):
        return True
    if _of_the_centre(name, national=False) or _PLACED.search(name) or leading_region(name)[1]:
        return False
    if not (_PLACELESS.search(name) or _ALL_UNITS.match(name)):
        return False
    return not any(True for _ in names_in(name))


def _local(name: str, regions: Sequence[str]) -> str:
    """Return the full name of a local organ; empty if its place or kind is unknown."""
    if name.startswith("共青团"):
        return ""  # is called so in full
    party = "中共" if name.startswith("中共") else ""
    level = _BARE.match(name, len(party))
    place, end = _place_before(name, level, regions)
    rest = name[end:]
    if not place or not rest or _TWO.search(name) or (end and place[-1] in rest):
        return ""
    if party and rest.startswith("委员会"):
        rest = "委" + rest.removeprefix("委员会")
    kind = _kind(rest)
    if not kind and not level and _is_short(name[:end], place):
        return ""  # 四川证监局 is not called 四川省证监局
    before = "中共" if kind.startswith("委") else party
    return f"{before}{place_name(place)}{kind or rest}"


def _place_before(
    name: str, level: re.Match[str] | None, regions: Sequence[str]
) -> tuple[tuple[str, ...], int]:
    """Return the place of an organ, and where its name goes on behind it."""
    if level is None:
        place, end = leading_region(name, within=regions)
        return (place, end) if end else (_place_of_kind(name, regions), 0)
    place, end = own_region(level[1], regions), level.end()
    inner, length = leading_region(name[end:], within=place)
    if place and inner:  # 省青川市委 is of the city; of one elsewhere it is none
        return inner if inner[: len(place)] == place else (), end + length
    return place, end


def _place_of_kind(name: str, regions: Sequence[str]) -> tuple[str, ...]:
    """Return an unnamed place of an organ: 民政厅 the province, 财政局 the document's own.

    Central organs have 国家 before them in documents of provinces and cities (国家发展改革委).
    """
    if _OWN_WHOLE.fullmatch(name):
        return tuple(regions)
    if not name.endswith(_LOCAL_KINDS) or not _in_full(name):
        return ()
    if name.endswith("厅"):
        return own_region("省", regions) or own_region("自治区", regions)
    return tuple(regions)


def _is_short(name: str, place: Sequence[str]) -> bool:
    region = region_at(place)
    listed = region is not None and region.short != region.name and name.endswith(region.short)
    return listed or not name.endswith(_SUFFIXED)


def place_name(place: Sequence[str]) -> str:
    """Return the prefix of a place's organs: its name, after the city's for a district.

    >>> place_name(("四川省", "成都市")), place_name(("上海市", "徐汇区"))
    ('成都市', '上海市徐汇区')
    """
    region = region_at(place)
    if region is None:
        return ""
    shared = region.name.endswith("区") or len(regions_named(region.name)) > 1
    around = region.parent.name if region.parent and region.level == "县" and shared else ""
    return around + region.name


def _kind(rest: str) -> str:
    if match := _PARTY.match(rest):
        behind = "委" + rest[match.end() :]
        return _whole_names().get(behind, behind)
    if whole := _whole_names().get(rest):
        return whole
    if match := _GOVERNMENT.match(rest):
        return "人民政府" + rest[match.end() :]
    if match := _CONGRESS.fullmatch(rest):
        standing = "常务委员会" if "常" in rest else ""
        return f"人民代表大会{standing}{match[1] or ''}"
    return _in_full(rest)


def _in_full(rest: str) -> str:
    ending = _KIND.search(rest)
    if not ending:
        return ""
    field = fields().get(rest[: ending.start()])
    if field is None:
        return ""
    return field + {"委": "委员会", "办": "办公室"}.get(ending[1], ending[1])


@functools.cache
def _sections() -> Mapping[str, tuple[tuple[str, str], ...]]:
    text = resources.files("kgrag.text").joinpath("organs.txt").read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            name, _, others = line.partition("：")
            found[list(found)[-1]].append((name, others))
    return {section: tuple(lines) for section, lines in found.items()}


@functools.cache
def _central_names() -> Mapping[str, str]:
    """Return full names of central organs, former ones too, by their unambiguous names."""
    found: dict[str, str] = {}
    for name, others in _sections()["国家"]:
        found |= dict.fromkeys((name, *others.partition("|")[0].split()), name)
    for names, _ in _sections()["沿革"]:
        found |= dict.fromkeys(names.split(), names.split()[0])
    return found


@functools.cache
def _successors() -> Mapping[str, str]:
    """Return the successors of former organs by full name."""
    return {names.split()[0]: now for names, now in _sections()["沿革"]}


@functools.cache
def national_names() -> Mapping[str, str]:
    """Return full names by those that mean a central organ in national documents."""
    lines = _sections()["国家"]
    return {word: name for name, others in lines for word in others.partition("|")[2].split()}


@functools.cache
def fields() -> Mapping[str, str]:
    """Return the full names of fields of local organs by synonym."""
    found: dict[str, str] = {}
    for name, others in _sections()["地方"]:
        found |= dict.fromkeys((name, *others.split()), name)
    return found


@functools.cache
def _whole_names() -> Mapping[str, str]:
    """Return full names of organs without their place, by synonym."""
    found: dict[str, str] = {}
    for name, others in _sections()["整名"]:
        found |= dict.fromkeys((name, *others.split()), name)
    return found
