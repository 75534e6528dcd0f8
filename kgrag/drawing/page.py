"""Draw the neighbourhood of an entity as SVG."""

import html
import itertools
import math
import textwrap
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from kgrag.text.facets import called
from kgrag.text.visible import visible_line
from kgrag.types import Entity, Fact

# Lengths in the drawing's units, which are pixels: a drawing is not scaled, captions can be read.
_LINE = 20.0  # between captions
_GAP = 14.0  # between relations, besides
_HUB, _FIRST, _NEXT = 118.0, 215.0, 225.0  # of relations; of the columns of entities
_SIZE = 6.6  # width of a Latin letter
_MARGIN = 16.0
_CAPTION, _CENTER_CAPTION, _CENTER_LINES = 24, 12, 4  # Latin letters; lines
_CENTER_LINE = 16.0
_COLOURS = 8  # of the most frequent relations; the others have one in common
_PLACES = 2  # of a figure that are named


class Node(NamedTuple):
    """An entity in the drawing.

    Attributes:
        number: Index, 0 for the centre.
        entity: The entity.
        ring: Its distance from the centre.
        at: Its position `x + y * 1j` from the centre, y downwards.
        fact: By which it hangs on the one before it; None for none.
        parent: Number of that one.
    """

    number: int
    entity: Entity
    ring: int
    at: complex
    fact: Fact | None
    parent: int


class Layout(NamedTuple):
    """Where entities and the relations of the centre stand.

    Attributes:
        nodes: By entity id, the centre first.
        hubs: Place and number of entities by predicate, whether the centre is its subject, and
            whether it is on the right.
    """

    nodes: Mapping[str, Node]
    hubs: Mapping[tuple[str, bool, bool], tuple[complex, int]]


def lay_out(center: Entity, facts: Sequence[Fact]) -> Layout:
    """Lay out entities in columns on both sides of the centre, grouped by their relation to it.

    Every entity has a line of its own, so that no caption covers another.
    """
    entities = {center.entity_id: center}
    for fact in facts:
        entities.setdefault(fact.subject.entity_id, fact.subject)
        entities.setdefault(fact.object.entity_id, fact.object)
    rings, children = _tree(list(entities), facts)
    by = {_ends(fact): fact for fact in reversed(facts)}
    lines: dict[str, int] = {}
    for key in itertools.chain.from_iterable(reversed(rings)):
        lines[key] = sum(lines[child] for child in children[key]) or 1
    groups = _by_relation(center.entity_id, children[center.entity_id], by)
    nodes = {center.entity_id: Node(0, center, 0, 0j, None, 0)}
    hubs: dict[tuple[str, bool, bool], tuple[complex, int]] = {}

    def place(key: str, parent: Node, x: float, top: float) -> None:
        at = complex(x, top + lines[key] * _LINE / 2)
        fact = by.get(frozenset((parent.entity.entity_id, key)))
        node = nodes[key] = Node(
            len(nodes), entities[key], parent.ring + 1, at, fact, parent.number
        )
        for child in children[key]:
            place(child, node, x + math.copysign(_NEXT, x), top)
            top += lines[child] * _LINE

    for side, several in zip((1, -1), _halves(groups, lines), strict=True):
        n_lines = sum(lines[key] for _, keys in several for key in keys)
        top = -(n_lines * _LINE + (len(several) - 1) * _GAP) / 2
        for (predicate, outward), keys in several:
            height = sum(lines[key] for key in keys) * _LINE
            if predicate:
                hub = complex(side * _HUB, top + height / 2), len(keys)
                hubs[predicate, outward, side > 0] = hub
            for key in keys:
                place(key, nodes[center.entity_id], side * _FIRST, top)
                top += lines[key] * _LINE
            top += _GAP
    return Layout(nodes, hubs)


_Group = tuple[tuple[str, bool], list[str]]


def _by_relation(
    center: str, keys: Sequence[str], by: Mapping[frozenset[str], Fact]
) -> Mapping[tuple[str, bool], list[str]]:
    """Return entities by their relation to the centre, and whether that is its subject."""
    groups: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for key in keys:
        tie = by.get(frozenset((center, key)))
        outward = tie is None or tie.subject.entity_id == center
        groups[tie.predicate if tie else "", outward].append(key)
    return groups


def _halves(
    groups: Mapping[tuple[str, bool], Sequence[str]], lines: Mapping[str, int]
) -> tuple[list[_Group], list[_Group]]:
    """Return what stands right and left of the centre, of about equal height, largest first."""
    left = sum(lines[key] for keys in groups.values() for key in keys) / 2
    sides: tuple[list[_Group], list[_Group]] = ([], [])
    for relation, keys in sorted(groups.items(), key=lambda g: (not g[0][0], -len(g[1]), g[0])):
        parts: tuple[list[str], list[str]] = ([], [])
        for key in keys:
            parts[left <= 0].append(key)
            left -= lines[key]
        for side, part in zip(sides, parts, strict=True):
            if part:
                side.append((relation, part))
    return sides


def _ends(fact: Fact) -> frozenset[str]:
    return frozenset((fact.subject.entity_id, fact.object.entity_id))


def colours(facts: Iterable[Fact]) -> dict[str, int]:
    """Return the colour of each predicate, a number; the most frequent are first."""
    counts = Counter(fact.predicate for fact in facts)
    ordered = sorted(counts, key=lambda predicate: (-counts[predicate], predicate))
    return {predicate: min(n, _COLOURS) for n, predicate in enumerate(ordered)}


def _tree(
    keys: Sequence[str], facts: Sequence[Fact]
) -> tuple[list[list[str]], dict[str, list[str]]]:
    """Return the rings of a breadth-first tree from the first key, and each key's children.

    Unconnected keys are in the first ring.
    """
    near: defaultdict[str, list[str]] = defaultdict(list)
    for fact in facts:
        near[fact.subject.entity_id].append(fact.object.entity_id)
        near[fact.object.entity_id].append(fact.subject.entity_id)
    tied, waiting = {keys[0]}, [keys[0]]
    while waiting:
        reached = {*near[waiting.pop()]} - tied
        tied |= reached
        waiting += reached
    near[keys[0]] += [key for key in keys if key not in tied]

    children: dict[str, list[str]] = {key: [] for key in keys}
    seen, rings = {keys[0]}, [[keys[0]]]
    while rings[-1]:
        for key in rings[-1]:
            children[key] = [n for n in dict.fromkeys(near[key]) if n not in seen]
            seen.update(children[key])
        rings.append([child for key in rings[-1] for child in children[key]])
    return rings[:-1], children


def legend(facts: Sequence[Fact]) -> str:
    """Return relations in their colours as HTML; the least frequent share the last one."""
    fact_colour = colours(facts)
    names: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for fact in facts:
        names[fact_colour[fact.predicate]][fact.predicate] += 1
    return " ".join(
        f'<span class="key r{n}"></span>{_escape("、".join(names[n]))} {names[n].total()}'
        for n in sorted(names)
    )


def _escape(text: str) -> str:
    """Escape text for HTML; control and invisible characters, too."""
    return html.escape(visible_line(text))


def in_order(center: Entity, facts: Sequence[Fact]) -> list[Fact]:
    """Return facts, each once: those of the centre first, then by predicate and names."""

    def place(fact: Fact) -> tuple[int, str, str, str, str]:
        ends = (fact.subject.entity_id, fact.object.entity_id)
        group = ends.index(center.entity_id) if center.entity_id in ends else 2
        return group, fact.predicate, fact.subject.name, fact.object.name, fact.fact_id

    return sorted({fact.fact_id: fact for fact in facts}.values(), key=place)


def places(fact: Fact) -> str:
    """Return the places of a figure, the first two by name; empty for other facts.

    >>> from kgrag.qualifiers import Qualifiers
    >>> from kgrag.types import Evidence
    >>> told = (Qualifiers("target", region=name) for name in ("四川省", "云南省", "海南省"))
    >>> stated = tuple(Evidence("d", 0, 1, "c", qualifiers=q) for q in told)
    >>> places(Fact("f", Entity("a", "覆盖率"), "目标为", Entity("b", "41%"), stated))
    '四川、云南等3地'
    """
    return _some(e.qualifiers.region for e in fact.evidence if e.qualifiers.kind == "target")


def _some(regions: Iterable[str]) -> str:
    names = list(dict.fromkeys(called(region) for region in regions if region))
    return "、".join(names[:_PLACES]) + (f"等{len(names)}地" if len(names) > _PLACES else "")


def drawing(
    facts: Sequence[Fact],
    layout: Layout,
    *,
    link: Callable[[Entity], str],
    word: Callable[[str], str],
) -> str:
    """Return the SVG element, in which edges are below nodes, and dots link to `#fact-1` and so on.

    Args:
        facts: From `in_order`.
        layout: From `lay_out`.
        link: Returns the address that a caption links to.
        word: Returns a type of entity in words.
    """
    colour, stated = colours(facts), defaultdict[str, list[str]](list)
    for fact in facts:
        figures = (e.qualifiers for e in fact.evidence if e.qualifiers.kind == "target")
        stated[fact.object.entity_id] += [told.region for told in figures]
    drawn = [_Drawn(n, _lines(n), _some(stated[key])) for key, n in layout.nodes.items()]
    wide = max(60.0, *(abs(one.tail.real) for one in drawn)) + _MARGIN
    tall = max(60.0, *(abs(one.node.at.imag) for one in drawn)) + _MARGIN
    width, height = f"{2 * wide:.0f}", f"{2 * tall:.0f}"
    name = _escape(drawn[0].node.entity.name)
    number = {fact.fact_id: n for n, fact in enumerate(facts, 1)}
    return "\n".join(
        [
            f'<svg viewBox="{-wide:.0f} {-tall:.0f} {width} {height}" width="{width}" '
            f'height="{height}" role="group" aria-label="{name}" lang="zh-Hans">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
            *_edges(facts, layout, drawn),
            *(_hub(*of, *hub, colour[of[0]]) for of, hub in layout.hubs.items()),
            *(one.svg(number, colour, link, word) for one in drawn),
            "</svg>",
        ]
    )


def _edges(facts: Sequence[Fact], layout: Layout, drawn: Sequence["_Drawn"]) -> list[str]:
    """Return the facts' lines: those of the centre lead through their relation."""
    met, colour, edges = Counter[frozenset[str]](), colours(facts), []
    for fact in facts:
        a, b = (layout.nodes[end.entity_id] for end in (fact.subject, fact.object))
        inner, outer = sorted((a, b), key=lambda node: (node.ring, node.number))
        hub = layout.hubs.get((fact.predicate, a.ring == 0, outer.at.real > 0))
        bend = 9j * met[_ends(fact)]  # parallel facts take different ways
        met[_ends(fact)] += 1
        if a is b:
            top = a.at - 24j - bend
            path = f"M{_point(a.at)} C{_point(top - 30)} {_point(top + 30)} {_point(a.at)}"
        elif hub and not inner.ring:
            path = f"M{_point(inner.at)} L{_point(hub[0])} {_curve(hub[0], outer.at, bend)}"
        else:
            start = drawn[inner.number].tail if outer.parent == inner.number else inner.at
            ends = (start, outer.at) if inner is a else (outer.at, start)
            path = f"M{_point(ends[0])} {_curve(*ends, bend)}"
        tip = ' marker-end="url(#tip)"' if inner.ring else ""
        edges.append(
            f'<path class="edge r{colour[fact.predicate]}" data-from="{a.number}" '
            f'data-to="{b.number}" d="{path}"{tip}><title>{_told(fact)}</title></path>'
        )
    return edges


def _curve(a: complex, b: complex, bend: complex) -> str:
    """Return a curve that leaves and arrives level; within a column towards the centre."""
    aside = (b.real - a.real) / 2 or -math.copysign(45, a.real)
    last = b.real - aside if b.real != a.real else b.real + aside
    first = complex(a.real + aside, a.imag) + bend
    return f"C{_point(first)} {_point(complex(last, b.imag) + bend)} {_point(b)}"


def _told(fact: Fact) -> str:
    told = "·".join(filter(None, (fact.predicate, places(fact))))
    return _escape(f"{fact.subject.name} — {told} → {fact.object.name}")


def _hub(name: str, outward: bool, right: bool, at: complex, members: int, colour: int) -> str:
    """Return the name of a relation, with its number and an arrow from subject to object."""
    told = f"{_cut(name, 16)} {members}"
    told = f"{told} →" if outward == right else f"← {told}"
    x, y = at.real, at.imag + 4
    return f'<text class="hub r{colour}" x="{x:.0f}" y="{y:.1f}">{_escape(told)}</text>'


class _Drawn(NamedTuple):
    """A node with its caption, which stands on the side away from the centre, and its place."""

    node: Node
    lines: Sequence[str]
    where: str

    @property
    def tail(self) -> complex:
        """The end of its caption."""
        width = 18 + _SIZE * (_size(self.lines[0]) + _size(self.where)) if self.node.ring else 0
        return self.node.at + math.copysign(width, self.node.at.real)

    def svg(
        self,
        number: Mapping[str, int],
        colour: Mapping[str, int],
        link: Callable[[Entity], str],
        word: Callable[[str], str],
    ) -> str:
        """Return dot and caption; the dot leads to the fact by which it hangs on the others."""
        node, entity = self.node, self.node.entity
        title = _escape(f"{entity.name} ({word(entity.type)})")
        top = -0.5 * len(self.lines) + 0.78
        spans = "".join(
            f'<tspan x="{math.copysign(12, node.at.real) if node.ring else 0:.0f}" '
            f'y="{(top + n) * _CENTER_LINE:.1f}">{_escape(line)}</tspan>'
            for n, line in enumerate(self.lines)
        )
        if self.where:
            spans += f'<tspan class="where" dx="4">{_escape(self.where)}</tspan>'
        anchor = "middle" if not node.ring else "start" if node.at.real > 0 else "end"
        text = f'<text text-anchor="{anchor}">{spans}</text>'
        dot = _DOTS.get(entity.type, _DOTS[""]) if node.ring else '<circle r="50"/>'
        if fact := node.fact:
            dot = (
                f'<a class="dot r{colour[fact.predicate]}" href="#fact-{number[fact.fact_id]}" '
                f'aria-label="{_told(fact)}">{dot}</a>'
            )
        text = f'<a href="{html.escape(link(entity))}" aria-label="{title}">{text}</a>'
        return (
            f'<g class="node{"" if node.ring else " center"}" data-number="{node.number}" '
            f'transform="translate({_point(node.at)})"><title>{title}</title>{dot}{text}</g>'
        )


# Shapes by type of entity.
_DOTS = {
    "document": '<rect x="-5" y="-5" width="10" height="10"/>',
    "agency": '<circle r="5.5"/>',
    "": '<path d="M0,-6.5 L6.5,0 L0,6.5 L-6.5,0 Z"/>',
}


def _point(at: complex) -> str:
    return f"{at.real:.1f},{at.imag:.1f}"


def _lines(node: Node) -> list[str]:
    """Return the caption of a node: one line, or for the centre several."""
    name = " ".join(node.entity.name.split())
    if node.ring:
        return [_cut(name, _CAPTION)]
    width = _CENTER_CAPTION // (1 if name.isascii() else 2)
    return textwrap.wrap(_cut(name, _CENTER_LINES * _CENTER_CAPTION), width)


def _cut(text: str, room: int) -> str:
    """Return a text on one line, cut to a width in Latin letters; a Chinese one counts two.

    >>> _cut("云岭省碳达峰实施方案", 10), _cut("abcdef", 6)
    ('云岭省碳…', 'abcdef')
    """
    while _size(text) > room:
        text = f"{text.removesuffix('…')[:-1]}…"
    return text


def _size(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WFA" else 1 for c in text)
