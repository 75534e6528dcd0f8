"""Draw the neighbourhood of an entity as a self-contained HTML page."""

import cmath
import html
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from kgrag.text.facets import called
from kgrag.text.visible import visible_line
from kgrag.types import Entity, Fact

# Lengths in the drawing's units, which are pixels at full size.
_CENTER_RADIUS, _RADIUS = 50.0, 15.0
_RING = 240.0  # least distance between rings
_ARC = 76.0  # of a ring that a node takes: room for its caption
_CROWD = 18  # nodes of a ring, from which on every second one stands back
_STEP_BACK = 100.0
_STACK = 19.0  # between parallel edges: room for a predicate
_STRETCH = 1.4  # screens and captions are wider than high

# Lengths in the drawing's units, which are pixels at full size.
_LINE = 15.0  # height of a caption's line
_MARGIN = (150.0, 80.0)  # beside and above the outermost nodes: room for captions
_LEAST = (1000.0, 560.0)  # a drawing of few nodes is not blown up
_CAPTION, _CENTER_CAPTION, _PREDICATE = (8, 3), (6, 4), (12, 1)  # wide characters, lines
_PLACES = 2  # of a figure that are named
# What a line is not broken in: a word or number, or any other character; with its marks.
_PIECE = re.compile(
    r"[（《「『【“‘]*(?:[0-9A-Za-z.%—–-]+[年月日]?|.)[，。、；：！？）》」』】”’…]*"
)


@dataclass(frozen=True, slots=True)
class Node:
    """An entity's circle.

    Attributes:
        number: Index, 0 for the centre.
        entity: The entity.
        ring: 0 for the centre.
        at: Its position `x + y * 1j` from the centre, y downwards.
        radius: Of the circle.
    """

    number: int
    entity: Entity
    ring: int
    at: complex
    radius: float


def lay_out(center: Entity, facts: Sequence[Fact]) -> dict[str, Node]:
    """Lay out nodes by entity id, the centre first.

    Every node gets a sector in proportion to its subtree, and every ring the radius that its
    captions need, in two rows on a crowded one.
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

    Unconnected keys are in the first ring.
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
    """Order keys so that those connected by facts are adjacent."""
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
    """Return the width of each key's subtree, in captions."""
    widths: dict[str, float] = {}
    edges = Counter(frozenset((f.subject.entity_id, f.object.entity_id)) for f in facts)
    parents = {child: key for key, below in children.items() for child in below}
    for ring in reversed(rings):
        for key in ring:
            parallel = edges[frozenset((key, parents.get(key, key)))]
            # stacked edges need their room two thirds of the way out, on a crowded ring, too
            own = max(1.0, parallel * _STACK * 1.5 / (_ARC / 2))
            widths[key] = max(own, sum(widths[child] for child in children[key]))
    return widths


def _split(
    sector: tuple[float, float], keys: Sequence[str], widths: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """Split a sector among keys in proportion to their widths."""
    total = sum(widths[key] for key in keys)
    sectors, start = {}, sector[0]
    for key in keys:
        end = start + (sector[1] - sector[0]) * widths[key] / total
        sectors[key] = (start, end)
        start = end
    return sectors


def graph_page(center: Entity, facts: Sequence[Fact], titles: Mapping[str, str]) -> str:
    """Return an HTML page with a drawing of facts and a table of them.

    Without script the drawing shows, too; a script adds moving, zooming and highlighting. The order
    of `facts` makes no difference.

    Args:
        center: The entity in the middle.
        facts: Any number of hops; may be empty.
        titles: Of documents, by id; defaults to the id.
    """
    ordered = in_order(center, facts)
    nodes = lay_out(center, ordered)
    folder = resources.files("kgrag.drawing")
    page = folder.joinpath("page.html").read_text(encoding="utf-8")
    style, script = (
        folder.joinpath("static", name).read_text(encoding="utf-8").rstrip()
        for name in ("graph.css", "graph.js")
    )
    return Template(page).substitute(
        style=style,
        script=script,
        name=_escape(center.name),
        count=f"{_count(len(ordered), 'fact')}, {_count(len(nodes) - 1, 'neighbour')}",
        drawing=drawing(ordered, nodes),
        rows="\n".join(_row(i, fact, titles) for i, fact in enumerate(ordered, 1))
        or '<tr><td colspan="5">No facts are known here.</td></tr>',
    )


def _escape(text: str) -> str:
    """Escape text for HTML; control and invisible characters, too."""
    return html.escape(visible_line(text))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


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
    nodes: Mapping[str, Node],
    *,
    link: Callable[[Entity], str] | None = None,
    word: Callable[[str], str] = str,
) -> str:
    """Return the SVG element, in which edges are below nodes and link to `#fact-1` and so on.

    Args:
        facts: From `in_order`.
        nodes: From `lay_out`.
        link: Returns the address that a caption links to; None for no links.
        word: Returns a type of entity in words.
    """
    stated: defaultdict[str, list[str]] = defaultdict(list)
    for fact in facts:
        figures = (e.qualifiers for e in fact.evidence if e.qualifiers.kind == "target")
        stated[fact.object.entity_id] += [told.region for told in figures]
    values = {entity_id: _some(regions) for entity_id, regions in stated.items()}
    name = _escape(next(iter(nodes.values())).entity.name)
    box = " ".join(f"{number:.0f}" for number in _box([node.at for node in nodes.values()]))
    return "\n".join(
        [
            f'<svg viewBox="{box}" role="group" aria-label="{name}" lang="zh-Hans">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="#8a929d"/></marker></defs>',
            *_edges(facts, nodes),
            *(_circle(n, values.get(n.entity.entity_id, ""), link, word) for n in nodes.values()),
            "</svg>",
        ]
    )


def _box(spots: Sequence[complex]) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the view box with all captions."""
    x, y = [at.real for at in spots], [at.imag for at in spots]
    width = max(max(x) - min(x) + 2 * _MARGIN[0], _LEAST[0])
    height = max(max(y) - min(y) + 2 * _MARGIN[1], _LEAST[1])
    return (min(x) + max(x) - width) / 2, (min(y) + max(y) - height) / 2, width, height


def _edges(facts: Sequence[Fact], nodes: Mapping[str, Node]) -> list[str]:
    """Return the facts' arrows; parallel ones are bent apart."""
    bundles: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for i, fact in enumerate(facts):
        bundles[frozenset((fact.subject.entity_id, fact.object.entity_id))].append(i)
    drawn: dict[int, str] = {}
    for members in bundles.values():
        first = facts[members[0]].subject.entity_id
        for place, i in enumerate(members):
            fact = facts[i]
            a, b = nodes[fact.subject.entity_id], nodes[fact.object.entity_id]
            side = 1 if fact.subject.entity_id == first else -1  # seen from one and the same end
            stacked = (place - (len(members) - 1) / 2) * _STACK * side
            if a is b:
                drawn[i] = _loop(fact, i + 1, a, place)
            else:
                drawn[i] = _arrow(fact, i + 1, a, b, _detour(a.at, b.at) + stacked)
    return [drawn[i] for i in range(len(facts))]


def _detour(a: complex, b: complex) -> float:
    """Return how far an edge must bend around the centre."""
    middle = (a + b) / 2
    if abs(middle) > 0.6 * min(abs(a), abs(b)):
        return 0.0
    normal = (b - a) * 1j
    outwards = middle.real * normal.real + middle.imag * normal.imag
    return math.copysign(0.16 * abs(b - a), outwards)


def _arrow(fact: Fact, number: int, a: Node, b: Node, bend: float) -> str:
    """Return a quadratic curve from a to b that passes `bend` to the side of the middle."""
    control = (a.at + b.at) / 2 + (b.at - a.at) / abs(b.at - a.at) * 1j * 2 * bend
    start = a.at + (control - a.at) / abs(control - a.at) * a.radius
    end = b.at + (control - b.at) / abs(control - b.at) * (b.radius + 4)
    # the predicate stands where spokes have moved apart
    t = 0.5 + 0.07 * ((b.ring > a.ring) - (b.ring < a.ring))
    spot = (1 - t) ** 2 * a.at + 2 * t * (1 - t) * control + t**2 * b.at
    turn = math.degrees(cmath.phase((1 - t) * (control - a.at) + t * (b.at - control)))
    turn += -180 if turn > 90 else 180 if turn <= -90 else 0  # never upside down
    data = f'data-from="{a.number}" data-to="{b.number}" data-bend="{bend:.1f}" data-at="{t:.2f}"'
    path = f"M{_point(start)} Q{_point(control)} {_point(end)}"
    return _edge(fact, number, data, path, f"translate({_point(spot)}) rotate({turn:.1f})")


def _loop(fact: Fact, number: int, node: Node, place: int) -> str:
    """Return an arrow from a node to itself; the `place`th is above the previous ones."""
    up = node.radius + 40 + place * _STACK
    start, end = (cmath.rect(node.radius, math.radians(angle)) for angle in (-125, -55))
    left, right = complex(-0.7 * up, -1.3 * up), complex(0.7 * up, -1.3 * up)
    path = f"M{_point(start)} C{_point(left)} {_point(right)} {_point(end)}"
    data = (
        f'transform="translate({_point(node.at)})" '
        f'data-from="{node.number}" data-to="{node.number}"'
    )
    # a cubic curve's top is three quarters of the way to its controls
    top = 0.25 * (start + end) / 2 + 0.75 * (left + right) / 2
    return _edge(fact, number, data, path, f"translate({_point(top)})")


def _edge(fact: Fact, number: int, data: str, path: str, transform: str) -> str:
    """Return a path with its predicate, linked to the fact's row in the table."""
    told = "·".join(filter(None, (fact.predicate, places(fact))))
    full = _escape(f"{fact.subject.name} — {told} → {fact.object.name}")
    return (
        f'<g class="edge" {data}><path d="{path}" marker-end="url(#tip)"/>'
        f'<a href="#fact-{number}" aria-label="{full}"><text transform="{transform}" dy="4">'
        f"<title>{full}</title>{_escape(_wrap(told, *_PREDICATE)[0])}"
        "</text></a></g>"
    )


def _circle(
    node: Node, where: str, link: Callable[[Entity], str] | None, word: Callable[[str], str]
) -> str:
    entity = node.entity
    kind = "document" if entity.type == "document" else "entity"
    if node.ring == 0:
        lines, anchor, x = _wrap(entity.name, *_CENTER_CAPTION), "middle", 0.0
        top = -len(lines) / 2 * _LINE
    else:
        lines = [*_wrap(entity.name, *_CAPTION), *([where] if where else [])]
        direction = node.at / abs(node.at)
        gap = node.radius + 6
        if abs(direction.real) < 0.8:  # above or below
            anchor, x = "middle", 0.0
            top = gap - 2 if direction.imag > 0 else -gap - len(lines) * _LINE
        else:
            anchor = "start" if direction.real > 0 else "end"
            x, top = math.copysign(gap, direction.real), -len(lines) / 2 * _LINE
    text = "".join(
        f'<tspan x="{x:.0f}" y="{top + (i + 0.78) * _LINE:.1f}">{_escape(line)}</tspan>'
        for i, line in enumerate(lines)
    )
    title = _escape(f"{entity.name} ({word(entity.type)})")
    caption = f'<text text-anchor="{anchor}">{text}</text>'
    if link:
        caption = f'<a href="{html.escape(link(entity))}" aria-label="{title}">{caption}</a>'
    return (
        f'<g class="node{" center" if node.ring == 0 else ""}" transform="translate'
        f'({_point(node.at)})" data-x="{node.at.real:.1f}" data-y="{node.at.imag:.1f}" '
        f'data-r="{node.radius:.0f}"><title>{title}</title>'
        f'<circle class="{kind}" r="{node.radius:.0f}"/>'
        f"{caption}</g>"
    )


def _point(at: complex) -> str:
    return f"{at.real:.1f},{at.imag:.1f}"


def _wrap(text: str, width: int, lines: int) -> list[str]:
    """Wrap text in at most `lines` balanced lines, truncated with ….

    The width is in Chinese characters; a Latin one counts half. Chinese may be broken anywhere, but
    not after an opening or before a closing mark; Latin words and numbers only if a line is too
    short for them.

    >>> _wrap("云岭省碳达峰实施方案", 6, 2)
    ['云岭省碳达', '峰实施方案']
    >>> _wrap("abcdef", 2, 1)
    ['abc…']
    """
    text = " ".join(text.split())
    wanted = min(lines, math.ceil(_size(text) / (2 * width)))
    for room in range(math.ceil(_size(text) / max(wanted, 1)), 2 * width + 1):
        broken = _break(text, room)
        if len(broken) <= wanted:
            return broken
    broken = _break(text, 2 * width)
    if len(broken) > lines:
        last = broken[lines - 1]
        while _size(last) > 2 * width - 1:
            last = last[:-1]
        broken = [*broken[: lines - 1], last + "…"]
    return broken


def _break(text: str, room: int) -> list[str]:
    out = [""]
    for piece in _PIECE.findall(text):
        for part in [piece] if _size(piece) <= room else piece:
            if _size(out[-1] + part) > room:
                out.append("")
            out[-1] += part
    return [line.strip() for line in out]


def _size(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WFA" else 1 for c in text)


def _row(number: int, fact: Fact, titles: Mapping[str, str]) -> str:
    spots = dict.fromkeys((e.doc_id, e.start, e.end, e.extractor) for e in fact.evidence)
    stated = "".join(
        f"<p><bdi>{_escape(titles.get(doc_id, doc_id))}</bdi> "
        f'<span class="at">{start}\N{EN DASH}{end}, {_escape(extractor)}</span></p>'
        for doc_id, start, end, extractor in spots
    )
    where = places(fact)
    cells = (
        str(number),
        fact.subject.name,
        fact.predicate + (f"（{where}）" if where else ""),
        fact.object.name,
    )
    plain = "".join(f"<td>{_escape(cell)}</td>" for cell in cells)
    return f'<tr id="fact-{number}">{plain}<td>{stated}</td></tr>'
