"""Link a question to the entities that it or its keywords name."""

import math
from dataclasses import dataclass
from itertools import pairwise

from kgrag.store.store import SearchedStore
from kgrag.text.indicators import indicator_name, is_indicator
from kgrag.text.words import normalize_name, word_boundaries
from kgrag.types import Entity, Query

_LONGEST_NAME = 24  # words and marks of a name looked for in the question
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
    text = query.remainder
    borders = sorted(word_boundaries(text))
    pieces = [text[start:end] for start, end in pairwise(borders)]
    bare = [key if key[:1].isalnum() else "" for key in map(normalize_name, pieces)]
    for first in range(len(pieces)):
        key = ""
        for last in range(first, min(first + _LONGEST_NAME, len(pieces))):
            key += bare[last]
            if len(key) > 1 and key not in names:
                names[key] = text[borders[first] : borders[last + 1]].strip()
    for text in [text for text in names.values() if is_indicator(text)]:
        names.setdefault(normalize_name(indicator_name(text)), text)  # 万元GDP能耗
    return names
