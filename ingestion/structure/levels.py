"""How deep each heading stands: by what holds what in this document."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from kgrag.ingestion.structure.lines import Line
from kgrag.text.numbering import ANNEX, ATTACHMENT, BOX, OPENING, RANK

_Kind = str  # a family of marks, or "stated N" of a heading without a mark


def levels(found: Sequence[Line]) -> list[int]:
    """Return the level of each heading, 1 the outermost.

    An attachment stands at the outside and holds what follows it; a box (专栏) stands in the
    innermost section. Within each of these the kinds of marks nest in the order that most
    documents share, unless this one shows another: where （一） begins anew within each 1., it
    stands below 1.

    Args:
        found: Headings in text order.
    """
    told: list[int] = []
    annexes = [i for i, line in enumerate(found) if line.family in (ATTACHMENT, ANNEX)]
    is_attached = False
    for start, end in zip([0, *annexes], [*annexes, len(found)], strict=True):
        base = 0
        if start < end and found[start].family in (ATTACHMENT, ANNEX):
            base = 2 if is_attached and found[start].family == ANNEX else 1
            is_attached = is_attached or found[start].family == ATTACHMENT
            told.append(base)
            start += 1
        told += [base + level for level in _scope(found[start:end])]
    return told


def _scope(found: Sequence[Line]) -> list[int]:
    """Return the levels of headings without attachments."""
    kinds = _kinds(found)
    around = [(kind, line) for kind, line in zip(kinds, found, strict=True) if not line.boxed]
    places = _places(around)
    told: list[int] = []
    stack: list[tuple[int, int]] = []  # (place, level)
    inner: list[tuple[int, int]] = []
    for kind, line in zip(kinds, found, strict=True):
        if line.family == BOX:
            told.append(_level(stack) + 1)
            inner = [(-1, told[-1])]
        elif line.boxed:
            told.append(_push(inner, RANK[line.family]))
        elif line.family == OPENING:  # a preface holds nothing of what follows it
            stack.clear()
            told.append(1)
        else:
            told.append(_push(stack, places[kind]))
    return told


def _level(stack: Sequence[tuple[int, int]]) -> int:
    return stack[-1][1] if stack else 0


def _push(stack: list[tuple[int, int]], place: int) -> int:
    while stack and stack[-1][0] >= place:
        stack.pop()
    stack.append((place, _level(stack) + 1))
    return stack[-1][1]


def _kinds(found: Sequence[Line]) -> list[_Kind]:
    """Return the kind of each heading; one without a mark is as the marked of its stated level."""
    of_level: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for line in found:
        if line.stated and line.family in RANK:
            of_level[line.stated][line.family] += 1
    family = {level: names.most_common(1)[0][0] for level, names in of_level.items()}
    return [line.family or family.get(line.stated, f"stated {line.stated}") for line in found]


def _places(around: Sequence[tuple[_Kind, Line]]) -> Mapping[_Kind, int]:
    """Return the place of each kind of heading from the outermost in, 0 first."""
    # How often a numbering begins anew between two headings of another that counts on.
    begun: Counter[tuple[_Kind, _Kind]] = Counter()
    last: dict[_Kind, int] = {}
    fresh: defaultdict[_Kind, set[_Kind]] = defaultdict(set)
    for kind, line in around:
        number = line.number[-1]
        if number == last.get(kind, -1) + 1:
            begun.update((kind, inner) for inner in fresh[kind])
        fresh[kind] = set()
        if number == 1:
            for outer in last.keys() - {kind}:
                fresh[outer].add(kind)
        last[kind] = number
    kinds = sorted(last, key=lambda kind: (RANK.get(kind, -1), kind))
    for _ in kinds:
        for i in range(len(kinds) - 1):
            a, b = kinds[i : i + 2]
            if begun[b, a] >= 2 and begun[b, a] > begun[a, b]:
                kinds[i : i + 2] = [b, a]
    return {kind: place for place, kind in enumerate(kinds)}
