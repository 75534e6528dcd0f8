"""Who cites a document: all that were read to, each with the sentence; how many of how many."""

from collections.abc import Mapping

from kgrag.asking.meant import chunk_at
from kgrag.asking.rows import Complete, Stated
from kgrag.asking.search_context import SearchContext
from kgrag.errors import NotFoundError
from kgrag.generation.listed import Place
from kgrag.question.question import question_of
from kgrag.retrieval.search import Search
from kgrag.tables.table import Source
from kgrag.tables.tables import Tables
from kgrag.types import Document, Language

_NOTE: Mapping[Language, str] = {
    "zh": "共{total}份文件，其中读出引用《{title}》的有{n}份",
    "en": "{n} of {total} documents were found to cite 《{title}》",
}


def citing(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return all documents that cite a title, where a question asks for them; None for another.

    They are those of which a rule, a model or an import says so, in the order in which they were
    issued, each with the first place; the title's own document is left out.

    Args:
        search: For the question, which quotes one title.
        knowledge: Whose documents are listed.
    """
    query = search.query
    if len(query.titles) != 1 or "who cites" not in question_of(query).asks:
        return None
    title, store = query.titles[0], knowledge.store
    settings = knowledge.settings()
    held = {card.doc_id: card for card in settings.cards}
    own = [doc_id for doc_id in search.titled if doc_id in held]
    searched = knowledge.doc_ids if knowledge.doc_ids is not None else held.keys()
    try:
        found = Tables(store).cited_by(held[own[0]].title if len(own) == 1 else title)
    except NotFoundError:
        return None
    first: dict[str, tuple[str, Source]] = {}
    for row in found.rows:
        for source in row.sources[:1]:
            if source.doc_id in searched and source.doc_id not in own:
                first.setdefault(source.doc_id, (str(row.cells[0]), source))
    if not first:
        return None
    chunks = {d: store.chunks_of([d], size=settings.leaf) for d in first}
    rows = tuple(
        Stated(Place(d, at.start, at.end, chunk_at(chunks[d], at.start)), aside=role)
        for d, (role, at) in sorted(
            first.items(), key=lambda item: (_issued(held[item[0]]), item[0])
        )
    )
    note = _NOTE[query.language].format(title=title, n=len(first), total=len(searched))
    return Complete(rows, (note,), "references")


def _issued(card: Document) -> str:
    return str(card.metadata.issued or card.metadata.written or "")
