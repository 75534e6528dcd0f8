"""Read duties by rule: which organ leads, does or helps with which task, until when."""

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgrag.ingestion.statements.duty_sentences import (
    COLUMN,
    DOES,
    LABEL,
    LEADS,
    Duty,
    Roles,
    due_in,
    is_organ,
    item_before,
    lead,
    organs,
    role_of_label,
    roles,
    stated,
)
from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.unwrapped import Unwrapped, unwrapped
from kgrag.ingestion.structure import structure
from kgrag.qualifiers import Qualifiers
from kgrag.text.numbering import without_numbering
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.table_rows import cells_of, is_delimiter
from kgrag.types import Heading

_LONGEST_CELL = 700  # characters that are read
_TASK = re.compile(r"任务|内容|事项|措施|项目|工作|举措|工程|指标|名称|目标")
_DUE = re.compile(r"(?:完成|办结)?(?:时限|期限|时间|时间节点|进度)(?:要求)?$|年限$")
_TABLE_LINE = re.compile(r"[^\r\n]+")
_BLANKS = re.compile(r"[\s\ufeff\u200b]+")
_BETWEEN_ORGANS = re.compile(
    r"(?<=[委厅局部办院署室]) (?=[一-鿿]{2,12}[委厅局部办院署室](?:[ 、，；]|$))"
)
_NUMBER = re.compile(rf"[\d{HAN_SMALL}（）().、．]*|-+|:?-+:?")

CONFIDENCE, IN_SENTENCES = 0.98, 0.9  # precision that was measured
_LONGEST_BRACKET = 700  # characters
_OPENS = {"）": "（(", ")": "（(", "〕": "〔", "】": "【", "]": "[", "］": "［"}
_OPENING = frozenset("（(〔【[［")
_TRIM = "，,、。；;：:．. \n"
_SENTENCE_ENDS = tuple("。；;！!\n")
_HINT = re.compile(r"牵头|负[责贵]|责任|配合|单位[：:]|部门[：:]|[委局厅部][、，,）)〕】］等]|职责")
_LINE = re.compile(
    rf"(?:(?<=\n)|(?<=[。；;）)〕】］])|^)(?={LABEL.pattern.replace('?P<label>', '?:')})"
)
_LINE_DUE = re.compile(r"(?:完成|办结|时间|实施)(?:时限|期限|时间|节点|要求)?[：:]")
# 市发展改革委（能源局）: the body within is of the one before
_WITHIN = re.compile(r"(?<=.{3})[（(〔][^（）()〔〕、]{2,16}(?:[局办处院站队]|中心)[）)〕]$")
_FIRST_LEADS = re.compile(
    r"(?:[排列]|排名|名列|列在)(?:在|名)?(?:第一|首)(?:位|个)?的?(?:责任)?(?:单位|部门|者)?(?:为|是|系|负责|作为)牵头"
    r"|(?:第一|首)个?(?:责任)?(?:单位|部门)(?:为|是)牵头"
)

# 以下均需各市人民政府落实，不再列出: of all items; what stands before 不再列出, by whom.
_NOT_AGAIN = re.compile(r"[，,]?(?:以下|后面|下文)?不再[^，。；\n]{0,4}列[出示举明]?")
_REACH_OF_ALL = 120  # characters
_FOR_ALL = (
    re.compile(
        r".{0,40}?以下[^，。（）]{0,8}?均?[需须由](?P<who>.{2,110}?)(?:负责|组织|抓好)*落实$"
    ),
    re.compile(r"(?P<who>.{2,110}?)均[为是][^，。]{0,8}(?:责任|落实|实施)(?:单位|部门|主体)$"),
    re.compile(r"(?P<who>.{2,110}?)按[^，。]{0,6}职责[^，。]{0,6}落实$"),
)
_NAMED_AS = re.compile(r"[（(][^（）()]*(?:含|以下|统称|下同)[^（）()]*[）)]")


def duties(text: str, *, headings: Sequence[Heading] = ()) -> list[Finding]:
    """Return who has which role in which task, one finding for each organ, in text order.

    Subject is the organ as written, predicate and `role` 牵头, 负责 or 配合, object the task: the
    lead of the item that a bracket closes, or what a sentence says that the organ does (at most
    60 characters). The span is the bracket, the labelled lines, the row or the sentence. The
    deadline is as written there, else the clauses of the item that name one, joined by ；. Organs
    that a document names once for all items (以下均需…落实，不再列出) have the task 以下各项任务.

    Args:
        text: Of the document, or any part of it.
        headings: Of the text; found by `structure` where none are given.

    >>> [(f.subject, f.predicate, f.object) for f in duties(
    ...     "1．推进工业节能。实施改造。（省工信厅牵头，省财政厅等按职责分工负责）")]
    [('省工信厅', '牵头', '推进工业节能'), ('省财政厅', '负责', '推进工业节能')]
    """
    flat = unwrapped(text)
    if not flat.text:
        return []
    spots = _spots(flat, headings or structure(text))
    first_leads = _FIRST_LEADS.search(flat.text) is not None
    places = [*_read(flat, spots, first_leads), *_of_rows(text, flat, first_leads)]
    places.sort(key=lambda p: p.start)
    taken = [(p.start, p.end) for p in places]
    of_all = list(_of_all(flat.text))
    apart = [
        (p.start, p.end) for p in of_all if not any(a < p.end and p.start < b for a, b in taken)
    ]
    taken = sorted([*taken, *apart])
    said = list(stated(flat.text, taken))
    found = [(place, CONFIDENCE) for place in (*_once(flat.text, places, said), *of_all)]
    found += [(place, IN_SENTENCES) for place in said]
    found.sort(key=lambda each: each[0].start)
    return [f for place, confidence in found for f in _findings(flat, place, confidence)]


def _spots(flat: Unwrapped, headings: Sequence[Heading]) -> list[tuple[int, int]]:
    """Return where the headings stand in the unwrapped text."""
    found = []
    for heading in headings:
        start = bisect.bisect_left(flat.offsets, heading.start)
        end = bisect.bisect_left(flat.offsets, heading.end)
        if start < end:
            found.append((start, end))
    return sorted(found)


def _read(flat: Unwrapped, headings: list[tuple[int, int]], first_leads: bool) -> Iterator[Duty]:
    spans = sorted([*_brackets(flat.text), *_lines(flat.text)])
    since = 0
    for start, end, inside in spans:
        if start < since:
            continue
        held = roles(inside)
        if not held.holders or (held.bare and flat.text[start - 1 : start] not in _SENTENCE_ENDS):
            continue
        if first_leads and not held.led:
            held = _led(held)
        begin, task = item_before(flat.text, start, since, headings)
        held = held if held.deadline else replace(held, deadline=due_in(flat.text[begin:start]))
        yield Duty(start, end, held, task)
        since = end


def _of_rows(text: str, flat: Unwrapped, first_leads: bool) -> Iterator[Duty]:
    """Yield what rows of tables state; they are read with their blanks."""
    for row in _duty_rows(text):
        held = _led(row.roles) if first_leads and not row.roles.led else row.roles
        start, end = (bisect.bisect_left(flat.offsets, at) for at in (row.start, row.end))
        yield Duty(start, end, held, row.task)


def _of_all(text: str) -> Iterator[Duty]:
    """Yield what a document states once for all its items, with the words that say so."""
    for match in _NOT_AGAIN.finditer(text):
        low = max(0, match.start() - _REACH_OF_ALL)
        low = max(low, *(text.rfind(mark, low, match.start()) + 1 for mark in "。；;：:\n〈"))
        said = next((m for p in _FOR_ALL if (m := p.match(text, low, match.start()))), None)
        names = organs(_NAMED_AS.sub("", said["who"])) if said else []
        if said and names:
            task = "以下各项任务" if "以下" in text[low : match.end()] else "各项任务"
            yield Duty(low, match.end(), Roles(tuple((n, DOES) for n in names)), task)


def _once(text: str, places: Sequence[Duty], said: Sequence[Duty]) -> Iterator[Duty]:
    """Yield brackets without the organs that the one sentence before them has named for its task.

    The others of the bracket share that task: 由甲局编制清单（责任单位：甲局、乙局）.
    """
    by_end = {_said_until(text, duty.end): duty for duty in reversed(said)}
    for place in places:
        duty = by_end.get(_said_until(text, place.start))
        opens = text.rfind("\n", 0, duty.start) + 1 if duty else 0
        title = without_numbering(text[opens : duty.start]).strip(_TRIM) if duty else "-"
        if duty is None or title not in ("", place.task):
            yield place
            continue
        named = {name for name, _ in duty.roles.holders}
        left = tuple(h for h in place.roles.holders if h[0] not in named or h[1] not in ("", DOES))
        deadline = duty.roles.deadline or place.roles.deadline
        if left:
            held = replace(place.roles, holders=left, deadline=deadline)
            yield replace(place, roles=held, task=place.task if title else duty.task)


def _said_until(text: str, end: int) -> int:
    while end and text[end - 1] in _TRIM:
        end -= 1
    return end


def _led(held: Roles) -> Roles:
    (first, _), *others = held.holders
    return replace(held, holders=((first, LEADS), *others), led=True)


def _brackets(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, inside) of the brackets that may tell who is responsible."""
    opened: list[int] = []
    for i, c in enumerate(text):
        if c in _OPENING:
            opened.append(i)
        elif c in _OPENS and opened and text[opened[-1]] in _OPENS[c]:
            start = opened.pop()
            inside = text[start + 1 : i]
            if (
                4 < len(inside) <= _LONGEST_BRACKET
                and _HINT.search(inside)
                and _tells(inside)
                and (LABEL.search(inside) or _closes(text, start, i))
            ):
                yield start, i + 1, inside


def _tells(inside: str) -> bool:
    """Return whether a bracket's words are of responsibility, and not a sentence of its own."""
    return not re.match(r"以下|含|包括|详见|见|如|不含|原|即|试行", inside)


def _closes(text: str, start: int, end: int) -> bool:
    """Return whether a bracket stands behind a sentence or at the end of a paragraph."""
    return (
        start == 0
        or text[start - 1] in "。；;！？\n：）)"
        or text[end + 1 : end + 2]
        in (
            "",
            "\n",
            "。",
            "；",
            ";",
        )
    )


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, inside) of the lines 牵头单位：…, those that follow each other as one."""
    at = 0
    for line in _LINE.finditer(text):
        start = line.start()
        if start < at:
            continue
        end = _line_end(text, start)
        while text[end : end + 1] == "\n" and any(
            p.match(text, end + 1) for p in (LABEL, _LINE_DUE)
        ):
            end = _line_end(text, end + 1)
        at = end
        inside = re.sub(r"\n", "；", text[start:end]).rstrip("。；）)〕】］")
        if len(inside) <= 2 * _LONGEST_BRACKET:
            yield start, end, inside


def _line_end(text: str, start: int) -> int:
    ends = [i for i in (text.find(m, start, start + _LONGEST_BRACKET) for m in "。\n") if i >= 0]
    return min(ends, default=min(len(text), start + _LONGEST_BRACKET))


def _body(name: str) -> str:
    """Return an organ's name without the body within it that a bracket names."""
    without = _WITHIN.sub("", name)
    return without if is_organ(without) else name


def _findings(flat: Unwrapped, place: Duty, confidence: float) -> Iterator[Finding]:
    if len(place.task) < 2:
        return
    start, end = flat.span(place.start, place.end)
    for named, role in place.roles.holders:
        organ = _body(named)
        yield Finding(
            organ,
            role or DOES,
            place.task,
            start,
            end,
            Qualifiers("duty", role=role or DOES, deadline=place.roles.deadline),
            subject_type="agency",
            object_type="measure",
            confidence=confidence,
        )


@dataclass(frozen=True, slots=True)
class _Columns:
    organs: dict[int, str]  # the role by column
    tasks: tuple[int, ...]
    due: int


def _duty_rows(text: str) -> Iterator[Duty]:
    """Yield the rows under a head that names a column of organs (责任单位, 牵头部门).

    Args:
        text: Paragraphs and rows, each on a line; cells stand between bars.
    """
    columns: _Columns | None = None
    task = ""
    for line in _TABLE_LINE.finditer(text):
        written = cells_of(line[0]) if "|" in line[0] else []
        # Blanks between two organs become a mark: 甲局 乙局.
        cells = [_BLANKS.sub("", _BETWEEN_ORGANS.sub("、", cell)) for cell in written]
        if not cells:
            columns, task = None, ""
        elif head := _columns([_label(cell) for cell in written]):
            columns, task = head, ""
        elif columns and not is_delimiter(line[0]):
            task = _task(cells, columns) or task
            held = _roles(cells, columns)
            if held.holders and task:
                yield Duty(*line.span(), held, task)


def _label(cell: str) -> str:
    """Return the label of a column: of two that a header joined, the one of organs.

    >>> _label("责任单位 牵头单位"), _label("责 任 单 位")
    ('牵头单位', '责任单位')
    """
    whole, last = _BLANKS.sub("", cell), cell.split()[-1:]
    return last[0] if not COLUMN.fullmatch(whole) and last and COLUMN.fullmatch(last[0]) else whole


def _columns(cells: list[str]) -> _Columns | None:
    organs = {i: role_of_label(c) for i, c in enumerate(cells) if COLUMN.fullmatch(c)}
    if not organs:
        return None
    due = next((i for i, c in enumerate(cells) if _DUE.search(c)), -1)
    tasks = tuple(
        i for i, c in enumerate(cells) if i not in organs and i != due and _TASK.search(c)
    )
    return _Columns(organs, tasks or tuple(i for i in range(len(cells)) if i not in organs), due)


def _task(cells: list[str], columns: _Columns) -> str:
    """Return the lead of the last column of tasks that says anything: the innermost."""
    told = [cells[i] for i in columns.tasks if i < len(cells) and not _NUMBER.fullmatch(cells[i])]
    return next(
        (task for cell in reversed(told) if len(task := lead(cell[:_LONGEST_CELL])) > 1), ""
    )


def _roles(cells: list[str], columns: _Columns) -> Roles:
    found = [
        roles(cells[i][:_LONGEST_CELL], default=r)
        for i, r in columns.organs.items()
        if i < len(cells)
    ]
    holders = tuple(dict.fromkeys(h for held in found for h in held.holders))
    due = cells[columns.due] if 0 <= columns.due < len(cells) else ""
    due = due or next((held.deadline for held in found if held.deadline), "")
    others = (c for i, c in enumerate(cells) if i not in columns.organs)
    due = due or due_in("。".join(cell[:_LONGEST_CELL] for cell in others))
    return replace(Roles(holders, due), led=any(held.led for held in found))
