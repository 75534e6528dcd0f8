"""Compare two documents: their targets, duties, references and clauses."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from kgrag.answer.notes import Note, note
from kgrag.errors import OutOfRangeError
from kgrag.qualifiers import StatementKind
from kgrag.retrieval.filter import document_meant
from kgrag.statements.choose import stated_place
from kgrag.statements.figures import figure_words, measured_of
from kgrag.statements.in_force import MOST_EDITIONS, age_of, work_of
from kgrag.statements.naming import day_of_issue
from kgrag.statements.selection import Part, Selection
from kgrag.statements.sources import Spot, Stated, object_of, role_of, role_rank, spot_of
from kgrag.statements.table import Column
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.numbering import without_numbering
from kgrag.text.visible import shortened
from kgrag.text.words import character_pairs, normalize_name, sentence_spans
from kgrag.types import Document

_SHORTEST = 12  # characters of a clause; what is shorter is a page number, or a heading's rest
_MARKS = " \t\r\n\u3000。；，、：:."  # that a heading leaves to the text behind it
_LONGEST_HEADING = 60  # characters; a longer one is a sentence, of which the clause consists
_OPENING = "开头"  # what stands before the first heading
_LONGEST = 300  # characters of a cell
_LIKE_HEADINGS = 0.6  # share of character pairs from which headings count as alike
_OF_HEADINGS = 0.3  # what headings add to the share where several clauses might be the one
_NEAR = 80  # % of likeness from which a clause is nearly the same
_SENTENCES = 5  # of a document that are searched in others, so many characters of each
_PHRASE = 40
_MOST_VERSIONS = 50  # that are looked for at once: each pair takes a tenth of a second
# Whether one document replaces the other is not known: nothing is called added or removed.
_ONLY_NEW, _ONLY_OLD, _DIFFERENT, _KEPT = "仅后者有", "仅前者有", "不同", "相同"
_KINDS = {_ONLY_NEW: "added", _ONLY_OLD: "removed", _DIFFERENT: "changed", _KEPT: "kept"}
_COLUMNS = (
    Column("part", "部分", "part"),
    Column("change", "异同", "difference"),
    Column("item", "内容", "item"),
    Column("old", "前者", "first"),
    Column("new", "后者", "second"),
    Column("alike", "相似度%", "alike %"),
)


Difference = tuple[str | None, ...]  # part, item, words in the old, in the new


class _Item(NamedTuple):
    """Something that a document states.

    Attributes:
        key: _Items of two documents with equal keys are one.
        name: For display.
        words: What is stated of it.
        spot: Where, first.
        pairs: Counts of what items of other keys may have in common, such as character pairs.
        named: Of a text that begins at the spot the same of its heading; it is compared by
            sentences.
    """

    key: Hashable
    name: str
    words: str
    spot: Spot
    pairs: Mapping[str, int] = {}
    named: Mapping[str, int] | None = None


class _Change(NamedTuple):
    """What became of an item: its wording and span in each document that has it."""

    item: str
    old: tuple[str, Spot] | None
    new: tuple[str, Spot] | None
    alike: int | None = None

    @property
    def kind(self) -> str:
        """Return which document has it, and of both whether they have the same."""
        if self.old is None or self.new is None:
            return _ONLY_NEW if self.old is None else _ONLY_OLD
        return _KEPT if self.old[0] == self.new[0] else _DIFFERENT


def digest(store: Store, selection: Selection) -> Stated:
    """Return what only one of two documents has, and what differs.

    Targets match by indicator, place and year, those left by indicator and place; duties by the
    wording of the task; references by the cited document; clauses by heading or text. What is
    unchanged is only counted in the notes.

    Raises:
        NotFoundError: If no document has one of the names, or several have.
        OutOfRangeError: If both names denote one document.
    """
    old, new = _documents(store, selection)
    parts = selection.parts or tuple(_PARTS)
    changes = _compared(items_of(store, old, parts), items_of(store, new, parts))
    rows = []
    for part, change, old_words, new_words in _differing(changes):
        cells = (part, change.kind, _cut(change.item), old_words, new_words, change.alike)
        rows.append((cells, [side[1] for side in (change.old, change.new) if side]))
    return Stated(_COLUMNS, rows, tuple(_notes(old, new, changes)))


def items_of(
    store: Store, document: Document, parts: Collection[Part] | None = None
) -> dict[Part, list[_Item]]:
    """Return what a stored document states, by part, for `differences`; all parts for None."""
    return {
        part: of(store, document)
        for part, (_, of, _) in _PARTS.items()
        if parts is None or part in parts
    }


def part_names(parts: Collection[Part]) -> list[str]:
    """Return the names of parts in tables; those of all for none."""
    return [_PARTS[part][0] for part in parts or _PARTS]


def differences(
    old: Mapping[Part, Sequence[_Item]], new: Mapping[Part, Sequence[_Item]]
) -> tuple[int, list[Difference]]:
    """Return how many clauses of two documents differ, and what else of them does.

    Args:
        old: Items of one document, which need not be stored any more.
        new: Of the other, the same parts.
    """
    found = [*_differing(_compared(old, new))]
    clauses = _PARTS["clauses"][0]
    rows = [(part, _cut(c.item), *words) for part, c, *words in found if part != clauses]
    return len(found) - len(rows), rows


def _differing(
    changes: Mapping[Part, Sequence[_Change]],
) -> Iterator[tuple[str, _Change, str | None, str | None]]:
    """Yield what differs: the part, the change, the words of the old and the new document."""
    for part, change in ((part, c) for part, of in changes.items() for c in of):
        if change.kind != _KEPT:
            old, new = (_cut(side[0]) if side else None for side in (change.old, change.new))
            yield _PARTS[part][0], change, old, new


def versions(store: Store, doc_ids: Collection[str], *, size: int) -> list[tuple[str, str, int]]:
    """Return which documents seem to be versions of others, the nearest by date of each.

    These are of the same place, and have mostly the same clauses; they have the same title but for
    years or, where few documents are looked at, the longest sentences.

    Args:
        store: The knowledge base.
        doc_ids: Documents that came together.
        size: Of the chunks in which sentences are searched.

    Returns:
        File, title of the other, number of clauses that differ.
    """
    cards = {card.doc_id: card for card in store.document_cards()}
    groups: defaultdict[object, list[Document]] = defaultdict(list)
    for card in cards.values():
        groups[work_of(card)].append(card)

    def before(new: Document) -> Document | None:
        group = groups[work_of(new)]
        if len(group) == 1 and len(doc_ids) <= _MOST_VERSIONS:
            shared = (cards[doc_id] for doc_id in _sharing(store, new, size) if doc_id in cards)
            group = [card for card in shared if card.metadata.regions == new.metadata.regions]
        return _before(new, group, doc_ids) if len(group) <= MOST_EDITIONS else None

    news = (card for card in cards.values() if card.doc_id in doc_ids)
    pairs = ((old, new) for new in news if (old := before(new)))
    return [v for old, new in islice(pairs, _MOST_VERSIONS) for v in _version(store, old, new)]


def _sharing(store: Store, new: Document, size: int) -> list[str]:
    """Return the documents that have most of the longest sentences of one, that itself, too."""
    text = "".join(document.text for document in store.documents([new.doc_id]))
    longest = sorted((text[a:b] for a, b in sentence_spans(text)), key=len)[-_SENTENCES:]
    found = Counter[str]()
    for words in longest:
        told = words[:_PHRASE]
        hits = store.search_phrase(told, field="text", size=size, top_k=2 * MOST_EDITIONS)
        found.update({chunk.doc_id for chunk in store.chunks([node_id for node_id, _ in hits])})
    return [doc_id for doc_id, n in found.items() if 2 * n > len(longest)]


def _before(new: Document, group: Sequence[Document], doc_ids: Collection[str]) -> Document | None:
    """Return the newest document of a group that is older, or was there before and is no newer."""
    others = [c for c in group if c.content_hash != new.content_hash]
    older = (
        c
        for c in others
        if age_of(c) < age_of(new) or (c.doc_id not in doc_ids and not _is_newer(c, new))
    )
    return max(older, key=age_of, default=None)


def _is_newer(one: Document, other: Document) -> bool:
    """Return whether a document is certainly newer, as far as both dates go."""
    (year, day), (before, first) = age_of(one), age_of(other)
    return 0 < before < year or (0 < before == year and day[: len(first)] > first)


def _version(store: Store, old: Document, new: Document) -> Iterator[tuple[str, str, int]]:
    texts = {d.doc_id: d for d in store.documents([old.doc_id, new.doc_id])}
    if len(texts) == 2:
        before, after = (items_of(store, texts[c.doc_id], ["clauses"]) for c in (old, new))
        changes = _compared(before, after)["clauses"]
        near = sum(c.kind == _KEPT or (c.alike or 0) >= _NEAR for c in changes)
        if changes and near >= len(changes) / 2:
            differ = sum(c.kind != _KEPT for c in changes)
            yield new.file, old.title, differ


def _compared(
    old: Mapping[Part, Sequence[_Item]], new: Mapping[Part, Sequence[_Item]]
) -> dict[Part, list[_Change]]:
    return {part: list(_changes(old[part], new[part], _PARTS[part][2])) for part in new}


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


def _notes(
    old: Document, new: Document, changes: Mapping[Part, Sequence[_Change]]
) -> Iterator[Note]:
    for kind, document in (("old-document", old), ("new-document", new)):
        day = day_of_issue(document) or note("no-date", "zh")
        yield note(kind, "zh", title=document.title, day=day)
    for part, all_of in changes.items():
        n = Counter(_KINDS[change.kind] for change in all_of)
        counts = note("change-counts", "zh", **{word: n[word] for word in _KINDS.values()})
        yield note(f"changes-{part}", "zh", counts=counts)


def _cut(text: str) -> str | None:
    return shortened(text, _LONGEST) or None


def _changes(old: Sequence[_Item], new: Sequence[_Item], least: float) -> Iterator[_Change]:
    """Yield what became of items: in the order of the new document, then what it lacks.

    Each item meets at most one of the other document: those of one key and the most similar first.

    Args:
        old: _Items of one document.
        new: Of the other.
        least: Share of pairs from which items of different keys are one.
    """
    by_new = {new_at: old_at for old_at, new_at in _matched(old, new, least)}
    for at, b in enumerate(new):
        yield _met(old[by_new[at]], b) if at in by_new else _Change(b.name, None, (b.words, b.spot))
    left = (a for at, a in enumerate(old) if at not in by_new.values())
    yield from (_Change(a.name, (a.words, a.spot), None) for a in left)


def _matched(old: Sequence[_Item], new: Sequence[_Item], least: float) -> Iterator[tuple[int, int]]:
    """Yield the positions of items that are one; of equal pairs the nearest by position first."""
    found = []
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            share = _share_of_pairs(a.pairs, b.pairs)
            named = _share_of_pairs(a.named or {}, b.named or {})
            if a.key == b.key or share >= least or named >= _LIKE_HEADINGS:
                share += (a.key == b.key) + (a.words == b.words) + _OF_HEADINGS * named
                found.append((-share, abs(i - j), i, j))
    ours, theirs = set[int](), set[int]()
    for *_, i, j in sorted(found):
        if i not in ours and j not in theirs:
            ours.add(i)
            theirs.add(j)
            yield i, j


def _met(a: _Item, b: _Item) -> _Change:
    """Return what became of an item that both documents have."""
    item = f"{b.name}（前者：{a.name}）" if a.name != b.name else b.name
    if b.named is None:
        return _Change(item, (a.words, a.spot), (b.words, b.spot))
    share = round(100 * _share_of_pairs(a.pairs, b.pairs))
    return _Change(item, _only_in(a, b), _only_in(b, a), share)


def _only_in(one: _Item, other: _Item) -> tuple[str, Spot]:
    """Return the sentences of a text that another one lacks, and where the first of them stands.

    Punctuation and blanks are ignored.
    """
    doc_id, first, _ = one.spot
    known = {"", *(normalize_name(other.words[a:b]) for a, b in sentence_spans(other.words))}
    spans = sentence_spans(one.words)
    left = [(a, b) for a, b in spans if normalize_name(one.words[a:b]) not in known]
    start, end = left[0] if left else (0, 1)
    return "".join(one.words[a:b] for a, b in left), (doc_id, first + start, first + end)


def _share_of_pairs(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return the share of character pairs that two texts have in common (Dice, 1945).

    >>> _share_of_pairs(Counter(["甲乙", "乙丙"]), Counter(["甲乙"]))
    0.6666666666666666
    """
    if len(one) > len(other):
        one, other = other, one
    total = sum(one.values()) + sum(other.values())
    both = sum(min(n, other[pair]) for pair, n in one.items() if pair in other)
    return 2 * both / total if total else 0.0


def _clauses(store: Store, document: Document) -> list[_Item]:
    """Return the sections without their subsections, by heading, in text order."""
    text, found = document.text, []
    headings = store.headings([document.doc_id]).get(document.doc_id, [])
    starts = [(0, "")]
    for head in headings:
        is_sentence = len(head.text) > _LONGEST_HEADING
        starts.append((head.start if is_sentence else head.end, head.text))
    ends = [*(heading.start for heading in headings), len(text)]
    for (start, path), end in zip(starts, ends, strict=True):
        words = text[start:end].lstrip(_MARKS)
        spot = (document.doc_id, end - len(words), end - len(words) + 1)
        heading = character_pairs(normalize_name(without_numbering(path)))
        words, pairs = words.rstrip(), Counter(character_pairs(words))
        if len(words) >= _SHORTEST:
            item = _Item(words, path or _OPENING, words, spot, pairs, Counter(heading))
            found.append(item)
    return found


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
    found = []
    for key, several in _grouped(store, document, "duty", lambda s: normalize_name(object_of(s))):
        organs: defaultdict[str, set[str]] = defaultdict(set)
        for s in several:
            organs[role_of(s)].add(s.fact.subject.name)
        roles = sorted(organs, key=role_rank)
        words = "；".join(f"{role}：{'、'.join(sorted(organs[role]))}" for role in roles)
        name = object_of(several[0])
        pairs = Counter(character_pairs(name))
        found.append(_Item(key, name, words, spot_of(several[0]), pairs))
    return found


def _references(store: Store, document: Document) -> list[_Item]:
    """Return the cited documents, each with the roles in which it is cited."""
    found = []
    for node, several in _grouped(store, document, "reference", lambda s: s.fact.object.entity_id):
        name = f"《{object_of(several[0]).removeprefix('《').removesuffix('》')}》"
        roles = "、".join(sorted(set(map(role_of, several))))
        found.append(_Item(node, name, roles, spot_of(several[0])))
    return found


def _grouped(
    store: Store, document: Document, kind: StatementKind, key_of: Callable[[Statement], str]
) -> Iterable[tuple[str, list[Statement]]]:
    """Return the statements of a document by a key, in text order."""
    stated: defaultdict[str, list[Statement]] = defaultdict(list)
    for s in store.statements(kind, [document.doc_id]):
        stated[key_of(s)].append(s)
    return stated.items()


# Of each part its name, its items, and the share of pairs from which two of them are one.
_PARTS: Mapping[Part, tuple[str, Callable[[Store, Document], list[_Item]], float]] = {
    "targets": ("目标", _targets, 0.75),
    "duties": ("职责", _duties, 0.75),
    "references": ("引用", _references, 1.0),
    "clauses": ("条款", _clauses, 0.36),
}
