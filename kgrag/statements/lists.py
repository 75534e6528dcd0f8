"""Lists of what is stated: duties, definitions, provisions, documents and their validity."""

from collections import defaultdict
from dataclasses import replace

from kgrag.answer.notes import Note, note
from kgrag.retrieval.filter import Filter
from kgrag.statements.choose import Chosen, check_named, choose, names_all
from kgrag.statements.in_force import ACTS, InForce
from kgrag.statements.naming import day_of_issue
from kgrag.statements.selection import Selection
from kgrag.statements.sources import (
    Spot,
    Stated,
    object_of,
    role_of,
    role_rank,
    spot_of,
    subject_of,
)
from kgrag.statements.table import Cell, Column
from kgrag.statements.timeline import validity_spans
from kgrag.status import kind_in_words
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.facets import NATIONAL
from kgrag.text.regions import level_of

_DUTIES = (
    Column("organ", "部门", "organ"),
    Column("role", "角色", "role"),
    Column("task", "任务", "task"),
    Column("deadline", "时限", "deadline"),
    Column("as_written", "原称", "as written"),
)
_TITLE = Column("title", "文件", "document")
_NUMBER = Column("number", "文号", "number")
_STATUS = Column("status", "效力", "status")
_DOC_ID = Column("doc_id", "文件编号", "id")
_DEFINITIONS = (
    Column("term", "术语", "term"),
    Column("definition", "定义", "definition"),
    _DOC_ID,
)
_PROVISIONS = (Column("heading", "条款", "provision"), Column("text", "内容", "text"), _DOC_ID)
_DOCUMENTS = (
    _TITLE,
    _NUMBER,
    Column("issuer", "发文机关", "issuer"),
    Column("issued", "发文日期", "issued"),
    _STATUS,
    _DOC_ID,
)
_VALIDITY = (
    _TITLE,
    _STATUS,
    Column("effective", "施行", "effective"),
    Column("expires", "有效期至", "valid until"),
    Column("replaced_by", "由何文件废止、修订或替代", "ended or replaced by"),
    _DOC_ID,
)


def duties(store: Store, selection: Selection) -> Stated:
    """Return the duties of an agency, a row for each task, agency and role.

    Raises:
        NotFoundError: If no document is selected, or none names the agency.
    """
    chosen = choose(store, selection, "duty")
    check_named(store, chosen, "duty")
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    tasks: dict[Spot, str] = {}
    for s in chosen.statements:
        task, deadline = object_of(s), s.qualifiers.deadline or None
        rows[s.fact.subject.name, role_of(s), task, deadline, subject_of(s)].append(spot_of(s))
        tasks[spot_of(s)] = task

    def rank(row: tuple[tuple[Cell, ...], list[Spot]]) -> tuple[str, int, Spot]:
        (name, role, *_), spots = row
        return str(name), role_rank(role), spots[0]

    ordered = sorted(rows.items(), key=rank)
    stating = {s.doc_id for s in chosen.statements}
    of = note("duties-of" if selection.agency else "all-duties", "zh", organ=selection.agency)
    return Stated(_DUTIES, ordered, (chosen.note(stating, of),), tasks)


def definitions(store: Store, selection: Selection) -> Stated:
    """Return what terms mean (X是指…), a row for each definition of a document.

    Raises:
        NotFoundError: If no document is selected, or none defines the term.
    """
    chosen = choose(store, selection, "definition")
    check_named(store, chosen, "definition")
    rows = (((subject_of(s), object_of(s), s.doc_id), (spot_of(s),)) for s in chosen.statements)
    stating = {s.doc_id for s in chosen.statements}
    counted = chosen.note(stating, note("definitions-of", "zh", term=selection.topic))
    return Stated(_DEFINITIONS, rows, (counted,))


def provisions(store: Store, selection: Selection) -> Stated:
    """Return sections of documents by number (第十二条) or words of their heading, in text order.

    A section ends where the next heading of its level or above begins.
    """
    chosen = choose(store, selection)
    named = names_all(selection.topic)
    headings = store.headings(sorted(chosen.cards))
    spots: list[Spot] = []
    for doc_id, of_document in headings.items():
        for at, head in enumerate(of_document):
            if named(head.text):
                after = (h.start for h in of_document[at + 1 :] if h.level <= head.level)
                spots.append((doc_id, head.start, next(after, -1)))
    texts = {d.doc_id: d.text for d in store.documents(sorted({doc_id for doc_id, *_ in spots}))}
    rows: list[tuple[tuple[Cell, ...], list[Spot]]] = []
    for doc_id, start, end in spots:
        text = texts[doc_id][start : end if end >= 0 else None].rstrip()
        heading, _, body = text.partition("\n")
        cells = (heading.strip(), body.strip() or None, doc_id)
        rows.append((cells, [(doc_id, start, start + len(text))]))
    of = note("provisions-of", "zh", words=selection.topic)
    counted = chosen.note({doc_id for doc_id, *_ in spots}, of)
    return Stated(_PROVISIONS, rows, (counted,))


def _selected(store: Store, selection: Selection) -> Chosen:
    """Return the documents by place, level, year, issuer and words of the title, newest first."""
    within = selection.searched or Filter()
    within = replace(
        within,
        regions=selection.places or within.regions,
        years=selection.years or within.years,
        issuers=(selection.agency,) if selection.agency else within.issuers,
    )
    chosen = choose(store, Selection(kind=selection.kind, as_of=selection.as_of, within=within))
    has_words, level = names_all(selection.topic), selection.level
    cards = [
        card
        for card in chosen.cards.values()
        if has_words(card.title)
        and (not level or level_of((NATIONAL, *card.metadata.regions)[-1]) == level)
    ]
    cards.sort(key=lambda card: (card.metadata.issue_date, card.title), reverse=True)
    return replace(chosen, cards={card.doc_id: card for card in cards})


def _notes(chosen: Chosen) -> tuple[Note, ...]:
    n, total = len(chosen.cards), len(chosen.held)
    return (note("documents-selected", "zh", n=n, total=total),)


def documents(store: Store, selection: Selection) -> Stated:
    """Return the selected documents, newest first; each with the line of its title.

    Raises:
        NotFoundError: If no document is selected.
    """
    chosen = _selected(store, selection)
    in_force = InForce.read(store, chosen.held)
    rows: list[tuple[tuple[Cell, ...], list[Spot]]] = []
    for card in chosen.cards.values():
        told, status = card.metadata, in_force.status(card.doc_id, selection.day)
        cells = (
            card.title,
            told.number or None,
            "、".join(told.issuers) or None,
            day_of_issue(card),
            kind_in_words(status.kind),
            card.doc_id,
        )
        rows.append((cells, [(card.doc_id, 0, 1)]))
    return Stated(_DOCUMENTS, rows, _notes(chosen))


def validity(store: Store, selection: Selection) -> Stated:
    """Return whether documents are in force, until when, and what ended or replaced them.

    Each row has the clauses that say so; a document that has none, the line of its title.

    Raises:
        NotFoundError: If no document is selected.
    """
    chosen = _selected(store, selection)
    in_force, day = InForce.read(store, chosen.held), selection.day
    spans = validity_spans(store, chosen.cards)
    acts = store.statements("reference", predicates=ACTS)
    rows: list[tuple[tuple[Cell, ...], list[Spot]]] = []
    for doc_id, card in chosen.cards.items():
        told, status = card.metadata, in_force.status(doc_id, day)
        node = node_id(card.title, card.metadata)
        by = [
            spot_of(s)
            for s in acts
            if s.doc_id == status.doc_id and s.fact.object.entity_id == node
        ]
        own = [(doc_id, *span) for span in dict.fromkeys(spans.get(doc_id, {}).values())]
        replaced_by = f"《{status.title}》" if status.title else None
        words = kind_in_words(status.kind)
        cells = (
            card.title,
            words,
            told.effective or None,
            told.expires or None,
            replaced_by,
            doc_id,
        )
        rows.append((cells, [*by, *own] or [(status.doc_id or doc_id, 0, 1)]))
    return Stated(_VALIDITY, rows, _notes(chosen))
