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
    around = _Kinds()
    for line in found:
        if not line.boxed:
            around.add(line)
    places = around.places()
    levels: list[int] = []
    stack: list[tuple[int, int]] = []  # (place, level)
    box = _Kinds()
    box_level = 0
    for line in found:
        if line.family == BOX:
            box_level = (stack[-1][1] if stack else 0) + 1
            box = _Kinds()
            levels.append(box_level)
        elif line.boxed:
            box.add(line)
            levels.append(box_level + box.depth())
        elif line.family == OPENING:  # a preface holds nothing of what follows it
            stack.clear()
            levels.append(1)
        else:
            levels.append(_push(stack, places[_kind(line)]))
    return levels


def _push(stack: list[tuple[int, int]], place: int) -> int:
    while stack and stack[-1][0] >= place:
        stack.pop()
    level = stack[-1][1] + 1 if stack else 1
    stack.append((place, level))
    return level


def _kind(line: Line) -> _Kind:
    return line.family or f"stated {line.stated}"


class _Kinds:
    """The kinds of headings of a text so far, and which of them holds which."""

    def __init__(self) -> None:
        self._stated: defaultdict[int, Counter[str]] = defaultdict(Counter)
        # How often a numbering begins anew between two headings of another that counts on.
        self._begun: Counter[tuple[_Kind, _Kind]] = Counter()
        self._last: dict[_Kind, int] = {}  # number of the last heading; the latest kind at the end
        self._fresh: defaultdict[_Kind, set[_Kind]] = defaultdict(set)

    def add(self, line: Line) -> None:
        """Take the next heading."""
        kind, number = _kind(line), line.number[-1]
        if line.stated and line.family in FAMILIES:
            self._stated[line.stated][line.family] += 1
        if kind in self._last and number == self._last[kind] + 1:
            for inner in self._fresh[kind]:
                self._begun[kind, inner] += 1
        self._fresh[kind] = set()
        self._last.pop(kind, None)
        if number == 1:
            for outer in self._last:
                self._fresh[outer].add(kind)
        self._last[kind] = number

    def places(self) -> dict[_Kind, int]:
        """Return the place of each kind of heading from the outermost in, 0 first."""
        of_family = {n: names.most_common(1)[0][0] for n, names in sorted(self._stated.items())}
        kinds = sorted(sorted(self._last), key=lambda kind: _order(kind, of_family))
        for _ in kinds:
            for i in range(len(kinds) - 1):
                a, b = kinds[i : i + 2]
                if self._begun[b, a] >= 2 and self._begun[b, a] > self._begun[a, b]:
                    kinds[i : i + 2] = [b, a]
        places = {kind: place for place, kind in enumerate(kinds)}
        for level, family in of_family.items():  # a stated heading stands beside numbered ones
            if f"stated {level}" in places and family in places:
                places[f"stated {level}"] = places[family]
        return places

    def depth(self) -> int:
        """Return the level of the last heading: how many kinds hold each other around it."""
        places = self.places()
        depth, outermost = 0, len(places)
        for kind in reversed(self._last):
            if places[kind] < outermost:
                depth, outermost = depth + 1, places[kind]
        return depth


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
