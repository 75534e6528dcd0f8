"""Notes on national and local figures in one answer that differ."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.figures import Figure, Measured, of_any_size, planned_figures
from kgrag.tables.references import BASIS
from kgrag.text.document_nodes import node_id
from kgrag.text.facets import NATIONAL
from kgrag.text.words import question_language
from kgrag.types import Document, Language

_NATIONAL = ("国家", "部门")


def national_beside_local(answer: Answer, store: Store) -> list[str]:
    """Return a note for each indicator with different figures of both levels in an answer.

    Only planned figures of the same year, indicator, unit, scope and base that do not grow with
    the size of a place, and only if each document has one of them. The note says whether the local
    document is based on the national one.

    Args:
        answer: With citations.
        store: The knowledge base.
    """
    cards = {
        c.doc_id: c for c in store.document_cards(sorted({c.doc_id for c in answer.citations}))
    }
    above = {d for d, card in cards.items() if _is_national(card)}
    below = {d for d, card in cards.items() if card.metadata.regions}
    if not above or not below:
        return []
    quoted = [
        (figure, number)
        for figure in planned_figures(store.statements("target", sorted(above | below)), cards)
        if (number := _cited_as(figure.statement, answer.citations))
    ]
    language = question_language(answer.question)
    first: dict[tuple[object, ...], tuple[_Quoted, _Quoted]] = {}
    for higher, own in _unlike(quoted, above, below):
        said = (own[0].measured, own[0].year, higher[0].shown, own[0].place, own[0].shown)
        first.setdefault(said, (higher, own))
    return [_told(higher, own, store, language) for higher, own in first.values()]


_Quoted = tuple[Figure, int]


def _is_national(card: Document) -> bool:
    return card.metadata.level in _NATIONAL and not card.metadata.regions


def _cited_as(statement: Statement, citations: Iterable[Citation]) -> int:
    """Return the number of the citation whose quote has a statement; 0 for none."""
    return next(
        (
            c.number
            for c in citations
            if c.doc_id == statement.doc_id and c.start <= statement.start < c.end
        ),
        0,
    )


def _unlike(
    quoted: Sequence[_Quoted], above: set[str], below: set[str]
) -> Iterator[tuple[_Quoted, _Quoted]]:
    """Yield pairs of a national and a local figure that differ."""
    groups: defaultdict[tuple[Measured, int], defaultdict[str, list[_Quoted]]]
    groups = defaultdict(lambda: defaultdict(list))
    for figure, number in quoted:
        if of_any_size(figure.measured.unit):
            groups[figure.measured, figure.year][figure.card.doc_id].append((figure, number))
    for by_document in groups.values():
        sole = {d: one for d, found in by_document.items() if (one := _only(found))}
        for higher, own in product(sorted(above & sole.keys()), sorted(below & sole.keys())):
            a, b = sole[higher][0], sole[own][0]
            at_home = a.place == (NATIONAL,) and b.place != (NATIONAL,)
            if at_home and (a.value, a.comparator) != (b.value, b.comparator):
                yield sole[higher], sole[own]


def _only(found: Sequence[_Quoted]) -> _Quoted | None:
    """Return a document's figure for an indicator; None if it has several."""
    said = {(figure.place, figure.value, figure.comparator) for figure, _ in found}
    return found[0] if len(said) == 1 else None


def _told(higher: _Quoted, own: _Quoted, store: Store, language: Language) -> str:
    above, below = higher[0], own[0]
    role = _role(below.card, above.card, store)
    return note(
        "levels",
        language,
        indicator=below.indicator,
        year=below.year,
        above=above.shown,
        m=higher[1],
        place=below.place[-1],
        own=below.shown,
        n=own[1],
        relation=note("levels-relation", language, role=role) if role else "",
    )


def _role(citing: Document, cited: Document, store: Store) -> str:
    """Return the role of a reference to another document (依据, 落实); empty for none."""
    node = node_id(cited.title, cited.metadata)
    found = store.statements("reference", [citing.doc_id], predicates=BASIS)
    roles = {s.fact.predicate for s in found if s.fact.object.entity_id == node}
    return next((role for role in BASIS if role in roles), "")
