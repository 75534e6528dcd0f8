"""How much two names have in common."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kgrag.errors import NotFoundError
from kgrag.text.messages import Message, message
from kgrag.text.words import character_pairs, normalize_name

if TYPE_CHECKING:  # numpy takes long to import, and filters need none
    from kgrag.vectors.vector import Hit

LEAST_LIKE = 0.3  # Dice of character pairs below which a name is not like another
_SUGGESTED = 5  # names in an error, each with so many of the character pairs that are asked for
_LEAST_SHARED = 0.5
_SHORT = 3  # characters


def likeness(a: str, b: str) -> float:
    """Return how much two normalised names have in common, in [0, 1].

    >>> likeness("碳达峰", "碳达峰"), likeness("碳达峰", "碳达标")
    (1.0, 0.5)
    """
    left, right = Counter(character_pairs(a)), Counter(character_pairs(b))
    dice = 2 * (left & right).total() / max(1, left.total() + right.total())
    inside = a in b or b in a
    return max(dice, min(len(a), len(b)) / max(len(a), len(b), 1) if inside else 0.0)


def most_alike(wanted: str, names: Mapping[str, str], top_k: int) -> "list[Hit]":
    """Return (entity_id, likeness) of names that contain or resemble a text, best first.

    Args:
        wanted: Normalised.
        names: Normalised name by entity id.
        top_k: At most so many; ties by entity id.
    """
    hits = [(entity_id, likeness(wanted, name)) for entity_id, name in names.items()]
    like = [hit for hit in hits if hit[1] >= LEAST_LIKE or wanted in names[hit[0]]]
    return sorted(like, key=lambda hit: (-hit[1], hit[0]))[:top_k]


def not_called(
    what: Message, name: str, names: Iterable[str], *, remedy: Message | None = None
) -> NotFoundError:
    """Return the error for a name that nothing has, with the names that are like it.

    Args:
        what: Kind of thing: document, indicator.
        name: As given.
        names: Of all such things.
        remedy: What to do if none is like it.

    >>> str(not_called(message("indicator"), "森林复盖率", ["森林覆盖率", "能耗强度"]))
    "no indicator is called '森林复盖率'; nearest: 森林覆盖率"
    """
    wanted = normalize_name(name)
    # Of a short name one wrong character leaves no pair.
    pairs = set(wanted if len(wanted) <= _SHORT else character_pairs(wanted))
    like = []
    for one in set(names):
        bare = normalize_name(one)
        share = sum(pair in bare for pair in pairs) / len(pairs) if pairs else 0.0
        if wanted.isascii():  # letters are in any long title
            share = likeness(wanted, bare)
        if share >= _LEAST_SHARED:
            like.append((-share, -likeness(wanted, bare), one))
    nearest = [one for *_, one in sorted(like)[:_SUGGESTED]]
    hint = message("nearest: {names}", names="、".join(nearest)) if nearest else remedy
    text = message("no {what} is called {name!r}", what=what, name=name)
    text = message("{what}; {remedy}", what=text, remedy=hint) if hint else text
    return NotFoundError(text, name=name, nearest=nearest)
