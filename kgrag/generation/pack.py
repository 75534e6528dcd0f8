"""Pack retrieved chunks into a numbered context that fits a model."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgrag.generation.asked import asked_kinds
from kgrag.generation.compress import GAP, compress
from kgrag.generation.fact_lines import WIDEST, fact_lines, row_lines, take_lines
from kgrag.generation.render import facts_block, passage_block, passages_block
from kgrag.language.headings import HeadingTree
from kgrag.language.table_heads import header_before
from kgrag.language.text import words
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.types import Document, Fact, Heading, Query

_FACTS_SHARE = 0.15  # of the budget, at most
_SHARES = (0.8, 0.6, 0.4, 0.25, 0.15, 0.08)  # tried in turn on a first passage that is too long
_SHORTEST = 20  # characters of a sentence that is cut; less says nothing

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _Span:
    """A piece of a document that is taken.

    Attributes:
        start: First character.
        end: Offset after the last.
        rank: 0-based, of the best result in it.
        chunk_id: Of that result.
        text: Where it was shortened to fit; None otherwise.
    """

    start: int
    end: int
    rank: int
    chunk_id: str
    text: str | None = None


_Taken = dict[str, list[_Span]]  # by document, documents by their best rank


@dataclass(frozen=True, slots=True)
class _Shown:
    """How pieces are shown, and what they cost."""

    documents: Mapping[str, Document]
    headings: Mapping[str, Sequence[Heading]]
    asked: Collection[str]
    rate: float
    count: Count
    costs: dict[tuple[str, _Span], int] = field(default_factory=dict)

    def passage(self, doc_id: str, span: _Span, number: int) -> Passage:
        document = self.documents[doc_id]
        tree = HeadingTree(document.text, self.headings.get(doc_id, ()))
        text = span.text
        if text is None:
            text = compress(document.text[span.start : span.end], self.asked, rate=self.rate)
        header = header_before(document.text, span.start)
        text = f"{header}\n{text}" if header else text
        return Passage(
            number=number,
            doc_id=doc_id,
            title=document.title,
            heading_path=tree.path(span.start, span.end),
            start=span.start,
            end=span.end,
            text=text,
            chunk_id=span.chunk_id,
        )

    def cost(self, doc_id: str, spans: Sequence[_Span]) -> int:
        """Return the tokens of pieces as a model reads them, with the blank line behind each."""
        for span in spans:
            if (doc_id, span) not in self.costs:
                block = passage_block(self.passage(doc_id, span, WIDEST))
                self.costs[doc_id, span] = self.count(block + "\n\n")
        return sum(self.costs[doc_id, span] for span in spans)


def pack(
    query: Query,
    results: Sequence[ScoredChunk],
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    facts: Sequence[Fact],
    budget_tokens: int,
    compress: float,
    count: Count,
    rows: Sequence[str] = (),
) -> Context:
    """Return the passages and facts that an answer may draw from.

    Results are taken best first until the budget is full; one that does not fit is left out and
    the next tried, only the first is shortened. Overlapping, nested and adjoining pieces of a
    document become one passage. Passages stand in the order of their documents' text, documents
    by their best result: provisions build on what stands before them.

    Args:
        query: The question.
        results: Retrieved chunks, best first; those of documents not given are left out.
        documents: With text, by id.
        headings: By document.
        facts: Of the results' chunks; those whose clause was packed are shown, the likest to
            the question first.
        budget_tokens: Longest context as a model reads it, at least 1; facts and rows take at
            most 15 % of it.
        compress: Share of each passage that is kept by BM25-Extract, in (0, 1].
        count: Tokens of a text.
        rows: Lines that a query to the graph gave; they stand before the facts, without [n].

    Raises:
        ValueError: If the budget or the share is out of range.
    """
    if budget_tokens < 1:
        raise ValueError(f"budget_tokens must be at least 1, got {budget_tokens}")
    if not 0 < compress <= 1:
        raise ValueError(f"compress must be in (0, 1], got {compress}")
    asked = frozenset(query.words).union(*map(words, query.keywords))
    shown = _Shown(documents, headings, asked, compress, count)
    first = row_lines(rows)
    duties = any(kind.name == "agency" for kind in asked_kinds(query.text))
    longest = (*first, *fact_lines(facts, None, asked, duties=duties))
    for_facts = min(int(budget_tokens * _FACTS_SHARE), count(facts_block(longest)))
    taken = _take(results, shown, budget_tokens - for_facts)
    places = [(doc_id, span) for doc_id, spans in taken.items() for span in spans]
    passages = tuple(shown.passage(*place, number) for number, place in enumerate(places, 1))
    lines = take_lines(
        [*first, *fact_lines(facts, passages, asked, duties=duties)],
        lambda kept: count(facts_block(kept)) <= for_facts,
    )
    ranks = [span.rank for _, span in places]
    context = Context(passages, lines, best=ranks.index(min(ranks)) + 1 if ranks else 0)
    return replace(context, tokens=count(passages_block(context) + facts_block(lines)))


def _take(results: Sequence[ScoredChunk], shown: _Shown, room: int) -> _Taken:
    """Return the pieces that fit into a token budget."""
    taken: _Taken = {}
    used = 0
    for rank, result in enumerate(results):
        chunk = result.chunk
        doc_id = chunk.doc_id
        if doc_id not in shown.documents:
            continue
        span = _Span(chunk.start, chunk.end, rank, chunk.chunk_id)
        held = taken.get(doc_id, [])
        joined = _joined(held, span, shown.documents[doc_id].text)
        more = shown.cost(doc_id, joined) - shown.cost(doc_id, held)
        if used + more > room and not taken:
            joined = _shortened(doc_id, span, shown, room)
            more = shown.cost(doc_id, joined)
        if joined and used + more <= room:
            taken[doc_id] = joined
            used += more
    return taken


def _joined(held: Sequence[_Span], new: _Span, text: str) -> list[_Span]:
    """Return pieces in text order, the new one put together with all that it touches."""
    apart: list[_Span] = []
    for span in held:
        between = text[min(span.end, new.end) : max(span.start, new.start)]
        if between.strip():
            apart.append(span)
        elif span.text is not None:  # shortened: it stays what it is
            return list(held)
        else:
            best = min(span, new, key=lambda s: s.rank)
            start, end = min(span.start, new.start), max(span.end, new.end)
            new = replace(best, start=start, end=end)
    return sorted([*apart, new], key=lambda s: s.start)


def _shortened(doc_id: str, span: _Span, shown: _Shown, room: int) -> list[_Span]:
    """Return the piece with as many of its sentences as fit, the last resort a part of one."""
    whole = shown.documents[doc_id].text[span.start : span.end]
    texts = [compress(whole, shown.asked, rate=rate) for rate in _SHARES]
    while len(texts[-1]) > 2 * _SHORTEST:
        texts.append(texts[-1].strip(GAP)[: len(texts[-1]) // 2] + GAP)
    for text in texts:
        short = [replace(span, text=text)]
        if shown.cost(doc_id, short) <= room:
            return short
    return []
