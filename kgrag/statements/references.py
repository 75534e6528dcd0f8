"""Tables of citations between documents, and of the legal basis of a document."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgrag.answer.notes import note
from kgrag.statements.choose import choose
from kgrag.statements.naming import day_of_issue
from kgrag.statements.sources import Spot, object_of, role_of, sourced, spot_of
from kgrag.statements.table import Column, Table
from kgrag.store.graph import Statement
from kgrag.store.store import Store
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
    """Return the citations of a document, a row for each cited document and role, in text order."""
    chosen = choose(store, None)
    held = by_node(chosen.cards.values())
    rows: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in store.statements("reference", [doc_id]):
        rows[role_of(statement), statement.fact.object.entity_id].append(statement)
    made = []
    for (role, node), several in rows.items():
        cards = held.get(node, [])
        number = next((s.qualifiers.number for s in several if s.qualifiers.number), None)
        ids = "、".join(c.doc_id for c in cards) or None
        cells = (role, _called(several[0], cards), number, _HELD[not cards], ids)
        made.append((cells, map(spot_of, several)))
    n_held = sum(node in held for _, node in rows)
    counted = note("table-cites", "zh", n=len(made), held=n_held)
    return Table("cites", _CITED, sourced(store, made), (counted,))


def cited_by(store: Store, doc_ids: Sequence[str], *, node_ids: Sequence[str] = ()) -> Table:
    """Return the documents that cite one, a row for each document and role.

    Args:
        store: The knowledge base.
        doc_ids: The cited document; several ids where a text is stored more than once.
        node_ids: Entities of titles without a stored document.
    """
    chosen = choose(store, None)
    wanted = {_node(chosen.cards[d]) for d in doc_ids} | {*node_ids}
    rows: dict[tuple[str, str], list[Spot]] = defaultdict(list)
    called: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for statement in store.statements("reference", around=wanted):
        if statement.fact.object.entity_id in wanted and statement.doc_id not in doc_ids:
            row = statement.doc_id, role_of(statement)
            rows[row].append(spot_of(statement))
            called[row][_called(statement, ())] = None
    made = []
    for (citing, role), spots in sorted(rows.items(), key=lambda i: _when(chosen.cards[i[0][0]])):
        card = chosen.cards[citing]
        names = "、".join(called[citing, role])
        made.append(((role, f"《{card.title}》", names, day_of_issue(card), citing), spots))
    n = len({citing for citing, _ in rows})
    counted = note("table-cited-by", "zh", n=n, total=chosen.total)
    return Table("cited_by", _CITING, sourced(store, made), (counted,))


@dataclass(frozen=True, slots=True)
class Step:
    """A citation in a chain.

    Attributes:
        depth: Distance from the first document, from 1.
        citing: The citing document.
        statements: The citations, in text order.
    """

    depth: int
    citing: str
    statements: tuple[Statement, ...]


def basis(store: Store, doc_id: str, *, hops: int = 3) -> Table:
    """Return the legal basis of a document, the basis of that, and so on: a tree, depth first.

    Only stored documents are expanded, each once.

    Args:
        store: The knowledge base.
        doc_id: A stored document.
        hops: Greatest depth, at least 1.
    """
    chosen = choose(store, None)
    held = by_node(chosen.cards.values())
    rows = []
    for step in citation_chain(store, doc_id, held=held, roles=BASIS, hops=hops):
        ordered = sorted(step.statements, key=lambda s: (BASIS.index(role_of(s)), s.start))
        cards = held.get(ordered[0].fact.object.entity_id, [])
        title = f"《{chosen.cards[step.citing].title}》"
        basis_title = _called(ordered[0], cards)
        cells = (step.depth, role_of(ordered[0]), title, basis_title, _HELD[not cards])
        rows.append((cells, map(spot_of, ordered)))
    counted = note("table-basis", "zh", n=len(rows))
    return Table("basis", _BASED, sourced(store, rows), (counted,))


def citation_chain(
    store: Store,
    doc_id: str,
    *,
    held: Mapping[str, Sequence[Document]],
    roles: Collection[str],
    hops: int,
) -> Iterator[Step]:
    """Yield the citations of a document and of its cited documents, depth first, each once.

    Args:
        store: The knowledge base.
        doc_id: A stored document.
        held: Stored documents by entity, from `by_node`.
        roles: Roles of citations; empty for all.
        hops: Greatest depth, at least 1.
    """
    met = {doc_id}

    def steps(citing: str, depth: int) -> Iterator[Step]:
        found: dict[str, list[Statement]] = defaultdict(list)
        for statement in store.statements("reference", [citing]):
            if not roles or role_of(statement) in roles:
                found[statement.fact.object.entity_id].append(statement)
        for node, statements in found.items():
            yield Step(depth, citing, tuple(statements))
            for card in held.get(node, ()):
                if depth < hops and card.doc_id not in met:
                    met.add(card.doc_id)
                    yield from steps(card.doc_id, depth + 1)

    return steps(doc_id, 1)


def by_node(cards: Iterable[Document]) -> dict[str, list[Document]]:
    """Return documents by the entity of their title."""
    found: defaultdict[str, list[Document]] = defaultdict(list)
    for card in cards:
        found[_node(card)].append(card)
    return dict(found)


def _node(card: Document) -> str:
    return node_id(card.title, card.metadata)


def _called(statement: Statement, cards: Sequence[Document]) -> str:
    return f"《{cards[0].title if cards else object_of(statement)}》"


def _when(card: Document) -> tuple[str, str]:
    return card.metadata.issue_date, card.title
