"""How deep each heading stands: by what holds what in this document."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from kgrag.ingestion.structure.lines import Line
from kgrag.ingestion.structure.markers import ANNEX, ATTACHMENT, BOX, FAMILIES, OPENING

_Kind = str  # a family of marks, or "stated N" of a heading without a mark


def nested(found: Sequence[Line]) -> list[int]:
    """Return the level of each heading, 1 the outermost.

    An attachment stands at the outside and holds what follows it; a box (专栏) stands in the
    innermost section and holds the numbering that begins in it, until the numbering around goes
    on. Within each of these the kinds of marks nest in the order that most documents share,
    unless this one shows another: where （一） begins anew within each 1., it stands below 1.

    Args:
        found: Headings in text order.
    """
    levels = [0] * len(found)
    start = 0
    annexes = [i for i, line in enumerate(found) if line.family in (ATTACHMENT, ANNEX)]
    inside = False
    for end in [*annexes, len(found)]:
        base = 0
        if start < end and found[start].family in (ATTACHMENT, ANNEX):
            base = 2 if inside and found[start].family == ANNEX else 1
            inside = inside or found[start].family == ATTACHMENT
            levels[start] = base
            start += 1
        for i, level in zip(range(start, end), _scope(found[start:end]), strict=True):
            levels[i] = base + level
        start = end
    return levels


def _scope(found: Sequence[Line]) -> list[int]:
    """Return the levels of headings without attachments."""
    places = _places([line for line in found if not line.boxed])
    levels: list[int] = []
    stack: list[tuple[int, int]] = []  # (place, level)
    box: list[Line] = []
    box_level = 0
    for line in found:
        if line.family == BOX:
            box_level = (stack[-1][1] if stack else 0) + 1
            box = []
            levels.append(box_level)
        elif line.boxed:
            box.append(line)
            levels.append(box_level + _depths(box, _places(box))[-1])
        elif line.family == OPENING:  # a preface holds nothing of what follows it
            stack.clear()
            levels.append(1)
        else:
            levels.append(_push(stack, places[_kind(line)]))
    return levels


def _depths(found: Sequence[Line], places: Mapping[_Kind, int]) -> list[int]:
    stack: list[tuple[int, int]] = []
    return [_push(stack, places[_kind(line)]) for line in found]


def _push(stack: list[tuple[int, int]], place: int) -> int:
    while stack and stack[-1][0] >= place:
        stack.pop()
    level = stack[-1][1] + 1 if stack else 1
    stack.append((place, level))
    return level


def _kind(line: Line) -> _Kind:
    return line.family or f"stated {line.stated}"


def _places(found: Sequence[Line]) -> dict[_Kind, int]:
    """Return the place of each kind of heading from the outermost in, 0 first."""
    of_family = _stated_families(found)
    kinds = sorted({_kind(line) for line in found}, key=lambda kind: _order(kind, of_family))
    begun = _begun(found)
    for _ in kinds:
        for i in range(len(kinds) - 1):
            a, b = kinds[i : i + 2]
            if begun[b, a] >= 2 and begun[b, a] > begun[a, b]:
                kinds[i : i + 2] = [b, a]
    places = {kind: place for place, kind in enumerate(kinds)}
    for level, family in of_family.items():  # a stated heading stands beside numbered ones
        if f"stated {level}" in places and family in places:
            places[f"stated {level}"] = places[family]
    return places


def _order(kind: _Kind, of_family: Mapping[int, str]) -> tuple[float, int]:
    """Return what kinds are sorted by before the document shows another order."""
    if not kind.startswith("stated"):
        return (float(FAMILIES.index(kind)) if kind in FAMILIES else len(FAMILIES), 0)
    level = int(kind.split()[1])
    if level in of_family:
        return (FAMILIES.index(of_family[level]), -1)
    deeper = [FAMILIES.index(f) for n, f in of_family.items() if n > level]
    outer = [FAMILIES.index(f) for n, f in of_family.items() if n < level]
    if outer:
        return (max(outer) + 0.5, level)
    return (min(deeper) - 0.5 if deeper else -1.0, level)


def _stated_families(found: Sequence[Line]) -> dict[int, str]:
    """Return the kind of mark that the headings of a stated level mostly have."""
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for line in found:
        if line.stated and line.family in FAMILIES:
            counts[line.stated][line.family] += 1
    return {level: names.most_common(1)[0][0] for level, names in sorted(counts.items())}


def _begun(found: Sequence[Line]) -> Counter[tuple[_Kind, _Kind]]:
    """Count how often a numbering begins anew between two headings of another that counts on."""
    begun: Counter[tuple[_Kind, _Kind]] = Counter()
    last: dict[_Kind, tuple[int, ...]] = {}
    fresh: defaultdict[_Kind, set[_Kind]] = defaultdict(set)
    for line in found:
        kind = _kind(line)
        number = line.number[-1]
        if kind in last and number == last[kind][-1] + 1:
            for inner in fresh[kind]:
                begun[kind, inner] += 1
        fresh[kind] = set()
        if number == 1:
            for outer in last:
                if outer != kind:
                    fresh[outer].add(kind)
        last[kind] = line.number
    return begun
