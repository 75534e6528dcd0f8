"""Compare two documents: their targets, duties, references and clauses."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

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
from kgrag.text.title_keys import title_keys, without_edition
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


def changed_sentences(
    old: Clause, new: Clause
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the (start, end) spans of the sentences that only the old, and only the new one has.

    Punctuation and blanks are ignored.
    """
    ours, theirs = list(_sentences(old)), list(_sentences(new))
    old_keys, new_keys = ({key for *_, key in of} for of in (ours, theirs))
    gone = [(start, end) for start, end, key in ours if key not in new_keys]
    return gone, [(start, end) for start, end, key in theirs if key not in old_keys]


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
_KINDS = {_ADDED: "added", _REMOVED: "removed", _CHANGED: "changed", _KEPT: "kept"}
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
_ROLES = ("牵头", "负责", "配合")
_ONE_TASK = 0.75  # share of character pairs from which two tasks are one
_OPENING = "开头"  # what stands before the first heading
_LONGEST = 300  # characters of a cell
_FEW = 0.2  # share of clauses with a counterpart below which two documents are of another build


class _Item(NamedTuple):
    """Something that a document states.

    Attributes:
        key: Items of two documents with equal keys are one.
        name: For display.
        words: What is stated of it.
        spot: Where, first.
        pairs: Counts of what items of other keys may have in common, such as character pairs.
    """

    key: Hashable
    name: str
    words: str
    spot: Spot
    pairs: Mapping[str, int] = {}


class _Change(NamedTuple):
    """What became of an item: its wording and span in each document that has it."""

    item: str
    old: tuple[str, Spot] | None
    new: tuple[str, Spot] | None
    same: bool
    alike: int | None = None

    @property
    def told(self) -> list[str]:
        """Return the wordings in the old and the new document; empty where there is none."""
        return [side[0] if side else "" for side in (self.old, self.new)]

    @property
    def kind(self) -> str:
        """Return whether it was added, removed, changed or kept."""
        if self.old is None or self.new is None:
            return _ADDED if self.old is None else _REMOVED
        return _KEPT if self.same else _CHANGED


def digest(store: Store, selection: Selection) -> Table:
    """Return what a document adds, removes and changes with respect to another one.

    If neither replaces the other, nor both are editions or periods of one title of a place, the
    words are instead what only one of them has, and what differs.

    Targets match by indicator, place and year, those left by indicator and place; duties by the
    wording of the task; references by the cited document; clauses by heading and text. What is
    unchanged is only counted in the notes.

    Raises:
        NotFoundError: If no document has one of the names, or several have.
        OutOfRangeError: If both names denote one document.
    """
    old, new = _documents(store, selection)
    headings = store.headings([old.doc_id, new.doc_id])
    ours, theirs = (clauses(d.text, headings.get(d.doc_id, [])) for d in (old, new))

    def stated(items: Callable[[Store, Document], list[_Item]]) -> list[_Change]:
        return list(_changes(items(store, old), items(store, new)))

    made: dict[Part, Callable[[], list[_Change]]] = {
        "targets": lambda: stated(_targets),
        "duties": lambda: stated(_duties),
        "references": lambda: stated(_references),
        "clauses": lambda: [_clause(pair, old, new) for pair in align(ours, theirs)],
    }
    replaces = _is_version(store, old, new)
    columns, words = (_COLUMNS, {}) if replaces else (_COLUMNS_OF_TWO, _ONLY_IN)
    changes = {part: made[part]() for part in PARTS if part in (selection.parts or PARTS)}
    shown = ((part, c) for part, of in changes.items() for c in of if c.kind != _KEPT)
    rows = (
        (
            (PARTS[part], words.get(c.kind, c.kind), _cut(c.item), *map(_cut, c.told), c.alike),
            [side[1] for side in (c.old, c.new) if side],
        )
        for part, c in shown
    )
    notes = tuple(_notes(old, new, changes, "" if replaces else "-of-two"))
    return Table("digest", columns, sourced(store, rows, day=selection.day), notes)


def _documents(store: Store, selection: Selection) -> tuple[Document, Document]:
    """Return the two documents with their texts."""
    cards = store.document_cards()
    old, new = (document_meant(n, cards).doc_id for n in (selection.document, selection.new))
    if old == new:
        raise OutOfRangeError(
            "{old!r} and {new!r} are one document: {first}",
            old=selection.document,
            new=selection.new,
            first=old,
        )
    by_id = {document.doc_id: document for document in store.documents([old, new])}
    return by_id[old], by_id[new]


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
    old: Document, new: Document, changes: Mapping[Part, Sequence[_Change]], of_two: str
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


def _clause(pair: Aligned, old: Document, new: Document) -> _Change:
    item = next(clause.path or _OPENING for clause in (pair.new, pair.old) if clause)
    if pair.old is None or pair.new is None:
        return _Change(item, _text(pair.old, old), _text(pair.new, new), same=False)
    gone, come = changed_sentences(pair.old, pair.new)
    if pair.old.heading != pair.new.heading:
        item += f"（前者：{pair.old.path or _OPENING}）"
    told = _text(pair.old, old, gone), _text(pair.new, new, come)
    return _Change(item, *told, not (gone or come), round(100 * pair.alike))


def _text(
    clause: Clause | None, document: Document, spans: Sequence[tuple[int, int]] | None = None
) -> tuple[str, Spot] | None:
    """Return the text of spans, or of a clause, and the first span, or where the clause begins."""
    if clause is None:
        return None
    text = clause.text if spans is None else "".join(document.text[a:b] for a, b in spans)
    start, end = spans[0] if spans else (clause.start, clause.start + 1)
    return text, (document.doc_id, start, end)


def _cut(text: str) -> str | None:
    return shortened(text, _LONGEST) or None


def _changes(old: Sequence[_Item], new: Sequence[_Item]) -> Iterator[_Change]:
    """Yield what became of items: in the order of the new document, then what it lacks.

    Items of one key meet; of the others those that are alike, the most similar first.
    """
    shares = {}
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            share = 1.0 if a.key == b.key else share_of_pairs(a.pairs, b.pairs)
            if share >= _ONE_TASK:
                shares[i, j] = share + (a.words == b.words)
    by_new = {j: i for i, j in _matched(shares).items()}
    for j, b in enumerate(new):
        met = old[by_new[j]] if j in by_new else None
        item = f"{b.name}（前者：{met.name}）" if met and met.name != b.name else b.name
        before = (met.words, met.spot) if met else None
        yield _Change(item, before, (b.words, b.spot), bool(met and met.words == b.words))
    left = (a for i, a in enumerate(old) if i not in by_new.values())
    yield from (_Change(a.name, (a.words, a.spot), None, same=False) for a in left)


def _targets(store: Store, document: Document) -> list[_Item]:
    """Return the planned figures; equal values once."""
    found: dict[Hashable, _Item] = {}
    own = document.metadata.regions
    for s in store.statements("target", [document.doc_id]):
        told = s.qualifiers
        if told.standing != "planned":
            continue
        place = stated_place(told, document)
        measured = measured_of(s, document)._replace(base_year="", scope=told.scope)
        key = (measured, "" if not own or place == own else place[-1], told.year)
        of_any_year = {str(key[:2]): 3, told.year: 1}  # three of four: of other years, alike
        year = f"{told.year}年：" if told.year else ""
        item = _Item(key, s.fact.subject.name, f"{year}{figure_words(s)}", spot_of(s), of_any_year)
        found.setdefault((key, told.value, told.value_to), item)
    return list(found.values())


def _duties(store: Store, document: Document) -> list[_Item]:
    """Return the tasks, each with the responsible organs by role."""
    stated: defaultdict[str, list[Statement]] = defaultdict(list)
    for s in store.statements("duty", [document.doc_id]):
        stated[normalize_name(object_of(s))].append(s)
    found = []
    for key, several in stated.items():
        organs: defaultdict[str, set[str]] = defaultdict(set)
        for s in several:
            organs[role_of(s)].add(s.fact.subject.name)
        roles = sorted(organs, key=lambda r: _ROLES.index(r) if r in _ROLES else len(_ROLES))
        words = "；".join(f"{role}：{'、'.join(sorted(organs[role]))}" for role in roles)
        name = object_of(several[0])
        pairs = Counter(character_pairs(name))
        found.append(_Item(key, name, words, spot_of(several[0]), pairs))
    return found


def _references(store: Store, document: Document) -> list[_Item]:
    """Return the cited documents, each with the roles in which it is cited."""
    stated: defaultdict[str, list[Statement]] = defaultdict(list)
    for s in store.statements("reference", [document.doc_id]):
        stated[s.fact.object.entity_id].append(s)
    return [
        _Item(
            node,
            f"《{object_of(several[0]).removeprefix('《').removesuffix('》')}》",
            "、".join(sorted(set(map(role_of, several)))),
            spot_of(several[0]),
        )
        for node, several in stated.items()
    ]
