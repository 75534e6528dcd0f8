"""Propose which entities may be one: a proposal is shown to people, and never acted on."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kgrag.json_ready import JsonReady
from kgrag.language.leading_region import leading_region
from kgrag.language.region_mentions import regions_in
from kgrag.language.text import character_pairs, normalize_name
from kgrag.types import Entity

_UNLIKE = frozenset(["value", "deadline", "document"])  # names that differ in little mean others
_LEAST = 0.8  # ratio of matching characters
_SHORTEST = 4  # characters of a name
_COMMON = 200  # names in which a pair of characters says nothing of a name
_NUMBERS = re.compile(r"\d+|[一二三四五六七八九十]+")
# Words that make another thing of the same name, where one has them and the other has not.
_OPPOSED = re.compile(
    r"新建|既有|新增|存量|城镇|农村|城市|乡村|工业|农业|国家级|省级|市级|县级|一类|二类|甲|乙|东|西|南|北|进口|出口"
    r"|用水|用电|生产|消费|上游|下游|直接|间接|非|不|单位|总量|强度"
)


@dataclass(frozen=True, slots=True)
class Proposal(JsonReady):
    """Two entities that may be one.

    Attributes:
        name: The one with fewer facts.
        into: The other.
        likeness: In (0, 1]: twice the matching characters over all of both names.
    """

    name: str
    into: str
    likeness: float


def proposals(
    entities: Iterable[tuple[Entity, int]], *, apart: Iterable[tuple[str, str]] = ()
) -> list[Proposal]:
    """Return pairs of entities that are called almost alike, the likest first, ties by name.

    Only of one type and region, and with the same numbers; never values, dates and documents.

    Args:
        entities: Each with the number of its facts.
        apart: Pairs of normalised names that a person said are not one.
    """
    told = {frozenset(pair) for pair in apart}
    known = [
        (entity, n_facts)
        for entity, n_facts in entities
        if entity.type not in _UNLIKE and len(_bare(entity.name)) >= _SHORTEST
    ]
    found = []
    for a, b in _pairs([entity.name for entity, _ in known]):
        (one, n_one), (other, n_other) = known[a], known[b]
        likeness = _likeness(one, other)
        if likeness < _LEAST or frozenset(map(normalize_name, (one.name, other.name))) in told:
            continue
        few, many = sorted((one, other), key=lambda e: (n_one if e is one else n_other, e.name))
        found.append(Proposal(few.name, many.name, round(likeness, 2)))
    return sorted(found, key=lambda p: (-p.likeness, p.name, p.into))


def _pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of names that share a third of their rarer character pairs."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, name in enumerate(names):
        for pair in set(character_pairs(_bare(name))):
            holders[pair].append(at)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for at_all in holders.values():
        if len(at_all) <= _COMMON:
            for i, one in enumerate(at_all):
                for other in at_all[i + 1 :]:
                    shared[one, other] += 1
    return [
        (a, b)
        for (a, b), n in shared.items()
        if 3 * n >= min(len(_bare(names[a])), len(_bare(names[b]))) - 1
    ]


def _likeness(one: Entity, other: Entity) -> float:
    """Return how alike two names are; 0 where something tells that they are not one."""
    a, b = _bare(one.name), _bare(other.name)
    if one.type != other.type or (a == b and one.entity_id == other.entity_id):
        return 0.0
    if _NUMBERS.findall(a) != _NUMBERS.findall(b):
        return 0.0
    if sorted(_OPPOSED.findall(a)) != sorted(_OPPOSED.findall(b)):
        return 0.0
    if _places(one.name) != _places(other.name):
        return 0.0
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _places(name: str) -> set[str]:
    """Return the places that a name holds, wherever they stand in it."""
    leading = "".join(leading_region(name)[0])
    return {mention.region.name for mention in regions_in(name)} | ({leading} if leading else set())


def _bare(name: str) -> str:
    return normalize_name(name).replace("的", "")
