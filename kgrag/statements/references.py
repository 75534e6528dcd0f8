"""Tables of citations between documents, and of the legal basis of a document."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kgrag.answer.notes import note
from kgrag.limits import MOST_HOPS, checked_count, checked_text
from kgrag.retrieval.filter import document_meant
from kgrag.statements.choose import choose
from kgrag.statements.naming import cited_as, day_of_issue
from kgrag.statements.selection import Selection
from kgrag.statements.sources import Spot, Stated, object_of, role_of, spot_of
from kgrag.statements.table import Cell, Column
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


def cites(store: Store, selection: Selection) -> Stated:
    """Return the citations of a document, a row for each cited document and role, in text order.

    Raises:
        NotFoundError: If no document has this name, or several have.
    """
    cards = store.document_cards()
    held = by_node(cards)
    citing = document_meant(selection.document, cards).doc_id
    rows: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in store.statements("reference", [citing]):
        rows[role_of(statement), statement.fact.object.entity_id].append(statement)
    made = []
    for (role, node), several in rows.items():
        known = held.get(node, [])
        number = next((s.qualifiers.number for s in several if s.qualifiers.number), None)
        ids = "、".join(c.doc_id for c in known) or None
        cells = (role, _called(several[0], known), number, _HELD[not known], ids)
        made.append((cells, map(spot_of, several)))
    n_held = sum(node in held for _, node in rows)
    counted = note("table-cites", "zh", n=len(made), held=n_held)
    return Stated(_CITED, made, (counted,))


def cited_by(store: Store, selection: Selection) -> Stated:
    """Return the documents that cite one, held or not, a row for each document and role.

    Raises:
        NotFoundError: If no stored or cited document has this name; lists similar ones.
    """
    chosen = choose(store, selection)
    own, wanted = cited_as(store, checked_text("title", selection.document))
    rows: dict[tuple[str, str], list[Spot]] = defaultdict(list)
    called: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for s in store.statements("reference", around=wanted):
        if s.fact.object.entity_id in wanted and s.doc_id in chosen.cards.keys() - own:
            rows[s.doc_id, role_of(s)].append(spot_of(s))
            called[s.doc_id, role_of(s)][_called(s, ())] = None
    made = []
    for (citing, role), spots in sorted(rows.items(), key=lambda i: _when(chosen.cards[i[0][0]])):
        card = chosen.cards[citing]
        names = "、".join(called[citing, role])
        made.append(((role, f"《{card.title}》", names, day_of_issue(card), citing), spots))
    n = len({citing for citing, _ in rows})
    counted = note("table-cited-by", "zh", n=n, total=len(chosen.cards))
    return Stated(_CITING, made, (counted, *chosen.filter_notes()))


def basis(store: Store, selection: Selection) -> Stated:
    """Return the legal basis of a document, the basis of that, and so on: a tree, depth first.

    Only stored documents are expanded, each once.

    Raises:
        NotFoundError: If no document has this name, or several have.
        OutOfRangeError: If hops are not from 1 to `limits.MOST_HOPS`.
    """
    hops = checked_count("hops", selection.hops, most=MOST_HOPS)
    cards = store.document_cards()
    titles, held = {card.doc_id: card.title for card in cards}, by_node(cards)
    first = document_meant(selection.document, cards).doc_id
    met = {first}

    def steps(citing: str, depth: int) -> Iterator[tuple[tuple[Cell, ...], list[Spot]]]:
        found: dict[str, list[Statement]] = defaultdict(list)
        for s in store.statements("reference", [citing]):
            if role_of(s) in BASIS:
                found[s.fact.object.entity_id].append(s)
        for node, several in found.items():
            several.sort(key=lambda s: (BASIS.index(role_of(s)), s.start))
            known = held.get(node, [])
            named = f"《{titles[citing]}》", _called(several[0], known)
            cells = (depth, role_of(several[0]), *named, _HELD[not known])
            yield cells, [spot_of(s) for s in several]
            for card in known:
                if depth < hops and card.doc_id not in met:
                    met.add(card.doc_id)
                    yield from steps(card.doc_id, depth + 1)

    rows = list(steps(first, 1))
    return Stated(_BASED, rows, (note("table-basis", "zh", n=len(rows)),))


def by_node(cards: Iterable[Document]) -> dict[str, list[Document]]:
    """Return documents by the entity of their title."""
    found: defaultdict[str, list[Document]] = defaultdict(list)
    for card in cards:
        found[node_id(card.title, card.metadata)].append(card)
    return dict(found)


def _called(statement: Statement, cards: Sequence[Document]) -> str:
    return f"《{cards[0].title if cards else object_of(statement)}》"


def _when(card: Document) -> tuple[str, str]:
    return card.metadata.issue_date, card.title
