"""Who cites a document: all that were read to, each with the sentence; how many of how many."""

import re
from collections.abc import Mapping, Sequence

from kgrag.asking.search_context import SearchContext
from kgrag.generation.citation import citation
from kgrag.generation.extract import METHOD
from kgrag.language.answer_text import without_marks
from kgrag.language.document_nodes import node_id
from kgrag.language.text import sentence_around
from kgrag.results import Answer, Citation
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.types import Document, Heading, Language

# 哪些文件引用了《A》; which documents cite 《A》. The title stands behind the word.
_WHO_CITES = re.compile(
    r"(?:哪些|哪几|什么|多少|which|what|how many).{0,16}?"
    r"(?:文件|政策|文档|办法|方案|规划|通知|规定|documents?|policies).{0,12}?"
    r"(?:引用|援引|依据|根据|落实|提到|提及|参照|转发|cite|refer|based on|mention).{0,8}?《",
    re.IGNORECASE,
)
_NOTE: Mapping[Language, str] = {
    "zh": "共{total}份文件，其中读出引用《{title}》的有{n}份",
    "en": "{n} of {total} documents were found to cite 《{title}》",
}
_LONGEST = 200  # characters of a sentence; of a longer one, the title alone


def citing_answer(search: Search, knowledge: SearchContext) -> Answer | None:
    """Return the answer to a question for all documents that cite a title; None for another.

    They are those of which a rule, a model or an import says so, in the order in which they were
    issued, each with the first place; the title's own document is left out.

    Args:
        search: For the question, which quotes one title.
        knowledge: Whose documents are listed.
    """
    query = search.query
    if len(query.titles) != 1 or not _WHO_CITES.search(query.text):
        return None
    title = query.titles[0]
    settings = knowledge.settings()
    held = {card.doc_id: card for card in settings.cards}
    own = {doc_id for doc_id in search.titled if doc_id in held}
    nodes = {node_id(held[doc_id].title, held[doc_id].metadata) for doc_id in own}
    nodes |= {entity.entity_id for entity in knowledge.store.find_entities([title])}
    searched = knowledge.doc_ids if knowledge.doc_ids is not None else held.keys()
    first: dict[str, Statement] = {}
    for statement in knowledge.store.statements("reference"):
        is_wanted = statement.fact.object.entity_id in nodes and statement.doc_id not in own
        if is_wanted and statement.doc_id in searched:
            first.setdefault(statement.doc_id, statement)
    if not first:
        return None
    listed = sorted(first.values(), key=lambda s: (_issued(held[s.doc_id]), s.doc_id))
    cited = _citations(listed, knowledge)
    note = _NOTE[query.language].format(title=title, n=len(cited), total=len(searched))
    roles = {s.doc_id: s.qualifiers.role or s.fact.predicate for s in listed}
    lines = [
        f"《{c.title}》（{roles[c.doc_id]}）："
        f"{without_marks(' '.join(c.quote.split()))}[{c.number}]"
        for c in cited
    ]
    return Answer(query.text, "\n".join(lines), tuple(cited), True, METHOD, notes=(note,))


def _citations(listed: Sequence[Statement], knowledge: SearchContext) -> list[Citation]:
    doc_ids = [statement.doc_id for statement in listed]
    documents = {document.doc_id: document for document in knowledge.store.documents(doc_ids)}
    headings: Mapping[str, Sequence[Heading]] = knowledge.store.headings(doc_ids)
    there = [statement for statement in listed if statement.doc_id in documents]
    return [
        citation(
            number,
            document=documents[s.doc_id],
            headings=headings.get(s.doc_id, ()),
            span=sentence_around(documents[s.doc_id].text, s.start, s.end, longest=_LONGEST),
            chunk_id=s.chunk_id,
        )
        for number, s in enumerate(there, start=1)
    ]


def _issued(card: Document) -> str:
    return str(card.metadata.issued or card.metadata.written or "")
