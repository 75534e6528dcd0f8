"""What a document cites: its bases, what it carries out, amends or repeals, and their own bases."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from kgrag.asking.rows import Complete, Stated, place_of
from kgrag.asking.search_context import SearchContext
from kgrag.question.question import question_of
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.tables.references import BASIS
from kgrag.text.document_nodes import node_id
from kgrag.text.words import normalize_name
from kgrag.types import Document, Language

# What a question may ask for of what is cited: the first that it asks for counts.
_ROLES: Mapping[str, Sequence[str]] = {
    "repeals": ("废止",), "amends": ("修订",), "forwards": ("转发",), "bases": BASIS,
}  # fmt: skip
_NOTES: Mapping[Language, str] = {
    "zh": "从《{title}》读出{what}{n}项，其中{held}项在库",
    "en": "{n} {what} were read from 《{title}》, {held} of them held",
}
_WHATS: Mapping[Language, tuple[str, str]] = {
    "zh": ("引用的文件", "依据（含依据的依据）"),
    "en": ("citations", "bases, with theirs"),
}
_MOST_HOPS = 3


def cited(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what a document that the question names cites; None for another question.

    Args:
        search: For the question.
        knowledge: Whose documents are listed.
    """
    query = search.query
    asks = question_of(query).asks
    if "what is cited" not in asks or len(query.titles) != 1:
        return None
    cards = {card.doc_id: card for card in knowledge.settings().cards}
    own = _own(search, query.titles[0], cards, knowledge.doc_ids)
    if own is None:
        return None
    roles = next((roles for name, roles in _ROLES.items() if name in asks), ())
    hops = _MOST_HOPS if "chain" in asks else 1
    held: dict[str, list[str]] = {}
    for card in cards.values():
        held.setdefault(node_id(card.title, card.metadata), []).append(card.doc_id)
    found = list(_followed(own, knowledge, held, roles if hops == 1 else BASIS, hops, {own}))
    if not found:
        return None
    n_held = sum(s.fact.object.entity_id in held for s in found)
    note = _NOTES[query.language].format(
        title=cards[own].title, what=_WHATS[query.language][hops > 1], n=len(found), held=n_held
    )
    rows = tuple(Stated(place_of(s), aside=_aside(s)) for s in found)
    return Complete(rows, (note,), "references")


def _own(
    search: Search, title: str, cards: Mapping[str, Document], within: Collection[str] | None
) -> str | None:
    """Return the one document that bears a title; the exact one where several hold it."""
    found = [d for d in search.titled if d in cards and (within is None or d in within)]
    exact = [d for d in found if normalize_name(cards[d].title) == normalize_name(title)]
    several = exact or found
    return several[0] if len(several) == 1 else None


def _followed(
    doc_id: str,
    knowledge: SearchContext,
    held: Mapping[str, list[str]],
    roles: Collection[str],
    hops: int,
    met: set[str],
) -> Iterator[Statement]:
    """Yield the first place where each cited document is cited, then theirs, depth first."""
    first: dict[str, Statement] = {}
    for statement in knowledge.store.statements("reference", [doc_id]):
        if not roles or _role(statement) in roles:
            first.setdefault(statement.fact.object.entity_id, statement)
    for node, statement in first.items():
        yield statement
        for further in held.get(node, ()):
            if hops > 1 and further not in met:
                met.add(further)
                yield from _followed(further, knowledge, held, roles, hops - 1, met)


def _role(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


def _aside(statement: Statement) -> str:
    name = statement.qualifiers.object or statement.fact.object.name
    return f"{_role(statement)}《{name}》"
