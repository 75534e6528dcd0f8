"""Which documents cite which: by a document, of a document, and what it rests on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.choose import choose
from kgrag.tables.naming import day_of_issue
from kgrag.tables.sources import Spot, quoted, sources_of, spot_of
from kgrag.tables.table import Column, Note, Row, Table
from kgrag.text.document_nodes import node_id
from kgrag.types import Document

# Roles by which a document rests on another (依据), from the strongest.
BASIS = ("依据", "落实", "转发", "印发")
_ROLE = Column("role", "关系", "role")
_HELD = ("在库", "不在库")
_CITED = (
    _ROLE,
    Column("cited", "被引文件", "cited document"),
    Column("number", "文号", "number"),
    Column("held", "是否在库", "held"),
    Column("cited_doc_id", "被引文件编号", "id of the cited document"),
)
_CITING = (
    _ROLE,
    Column("citing", "引用文件", "citing document"),
    Column("called", "引作", "cited as"),
    Column("issued", "发文日期", "issued"),
    Column("doc_id", "文件编号", "id"),
)
_BASED = (
    Column("step", "层级", "step"),
    _ROLE,
    Column("from", "文件", "document"),
    Column("basis", "所依据的文件", "rests on"),
    Column("held", "是否在库", "held"),
)


def cites(store: Store, doc_id: str) -> Table:
    """Return what a document cites, a row for each cited document and role, as it first does.

    Args:
        store: The knowledge base.
        doc_id: A document that is held.
    """
    chosen = choose(store, None)
    held = _held(chosen.cards.values())
    rows: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in store.statements("reference", [doc_id]):
        rows[_role(statement), statement.fact.object.entity_id].append(statement)
    sources = quoted(store, (spot_of(s) for several in rows.values() for s in several))
    made = []
    for (role, node), several in rows.items():
        cards = held.get(node, [])
        number = next((s.qualifiers.number for s in several if s.qualifiers.number), None)
        cells = (
            role,
            _called(several[0], cards),
            number,
            _HELD[not cards],
            "、".join(c.doc_id for c in cards) or None,
        )
        made.append(Row(cells, sources_of(map(spot_of, several), sources)))
    n_held = sum(node in held for _, node in rows)
    note = Note(
        f"共引用{len(made)}项，其中{n_held}项在库", en=f"{len(made)} cited, {n_held} of them held"
    )
    return Table("cites", _CITED, tuple(made), (note,))


def cited_by(store: Store, doc_ids: Sequence[str], *, node_ids: Sequence[str] = ()) -> Table:
    """Return the documents that cite one, a row for each document and role.

    Args:
        store: The knowledge base.
        doc_ids: Held documents that are the one: more than one where a text is held twice.
        node_ids: Entities of titles that are not held.
    """
    chosen = choose(store, None)
    wanted = {_node(chosen.cards[d]) for d in doc_ids} | {*node_ids}
    rows: dict[tuple[str, str], list[Spot]] = defaultdict(list)
    called: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for statement in store.statements("reference", around=wanted):
        if statement.fact.object.entity_id in wanted and statement.doc_id not in doc_ids:
            row = statement.doc_id, _role(statement)
            rows[row].append(spot_of(statement))
            called[row][_called(statement, ())] = None
    sources = quoted(store, (spot for spots in rows.values() for spot in spots))
    made = []
    for (citing, role), spots in sorted(rows.items(), key=lambda i: _when(chosen.cards[i[0][0]])):
        card = chosen.cards[citing]
        cells = (
            role,
            f"《{card.title}》",
            "、".join(called[citing, role]),
            day_of_issue(card),
            citing,
        )
        made.append(Row(cells, sources_of(spots, sources)))
    n = len({citing for citing, _ in rows})
    note = Note(
        f"共{chosen.total}份文件，其中读出引用它的有{n}份",
        en=f"{n} of {chosen.total} documents cite it",
    )
    return Table("cited_by", _CITING, tuple(made), (note,))


@dataclass(frozen=True, slots=True)
class _Step:
    """An edge of a chain.

    Attributes:
        depth: Steps from the document that was asked for, from 1.
        citing: The document that rests on it.
        statements: Where it says so.
    """

    depth: int
    citing: str
    statements: tuple[Statement, ...]


def basis(store: Store, doc_id: str, *, hops: int = 3) -> Table:
    """Return what a document rests on, what that rests on, and so on: a tree, depth first.

    Only held documents are followed, each once: a circle ends where it closes.

    Args:
        store: The knowledge base.
        doc_id: A document that is held.
        hops: Steps at most, at least 1.
    """
    chosen = choose(store, None)
    held = _held(chosen.cards.values())
    steps = list(_steps(store, doc_id, hops, held, {doc_id}, 1))
    sources = quoted(store, (spot_of(s) for step in steps for s in step.statements))
    rows = []
    for step in steps:
        first = step.statements[0]
        cards = held.get(first.fact.object.entity_id, [])
        cells = (
            step.depth,
            _role(first),
            f"《{chosen.cards[step.citing].title}》",
            _called(first, cards),
            _HELD[not cards],
        )
        rows.append(Row(cells, sources_of(map(spot_of, step.statements), sources)))
    note = Note(f"共{len(rows)}项依据", en=f"{len(rows)} documents it rests on")
    return Table("basis", _BASED, tuple(rows), (note,))


def _steps(
    store: Store,
    doc_id: str,
    hops: int,
    held: Mapping[str, Sequence[Document]],
    met: set[str],
    depth: int,
) -> Iterator[_Step]:
    by_node: dict[str, list[Statement]] = defaultdict(list)
    for statement in store.statements("reference", [doc_id]):
        if _role(statement) in BASIS:
            by_node[statement.fact.object.entity_id].append(statement)
    for node, statements in by_node.items():
        ordered = sorted(statements, key=lambda s: (BASIS.index(_role(s)), s.start))
        yield _Step(depth, doc_id, tuple(ordered))
        for card in held.get(node, ()):
            if depth < hops and card.doc_id not in met:
                met.add(card.doc_id)
                yield from _steps(store, card.doc_id, hops, held, met, depth + 1)


def _held(cards: Iterable[Document]) -> dict[str, list[Document]]:
    found: defaultdict[str, list[Document]] = defaultdict(list)
    for card in cards:
        found[_node(card)].append(card)
    return dict(found)


def _node(card: Document) -> str:
    return node_id(card.title, card.metadata)


def _role(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


def _called(statement: Statement, cards: Sequence[Document]) -> str:
    title = cards[0].title if cards else statement.qualifiers.object or statement.fact.object.name
    return f"《{title}》"


def _when(card: Document) -> tuple[str, str]:
    return str(card.metadata.issued or card.metadata.written or ""), card.title
