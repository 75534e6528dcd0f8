"""Extraction of the heading tree."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgrag.ingestion.structure.contents import contents_lines
from kgrag.ingestion.structure.lines import CAPTIONED, Line, Lines, lines_of, marked_lines
from kgrag.text.numbering import (
    ANNEX,
    ARTICLE,
    ATTACHMENT,
    BARE,
    BOX,
    DIVISIONS,
    OPENING,
    RANK,
    numbering_at,
)
from kgrag.types import Heading, Segment

_Kind = str  # a family of marks, or "stated N" of a heading without a mark

# Numberings that are lists as often as headings.
_LISTED = frozenset(
    ("chinese", "bracketed chinese", "digit", "bracketed digit", "half bracket", "circle", "roman",
     "decimal 2", "decimal 3", "decimal 4")
)  # fmt: skip
_SMALL = frozenset(("digit", "bracketed digit", "half bracket", "circle"))
_REACH = 100  # marked lines behind the item of a box in which its number stands again
_MOST_SKIPPED = 3  # numbers of sections that the text may lack
_LONGEST_BARE = 30  # characters of a title behind a bare number
_SHORT = 30  # characters: of a title that closes with a full stop and has its text below
_LEAST_TEXT = 12  # characters
_LONG = 60  # characters of a paragraph that is no signature
_LISTS = 0.4  # share of a run that ends as items do, from which on it is a list
_COLON = re.compile(r"[：:]\s*\S")


def structure(text: str, segments: Sequence[Segment] = ()) -> list[Heading]:
    r"""Return the headings of a document in text order.

    A heading is a line, or the first sentence of a paragraph, that begins with a mark of the
    nesting (章/节/条, 一、 （一） 1. （1） 1.1, Chapter, 专栏, 附件), or that the format declares
    (Markdown's #, a style of Word). A mark alone on its line has its title on the next. Tables of
    contents, lists of attachments, list items and the document's own title are left out. Levels
    count from 1 and follow the nesting in this document.

    Args:
        text: The document's text.
        segments: Of the document: a paragraph with a level is a heading. A numbered one keeps the
            place of its number.

    >>> [(h.level, h.text) for h in structure("一、总体要求\n（一）目标。到2025年。")]
    [(1, '一、总体要求'), (2, '（一）目标')]
    """
    lines = lines_of(text)
    contents = contents_lines(lines.bodies, [mark is not None for mark in lines.marks])
    stated = {segment.start: segment.level for segment in segments if segment.level}
    found = list(marked_lines(lines, contents, stated))
    found = _boxes_marked(_chained(_attachments(found, lines), lines), lines)
    found = _without_title([found[i] for i in sorted(_titles(found, lines))])
    return [
        Heading(line.start, line.end, level, line.title)
        for line, level in zip(found, levels(found), strict=True)
    ]


def opens_attachment(title: str) -> bool:
    """Return whether a heading is that of an attachment.

    >>> opens_attachment("附件1 项目清单"), opens_attachment("附则")
    (True, False)
    """
    mark = numbering_at(title.lstrip("【[(（ "))
    return mark is not None and mark.family in (ATTACHMENT, ANNEX)


def _without_title(found: list[Line]) -> list[Line]:
    """Remove the document's own title: the first heading, alone in its declared level."""
    if len(found) < 2 or found[0].family:
        return found
    others = [line.stated for line in found[1:] if line.stated]
    return found[1:] if found[0].stated < min(others, default=10) else found


def _attachments(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Remove attachments that are only named: 附件：1.…, and lists before a signature."""
    kept: list[Line] = []
    last = {line.number: i for i, line in enumerate(found) if line.family == ATTACHMENT}
    listed_to = -2  # last line of a list of attachments
    for i, line in enumerate(found):
        again = line.family == ATTACHMENT and last[line.number] > i
        is_named = line.family in (ATTACHMENT, ANNEX) and (again or _is_named(i, found, lines))
        if is_named or (line.family == "digit" and line.at == listed_to + 1):
            listed_to = line.last
        else:
            kept.append(line)
    return kept


def _is_named(i: int, found: Sequence[Line], lines: Lines) -> bool:
    """Return whether an attachment is only named in a list."""
    line = found[i]
    following = line.last + 1
    if following == len(lines.bodies):
        return True
    below = found[i + 1] if i + 1 < len(found) and found[i + 1].at == following else None
    if below and (below.family, below.number) in ((line.family, below.number), ("digit", (2,))):
        return True
    has_title = line.last == line.at and _COLON.search(line.title) is not None
    return has_title and all(len(b) <= _LONG for b in lines.bodies[following : following + 5])


def _chained(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Keep decimal and bare numbers that are consecutive: 1, 1.1, 1.2, 2."""
    numbers = {line.number for line in found if line.family.startswith("decimal")}
    kept: list[Line] = []
    last: tuple[int, ...] = ()  # items between do not end the numbering
    for i, line in enumerate(found):
        number = line.number
        if line.family == BARE:
            counts_on = number[0] in (1, last[0] + 1 if last else 1) or _has_first(i, found)
            if not (counts_on and _opens_section(i, found, lines)):
                continue
            last = number
        elif line.family.startswith("decimal"):
            if not (_begins(number, numbers, last) or (last and 0 <= number[0] - last[0] <= 1)):
                continue
            last = number
        kept.append(line)
    return kept


def _begins(number: tuple[int, ...], numbers: set[tuple[int, ...]], last: tuple[int, ...]) -> bool:
    """Return whether a decimal number begins a numbering: 3.1, before a 3.2."""
    is_first = all(part == 1 for part in number[1:]) and (*number[:-1], 2) in numbers
    return is_first and (not last or number[0] <= last[0] + _MOST_SKIPPED)


def _opens_section(i: int, found: Sequence[Line], lines: Lines) -> bool:
    """Return whether a bare number opens a section: 1.1 follows it, or prose."""
    line = found[i]
    if line.form != "title" or len(line.title) > _LONGEST_BARE:
        return False
    if _has_first(i, found):
        return True
    after = "".join(lines.bodies[line.last + 1 : line.last + 2])
    return (
        len(line.title) <= _LONGEST_BARE // 2
        and len(after) > _LONGEST_BARE
        and after[-1] in "。：:"
    )


def _has_first(i: int, found: Sequence[Line]) -> bool:
    """Return whether 5.1 comes after a bare 5, before another bare number."""
    for line in found[i + 1 :]:
        if line.family == BARE:
            return False
        if line.number == (*found[i].number, 1):
            return True
    return False


def _boxes_marked(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Mark boxes and the lines inside them.

    A box contains a numbering that begins in it, until the one around continues.
    """
    marked: list[Line] = []
    outer: dict[str, int] = {}  # position of the last line of each numbering around
    inner: dict[str, int] = {}
    in_box = False
    for i, line in enumerate(found):
        if line.family == BOX:
            in_box, inner = True, {}
        elif line.family in (ATTACHMENT, ANNEX):
            in_box, outer = False, {}
        elif line.family:
            in_box = in_box and _in_box(i, found, outer, inner, lines)
            last, rank = (inner if in_box else outer), RANK[line.family]
            for deeper in [family for family in last if RANK[family] > rank]:
                del last[deeper]
            last[line.family] = i
        else:
            in_box = False
        marked.append(replace(line, boxed=in_box))
    return marked


def _in_box(
    i: int, found: Sequence[Line], outer: dict[str, int], inner: dict[str, int], lines: Lines
) -> bool:
    """Return whether a line after a box's begins or continues a numbering of the box."""
    family, number = found[i].family, found[i].number[-1]
    if family in (*DIVISIONS, ARTICLE):
        return False
    if number == 1 and family not in inner:
        at_once = found[i - 1].family == BOX and found[i - 1].last + 1 == found[i].at
        return family in outer or at_once or any(RANK[f] < RANK[family] for f in inner)
    if family not in inner or found[inner[family]].number[-1] + 1 != number:
        return False
    if family not in outer or found[outer[family]].number[-1] + 1 != number:
        return True
    is_bare = not _has_text(i, found, lines) and _has_text(outer[family], found, lines)
    return is_bare or _stands_again(i, found)


def _stands_again(i: int, found: Sequence[Line]) -> bool:
    """Return whether the same number occurs again before the numbering restarts."""
    line = found[i]
    for later in found[i + 1 : i + 1 + _REACH]:
        is_outer = RANK.get(later.family, -1) < RANK[line.family]
        if is_outer or (later.family, later.number) == (line.family, (1,)):
            return False
        if (later.family, later.number) == (line.family, line.number):
            return True
    return False


def _titles(found: Sequence[Line], lines: Lines) -> set[int]:
    """Return the indexes of marked lines that are headings.

    Decided for a whole numbering: if its members are list items (they end in ；, or each is one
    sentence without text below), none is a heading, not even the last one, which ends in 。.
    """
    kept: set[int] = set()
    below_article = _below_articles(found)
    for run in _runs(found):
        titles = _titles_of(run, found, lines)
        if titles and below_article[run[0]] and not _holds(titles, found):
            continue
        kept.update(titles)
    return kept


def _below_articles(found: Sequence[Line]) -> list[bool]:
    """Return of each line whether it is below an article, whose items are no sections."""
    below: list[bool] = []
    inside = False
    for line in found:
        below.append(inside and RANK.get(line.family, 0) > RANK[ARTICLE] and not line.stated)
        if line.family == ARTICLE:
            inside = True
        elif line.stated or line.family in (ATTACHMENT, ANNEX, *DIVISIONS):
            inside = False
    return below


def _runs(found: Sequence[Line]) -> list[list[int]]:
    """Return the numberings: indexes of consecutive lines of one family.

    A box has its own, and the one around continues after it.
    """
    runs: list[list[int]] = []
    around: dict[str, list[int]] = {}
    inside: dict[str, list[int]] = {}
    for i, line in enumerate(found):
        open_runs = inside if line.boxed else around
        if line.family in CAPTIONED or not line.family:
            open_runs.clear()
            runs.append([i])
            continue
        for deeper in [f for f in open_runs if RANK[f] > RANK[line.family]]:
            del open_runs[deeper]
        run = open_runs.get(line.family)
        before = found[run[-1]].number if run else ()
        if run and before[:-1] == line.number[:-1] and 0 < line.number[-1] - before[-1] <= 2:
            run.append(i)
        else:
            open_runs[line.family] = [i]
            runs.append(open_runs[line.family])
    return runs


def _titles_of(run: Sequence[int], found: Sequence[Line], lines: Lines) -> list[int]:
    """Return the members of a numbering that are headings."""
    family = found[run[0]].family
    if family not in _LISTED:
        return [i for i in run if found[i].form != "text"]
    items = sum(found[i].form == "item" for i in run)
    if items >= max(1, _LISTS * (len(run) - 1)):
        return []
    has_text = {i: _has_text(i, found, lines) for i in run}
    kept = [i for i in run if _may_head(found[i], has_text[i])]
    is_bare = not any(found[i].form != "title" or has_text[i] for i in kept)
    if family in _SMALL and is_bare and not _holds(kept, found):
        return []  # a list of names without a word about any of them
    return kept if 2 * len(kept) >= len(run) else []  # else few would head the items behind them


def _may_head(line: Line, has_text: bool) -> bool:
    is_short = line.form == "sentence" and has_text and len(line.title) <= _SHORT
    return is_short or line.form in ("title", "lead")


def _holds(positions: Sequence[int], found: Sequence[Line]) -> bool:
    """Return whether a deeper numbering is below any of these."""
    return any(
        i + 1 < len(found) and RANK.get(found[i + 1].family, 0) > RANK[found[i].family]
        for i in positions
    )


def _has_text(i: int, found: Sequence[Line], lines: Lines) -> bool:
    """Return whether text, or a numbering, is below a line."""
    line, following = found[i], found[i].last + 1
    if following == len(lines.bodies):
        return False
    if i + 1 == len(found) or found[i + 1].at > following:
        return len(lines.bodies[following]) > _LEAST_TEXT
    below = found[i + 1]
    begins = line.form == "title" and below.number == (1,)
    return begins or RANK.get(below.family, 0) > RANK.get(line.family, 0)


def levels(found: Sequence[Line]) -> list[int]:
    """Return the level of each heading, 1 the outermost.

    An attachment is outermost and contains what follows it; a box (专栏) is in the innermost
    section. Inside these, kinds of marks nest in the usual order, unless this document shows
    another: if （一） restarts within each 1., it is below 1.

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
    """Return the kind of each heading; one without a mark has that of marked ones of its level."""
    of_level: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for line in found:
        if line.stated and line.family in RANK:
            of_level[line.stated][line.family] += 1
    family = {level: names.most_common(1)[0][0] for level, names in of_level.items()}
    return [line.family or family.get(line.stated, f"stated {line.stated}") for line in found]


def _places(around: Sequence[tuple[_Kind, Line]]) -> Mapping[_Kind, int]:
    """Return the depth of each kind of heading, 0 first."""
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
