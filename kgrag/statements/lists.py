"""Lists of what is stated: duties, definitions, provisions, documents and their validity."""

from collections import defaultdict
from dataclasses import replace

from kgrag.answer.notes import note
from kgrag.retrieval.filter import Filter
from kgrag.statements.choose import check_named, choose, names_all
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
from kgrag.status import Status, kind_in_words
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.facets import NATIONAL
from kgrag.text.regions import level_of
from kgrag.types import Document

_DUTIES = (
    Column("organ", "部门", "organ"),
    Column("role", "角色", "role"),
    Column("task", "任务", "task"),
    Column("deadline", "时限", "deadline"),
    Column("as_written", "原称", "as written"),
)
_DOC_ID = Column("doc_id", "文件编号", "id")
_DEFINITIONS = (
    Column("term", "术语", "term"),
    Column("definition", "定义", "definition"),
    _DOC_ID,
)
_PROVISIONS = (Column("heading", "条款", "provision"), Column("text", "内容", "text"), _DOC_ID)
_DOCUMENTS = (
    Column("title", "文件", "document"),
    Column("status", "效力", "status"),
    Column("number", "文号", "number"),
    Column("issuer", "发文机关", "issuer"),
    Column("issued", "发文日期", "issued"),
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

    of = note("duties-of" if selection.agency else "all-duties", "zh", organ=selection.agency)
    ordered = sorted(rows.items(), key=rank)
    return Stated(_DUTIES, ordered, (chosen.note(chosen.stating, of),), tasks)


def definitions(store: Store, selection: Selection) -> Stated:
    """Return what terms mean (X是指…), a row for each definition of a document.

    Raises:
        NotFoundError: If no document is selected, or none defines the term.
    """
    chosen = choose(store, selection, "definition")
    check_named(store, chosen, "definition")
    rows = [((subject_of(s), object_of(s), s.doc_id), [spot_of(s)]) for s in chosen.statements]
    of = note("definitions-of", "zh", term=selection.topic)
    return Stated(_DEFINITIONS, rows, (chosen.note(chosen.stating, of),))


def provisions(store: Store, selection: Selection) -> Stated:
    """Return sections of documents by number (第十二条) or words of their heading, in text order.

    A section ends where the next heading of its level or above begins.
    """
    chosen = choose(store, selection)
    named = names_all(selection.topic)
    spots: list[Spot] = []
    for doc_id, of_document in store.headings(sorted(chosen.cards)).items():
        for at, head in enumerate(of_document):
            if named(head.text):
                after = (h.start for h in of_document[at + 1 :] if h.level <= head.level)
                spots.append((doc_id, head.start, next(after, -1)))
    stating = {doc_id for doc_id, *_ in spots}
    texts = {d.doc_id: d.text for d in store.documents(sorted(stating))}
    rows: list[tuple[tuple[Cell, ...], list[Spot]]] = []
    for doc_id, start, end in spots:
        text = texts[doc_id][start : end if end >= 0 else None].rstrip()
        heading, _, body = text.partition("\n")
        cells = (heading.strip(), body.strip() or None, doc_id)
        rows.append((cells, [(doc_id, start, start + len(text))]))
    of = note("provisions-of", "zh", words=selection.topic)
    return Stated(_PROVISIONS, rows, (chosen.note(stating, of),))


def documents(store: Store, selection: Selection) -> Stated:
    """Return the selected documents, newest first, and whether they are in force.

    They are selected by place, level, year, issuer and words of the title. Each row has the
    clauses that say from and until when it is in force, and what ended or replaced it; of a
    document that has none, the line of its title.

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
    acts = store.statements("reference", predicates=ACTS)
    has_words, level = names_all(selection.topic), selection.level
    cards = [c for c in chosen.cards.values() if has_words(c.title) and _is_of(level, c)]
    cards.sort(key=lambda card: (card.metadata.issue_date, card.title), reverse=True)
    in_force = InForce.read(store, chosen.held)
    spans = validity_spans(store, chosen.cards)
    rows: list[tuple[tuple[Cell, ...], list[Spot]]] = []
    for card in cards:
        status = in_force.status(card.doc_id, selection.day)
        node, acting = node_id(card.title, card.metadata), status.doc_id
        by = [spot_of(s) for s in acts if s.doc_id == acting and s.fact.object.entity_id == node]
        own = [(card.doc_id, *span) for span in dict.fromkeys(spans[card.doc_id].values())]
        cells = _cells(card, status)
        rows.append((cells, [*by, *own] or [(acting or card.doc_id, 0, 1)]))
    counted = note("documents-selected", "zh", n=len(cards), total=len(chosen.held))
    return Stated(_DOCUMENTS, rows, (counted,))


def _is_of(level: str, card: Document) -> bool:
    """Return whether a document is of a level, 省 or 市; any is where that is empty."""
    return not level or level_of((NATIONAL, *card.metadata.regions)[-1]) == level


def _cells(card: Document, status: Status) -> tuple[Cell, ...]:
    told = card.metadata
    return (
        card.title,
        kind_in_words(status.kind),
        told.number or None,
        "、".join(told.issuers) or None,
        day_of_issue(card),
        told.effective or None,
        told.expires or None,
        f"《{status.title}》" if status.title else None,
        card.doc_id,
    )
