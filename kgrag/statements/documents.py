"""Documents, whether they are in force, and the clauses that say so."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kgrag.answer.notes import note
from kgrag.retrieval.filter import Filter
from kgrag.statements.choose import Chosen, choose, names_all
from kgrag.statements.in_force import ACTS, InForce
from kgrag.statements.naming import day_of_issue
from kgrag.statements.selection import Selection
from kgrag.statements.sources import Spot, Stated, object_of, spot_of
from kgrag.statements.table import Cell, Column
from kgrag.statements.timeline import validity_spans
from kgrag.status import Status, kind_in_words
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.facets import NATIONAL
from kgrag.text.regions import level_of
from kgrag.types import Document

_DOC_ID = Column("doc_id", "文件编号", "id")
_DOCUMENTS = (
    Column("title", "文件", "document"),
    Column("standing", "效力", "in force"),
    Column("number", "文号", "number"),
    Column("issuer", "发文机关", "issuer"),
    Column("issued", "发文日期", "issued"),
    Column("effective", "施行", "effective"),
    Column("expires", "有效期至", "valid until"),
    Column("replaced_by", "由何文件废止、修订或替代", "ended or replaced by"),
    Column("regions", "地区", "regions"),
    _DOC_ID,
    Column("status", "状态", "status", is_code=True),
    Column("file", "文件路径", "file"),
)


def documents_with_status(store: Store, selection: Selection) -> tuple[Chosen, dict[str, Status]]:
    """Return the selected documents, newest first, and the status of all documents at its day.

    They are selected by place, level, year, issuer, status and words of title, number, issuer or
    file.

    Raises:
        NotFoundError: If no document is selected.
    """
    within = selection.searched or Filter()
    within = replace(
        within,
        regions=selection.places or within.regions,
        years=selection.years or within.years,
        issuers=(selection.agency,) if selection.agency else within.issuers,
    )
    chosen = choose(store, Selection(kind=selection.kind, as_of=selection.as_of, within=within))
    in_force, day = InForce.read(store, chosen.held), selection.day
    statuses = {card.doc_id: in_force.status(card.doc_id, day) for card in chosen.held}
    has_words = names_all(selection.topic)
    cards = [
        card
        for card in chosen.cards.values()
        if has_words(
            "\n".join((card.title, *card.metadata.issuers, card.metadata.number, card.file))
        )
        and _is_of(selection.level, card)
        and selection.status in ("", statuses[card.doc_id].kind)
    ]
    cards.sort(key=lambda card: (card.metadata.issue_date, card.title), reverse=True)
    return replace(chosen, cards={card.doc_id: card for card in cards}), statuses


def documents(store: Store, selection: Selection) -> Stated:
    """Return the documents of `documents_with_status`, with what ended, amended or replaced them.

    Each row has the clauses that say from and until when it is in force, and what ended or replaced
    it; of a document that has none, the line of its title. Where words select, titles with them
    that a document repeals or amends and that are not held follow.

    Raises:
        NotFoundError: If no document is selected.
    """
    chosen, statuses = documents_with_status(store, selection)
    acts = store.statements("reference", predicates=ACTS)
    spans = validity_spans(store, chosen.cards)
    rows: list[tuple[tuple[Cell, ...], list[Spot]]] = []
    for card in chosen.cards.values():
        status = statuses[card.doc_id]
        node, acting = node_id(card.title, card.metadata), status.doc_id
        by = [spot_of(s) for s in acts if s.doc_id == acting and s.fact.object.entity_id == node]
        own = {
            start: (card.doc_id, start, end) for start, end in sorted(spans[card.doc_id].values())
        }
        spots = [*by, *own.values()]  # of spans in each other the longer
        rows.append((_cells(card, status), spots or [(acting or card.doc_id, 0, 1)]))
    counted = note(
        "documents-selected", "zh", n=len(rows), total=len(chosen.held), day=selection.day
    )
    if selection.topic:
        rows += _not_held(store, selection)
    return Stated(_DOCUMENTS, rows, (counted,))


def _not_held(store: Store, selection: Selection) -> Iterator[tuple[tuple[Cell, ...], list[Spot]]]:
    """Yield a row for each title that is repealed or amended and not held."""
    chosen, has_words = choose(store, selection), names_all(selection.topic)
    in_force, spots = InForce.read(store, chosen.held), defaultdict[str, list[Spot]](list)
    for s in store.statements("reference", sorted(chosen.cards), predicates=ACTS):
        spots[object_of(s)].append(spot_of(s))
    for title, stating in spots.items():
        status = in_force.status_of_title(title, selection.day) if has_words(title) else None
        if status and selection.status in ("", status.kind):
            yield _cells(Document("", title, "", "", "", ""), status), stating


def _is_of(level: str, card: Document) -> bool:
    """Return whether a document is of a level, 省 or 市; any is where that is empty."""
    return not level or level_of((NATIONAL, *card.metadata.regions)[-1]) == level


def _cells(card: Document, status: Status) -> tuple[Cell, ...]:
    told = card.metadata
    return (
        card.title,
        status.told() or kind_in_words(status.kind),
        told.number or None,
        "、".join(told.issuers) or None,
        day_of_issue(card),
        told.effective or None,
        told.expires or None,
        f"《{status.title}》" if status.title else None,
        "、".join(told.regions) or None,
        card.doc_id or None,
        status.kind,
        card.file or None,
    )
