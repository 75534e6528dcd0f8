"""Questions that a table answers: every word is bound to a field of a selection, or asks."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Row as Shown
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answer.sentences import sentence_around
from kgrag.answering.clauses import METHOD
from kgrag.answering.look_up import MOST_SOURCES, Given, Item
from kgrag.answering.search_context import SearchContext
from kgrag.errors import NotFoundError
from kgrag.question.question import Question, question_of
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.search import Search
from kgrag.statements.table import Cell, Row, Table, shown, worded
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called
from kgrag.text.indicators import indicator_names, is_indicator
from kgrag.text.regions import regions_named
from kgrag.text.words import normalize_name
from kgrag.types import Query

if TYPE_CHECKING:
    from kgrag.statements.selection import Selection

_MOST = 60  # rows
_LONGEST = 300  # characters of a sentence; of a longer one, the place alone
_OF_FIGURES = [
    "place",
    "year",
    "plan",
    "planned",
    "achieved",
    "most",
    "least",
    "province",
    "city",
    "nation",
    "document",
    "and",
    "compare",
]
# Cells of a row that its lead shows, by table; those of figures are worded by `_figures`.
_TOLD = {
    "duties": ("role", "task", "deadline"),
    "cites": ("role", "cited"),
    "cited_by": ("role", "issued"),
    "basis": ("role", "basis"),
}


def selection_of(search: Search, knowledge: SearchContext) -> "Selection | None":
    """Return what a question selects of all statements, if every word of it is bound; else None.

    Figures are of one indicator that the archive holds, and of places, a level or the country;
    citations of one title; duties of one agency that the archive holds.

    Args:
        search: For the question.
        knowledge: Documents to search.
    """
    from kgrag.statements.selection import Selection

    asked = question_of(search.query)
    if search.query.unread or asked.asks_on:
        return None
    if asked.kind in ("cites", "cited_by", "basis"):
        cited = _of_title(asked, search)
        return Selection.model_validate(cited) if cited else None
    told = _of_agency(asked, search) if asked.kind == "duties" else _of_indicator(asked, search)
    held = knowledge.doc_ids
    within = Filter(documents=tuple(sorted(held))) if held is not None else None
    return Selection.model_validate({**told, "within": within}) if told else None


def _of_title(asked: Question, search: Search) -> dict[str, object]:
    """Return the fields of what a title cites or is cited by; of several titles none."""
    titles, held = search.query.titles, [*search.titled]
    if len(titles) != 1 or asked.rest(("title", "cite", "base", "document")):
        return {}
    name = held[0] if len(held) == 1 else titles[0]
    return {"kind": asked.kind, "document": name, "hops": 1}


def _of_agency(asked: Question, search: Search) -> dict[str, object]:
    """Return the fields of the duties of an agency that the archive holds; else none."""
    agency = asked.rest(["duty"])
    found = search.store.find_entities([normalize_name(agency)]) if agency else []
    if not any(entity.type == "agency" for entity in found):
        return {}
    role = "牵头" if "牵头" in search.query.text else ""
    return {"kind": "duties", "agency": agency, "role": role}


def _of_indicator(asked: Question, search: Search) -> dict[str, object]:
    """Return the fields of figures of places of one indicator that the archive holds; else none."""
    places = (*asked.places, *([NATIONAL] if search.query.national and not asked.level else ()))
    indicator = asked.rest(_OF_FIGURES) if places or asked.level else ""
    names = sorted(normalize_name(name) for name in indicator_names(indicator))
    if not is_indicator(indicator) or not search.store.find_entities(names):
        return {}
    due = asked.due
    return {
        "kind": "targets",
        "indicator": indicator,
        "places": places,
        "years": (min(due), max(due)) if due else None,
        "standing": asked.standing,
        "level": asked.level,
        "order": asked.order,
    }


def table_of(search: Search, knowledge: SearchContext, *, planned: bool = True) -> Table | None:
    """Return the table that answers a question, with the sources searched; None for none.

    Of figures the rows are those of the places named, or of the level asked for; with an order,
    sorted by value.

    Args:
        search: For the question.
        knowledge: Documents to search.
        planned: Whether the retrieval system decomposes questions; others list nothing.
    """
    from kgrag.statements.engine import rows

    selection = selection_of(search, knowledge) if planned else None
    if selection is None:
        return None
    try:
        table = rows(knowledge.store, selection)
    except NotFoundError:
        return None
    held, asked = knowledge.doc_ids, question_of(search.query)
    known = knowledge.settings().known_places
    searched = (
        replace(row, sources=tuple(s for s in row.sources if held is None or s.doc_id in held))
        for row in table.rows
        if table.name != "targets" or _is_asked(str(_cells(table, row)["region"]), asked, known)
    )
    kept = tuple(row for row in searched if row.sources)
    return replace(table, rows=kept) if kept else None


def _is_asked(region: str, asked: Question, known: Collection[str]) -> bool:
    """Return whether a place is named itself; of a level, whether it is known, not a misread word.

    Args:
        region: Full name.
        asked: The question.
        known: Short names of places that no gazetteer lists.
    """
    if asked.level:
        return bool(regions_named(region)) or called(region) in known
    return called(region) in asked.places or (region == NATIONAL and asked.query.national)


def _cells(table: Table, row: Row) -> dict[str, Cell]:
    return {column.key: cell for column, cell in zip(table.columns, row.cells, strict=True)}


def _lines(table: Table, *, each: bool = False) -> list[tuple[str, tuple[Citation, ...]]]:
    """Return what the rows of a table state, in words, with their sources.

    Of figures there is one line for each place and year, or for `each` value of these.
    """
    if table.name == "targets":
        return [*_figures(table, each=each)]
    told = ((_cells(table, row), row.sources) for row in table.rows)
    return [
        ("，".join(str(cells[key]) for key in _TOLD[table.name] if cells[key]), sources)
        for cells, sources in told
    ]


def _figures(table: Table, *, each: bool) -> Iterator[tuple[str, tuple[Citation, ...]]]:
    """Yield a line for each place and year: 四川省，2025年：≥24%."""
    rows_of = [(_cells(table, row), row.sources) for row in table.rows]
    apart = [
        key
        for key in ("indicator", "scope", "standing")
        if len({cells[key] for cells, _ in rows_of}) > 1
    ]
    told = defaultdict[tuple[str, ...], list[tuple[str, tuple[Citation, ...]]]](list)
    for cells, sources in rows_of:
        year = f"{cells['year']}年" if cells["year"] else str(cells["period"] or "")
        words = _value(cells, [str(cells[key]) for key in apart if cells[key]])
        told[str(cells["region"]), year, words if each else ""].append((words, sources))
    for place_and_year, figures in told.items():
        when = "，".join(filter(None, place_and_year[:2]))
        values = "、".join(dict.fromkeys(words for words, _ in figures))
        stating = dict.fromkeys(source for _, several in figures for source in several)
        yield f"{when}：{values}", tuple(stating)


def _value(cells: Mapping[str, Cell], apart: Sequence[str]) -> str:
    """Return a figure in words: 较2020年降13.5%, ≥24%（城镇）."""
    sign, base = str(cells["comparator"] or ""), cells["base_year"]
    since = f"较{base}年" if base and sign.startswith(("增", "降")) else ""
    to = f"–{shown(cells['value_to'])}" if cells["value_to"] is not None else ""
    remark = f"（{'，'.join(apart)}）" if apart else ""
    return f"{since}{sign}{shown(cells['value'])}{to}{cells['unit'] or ''}{remark}"


def answer_of(table: Table, query: Query, store: Store, *, size: int) -> Answer:
    """Return a table as an answer, one line each: what is stated, document, sentence, [n].

    Sources of documents that were deleted meanwhile are left out.

    Args:
        table: Of `table_of`.
        query: The question.
        store: The knowledge base.
        size: Of the chunks in which citations lie.
    """
    told, language = _lines(table), query.language
    doc_ids = list({source.doc_id for _, sources in told[:_MOST] for source in sources})
    documents = {document.doc_id: document for document in store.documents(doc_ids)}
    headings, chunks = store.headings(doc_ids), store.chunks_of(doc_ids, size=size)

    def cited(source: Citation) -> Citation:
        document = documents[source.doc_id]
        span = sentence_around(document.text, source.start, source.end, longest=_LONGEST)
        around = (c for c in chunks if c.doc_id == source.doc_id and c.start <= span[0] < c.end)
        chunk_id = next((chunk.chunk_id for chunk in around), "")
        return Citation.of(document, headings.get(source.doc_id, ()), span, chunk_id)

    blocks = tuple(
        Shown(first, lead=lead, further=tuple(further))
        for lead, sources in told[:_MOST]
        if (held := dict.fromkeys(cited(s) for s in sources if s.doc_id in documents))
        for first, *further in [held]
    )
    cut: list[str] = [note("first-rows", language, shown=_MOST)] if len(told) > _MOST else []
    return Answer(query.text, blocks, METHOD, notes=(*worded(table.notes, language), *cut))


def given_of(table: Table) -> Given:
    """Return the first rows of a table as a model is given them, with their first sources."""
    told = (
        Item(text, tuple((s.doc_id, s.start, s.end) for s in sources[:MOST_SOURCES]))
        for text, sources in _lines(table, each=True)[:_MOST]
    )
    return Given([*told])
