"""Suggest entities that may be duplicates; suggestions are shown to people, never applied."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kgrag.ids import entity_id
from kgrag.json_ready import JsonReady
from kgrag.text.indicators import indicator_name
from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.region_mentions import regions_in
from kgrag.text.words import character_pairs, normalize_name
from kgrag.types import Entity

_UNLIKE = frozenset(["value", "deadline", "document"])  # similar names mean different things
_LEAST = 0.8  # likeness
_SHORTEST, _LONGEST = 4, 40  # characters of a name; a longer one is a clause
_COMMON = 200  # character pairs in more names than this are ignored
_EACH = 0.03  # penalty for every character that only one name has
_NUMBERS = re.compile(rf"\d+(?:\.\d+)?|[{HAN_SMALL}]+")
# Synonyms, each replaced by the second, and words without meaning, which are removed.
_ALIKE = (
    ("废弃物", "废物"), ("销售量", "销量"), ("住房和城乡", "住房城乡"), ("车辆", "车"),
    ("推动", "推进"), ("依据", "根据"), ("依照", "根据"), ("占比", "比例"), ("比重", "比例"),
    ("比率", "比例"), ("规上", "规模以上"), ("总量", "量"), ("覆盖度", "盖度"), ("年平均", "年均"),
    ("或者", "或"), ("以及", "及"), ("及以上", "以上"), ("巳", "已"), ("水源地", "水源"),
    ("污染物", "污染"), ("机械化", "机械"), ("规模化", "规模"), ("集中式", "集中"),
)  # fmt: skip
_SILENT = re.compile(r"的(?![确士])|(?<!共)和(?![谐田平])|[与及或各]|(?<=.)(?:工作|行动|计划)+$")
# Words that change the meaning where only one name has them.
_OTHERWISE = re.compile(
    r"新建|新增|净增|存量|既有|在建|现有|累计|总|净|年均|平均|日均|最[大小高低]|人均|单位|城|镇|乡|村|县|市|省|国|区|农|工|商|主要"
    r"|重点|示范|试点|规模|大型|中型|小型|超|亚|近|零|低|高|非|不|未|无|有|负|前|后|上|下|内|外|东|西|南|北|中|左|右|甲|乙|丙|进|出|增|减|升|降"
    r"|生产|消费|直接|间接|一次|终端|可再生|清洁|占|率|面积|能力|数量|规模|速|额|量|办公室|处|科|企业|公司|集团|园|厂|库|站|河|湖|海|港|湾|水|气|土|林|草|煤|油|电"
    r"|民用|公共|居住|工业|农业|装备|设施|设备|标准|技术|体系|机制|制度|政策|工程|项目|其他|国控|省控|国考|省考|当年|当季|再|拟|吨|沿|星级|绿色|节能|清疏|改造|修复|治理"
)


@dataclass(frozen=True, slots=True)
class Proposal(JsonReady):
    """Two entities that may be duplicates."""

    name: str  # the one with fewer facts
    into: str  # the other
    likeness: float  # in (0, 1]; 1 where only punctuation and words without meaning differ


@dataclass(frozen=True, slots=True)
class _Known:
    """An entity with the features of its name that are compared."""

    entity: Entity
    n_facts: int
    bare: str  # its name without punctuation, synonyms unified
    numbers: tuple[str, ...]
    places: frozenset[str]


def proposals(
    entities: Iterable[tuple[Entity, int]], *, apart: Iterable[tuple[str, str]] = ()
) -> list[Proposal]:
    """Return pairs of entities with similar names, the most similar first, ties by name.

    Both must have the same type, place and numbers, and may not differ in a word that changes the
    meaning. Values, dates, documents and entities of one document, such as tasks, are left out.
    `entities` come with their number of facts; `apart` are pairs of normalised names that a person
    declared to be different.
    """
    told = {frozenset(pair) for pair in apart}
    known = [_known(entity, n_facts) for entity, n_facts in entities if _is_named(entity)]
    found = []
    for a, b in _pairs([each.bare for each in known]):
        one, other = known[a], known[b]
        likeness = _likeness(one, other)
        names = frozenset(normalize_name(each.entity.name) for each in (one, other))
        if likeness < _LEAST or names in told:
            continue
        few, many = sorted((one, other), key=lambda each: (each.n_facts, each.entity.name))
        found.append(Proposal(few.entity.name, many.entity.name, round(likeness, 2)))
    return sorted(found, key=lambda p: (-p.likeness, p.name, p.into))


def _is_named(entity: Entity) -> bool:
    """Return whether an entity may have another name; one that is local to a document has none."""
    length = len(normalize_name(entity.name))
    is_own = entity.entity_id != entity_id(entity.name)
    return entity.type not in _UNLIKE and _SHORTEST <= length <= _LONGEST and not is_own


def _known(entity: Entity, n_facts: int) -> _Known:
    name = entity.name
    bare = _SILENT.sub("", indicator_name(name))
    for word, alike in _ALIKE:
        bare = bare.replace(word, alike)
    leading = "".join(leading_region(name)[0])
    places = {mention.region.name for mention in regions_in(name)} | (
        {leading} if leading else set()
    )
    bare = normalize_name(bare)
    return _Known(entity, n_facts, bare, tuple(_NUMBERS.findall(bare)), frozenset(places))


def _pairs(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of names that share at least a third of the shorter one's character pairs."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, name in enumerate(names):
        for pair in set(character_pairs(name)):
            holders[pair].append(at)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for at_all in holders.values():
        if len(at_all) <= _COMMON:
            for i, one in enumerate(at_all):
                for other in at_all[i + 1 :]:
                    shared[one, other] += 1
    for (a, b), n in shared.items():
        if 3 * n >= min(len(names[a]), len(names[b])) - 1:
            yield a, b


def _likeness(one: _Known, other: _Known) -> float:
    """Return the similarity of two names; 0 where a feature rules a match out."""
    if one.entity.type != other.entity.type or one.numbers != other.numbers:
        return 0.0
    if one.places != other.places:
        return 0.0
    if one.bare == other.bare:
        return 1.0
    compare = SequenceMatcher(None, one.bare, other.bare, autojunk=False)
    if compare.quick_ratio() < _LEAST:
        return 0.0
    gone = come = ""
    for tag, a, b, c, d in compare.get_opcodes():
        if tag == "equal":
            continue
        piece = one.bare[a:b] + other.bare[c:d]
        if (b == len(one.bare) and d == len(other.bare)) or _OTHERWISE.search(piece):
            return 0.0  # the last word is the head of the name
        gone, come = gone + one.bare[a:b], come + other.bare[c:d]
    return 0.0 if gone and come else compare.ratio() - _EACH * len(gone + come)
