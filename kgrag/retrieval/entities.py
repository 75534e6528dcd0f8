"""Link a question to the entities that it or its keywords name."""

import math
import re
from dataclasses import dataclass

from kgrag.store.store import SearchedStore
from kgrag.text.indicators import indicator_name, is_indicator
from kgrag.text.words import normalize_name
from kgrag.types import Entity, Query

_LONGEST_NAME = 12  # words of an entity's name looked for in the question
_KEYWORD = 0.5  # of the weight of an entity that a keyword names, not the question


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity linked to the question.

    Attributes:
        entity: The entity.
        weight: In (0, 1]: 1 for a quoted title, less for a common name, a keyword or a further
            hop.
        at: Offset of its name in the question; -1 if only a keyword names it or a fact led to it.
    """

    entity: Entity
    weight: float
    at: int


def question_entities(query: Query, store: SearchedStore) -> list[Anchor]:
    """Return the entities that a question names, by falling weight, ties by id.

    All n-grams of its words are looked up at once; of nested names the longest counts. Entities
    that only a keyword names (GRIM, section 3.2.2) weigh less than any the question names.
    """
    names = _names(query)
    keywords = {normalize_name(k) for k in query.keywords} - names.keys()
    found = {e.entity_id: e for e in store.find_entities([*names, *sorted(keywords)])}
    degrees = store.entity_degrees(list(found))
    anchors = [_anchor(e, query, names, degree=degrees.get(e.entity_id, 0)) for e in found.values()]
    held = {normalize_name(a.entity.name) for a in anchors}
    own = held - keywords
    kept = [
        a
        for a in anchors
        if not _part_of_longer(a, held if normalize_name(a.entity.name) in keywords else own)
    ]
    return sorted(kept, key=lambda a: (-a.weight, a.entity.entity_id))


def _anchor(entity: Entity, query: Query, names: dict[str, str], *, degree: int) -> Anchor:
    key = normalize_name(entity.name)
    quoted = any(normalize_name(title) == key for title in query.titles)
    weight = 1.0 if quoted else 1.0 / math.log2(2 + degree)
    if key not in names:
        return Anchor(entity, _KEYWORD * weight, -1)
    return Anchor(entity, weight, query.text.find(names[key]))


def _part_of_longer(anchor: Anchor, names: set[str]) -> bool:
    own = normalize_name(anchor.entity.name)
    return any(own != name and own in name for name in names)


def _names(query: Query) -> dict[str, str]:
    """Return candidate names of entities: {normalised: as written}."""
    names = {normalize_name(title): title for title in query.titles}
    tokens = re.findall(r"[A-Za-z0-9.'\-]+|[^\W_]", query.remainder)
    latin = [t for t in tokens if t.isascii()]
    if len(latin) * 2 < len(tokens):
        tokens = list(query.remainder)
    joiner = " " if len(latin) * 2 >= len(tokens) else ""
    longest = _LONGEST_NAME + (0 if joiner else 4)
    bare = [name if name[:1].isalnum() else "" for name in map(normalize_name, tokens)]
    for start in range(len(tokens)):
        for stop in range(start + 1, min(start + longest, len(tokens)) + 1):
            key = "".join(bare[start:stop])
            if len(key) > 1 and key not in names:
                names[key] = joiner.join(tokens[start:stop])
    for text in [text for text in names.values() if is_indicator(text)]:
        names.setdefault(normalize_name(indicator_name(text)), text)  # 万元GDP能耗
    return names
