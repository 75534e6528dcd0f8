"""Compare two documents: their targets, duties, references and clauses."""

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from kgrag.answer.notes import Note, note
from kgrag.errors import OutOfRangeError
from kgrag.retrieval.filter import document_meant
from kgrag.statements.choose import stated_place
from kgrag.statements.figures import figure_words, measured_of
from kgrag.statements.in_force import InForce
from kgrag.statements.naming import day_of_issue
from kgrag.statements.selection import Part, Selection
from kgrag.statements.sources import Spot, object_of, role_of, sourced, spot_of
from kgrag.statements.table import Column, Table
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.numbering import without_numbering
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.title_keys import title_key, title_keys, without_edition
from kgrag.text.visible import shortened
from kgrag.text.words import character_pairs, normalize_name, sentence_spans
from kgrag.types import Document, Heading

# (一)扩大绿色消费规模. in running text: a clause that is no heading of its own.
_INNER = re.compile(
    rf"(?:^|(?<=[。.．；;\n]))\s*(?P<path>[（(][{HAN_SMALL}]{{1,3}}[）)][^。.．；;\n]{{2,40}})[。.．\n]"
)
SHORTEST = 12  # characters of a clause; what is shorter is a page number, or a heading's rest
_MARKS = " \t\r\n\u3000。；，、：:."  # that a heading leaves to the text behind it
_SEVERAL = 2
_LONGEST_HEADING = 60  # characters; a longer one is a sentence, of which the clause consists
_ALIKE = 0.5  # share of character pairs from which two clauses are one that changed
_ALIKE_OF_LEFT = 0.36  # the same of clauses that have no counterpart under a heading like theirs
_ALIKE_UNDER_ONE_HEADING = 0.05  # the same where their headings agree, or nearly
_LESS = 0.6  # of that share is needed less, the more alike the headings are
_OF_HEADINGS = 0.3  # what headings add to the share where several clauses might be the one
_LIKE_HEADINGS = 0.6  # share of character pairs from which headings count as alike


@dataclass(frozen=True, slots=True)
class Clause:
    """A section of a document without its subsections.

    Attributes:
        start: Offset of its text, after the heading.
        end: Offset after it.
        heading: Normalized heading without number; empty before the first heading.
        path: Heading with number, for display.
        text: Its text.
        pairs: Counts of its character pairs.
    """

    start: int
    end: int
    heading: str
    path: str
    text: str
    pairs: Mapping[str, int]


class Aligned(NamedTuple):
    """A clause with its counterpart in the other document.

    Attributes:
        old: None where it was added.
        new: None where it was removed.
        alike: Share of character pairs in both, 0 to 1.
    """

    old: Clause | None
    new: Clause | None
    alike: float


def clauses(text: str, headings: Sequence[Heading], *, shortest: int = SHORTEST) -> list[Clause]:
    """Return the sections of a text that have so many characters, in text order."""
    found = []
    ends = [heading.start for heading in headings[1:]] + [len(text)]
    spans = [(0, headings[0].start if headings else len(text), "")]
    for head, end in zip(headings, ends, strict=bool(headings)):
        is_sentence = len(head.text) > _LONGEST_HEADING
        spans.append((head.start if is_sentence else head.end, end, head.text))
    for start, end, path in (inner for span in spans for inner in _inner(text, *span)):
        body = text[start:end]
        first, last = start + len(body) - len(body.lstrip(_MARKS)), start + len(body.rstrip())
        if last - first < shortest:
            continue
        heading = normalize_name(without_numbering(path))
        piece = text[first:last]
        found.append(Clause(first, last, heading, path, piece, Counter(character_pairs(piece))))
    return found


def _inner(text: str, start: int, end: int, path: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a section that begin with （一）, where there are several."""
    found = list(_INNER.finditer(text, start, end))
    if len(found) < _SEVERAL:
        yield start, end, path
        return
    yield start, found[0].start("path"), path
    for at, match in enumerate(found):
        stop = found[at + 1].start("path") if at + 1 < len(found) else end
        yield match.end("path"), stop, match["path"]


def align(old: Sequence[Clause], new: Sequence[Clause]) -> list[Aligned]:
    """Return pairs of corresponding clauses, each at most once, and clauses without counterpart.

    The most similar pairs are matched first; similar headings lower the threshold. What remains is
    matched by text alone.

    Returns:
        In the order of the new document; removed clauses behind their predecessor.
    """
    shares: dict[tuple[int, int], float] = {}
    alike: dict[tuple[int, int], float] = {}
    left: dict[tuple[int, int], float] = {}
    of_headings = [Counter(character_pairs(clause.heading)) for clause in new]
    for i, a in enumerate(old):
        heading = Counter(character_pairs(a.heading))
        for j, b in enumerate(new):
            share = shares[i, j] = share_of_pairs(a.pairs, b.pairs)
            named = share_of_pairs(heading, of_headings[j])
            named = named if named >= _LIKE_HEADINGS else 0.0
            if share >= max(_ALIKE - named * _LESS, _ALIKE_UNDER_ONE_HEADING):
                alike[i, j] = share + _OF_HEADINGS * named
            elif share >= _ALIKE_OF_LEFT:
                left[i, j] = share
    by_old = _matched(alike, left)
    by_new = {j: i for i, j in by_old.items()}
    rows: list[tuple[float, int, Aligned]] = []
    for j, b in enumerate(new):
        i = by_new.get(j, -1)
        share = shares[i, j] if i >= 0 else 0.0
        rows.append((j, 1, Aligned(old[i] if i >= 0 else None, b, share)))
    at = -1
    for i, a in enumerate(old):
        at = by_old.get(i, at)
        if i not in by_old:
            rows.append((at, 2, Aligned(a, None, 0.0)))
    return [aligned for _, _, aligned in sorted(rows, key=lambda row: row[:2])]


def _matched(*alike: Mapping[tuple[int, int], float]) -> dict[int, int]:
    """Return the new clause of each old one, greedily; earlier mappings take precedence."""
    by_old: dict[int, int] = {}
    for found in alike:
        # equal pairs: the nearest by place, so that 保障措施 meets 保障措施 of the same chapter
        for i, j in sorted(found, key=lambda ij: (-found[ij], abs(ij[0] - ij[1]), ij)):
            if i not in by_old and j not in by_old.values():
                by_old[i] = j
    return by_old


def is_same(old: Clause, new: Clause) -> bool:
    """Return whether two clauses are equal but for punctuation and blanks."""
    return normalize_name(old.text) == normalize_name(new.text)


def changed_sentences(
    old: Clause, new: Clause
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the (start, end) spans of removed and of added sentences."""
    ours, theirs = list(_sentences(old)), list(_sentences(new))
    matcher = SequenceMatcher(
        a=[key for _, _, key in ours], b=[key for _, _, key in theirs], autojunk=False
    )
    gone, come = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            gone += [(start, end) for start, end, _ in ours[a:b]]
            come += [(start, end) for start, end, _ in theirs[c:d]]
    return gone, come


def _sentences(clause: Clause) -> Iterator[tuple[int, int, str]]:
    for start, end in sentence_spans(clause.text):
        key = normalize_name(clause.text[start:end])
        if key:
            yield clause.start + start, clause.start + end, key


def share_of_pairs(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return the share of character pairs that two texts have in common (Dice, 1945).

    >>> share_of_pairs(Counter(["甲乙", "乙丙"]), Counter(["甲乙"]))
    0.6666666666666666
    """
    if len(one) > len(other):
        one, other = other, one
    total = sum(one.values()) + sum(other.values())
    both = sum(min(n, other[pair]) for pair, n in one.items() if pair in other)
    return 2 * both / total if total else 0.0


_ADDED, _REMOVED, _CHANGED, _KEPT = "新增", "删除", "修改", "不变"
_T = TypeVar("_T")

_ONE_TASK = 0.75  # share of character pairs from which two tasks are one
_OF_ONE_CLAUSE = 0.96  # how alike two tasks count that are each the only one of a clause
_ELSEWHERE = 0.95  # the share where their clauses have other counterparts
_BODY = re.compile("[厅局委部办]$")
_WHOSE = re.compile("（[^）]*）$")
_ROLES = ("牵头", "负责", "配合")

_LONG = 8  # characters of a title that is one with a longer one that ends in it

PARTS: Mapping[Part, str] = {
    "targets": "目标", "duties": "职责", "references": "引用", "clauses": "条款",
}  # fmt: skip
_COLUMNS = (
    Column("part", "部分", "part"),
    Column("change", "变化", "change"),
    Column("item", "内容", "item"),
    Column("old", "旧", "old"),
    Column("new", "新", "new"),
    Column("alike", "相似度%", "alike %"),
)
# Where neither document replaces the other, nothing was added or removed.
_ONLY_IN = {_ADDED: "仅见于乙", _REMOVED: "仅见于甲", _CHANGED: "不同"}
_COLUMNS_OF_TWO = (
    _COLUMNS[0],
    Column("change", "异同", "difference"),
    _COLUMNS[2],
    Column("old", "甲", "first"),
    Column("new", "乙", "second"),
    _COLUMNS[5],
)
_TIMES = re.compile(r"\d{4}年?|[一二三四五六七八九十]{1,3}五(?:时期)?")
_KINDS = {_ADDED: "added", _REMOVED: "removed", _CHANGED: "changed", _KEPT: "kept"}
_OPENING = "开头"  # what stands before the first heading
_LONGEST = 300  # characters of a cell
_Told = tuple[str, Spot] | None  # wording and span; None where a document lacks it
_FEW = 0.2  # share of clauses with a counterpart below which two documents are of another build


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was added, removed, changed or kept.

    Attributes:
        kind: `_ADDED`, `_REMOVED`, `_CHANGED` or `_KEPT`.
        item: Its name.
        old: Its wording in the old document; empty where it was added.
        new: Its wording in the new document; empty where it was removed.
        spots: Spans, those of the old document first.
        alike: Similarity of the two texts in percent; None for other items.
    """

    kind: str
    item: str
    old: str
    new: str
    spots: tuple[Spot, ...]
    alike: int | None = None

    @classmethod
    def of(
        cls, item: str, old: _Told, new: _Told, *, same: bool = False, alike: int | None = None
    ) -> "Change":
        """Return what became of an item, given wording and span in each document that has it."""
        kind = _ADDED if old is None else _REMOVED if new is None else _KEPT if same else _CHANGED
        before, after = (told[0] if told else "" for told in (old, new))
        return cls(kind, item, before, after, tuple(t[1] for t in (old, new) if t), alike)


def _pairs_alike(
    old: Sequence[_T], new: Sequence[_T], alike: Callable[[_T, _T], float], *, at_least: float
) -> list[tuple[_T | None, _T | None]]:
    """Return a greedy matching of two lists, each item at most once, the most similar pairs first.

    Args:
        old: The old items.
        new: The new items.
        alike: Similarity, 0 to 1.
        at_least: Threshold for a match.

    Returns:
        Pairs in the order of the new list, then unmatched old items.

    >>> _pairs_alike([1, 5], [4, 9], lambda a, b: 1 - abs(a - b) / 10, at_least=0.8)
    [(5, 4), (None, 9), (1, None)]
    """
    shares = {
        (i, j): share
        for i, a in enumerate(old)
        for j, b in enumerate(new)
        if (share := alike(a, b)) >= at_least
    }
    by_old = _matched(shares)
    by_new = {j: i for i, j in by_old.items()}
    met: list[tuple[_T | None, _T | None]] = [
        (old[by_new[j]] if j in by_new else None, b) for j, b in enumerate(new)
    ]
    return met + [(a, None) for i, a in enumerate(old) if i not in by_old]


def digest(store: Store, selection: Selection) -> Table:
    """Return what a document adds, removes and changes with respect to another one.

    If neither replaces the other, nor both are editions or periods of one title of a place, the
    words are instead what only one of them has, and what differs.

    Targets match by indicator, place and year, or if each document has one left of an indicator;
    duties by the wording of the task; references by the cited document; clauses by heading and
    text. What is unchanged is only counted in the notes.

    Raises:
        NotFoundError: If no document has one of the names, or several have.
        OutOfRangeError: If both names denote one document.
    """
    names, cards = (selection.document, selection.new), store.document_cards()
    old_id, new_id = (document_meant(name, cards).doc_id for name in names)
    if old_id == new_id:
        raise OutOfRangeError(
            "{old!r} and {new!r} are one document: {first}",
            old=names[0],
            new=names[1],
            first=old_id,
        )
    documents = store.documents([old_id, new_id])
    old, new = (next(d for d in documents if d.doc_id == i) for i in (old_id, new_id))
    headings = store.headings([old_id, new_id])
    ours, theirs = (clauses(d.text, headings.get(d.doc_id, [])) for d in (old, new))
    aligned = align(ours, theirs)
    made: dict[Part, Callable[[], Iterable[Change]]] = {
        "targets": lambda: _target_changes(store, old, new),
        "duties": lambda: _duty_changes(store, old, new, aligned),
        "references": lambda: _reference_changes(store, old, new),
        "clauses": lambda: (_clause(pair, old, new) for pair in aligned),
    }
    replaces = _is_version(store, old, new)
    columns, words = (_COLUMNS, {}) if replaces else (_COLUMNS_OF_TWO, _ONLY_IN)
    changes = {part: list(made[part]()) for part in PARTS if part in (selection.parts or PARTS)}
    shown = [(part, c) for part, all_of in changes.items() for c in all_of if c.kind != _KEPT]
    rows = (
        (
            (PARTS[part], words.get(c.kind, c.kind), *map(_cut, (c.item, c.old, c.new)), c.alike),
            c.spots,
        )
        for part, c in shown
    )
    notes = tuple(_notes(old, new, changes, "" if replaces else "-of-two"))
    return Table("digest", columns, sourced(store, rows, day=selection.day), notes)


def _is_version(store: Store, old: Document, new: Document) -> bool:
    """Return whether a document replaces another one, or is its edition or that of a period."""
    in_force, day = InForce.read(store), date.today().isoformat()
    ids = {old.doc_id, new.doc_id}
    if any({d.doc_id, in_force.status(d.doc_id, day).doc_id} == ids for d in (old, new)):
        return True
    ours, theirs = (
        {_TIMES.sub("", key) for key in title_keys(without_edition(d.title))} for d in (old, new)
    )
    return old.metadata.regions == new.metadata.regions and bool(ours & theirs)


def _notes(
    old: Document, new: Document, changes: Mapping[Part, Sequence[Change]], of_two: str
) -> Iterator[Note]:
    for kind, document in ((f"old-document{of_two}", old), (f"new-document{of_two}", new)):
        day = day_of_issue(document) or note("no-date", "zh")
        yield note(kind, "zh", title=document.title, day=day)
    for part, all_of in changes.items():
        n = Counter(_KINDS[change.kind] for change in all_of)
        counts = note(f"change-counts{of_two}", "zh", **{word: n[word] for word in _KINDS.values()})
        yield note(f"changes-{part}", "zh", counts=counts)
    of_clauses = changes.get("clauses", ())
    met = sum(change.kind in (_CHANGED, _KEPT) for change in of_clauses)
    if of_clauses and met < _FEW * len(of_clauses):
        yield note("built-differently", "zh")


def _clause(pair: Aligned, old: Document, new: Document) -> Change:
    item = next(clause.path or _OPENING for clause in (pair.new, pair.old) if clause)
    if pair.old is None or pair.new is None:
        return Change.of(item, _told(pair.old, old), _told(pair.new, new))
    gone, come = changed_sentences(pair.old, pair.new)
    if pair.old.heading != pair.new.heading:
        item += f"（前者：{pair.old.path or _OPENING}）"
    return Change.of(
        item,
        _told(pair.old, old, gone),
        _told(pair.new, new, come),
        same=is_same(pair.old, pair.new) or not (gone or come),
        alike=round(100 * pair.alike),
    )


def _told(
    clause: Clause | None, document: Document, spans: Sequence[tuple[int, int]] | None = None
) -> _Told:
    """Return the text of spans, or of a clause, and the first span, or where the clause begins."""
    if clause is None:
        return None
    text = clause.text if spans is None else "".join(document.text[a:b] for a, b in spans)
    start, end = spans[0] if spans else (clause.start, clause.start + 1)
    return text, (document.doc_id, start, end)


def _cut(text: str) -> str | None:
    return shortened(text, _LONGEST) or None


@dataclass(frozen=True, slots=True)
class _Cited:
    """A cited document.

    Attributes:
        node: Id of its entity.
        title: As first written.
        statements: The citations.
    """

    node: str
    title: str
    statements: tuple[Statement, ...]

    def roles(self) -> str:
        """Return the roles in which it is cited."""
        return "、".join(sorted(set(map(role_of, self.statements))))


def _reference_changes(store: Store, old: Document, new: Document) -> Iterator[Change]:
    """Yield changes of citations; cited documents match by entity or title."""
    for a, b in _pairs_alike(_cited(store, old), _cited(store, new), _alike, at_least=0.5):
        title = next(cited.title for cited in (b, a) if cited)
        before, after = ((c.roles(), spot_of(c.statements[0])) if c else None for c in (a, b))
        same = bool(before and after and before[0] == after[0])
        yield Change.of(f"《{title}》", before, after, same=same)


def _cited(store: Store, document: Document) -> list[_Cited]:
    found: dict[str, list[Statement]] = {}
    for statement in store.statements("reference", [document.doc_id]):
        found.setdefault(statement.fact.object.entity_id, []).append(statement)
    return [_Cited(node, _title(several), tuple(several)) for node, several in found.items()]


def _title(statements: Iterable[Statement]) -> str:
    return object_of(next(iter(statements))).removeprefix("《").removesuffix("》")


def _alike(one: _Cited, other: _Cited) -> float:
    """Return 1 for one entity, less where one title is a suffix of the other."""
    if one.node == other.node:
        return 1.0
    short, long = sorted((title_key(one.title), title_key(other.title)), key=len)
    same = {*title_keys(one.title)} & {*title_keys(other.title)}
    return 0.8 if same or (len(short) >= _LONG and long.endswith(short)) else 0.0


class _Of(NamedTuple):
    """What a figure measures, without the year; figures of two documents match by this key.

    Attributes:
        indicator_id: Entity of the indicator.
        unit: Unit of the value.
        change: `+` or `-` for a change by the value.
        scope: Population or area that is measured.
        counted: Qualifiers such as 新增, 年均.
        place: Empty for the document's own place.
    """

    indicator_id: str
    unit: str
    change: str
    scope: str
    counted: tuple[str, ...]
    place: str


def _target_changes(store: Store, old: Document, new: Document) -> Iterator[Change]:
    """Yield changes of planned figures, matched by indicator, place and year.

    Where each document has one figure left of an indicator, these match in spite of their years.
    """
    ours, theirs = _figures(store, old), _figures(store, new)
    for of in dict.fromkeys((*theirs, *ours)):
        a, b = ours.get(of, {}), theirs.get(of, {})
        left_a: list[Statement] = []
        left_b: list[Statement] = []
        for year in sorted({*a, *b}):
            one, other = a.get(year, []), b.get(year, [])
            if one and other:
                yield from _of_one_year(one, other)
            left_a += one if not other else []
            left_b += other if not one else []
        if len(left_a) == len(left_b) == 1:
            yield _change(left_a[0], left_b[0])
        else:
            yield from (_change(None, s) for s in left_b)
            yield from (_change(s, None) for s in left_a)


def _figures(store: Store, document: Document) -> dict[_Of, dict[str, list[Statement]]]:
    """Return the planned figures by key, then by year; equal values once."""
    found: defaultdict[_Of, dict[str, list[Statement]]] = defaultdict(dict)
    own = document.metadata.regions
    for statement in store.statements("target", [document.doc_id]):
        told = statement.qualifiers
        if told.standing != "planned":
            continue
        measured, place = measured_of(statement, document), stated_place(told, document)
        of = _Of(
            measured.indicator_id,
            measured.unit,
            measured.change,
            told.scope,
            measured.counted,
            "" if not own or place == own else place[-1],
        )
        several = found[of].setdefault(told.year, [])
        if all(_value(statement) != _value(held) for held in several):
            several.append(statement)
    return found


def _of_one_year(old: Sequence[Statement], new: Sequence[Statement]) -> Iterator[Change]:
    by_value = {_value(s): s for s in old}
    left_b = [s for s in new if _value(s) not in by_value]
    kept = {_value(s): s for s in new if _value(s) in by_value}
    left_a = [s for s in old if _value(s) not in kept]
    yield from (_change(by_value[value], s) for value, s in kept.items())
    yield from (_change(a, b) for a, b in zip_longest(left_a, left_b))


def _value(statement: Statement) -> tuple[str, str]:
    return statement.qualifiers.value, statement.qualifiers.value_to


def _change(old: Statement | None, new: Statement | None) -> Change:
    item = next(s.fact.subject.name for s in (new, old) if s)
    before, after = ((_words(s), spot_of(s)) if s else None for s in (old, new))
    year_and_value = [(s.qualifiers.year, _value(s)) for s in (old, new) if s]
    return Change.of(item, before, after, same=len(set(year_and_value)) == 1)


def _words(statement: Statement) -> str:
    told = statement.qualifiers
    year = f"{told.year}年：" if told.year else ""
    return f"{year}{figure_words(statement)}"


@dataclass
class _Task:
    """A task of a document.

    Attributes:
        name: As written.
        spot: Span of its first statement.
        pairs: Counts of the name's character pairs.
        clause: The clause of the new document that its own is aligned with, or is; None for none.
        is_alone: Whether its clause has no other task.
        organs: Names by role.
    """

    name: str
    spot: Spot
    pairs: Mapping[str, int]
    clause: Clause | None = None
    is_alone: bool = False
    organs: dict[str, list[str]] = field(default_factory=dict)

    def responsibility(self) -> str:
        """Return the responsible organs by role, as text."""
        roles = sorted(self.organs, key=lambda r: _ROLES.index(r) if r in _ROLES else len(_ROLES))
        return "；".join(f"{role}：{'、'.join(sorted(self.organs[role]))}" for role in roles)


def _duty_changes(
    store: Store, old: Document, new: Document, aligned: Sequence[Aligned]
) -> Iterator[Change]:
    """Yield changes of tasks, matched by wording and by clause.

    Between documents of two places, organs are compared without their place and level:
    四川省林业局 equals 成都市林业局, 生态环境厅 equals 生态环境局.
    """
    ours = _tasks(store, old, [(pair.old, pair.new) for pair in aligned])
    theirs = _tasks(store, new, [(pair.new, pair.new) for pair in aligned])
    across = old.metadata.regions != new.metadata.regions
    for a, b in _pairs_alike(ours, theirs, _alike_tasks, at_least=_ONE_TASK):
        item = next(task.name for task in (b, a) if task)
        if a and b and a.name != b.name:
            item += f"（前者：{a.name}）"
        before, after = ((t.responsibility(), t.spot) if t else None for t in (a, b))
        same = bool(a and b and _keys(a, old, across) == _keys(b, new, across))
        yield Change.of(item, before, after, same=same)


def _tasks(
    store: Store, document: Document, counterparts: Sequence[tuple[Clause | None, Clause | None]]
) -> list[_Task]:
    found: dict[tuple[str, int], _Task] = {}
    starts = sorted(own.start for own, _ in counterparts if own)
    for statement in store.statements("duty", [document.doc_id]):
        name = object_of(statement)
        clause = bisect.bisect_right(starts, statement.start)
        task = found.setdefault(
            (normalize_name(name), clause),
            _Task(name, spot_of(statement), Counter(character_pairs(name))),
        )
        organs = task.organs.setdefault(role_of(statement), [])
        if statement.fact.subject.name not in organs:
            organs.append(statement.fact.subject.name)
    for own, other in counterparts:
        inside = [t for t in found.values() if own and own.start <= t.spot[1] < own.end]
        for task in inside:
            task.clause, task.is_alone = other, len(inside) == 1
    return list(found.values())


def _alike_tasks(one: _Task, other: _Task) -> float:
    share = share_of_pairs(one.pairs, other.pairs)
    if one.clause is not other.clause:
        apart = one.clause is not None and other.clause is not None
        return share if share >= (_ELSEWHERE if apart else _ONE_TASK) else 0.0
    if one.clause is not None and one.is_alone and other.is_alone:
        return max(share, _OF_ONE_CLAUSE)
    return share if share >= _ONE_TASK else 0.0


def _keys(task: _Task, document: Document, across: bool) -> set[tuple[str, str]]:
    return {
        (role, _plain(organ, document) if across else organ)
        for role, organs in task.organs.items()
        for organ in organs
    }


def _plain(organ: str, document: Document) -> str:
    """Return an organ's name without its place and level."""
    bare = _WHOSE.sub("", organ)
    for region in reversed(document.metadata.regions):
        bare = bare.removeprefix(region)
    return _BODY.sub("", bare)
