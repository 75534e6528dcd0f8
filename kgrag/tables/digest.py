"""What one document has and another has not: targets, duties, references and clauses."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from kgrag.store.store import Store
from kgrag.tables.clauses import Aligned, Clause, align, changed_sentences, clauses, is_same
from kgrag.tables.compared_duties import duty_changes
from kgrag.tables.compared_references import reference_changes
from kgrag.tables.compared_targets import target_changes
from kgrag.tables.naming import day_of_issue
from kgrag.tables.paired import ADDED, CHANGED, KEPT, REMOVED, Change
from kgrag.tables.sources import quoted, sources_of
from kgrag.tables.table import Column, Note, Row, Table
from kgrag.types import Document

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
_KINDS = {ADDED: "added", REMOVED: "removed", CHANGED: "changed", KEPT: "kept"}
_OTHER_BUILD = Note(
    "两文写法不同，能对应的条款很少：请以目标、职责、引用为主",
    en="built differently, few clauses have a counterpart: go by targets, duties, references",
)
_OPENING = "开头"  # what stands before the first heading
_LONGEST = 300  # characters of a cell
_FEW = 0.2  # share of clauses with a counterpart below which two documents are of another build


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
        "targets": lambda: target_changes(store, old, new),
        "duties": lambda: duty_changes(store, old, new, aligned),
        "references": lambda: reference_changes(store, old, new),
        "clauses": lambda: (c for pair in aligned for c in _clause(pair, old, new)),
    }
    changes = {part: list(made[part]()) for part in PARTS if part in (parts or PARTS)}
    shown = [(part, c) for part, all_of in changes.items() for c in all_of if c.kind != KEPT]
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
    met = sum(change.kind in (CHANGED, KEPT) for change in of_clauses)
    if of_clauses and met < _FEW * len(of_clauses):
        yield _OTHER_BUILD


def _clause(pair: Aligned, old: Document, new: Document) -> Iterator[Change]:
    """Yield what became of a clause."""
    if pair.old is None or pair.new is None:
        if pair.old:
            yield _alone(pair.old, old, REMOVED)
        elif pair.new:
            yield _alone(pair.new, new, ADDED)
        return
    gone, come = changed_sentences(pair.old, pair.new)
    kind = KEPT if is_same(pair.old, pair.new) or not (gone or come) else CHANGED
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
        old=clause.text if kind == REMOVED else "",
        new=clause.text if kind == ADDED else "",
        spots=((document.doc_id, clause.start, clause.start + 1),),
    )


def _cut(text: str) -> str | None:
    line = " ".join(text.split())
    return (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…") or None
