"""Where the nodes of an entity's neighbourhood are drawn: a radial tree, the same every time."""

import cmath
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.types import Entity, Fact

# Lengths in the drawing's units, which are pixels at full size.
_CENTER_RADIUS, _RADIUS = 50.0, 15.0
_RING = 240.0  # least distance between rings
_ARC = 76.0  # of a ring that a node takes: room for its caption
_CROWD = 18  # nodes of a ring, from which on every second one stands back
_STEP_BACK = 100.0
STACK = 19.0  # between parallel edges: room for a predicate
_STRETCH = 1.4  # screens and captions are wider than high


@dataclass(frozen=True, slots=True)
class Node:
    """An entity's circle.

    Attributes:
        number: Counts the nodes, 0 for the centre.
        entity: What it stands for.
        ring: 0 for the centre.
        at: Its middle, `x + y * 1j`, from the centre, y downwards.
        radius: Of the circle.
    """

    number: int
    entity: Entity
    ring: int
    at: complex
    radius: float


def lay_out(center: Entity, facts: Sequence[Fact]) -> dict[str, Node]:
    """Return nodes by entity id, the centre first.

    Every node gets a sector of the circle as wide as what hangs on it, and every ring is as
    large as its captions need; on a crowded one they stand in two rows.
    """
    entities = {center.entity_id: center}
    for fact in facts:
        entities.setdefault(fact.subject.entity_id, fact.subject)
        entities.setdefault(fact.object.entity_id, fact.object)
    rings, children = _tree(list(entities), facts)
    widths = _widths(rings, children, facts)
    sectors = {center.entity_id: (-math.pi / 2, 1.5 * math.pi)}
    nodes = {center.entity_id: Node(0, center, 0, 0j, _CENTER_RADIUS)}
    radius = 0.0
    for number, ring in enumerate(rings[1:], 1):
        for parent in rings[number - 1]:
            sectors |= _split(sectors[parent], children[parent], widths)
        crowded = len(ring) >= _CROWD
        arc = _ARC / 2 if crowded else _ARC
        needed = max(widths[key] * arc / (sectors[key][1] - sectors[key][0]) for key in ring)
        radius = max(radius + _RING, needed)
        for i, key in enumerate(ring):
            back = _STEP_BACK if crowded and i % 2 else 0.0
            spot = cmath.rect(radius + back, sum(sectors[key]) / 2)
            at = complex(spot.real * _STRETCH, spot.imag)
            nodes[key] = Node(len(nodes), entities[key], number, at, _RADIUS)
        radius += _STEP_BACK if crowded else 0.0
    return nodes


def _tree(
    keys: Sequence[str], facts: Sequence[Fact]
) -> tuple[list[list[str]], dict[str, list[str]]]:
    """Return the rings of a breadth-first tree from the first key, and each key's children.

    What no fact ties to the first key stands in the first ring.
    """
    near: defaultdict[str, list[str]] = defaultdict(list)
    for fact in facts:
        near[fact.subject.entity_id].append(fact.object.entity_id)
        near[fact.object.entity_id].append(fact.subject.entity_id)
    tied, frontier = {keys[0]}, [keys[0]]
    while frontier:
        reached = dict.fromkeys(n for key in frontier for n in near[key])
        frontier = [n for n in reached if n not in tied]
        tied.update(frontier)
    near[keys[0]] += [key for key in keys if key not in tied]

    children: dict[str, list[str]] = {key: [] for key in keys}
    seen, rings = {keys[0]}, [[keys[0]]]
    while rings[-1]:
        for key in rings[-1]:
            children[key] = _neighbours_together([n for n in near[key] if n not in seen], near)
            seen.update(children[key])
        rings.append([child for key in rings[-1] for child in children[key]])
    return rings[:-1], children


def _neighbours_together(keys: Sequence[str], near: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each key once; those that a fact ties to each other follow one another."""
    rest = dict.fromkeys(keys)
    out: list[str] = []
    while rest:
        stack = [next(iter(rest))]
        while stack:
            key = stack.pop()
            if key in rest:
                del rest[key]
                out.append(key)
                stack += reversed(near[key])
    return out


def _widths(
    rings: Sequence[Sequence[str]], children: Mapping[str, Sequence[str]], facts: Sequence[Fact]
) -> dict[str, float]:
    """Return how much of a ring each key needs, in captions, with all that hangs on it."""
    widths: dict[str, float] = {}
    edges = Counter(frozenset((f.subject.entity_id, f.object.entity_id)) for f in facts)
    parents = {child: key for key, below in children.items() for child in below}
    for ring in reversed(rings):
        for key in ring:
            parallel = edges[frozenset((key, parents.get(key, key)))]
            # stacked edges need their room two thirds of the way out, on a crowded ring, too
            own = max(1.0, parallel * STACK * 1.5 / (_ARC / 2))
            widths[key] = max(own, sum(widths[child] for child in children[key]))
    return widths


def _split(
    sector: tuple[float, float], keys: Sequence[str], widths: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """Return the sectors of keys that share one, in proportion to their widths."""
    total = sum(widths[key] for key in keys)
    sectors, start = {}, sector[0]
    for key in keys:
        end = start + (sector[1] - sector[0]) * widths[key] / total
        sectors[key] = (start, end)
        start = end
    return sectors
