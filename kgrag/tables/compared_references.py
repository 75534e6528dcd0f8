"""What became of the citations of a document in another."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kgrag.language.title_keys import title_key, title_keys
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.paired import ADDED, CHANGED, KEPT, REMOVED, Change, pairs_alike
from kgrag.tables.sources import spot_of
from kgrag.types import Document

_LONG = 8  # characters of a title that is one with a longer one that ends in it


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


def reference_changes(store: Store, old: Document, new: Document) -> Iterator[Change]:
    """Yield the documents that two documents cite; one are those of one entity, or of one title.

    Args:
        store: The knowledge base.
        old: A document that is held.
        new: The one that it is compared with.
    """
    for a, b in pairs_alike(_cited(store, old), _cited(store, new), _alike, at_least=0.5):
        before, after = (cited.roles() if cited else "" for cited in (a, b))
        kind = KEPT if before == after else CHANGED if a and b else ADDED if b else REMOVED
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
