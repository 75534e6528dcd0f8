"""What one document has and another has not: targets, duties, references and clauses."""

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.choose import stated_place
from kgrag.tables.clauses import (
    Aligned,
    Clause,
    align,
    changed_sentences,
    clauses,
    is_same,
    share_of_pairs,
)
from kgrag.tables.figures import figure_words, measured_of
from kgrag.tables.naming import day_of_issue
from kgrag.tables.sources import Spot, quoted, sources_of, spot_of
from kgrag.tables.table import Column, Note, Row, Table
from kgrag.text.title_keys import title_key, title_keys
from kgrag.text.words import character_pairs, normalize_name
from kgrag.types import Document

ADDED, _REMOVED, _CHANGED, _KEPT = "新增", "删除", "修改", "不变"
T = TypeVar("T")

_ONE_TASK = 0.75  # share of character pairs from which two tasks are one
_OF_ONE_CLAUSE = 0.96  # how alike two tasks count that are each the only one of a clause
_ELSEWHERE = 0.95  # the share where their clauses have other counterparts
_BODY = re.compile("[厅局委部办]$")
_WHOSE = re.compile("（[^）]*）$")
_ROLES = ("牵头", "负责", "配合")

_LONG = 8  # characters of a title that is one with a longer one that ends in it

Part = Literal["targets", "duties", "references", "clauses"]

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
_KINDS = {ADDED: "added", _REMOVED: "removed", _CHANGED: "changed", _KEPT: "kept"}
_OTHER_BUILD = Note(
    "两文写法不同，能对应的条款很少：请以目标、职责、引用为主",
    en="built differently, few clauses have a counterpart: go by targets, duties, references",
)
_OPENING = "开头"  # what stands before the first heading
_LONGEST = 300  # characters of a cell
_FEW = 0.2  # share of clauses with a counterpart below which two documents are of another build


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was added, removed, changed or kept.

    Attributes:
        kind: `ADDED`, `_REMOVED`, `_CHANGED` or `_KEPT`.
        item: What.
        old: As the old document has it; empty where it does not.
        new: As the new document has it.
        spots: Where, the old document first.
        alike: Percent in which the two texts agree; None where they are no texts.
    """

    kind: str
    item: str
    old: str
    new: str
    spots: tuple[Spot, ...]
    alike: int | None = None


def _pairs_alike(
    old: Sequence[T], new: Sequence[T], alike: Callable[[T, T], float], *, at_least: float
) -> list[tuple[T | None, T | None]]:
    """Return what is one of two lists side by side, each at most once, the most alike first.

    Args:
        old: Any.
        new: Any.
        alike: How much two are, 0 to 1.
        at_least: From which they may be one.

    Returns:
        In the order of the new list, then what is only in the old one.

    >>> _pairs_alike([1, 5], [4, 9], lambda a, b: 1 - abs(a - b) / 10, at_least=0.8)
    [(5, 4), (None, 9), (1, None)]
    """
    shares = {
        (i, j): share
        for i, a in enumerate(old)
        for j, b in enumerate(new)
        if (share := alike(a, b)) >= at_least
    }
    by_old: dict[int, int] = {}
    by_new: dict[int, int] = {}
    for i, j in sorted(shares, key=lambda ij: (-shares[ij], abs(ij[0] - ij[1]), ij)):
        if i not in by_old and j not in by_new:
            by_old[i], by_new[j] = j, i
    met: list[tuple[T | None, T | None]] = [
        (old[by_new[j]] if j in by_new else None, b) for j, b in enumerate(new)
    ]
    return met + [(a, None) for i, a in enumerate(old) if i not in by_old]


def digest(store: Store, old_id: str, new_id: str, *, parts: Sequence[Part] = ()) -> Table:
    """Return what a document adds to, drops from and changes of another.

    Targets are one where indicator, place and year agree, or where each document has one figure
    left of an indicator; duties where the tasks do, word for word or nearly; references where
    the cited document is one; clauses where heading and text are alike. What agrees is counted in
    the notes, and is no row.

    Args:
        store: The knowledge base.
        old_id: A document that is held.
        new_id: The one that it is compared with.
        parts: Which; empty for all.
    """
    documents = store.documents([old_id, new_id])
    old, new = (next(d for d in documents if d.doc_id == i) for i in (old_id, new_id))
    headings = store.headings([old_id, new_id])
    ours, theirs = (clauses(d.text, headings.get(d.doc_id, [])) for d in (old, new))
    aligned = align(ours, theirs)
    made: dict[Part, Callable[[], Iterable[Change]]] = {
        "targets": lambda: _target_changes(store, old, new),
        "duties": lambda: _duty_changes(store, old, new, aligned),
        "references": lambda: _reference_changes(store, old, new),
        "clauses": lambda: (c for pair in aligned for c in _clause(pair, old, new)),
    }
    changes = {part: list(made[part]()) for part in PARTS if part in (parts or PARTS)}
    shown = [(part, c) for part, all_of in changes.items() for c in all_of if c.kind != _KEPT]
    sources = quoted(store, (spot for _, change in shown for spot in change.spots))
    rows = tuple(
        Row(
            (PARTS[part], c.kind, _cut(c.item), _cut(c.old), _cut(c.new), c.alike),
            sources_of(c.spots, sources),
        )
        for part, c in shown
    )
    return Table("digest", _COLUMNS, rows, tuple(_notes(old, new, changes)))


def _notes(
    old: Document, new: Document, changes: Mapping[Part, Sequence[Change]]
) -> Iterator[Note]:
    for zh, en, document in (("旧", "old", old), ("新", "new", new)):
        day = day_of_issue(document)
        title = f"《{document.title}》"
        yield Note(
            f"{zh}：{title}（{day or '日期不明'}）", en=f"{en}: {title} ({day or 'no date'})"
        )
    for part, all_of in changes.items():
        n = Counter(change.kind for change in all_of)
        yield Note(
            f"{PARTS[part]}：" + "，".join(f"{kind}{n[kind]}" for kind in _KINDS),
            en=f"{part}: " + ", ".join(f"{n[kind]} {word}" for kind, word in _KINDS.items()),
        )
    of_clauses = changes.get("clauses", ())
    met = sum(change.kind in (_CHANGED, _KEPT) for change in of_clauses)
    if of_clauses and met < _FEW * len(of_clauses):
        yield _OTHER_BUILD


def _clause(pair: Aligned, old: Document, new: Document) -> Iterator[Change]:
    """Yield what became of a clause."""
    if pair.old is None or pair.new is None:
        if pair.old:
            yield _alone(pair.old, old, _REMOVED)
        elif pair.new:
            yield _alone(pair.new, new, ADDED)
        return
    gone, come = changed_sentences(pair.old, pair.new)
    kind = _KEPT if is_same(pair.old, pair.new) or not (gone or come) else _CHANGED
    a = (old.doc_id, *(gone[0] if gone else (pair.old.start, pair.old.start + 1)))
    b = (new.doc_id, *(come[0] if come else (pair.new.start, pair.new.start + 1)))
    yield Change(
        kind=kind,
        item=_renamed(pair.old, pair.new),
        old="".join(old.text[start:end] for start, end in gone),
        new="".join(new.text[start:end] for start, end in come),
        spots=(a, b),
        alike=round(100 * pair.alike),
    )


def _renamed(old: Clause, new: Clause) -> str:
    """Return the heading of a clause, with the old one where that says something else."""
    if old.heading == new.heading:
        return new.path or _OPENING
    return f"{new.path or _OPENING}（旧：{old.path or _OPENING}）"


def _alone(clause: Clause, document: Document, kind: str) -> Change:
    """Return a clause that only one document has, with its first sentence as the place."""
    return Change(
        kind=kind,
        item=clause.path or _OPENING,
        old=clause.text if kind == _REMOVED else "",
        new=clause.text if kind == ADDED else "",
        spots=((document.doc_id, clause.start, clause.start + 1),),
    )


def _cut(text: str) -> str | None:
    line = " ".join(text.split())
    return (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…") or None


@dataclass(frozen=True, slots=True)
class _Cited:
    """A document that another cites.

    Attributes:
        node: Its entity.
        title: As written first.
        statements: Where it is cited.
    """

    node: str
    title: str
    statements: tuple[Statement, ...]

    def roles(self) -> str:
        """Return how it is cited."""
        told = {s.qualifiers.role or s.fact.predicate for s in self.statements}
        return "、".join(sorted(told))


def _reference_changes(store: Store, old: Document, new: Document) -> Iterator[Change]:
    """Yield the documents that two documents cite; one are those of one entity, or of one title.

    Args:
        store: The knowledge base.
        old: A document that is held.
        new: The one that it is compared with.
    """
    for a, b in _pairs_alike(_cited(store, old), _cited(store, new), _alike, at_least=0.5):
        before, after = (cited.roles() if cited else "" for cited in (a, b))
        kind = _KEPT if before == after else _CHANGED if a and b else ADDED if b else _REMOVED
        title = next(cited.title for cited in (b, a) if cited)
        spots = tuple(spot_of(cited.statements[0]) for cited in (a, b) if cited)
        yield Change(kind, f"《{title}》", before, after, spots)


def _cited(store: Store, document: Document) -> list[_Cited]:
    found: dict[str, list[Statement]] = {}
    for statement in store.statements("reference", [document.doc_id]):
        found.setdefault(statement.fact.object.entity_id, []).append(statement)
    return [_Cited(node, _title(several), tuple(several)) for node, several in found.items()]


def _title(statements: Iterable[Statement]) -> str:
    first = next(iter(statements))
    return (first.qualifiers.object or first.fact.object.name).removeprefix("《").removesuffix("》")


def _alike(one: _Cited, other: _Cited) -> float:
    """Return 1 for one entity, less where one title is the other without its first words."""
    if one.node == other.node:
        return 1.0
    short, long = sorted((title_key(one.title), title_key(other.title)), key=len)
    same = {*title_keys(one.title)} & {*title_keys(other.title)}
    return 0.8 if same or (len(short) >= _LONG and long.endswith(short)) else 0.0


class _Of(NamedTuple):
    """What a figure is of, but for its year: by this the figures of two documents are one.

    Attributes:
        indicator_id: Entity of the indicator.
        unit: Of the value.
        change: `+` or `-` for a change by the value.
        scope: Of whom or what it is measured.
        counted: 新增, 年均 and the like.
        place: Where it is not the document's own place.
    """

    indicator_id: str
    unit: str
    change: str
    scope: str
    counted: tuple[str, ...]
    place: str


def _target_changes(store: Store, old: Document, new: Document) -> Iterator[Change]:
    """Yield the planned figures of two documents: of one indicator, place and year as one.

    Where each has one figure left of an indicator, these are one, whatever their years.

    Args:
        store: The knowledge base.
        old: A document that is held.
        new: The one that it is compared with.
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
            yield _changed(left_a[0], left_b[0])
        else:
            yield from (_one_sided(s, ADDED) for s in left_b)
            yield from (_one_sided(s, _REMOVED) for s in left_a)


def _figures(store: Store, document: Document) -> dict[_Of, dict[str, list[Statement]]]:
    """Return the planned figures by what they are of, then by year; the same value once."""
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
    yield from (_changed(by_value[value], s) for value, s in kept.items())
    n = min(len(left_a), len(left_b))
    yield from map(_changed, left_a[:n], left_b[:n])
    yield from (_one_sided(s, ADDED) for s in left_b[n:])
    yield from (_one_sided(s, _REMOVED) for s in left_a[n:])


def _value(statement: Statement) -> tuple[str, str]:
    return statement.qualifiers.value, statement.qualifiers.value_to


def _changed(old: Statement, new: Statement) -> Change:
    same = _value(old) == _value(new) and old.qualifiers.year == new.qualifiers.year
    return Change(
        kind=_KEPT if same else _CHANGED,
        item=new.fact.subject.name,
        old=_words(old),
        new=_words(new),
        spots=(spot_of(old), spot_of(new)),
    )


def _one_sided(statement: Statement, kind: str) -> Change:
    told = _words(statement)
    return Change(
        kind=kind,
        item=statement.fact.subject.name,
        old=told if kind == _REMOVED else "",
        new=told if kind == ADDED else "",
        spots=(spot_of(statement),),
    )


def _words(statement: Statement) -> str:
    told = statement.qualifiers
    year = f"{told.year}年：" if told.year else ""
    return f"{year}{figure_words(statement)}"


@dataclass
class _Task:
    """A task of a document.

    Attributes:
        name: As written.
        spot: Where it is stated first.
        pairs: Character pairs of the name.
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

    def told(self) -> str:
        """Return who does it, by role."""
        roles = sorted(self.organs, key=lambda r: _ROLES.index(r) if r in _ROLES else len(_ROLES))
        return "；".join(f"{role}：{'、'.join(sorted(self.organs[role]))}" for role in roles)


def _duty_changes(
    store: Store, old: Document, new: Document, aligned: Sequence[Aligned]
) -> Iterator[Change]:
    """Yield the tasks of two documents; one are those worded alike, and those of one clause.

    Between documents of two places an organ is the same where its name is but for the place and
    its level: 四川省林业局 and 成都市林业局, 生态环境厅 and 生态环境局.

    Args:
        store: The knowledge base.
        old: A document that is held.
        new: The one that it is compared with.
        aligned: Their clauses.
    """
    ours = _tasks(store, old, [(pair.old, pair.new) for pair in aligned])
    theirs = _tasks(store, new, [(pair.new, pair.new) for pair in aligned])
    across = old.metadata.regions != new.metadata.regions
    for a, b in _pairs_alike(ours, theirs, _alike_tasks, at_least=_ONE_TASK):
        if a and b:
            same = _keys(a, old, across) == _keys(b, new, across)
            item = b.name if a.name == b.name else f"{b.name}（旧：{a.name}）"
            kind = _KEPT if same else _CHANGED
            yield Change(kind, item, a.told(), b.told(), (a.spot, b.spot))
        elif b:
            yield Change(ADDED, b.name, "", b.told(), (b.spot,))
        elif a:
            yield Change(_REMOVED, a.name, a.told(), "", (a.spot,))


def _tasks(
    store: Store, document: Document, counterparts: Sequence[tuple[Clause | None, Clause | None]]
) -> list[_Task]:
    found: dict[tuple[str, int], _Task] = {}
    starts = sorted(own.start for own, _ in counterparts if own)
    for statement in store.statements("duty", [document.doc_id]):
        name = statement.qualifiers.object or statement.fact.object.name
        clause = bisect.bisect_right(starts, statement.start)
        task = found.setdefault(
            (normalize_name(name), clause),
            _Task(name, spot_of(statement), Counter(character_pairs(name))),
        )
        organs = task.organs.setdefault(_role(statement), [])
        if statement.fact.subject.name not in organs:
            organs.append(statement.fact.subject.name)
    for own, other in counterparts:
        inside = [t for t in found.values() if own and own.start <= t.spot[1] < own.end]
        for task in inside:
            task.clause, task.is_alone = other, len(inside) == 1
    return list(found.values())


def _role(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


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
    """Return an organ's name without its place and its level."""
    bare = _WHOSE.sub("", organ)
    for region in reversed(document.metadata.regions):
        bare = bare.removeprefix(region)
    return _BODY.sub("", bare)
