"""Who cites a document: all that were read to, each with the sentence; how many of how many."""

import re
from collections.abc import Mapping

from kgrag.asking.rows import Complete, Stated, place_of
from kgrag.asking.search_context import SearchContext
from kgrag.language.document_nodes import node_id
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.tables.naming import called_so
from kgrag.types import Document, Language

# 哪些文件引用了《A》; which documents cite 《A》; 《A》被哪些文件引用.
_WHO_CITES = re.compile(
    r"》\s*(?:被|由)(?:哪些|哪几|什么|多少).{0,8}?(?:文件|政策|文档).{0,4}?(?:引用|援引|依据|落实|提到|提及)|"
    r"(?:哪些|哪几|什么|多少|which|what|how many).{0,16}?"
    r"(?:文件|政策|文档|办法|方案|规划|通知|规定|documents?|policies).{0,12}?"
    r"(?:引用|援引|依据|根据|落实|提到|提及|参照|转发|cite|refer|based on|mention).{0,8}?《",
    re.IGNORECASE,
)
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
    if len(query.titles) != 1 or not _WHO_CITES.search(query.quoting):
        return None
    title = query.titles[0]
    settings = knowledge.settings()
    held = {card.doc_id: card for card in settings.cards}
    own = {doc_id for doc_id in search.titled if doc_id in held}
    nodes = {node_id(held[doc_id].title, held[doc_id].metadata) for doc_id in own}
    for name in own or [title]:
        same, called = called_so(knowledge.store, name)
        own |= {*same}
        nodes |= {*called}
    searched = knowledge.doc_ids if knowledge.doc_ids is not None else held.keys()
    first: dict[str, Statement] = {}
    for statement in knowledge.store.statements("reference", around=nodes):
        is_wanted = statement.fact.object.entity_id in nodes and statement.doc_id not in own
        if is_wanted and statement.doc_id in searched:
            first.setdefault(statement.doc_id, statement)
    if not first:
        return None
    listed = sorted(first.values(), key=lambda s: (_issued(held[s.doc_id]), s.doc_id))
    note = _NOTE[query.language].format(title=title, n=len(listed), total=len(searched))
    rows = tuple(Stated(place_of(s), aside=s.qualifiers.role or s.fact.predicate) for s in listed)
    return Complete(rows, (note,), "references")


def _issued(card: Document) -> str:
    return str(card.metadata.issued or card.metadata.written or "")
