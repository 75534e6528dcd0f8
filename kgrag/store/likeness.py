"""How much two names have in common."""

from collections import Counter
from collections.abc import Mapping

from kgrag.text.words import character_pairs
from kgrag.vectors.vector import Hit

LEAST_LIKE = 0.3  # Dice of character pairs below which a name is not like another


def likeness(a: str, b: str) -> float:
    """Return how much two normalised names have in common, in [0, 1].

    >>> likeness("碳达峰", "碳达峰"), likeness("碳达峰", "碳达标")
    (1.0, 0.5)
    """
    left, right = Counter(character_pairs(a)), Counter(character_pairs(b))
    dice = 2 * (left & right).total() / (left.total() + right.total())
    inside = a in b or b in a
    return max(dice, min(len(a), len(b)) / max(len(a), len(b)) if inside else 0.0)


def most_alike(wanted: str, names: Mapping[str, str], top_k: int) -> list[Hit]:
    """Return (entity_id, likeness) of names that contain or resemble a text, best first.

    Args:
        wanted: Normalised.
        names: Normalised name by entity id.
        top_k: At most so many; ties by entity id.
    """
    hits = [(entity_id, likeness(wanted, name)) for entity_id, name in names.items()]
    like = [hit for hit in hits if hit[1] >= LEAST_LIKE or wanted in names[hit[0]]]
    return sorted(like, key=lambda hit: (-hit[1], hit[0]))[:top_k]
