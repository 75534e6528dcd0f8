"""Which marked lines are headings: their neighbours in the same numbering tell."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kgrag.ingestion.structure.lines import Line, Lines
from kgrag.ingestion.structure.markers import (
    ANNEX,
    ARTICLE,
    ATTACHMENT,
    BOX,
    DIVISIONS,
    LISTED,
    RANK,
)

_MOST_SKIPPED = 3  # numbers of articles or sections that the text may lack
_LEAST_DECIMALS = 3  # headings 1.1 from which on a document is numbered so
_LONGEST_BARE = 30  # characters of a title behind a bare number
_SHORT = 30  # characters: of a title that closes with a full stop and has its text below
_SMALL = frozenset(("digit", "bracketed digit", "half bracket", "circle"))
_LISTS = 0.4  # share of a run that ends as items do, from which on it is a list
_ENTRY = re.compile(r"[：:]\s*1\s*[.．、]")
_COLON = re.compile(r"[：:]\s*\S")


def headings_among(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Return those of the marked lines that are headings.

    A numbering is read as one: where its members are items of a list (they end in ；, or each is
    one sentence without text below), none is a heading, the last included, which ends in 。.

    Args:
        found: In text order.
        lines: Of the document.
    """
    chained = _boxes_marked(_chained(_articles(_attachments(found, lines)), lines), lines)
    below_article = _below_articles(chained)
    kept: set[int] = set()
    for run in _runs(chained):
        titles = _titles_of(run, chained, lines)
        if titles and below_article[run[0]]:
            titles = titles if _parts(titles, chained) else []
        kept.update(titles)
    return [line for i, line in enumerate(chained) if i in kept]


def _below_articles(found: Sequence[Line]) -> list[bool]:
    """Return of each line whether it is below an article: its numbering's items are no sections."""
    below: list[bool] = []
    inside = False
    for line in found:
        deeper = RANK.get(line.family, 0) > RANK[ARTICLE] and not line.stated
        below.append(inside and deeper)
        if line.family == ARTICLE:
            inside = True
        elif line.family in (ATTACHMENT, ANNEX, *DIVISIONS) or line.stated:
            inside = False
    return below


def _runs(found: Sequence[Line]) -> list[list[int]]:
    """Return the numberings: positions of lines of one family that count on.

    A box has its own, and that around it goes on behind it.
    """
    runs: list[list[int]] = []
    around: dict[str, list[int]] = {}
    inside: dict[str, list[int]] = {}
    for i, line in enumerate(found):
        family = line.family
        open_runs = inside if line.boxed else around
        if family in (BOX, ATTACHMENT, ANNEX) or not family:
            open_runs.clear()
            runs.append([i])
            continue
        rank = RANK[family]
        for other in [f for f in open_runs if RANK[f] > rank]:
            del open_runs[other]
        run = open_runs.get(family)
        if run is not None and _follows(found[run[-1]].number, line.number):
            run.append(i)
            continue
        open_runs[family] = [i]
        runs.append(open_runs[family])
    return runs


def _follows(before: tuple[int, ...], number: tuple[int, ...]) -> bool:
    return before[:-1] == number[:-1] and before[-1] < number[-1] <= before[-1] + 2


def _titles_of(run: Sequence[int], found: Sequence[Line], lines: Lines) -> list[int]:
    """Return the members of a numbering that are headings."""
    members = [found[i] for i in run]
    if members[0].family not in LISTED and members[0].family != "chinese":
        return [i for i in run if found[i].form != "text" or found[i].stated]
    stated = [i for i in run if found[i].stated]
    if stated:
        return stated
    items = sum(m.form == "item" for m in members)
    if items >= max(1, _LISTS * (len(members) - 1)):
        return []
    has_text = {i: _has_text(i, found, lines) for i in run}
    kept = [i for i in run if _is_title(found[i], has_text[i], found, lines)]
    names = [i for i in kept if found[i].form == "title" and not has_text[i]]
    if len(names) == len(kept) and members[0].family in _SMALL and not _parts(names, found):
        return []  # a list of names without a word about any of them
    return kept if 2 * len(kept) >= len(run) else []  # else few would head the items behind them


def _is_title(line: Line, has_text: bool, found: Sequence[Line], lines: Lines) -> bool:
    if line.form in ("title", "lead"):
        return True
    if line.form == "sentence":
        return has_text and len(line.title) <= _SHORT and not _announced(line, lines)
    return False


def _parts(bare: Sequence[int], found: Sequence[Line]) -> bool:
    """Tell whether any of these has marked lines of a deeper numbering below it."""
    return any(
        i + 1 < len(found)
        and found[i + 1].family in RANK
        and RANK[found[i + 1].family] > RANK[found[i].family]
        for i in bare
    )


def _has_text(i: int, found: Sequence[Line], lines: Lines) -> bool:
    """Tell whether text, or a numbering of its own, stands below a line."""
    line = found[i]
    following = lines.next_filled(line.last)
    if following is None:
        return False
    if i + 1 == len(found) or found[i + 1].at > following:
        return len(lines.lines[following].strip()) > 12
    below = found[i + 1]
    begins = line.form == "title" and below.number == (1,)
    return begins or RANK.get(below.family, 0) > RANK.get(line.family, 0)


def _announced(line: Line, lines: Lines) -> bool:
    """Tell whether the line before ends in a colon: a list follows it."""
    before = lines.filled_before(line.at)
    return before is not None and lines.lines[before].strip()[-1] in "：:"


def _articles(found: Sequence[Line]) -> list[Line]:
    """Leave out 第五条 where the numbers do not come in order: the text speaks of it."""
    kept = []
    last = 0
    for line in found:
        if line.family == ARTICLE:
            number = line.number[0]
            if number != 1 and not last < number <= last + _MOST_SKIPPED:
                continue
            last = number
        elif line.family in (ATTACHMENT, ANNEX):
            last = 0
        kept.append(line)
    return kept


def _attachments(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Leave out attachments that are only named: 附件：1.…, and lists before a signature."""
    kept: list[Line] = []
    last = {line.number: i for i, line in enumerate(found) if line.family == ATTACHMENT}
    listed_to = -1  # last line of a list of attachments
    for i, line in enumerate(found):
        if line.family in (ATTACHMENT, ANNEX):
            again = line.family == ATTACHMENT and last[line.number] > i
            if again or _is_named(i, found, lines):
                listed_to = line.last
                continue
        elif line.family == "digit" and lines.next_filled(listed_to) == line.at and listed_to >= 0:
            listed_to = line.last
            continue
        kept.append(line)
    return kept


def _is_named(i: int, found: Sequence[Line], lines: Lines) -> bool:
    """Tell whether an attachment is named in a list, and does not begin here."""
    line = found[i]
    following = lines.next_filled(line.last)
    if following is None:
        return True
    if _ENTRY.search(line.title):
        return True
    if i + 1 < len(found) and found[i + 1].at == following:
        below = found[i + 1]
        if below.family == line.family or (below.family == "digit" and below.number == (2,)):
            return True
    has_title = line.last == line.at and _COLON.search(line.title) is not None
    return has_title and not _long_below(line, lines)


def _long_below(line: Line, lines: Lines) -> bool:
    """Tell whether a text follows that is more than a signature and a date."""
    below = lines.lines[line.last + 1 : line.last + 6]
    return any(len(text.strip()) > 60 for text in below)


def _opens_section(i: int, found: Sequence[Line], lines: Lines) -> bool:
    """Tell whether a bare number opens a section: 1.1 follows it, or prose."""
    line = found[i]
    if line.form != "title" or len(line.title) > _LONGEST_BARE:
        return False
    if _has_first(i, found):
        return True
    following = lines.next_filled(line.last)
    if following is None or len(line.title) > _LONGEST_BARE // 2:
        return False
    after = lines.lines[following].strip()
    return len(after) > _LONGEST_BARE and after[-1] in "。：:"


def _has_first(i: int, found: Sequence[Line]) -> bool:
    """Tell whether 5.1 stands behind a bare 5, before another bare number."""
    first = (*found[i].number, 1)
    for j in range(i + 1, len(found)):
        if found[j].family == "bare digit":
            return False
        if found[j].number == first:
            return True
    return False


def _chained(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Keep decimal and bare numbers where they count on: 1, 1.1, 1.2, 2."""
    numbers = {line.number for line in found if line.family.startswith("decimal")}
    follow_on = sum((*n[:-1], n[-1] + 1) in numbers for n in numbers)
    kept: list[Line] = []
    bare_last = 0
    last: tuple[int, ...] = ()  # number, of any kind
    decimal: tuple[int, ...] = ()  # the last in decimals: items between do not end the numbering
    for i, line in enumerate(found):
        number = line.number
        if line.family == "bare digit":
            counts_on = number[0] in (1, bare_last + 1)
            counts_on = counts_on or (number[0] > bare_last and _has_first(i, found))
            is_used = follow_on + 1 >= _LEAST_DECIMALS
            if not (is_used and counts_on and _opens_section(i, found, lines)):
                continue
            bare_last = number[0]
            last = number
        elif line.family.startswith("decimal"):
            counts_on = _counts_on(number, last) or _counts_on(number, decimal)
            if not (line.stated or counts_on or _begins(number, decimal, numbers)):
                continue
            last = decimal = number
        elif line.family in ("digit", "chapter"):
            last = number
        kept.append(line)
    return kept


def _counts_on(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Tell whether a decimal number comes next: 1.1 after 1, 1.2 after 1.1.3, 2.1 after 1.4."""
    if not last:
        return False
    if number == (*last, 1):
        return True
    depth = len(number) - 1
    if depth < len(last) and number[:-1] == last[:depth]:
        return last[depth] < number[-1] <= last[depth] + 2
    return len(number) == 2 and number[-1] == 1 and number[0] in (last[0], last[0] + 1)


def _begins(
    number: tuple[int, ...], last: tuple[int, ...], numbers: Collection[tuple[int, ...]]
) -> bool:
    """Tell whether a numbering in decimals begins: 2.1 where 2.2 stands somewhere."""
    first = all(part == 1 for part in number[1:]) and (*number[:-1], 2) in numbers
    return first and (not last or number[0] <= last[0] + _MOST_SKIPPED)


def _boxes_marked(found: Sequence[Line], lines: Lines) -> list[Line]:
    """Return marked lines, those of boxes and in them as such.

    Args:
        found: In text order.
        lines: Of the document.
    """
    marked = list(found)
    outer: dict[str, int] = {}  # position of the last line of each numbering around
    inner: dict[str, int] = {}
    in_box = False
    for i, line in enumerate(found):
        if line.family == BOX:
            in_box = True
            inner = {}
        elif line.family in (ATTACHMENT, ANNEX):
            in_box = False
            outer = {}
        else:
            in_box = in_box and _in_box(i, found, outer, inner, lines)
            if in_box:
                inner = _counted(i, found, inner)
            elif line.family:
                outer = _counted(i, found, outer)
        if in_box:
            marked[i] = replace(line, boxed=True)
    return marked


def _counted(i: int, found: Sequence[Line], last: Mapping[str, int]) -> dict[str, int]:
    """Return the last line of each numbering once another line counts: deeper ones are over."""
    rank = RANK[found[i].family]
    return {**{f: n for f, n in last.items() if RANK[f] <= rank}, found[i].family: i}


def _in_box(
    i: int, found: Sequence[Line], outer: Mapping[str, int], inner: Mapping[str, int], lines: Lines
) -> bool:
    """Tell whether a line after a box's begins or goes on with a numbering of the box."""
    line = found[i]
    family, number = line.family, line.number[-1]
    if family not in RANK or family in (*DIVISIONS, ARTICLE):
        return False
    if number == 1 and family not in inner:
        deeper = any(RANK[f] < RANK[family] for f in outer)
        at_once = found[i - 1].family == BOX and lines.next_filled(found[i - 1].last) == line.at
        below = any(RANK[f] < RANK[family] for f in inner)
        return family in outer or not deeper or at_once or below or _stands_again(i, found)
    if family not in inner or found[inner[family]].number[-1] + 1 != number:
        return False
    if family not in outer or found[outer[family]].number[-1] + 1 != number:
        return True
    is_bare = not _has_text(i, found, lines) and _has_text(outer[family], found, lines)
    return is_bare or _stands_again(i, found)


def _stands_again(i: int, found: Sequence[Line]) -> bool:
    """Tell whether the same number comes once more before the numbering begins anew."""
    line = found[i]
    for later in found[i + 1 :]:
        if later.family in (BOX, ATTACHMENT, ANNEX):
            return False
        if later.family == line.family:
            if later.number == line.number:
                return True
            if later.number[-1] == 1:
                return False
        elif RANK.get(later.family, len(RANK)) < RANK[line.family]:
            return False
    return False
