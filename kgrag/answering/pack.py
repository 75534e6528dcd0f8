"""Packing retrieved chunks into a numbered context for a model."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from kgrag.answer.sentences import joined_spans
from kgrag.llm.prompts import fence
from kgrag.question.question import asked_kind
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.text.answer_text import without_marks
from kgrag.text.headings import HeadingTree
from kgrag.text.table_rows import header_before
from kgrag.text.words import normalize, words
from kgrag.types import Document, Fact, Heading, Query
from kgrag.verification.attempt import passage_block

_WIDEST = 99  # stands for any [n] where its length is not known yet
_RELATED = 0.5  # of the most words of the question that a line shares, which others must share
_STANDINGS = {"": "", "planned": "目标", "achieved": "已达到"}

_FACTS_SHARE = 0.15  # of the budget, at most

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _Span:
    """A piece of a document.

    Attributes:
        start: First character.
        end: Offset after the last.
        rank: 0-based, of the best result in it.
        chunk_id: Of that result.
    """

    start: int
    end: int
    rank: int
    chunk_id: str


_Taken = dict[str, list[_Span]]  # by document, documents by their best rank


@dataclass(frozen=True, slots=True)
class _Shown:
    """Formatting of pieces, and their cost in tokens."""

    documents: Mapping[str, Document]
    headings: Mapping[str, Sequence[Heading]]
    count: Count

    def passage(self, doc_id: str, span: _Span, number: int) -> Passage:
        document = self.documents[doc_id]
        tree = HeadingTree(document.text, self.headings.get(doc_id, ()))
        text = document.text[span.start : span.end]
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
        """Return the tokens of formatted pieces, with the blank line after each."""
        blocks = (passage_block(self.passage(doc_id, span, _WIDEST)) for span in spans)
        return sum(self.count(block + "\n\n") for block in blocks)


def pack(
    query: Query,
    results: Sequence[ScoredChunk],
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    facts: Sequence[Fact],
    budget_tokens: int,
    count: Count,
) -> Context:
    """Return the passages and facts of an answer's context.

    Results are taken best first until the budget is full; one that does not fit is skipped, only
    the first is shortened. Overlapping and adjoining pieces of a document become one passage.
    Passages are in document order, documents by their best result: provisions build on earlier
    ones.

    Args:
        query: The question.
        results: Retrieved chunks, best first; those without a document are left out.
        documents: With text, by id.
        headings: By document.
        facts: Of the results' chunks; those whose clause was packed are included, the most
            similar to the question first.
        budget_tokens: Maximum length, at least 1; facts take at most 15 % of it.
        count: Counts the tokens of a text.

    Raises:
        ValueError: If the budget is out of range.
    """
    if budget_tokens < 1:
        raise ValueError(f"budget_tokens must be at least 1, got {budget_tokens}")
    asked = frozenset(query.words).union(*map(words, query.keywords))
    shown = _Shown(documents, headings, count)
    kind = asked_kind(query.text)
    duties = kind is not None and kind.name == "agency"
    for_facts = int(budget_tokens * _FACTS_SHARE) if facts else 0
    taken = _take(results, shown, budget_tokens - for_facts)
    places = [(doc_id, span) for doc_id, spans in taken.items() for span in spans]
    passages = tuple(shown.passage(*place, number) for number, place in enumerate(places, 1))
    told = fact_lines(facts, passages, asked, duties=duties)
    lines = _that_fit(told, for_facts, count)
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
    """Return pieces in text order, the new one merged with all that it touches."""
    apart: list[_Span] = []
    for span in held:
        between = text[min(span.end, new.end) : max(span.start, new.start)]
        if between.strip():
            apart.append(span)
        else:
            best = min(span, new, key=lambda s: s.rank)
            start, end = min(span.start, new.start), max(span.end, new.end)
            new = replace(best, start=start, end=end)
    return sorted([*apart, new], key=lambda s: s.start)


def _shortened(doc_id: str, span: _Span, shown: _Shown, room: int) -> list[_Span]:
    """Return the beginning of a piece that fits: whole sentences, at worst part of the first."""
    whole = shown.documents[doc_id].text[span.start : span.end]
    ends = [end for _, end in joined_spans(whole)]
    while ends[0] > 1:
        ends.insert(0, ends[0] // 2)
    cut = ([replace(span, end=span.start + end)] for end in reversed(ends))
    return next((piece for piece in cut if shown.cost(doc_id, piece) <= room), [])


def fact_lines(
    facts: Sequence[Fact], passages: Sequence[Passage], asked: Collection[str], *, duties: bool
) -> list[str]:
    """Return the lines of facts whose clause is in a passage: `主体 —谓词→ 客体（地区，年份） [n]`.

    Facts that share most words with the question come first, then by passage; those with less than
    half as many are left out. Facts that differ in their subject only are one line.

    Args:
        facts: With evidence.
        passages: Packed.
        asked: Words of the question; none for all facts.
        duties: Whether the question asks who is responsible; else organs of tasks are left out.
    """
    alike: dict[tuple[str, tuple[int, ...]], dict[str, None]] = {}
    for fact in facts:
        numbers = tuple(p.number for p in passages if _states(p, fact))
        is_duty = all(e.qualifiers.kind == "duty" for e in fact.evidence)
        if numbers and (duties or not is_duty):
            told = f"—{fact.predicate}→ {fact.object.name}{_qualified(fact)}"
            alike.setdefault((told, numbers), {})[one_line(fact.subject.name)] = None
    found: list[tuple[int, int, str]] = []
    for (told, numbers), subjects in alike.items():
        line = f"{'、'.join(subjects)} {one_line(told)}"
        plain = normalize(line)  # looking for words is a tenth of the cost of cutting into them
        shared = sum(word in plain for word in set(asked))
        marks = "".join(f"[{n}]" for n in numbers)
        found.append((-shared, numbers[0], f"{line} {marks}"))
    least = _RELATED * max((-shared for shared, _, _ in found), default=0)
    return [line for n, _, line in sorted(found) if not asked or -n >= max(1, least)]


def _that_fit(lines: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """Return as many of the first lines as fit, as a block, into so many tokens."""
    n = bisect_right(range(1, len(lines) + 1), room, key=lambda n: count(facts_block(lines[:n])))
    return tuple(lines[:n])


def _qualified(fact: Fact) -> str:
    """Return place, year and standing of a figure in brackets, if its evidence agrees."""
    every = {e.qualifiers for e in fact.evidence}
    if len(every) != 1 or (told := every.pop()).kind != "target":
        return ""
    fields = (told.region, f"{told.year}年" if told.year else "", _STANDINGS[told.standing])
    named = f"{fact.subject.name}{fact.object.name}"
    said = [value for value in fields if value and value not in named]
    return f"（{'，'.join(said)}）" if said else ""


def _states(passage: Passage, fact: Fact) -> bool:
    return any(
        e.doc_id == passage.doc_id and passage.start <= e.start and e.end <= passage.end
        for e in fact.evidence
    )


def one_line(text: str) -> str:
    """Return a text on one line, without what looks like an [n]."""
    return without_marks(" ".join(text.split()))


def passages_block(context: Context) -> str:
    """Return all passages in order, rows behind the others; empty without any."""
    blocks = [passage_block(p) for p in context.passages if not p.is_row]
    of_rows = groupby((p for p in context.passages if p.is_row), key=lambda p: p.text)
    rows = [row_line([*passages]) for _, passages in of_rows]
    return "\n\n".join((*blocks, *([fence("\n".join(rows), label="rows")] if rows else ())))


def row_line(passages: Sequence[Passage]) -> str:
    """Return the line of a row: the [n] of its sources, its cells, and their documents."""
    marks = "".join(f"[{p.number}]" for p in passages)
    titles = "、".join(dict.fromkeys(f"《{p.title}》{p.mark}" for p in passages))
    return f"{marks} {one_line(f'{passages[0].text}（{titles}）')}"


def facts_block(facts: Sequence[str]) -> str:
    """Return the lines of facts, fenced; empty without any."""
    return fence("\n".join(facts), label="facts") if facts else ""
