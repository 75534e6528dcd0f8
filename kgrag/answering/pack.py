"""Packing retrieved chunks into a numbered context for a model."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgrag.answer.sentences import joined_spans
from kgrag.llm.prompts import fence
from kgrag.question.answer_kinds import asked_kinds
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.text.answer_text import without_marks
from kgrag.text.headings import HeadingTree
from kgrag.text.table_rows import header_before
from kgrag.text.words import normalize, words
from kgrag.types import Document, Fact, Heading, Query

_WIDEST = 99  # stands for any [n] where its length is not known yet
_RELATED = 0.5  # of the most words of the question that a line shares, which others must share
_STANDINGS = {"": "", "planned": "目标", "achieved": "已达到"}

_GAP = "…"
_K1, _B = 1.5, 0.75  # usual values; Robertson & Zaragoza 2009, section 3.4

_FACTS_SHARE = 0.15  # of the budget, at most
_SHARES = (0.8, 0.6, 0.4, 0.25, 0.15, 0.08)  # tried in turn on a first passage that is too long
_SHORTEST = 20  # characters of a sentence that is cut; less says nothing

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _Span:
    """A piece of a document.

    Attributes:
        start: First character.
        end: Offset after the last.
        rank: 0-based, of the best result in it.
        chunk_id: Of that result.
        text: Shortened to fit; else None.
    """

    start: int
    end: int
    rank: int
    chunk_id: str
    text: str | None = None


_Taken = dict[str, list[_Span]]  # by document, documents by their best rank


@dataclass(frozen=True, slots=True)
class _Shown:
    """Formatting of pieces, and their cost."""

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
        """Return the tokens of formatted pieces, with the blank line after each."""
        for span in spans:
            if (doc_id, span) not in self.costs:
                block = passage_block(self.passage(doc_id, span, _WIDEST))
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
        budget_tokens: Maximum length, at least 1; facts and rows take at most 15 % of it.
        compress: Share of each passage that is kept by BM25-Extract, in (0, 1].
        count: Counts the tokens of a text.
        rows: Lines of a query to the graph; before the facts, without [n].

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
    """Return pieces in text order, the new one merged with all that it touches."""
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
    """Return the piece with as many of its sentences as fit, at worst part of one."""
    whole = shown.documents[doc_id].text[span.start : span.end]
    texts = [compress(whole, shown.asked, rate=rate) for rate in _SHARES]
    while len(texts[-1]) > 2 * _SHORTEST:
        texts.append(texts[-1].strip(_GAP)[: len(texts[-1]) // 2] + _GAP)
    for text in texts:
        short = [replace(span, text=text)]
        if shown.cost(doc_id, short) <= room:
            return short
    return []


def compress(text: str, asked: Collection[str], *, rate: float) -> str:
    """Return the sentences of a text most similar to a question, in order, gaps as `…`.

    EasyRAG, section 5.4 (BM25-Extract): sentences are scored by BM25 against the question, taken in
    order of decreasing score until the rate is reached, and put back in order. At 0.5 and 0.8 it
    kept 66 and 84 % of the text and cost 8.0 and 5.5 points of accuracy (94.49 without).

    Args:
        text: A passage.
        asked: Words of the question, from `kgrag.text.words.words`.
        rate: Minimum share of the characters, in (0, 1]; 1 returns the text unchanged.

    Raises:
        ValueError: If the rate is out of range.

    >>> compress("甲项很长的说明。绿色工厂500家。乙项很长的说明。", ["绿色", "工厂"], rate=0.2)
    '…绿色工厂500家。…'
    """
    if not 0 < rate <= 1:
        raise ValueError(f"rate must be in (0, 1], got {rate}")
    if rate == 1:
        return text
    spans = joined_spans(text)
    scores = bm25([words(text[start:end]) for start, end in spans], asked)
    kept: set[int] = set()
    length = 0
    for index in sorted(range(len(spans)), key=lambda i: (-scores[i], i)):
        if length >= rate * len(text):
            break
        kept.add(index)
        length += spans[index][1] - spans[index][0]
    return _with_gaps(text, spans, kept)


def bm25(sentences: Sequence[Sequence[str]], asked: Collection[str]) -> list[float]:
    """Return the BM25 score of each sentence, with the others as the collection.

    Sum over the words asked for of idf · f · (k1 + 1) / (f + k1 · (1 - b + b · length / mean)),
    idf = ln(1 + (N - n + 0.5) / (n + 0.5)); Robertson & Zaragoza 2009, equation 3.15, with the
    idf that never falls below 0.

    Args:
        sentences: Words of each.
        asked: Words of the question.
    """
    mean = sum(map(len, sentences)) / max(1, len(sentences)) or 1.0
    counts = [Counter(sentence) for sentence in sentences]
    scores = [0.0] * len(sentences)
    for word in sorted(set(asked)):
        n = sum(word in count for count in counts)
        idf = math.log(1 + (len(sentences) - n + 0.5) / (n + 0.5))
        for i, count in enumerate(counts):
            norm = _K1 * (1 - _B + _B * len(sentences[i]) / mean)
            scores[i] += idf * count[word] * (_K1 + 1) / (count[word] + norm)
    return scores


def _with_gaps(text: str, spans: Sequence[tuple[int, int]], kept: Collection[int]) -> str:
    parts: list[str] = []
    for index, (start, end) in enumerate(spans):
        if index in kept:
            parts.append(text[start:end])
        elif parts[-1:] != [_GAP]:  # blanks are no gap, and stay where they are
            parts.append(_GAP if text[start:end].strip() else text[start:end])
    return "".join(parts)


def fact_line(subjects: Sequence[str], fact: Fact, numbers: Sequence[int]) -> str:
    """Return a fact on one line: `主体、主体 —谓词→ 客体（地区，年份，目标） [n]`."""
    subject = "、".join(map(_one_line, subjects))
    told = "".join(f"[{n}]" for n in numbers)
    predicate, obj = _one_line(fact.predicate), _one_line(fact.object.name)
    return f"{subject} —{predicate}→ {obj}{_one_line(_beside(fact))} {told}"


def fact_lines(
    facts: Sequence[Fact],
    passages: Sequence[Passage] | None,
    asked: Collection[str],
    *,
    duties: bool = True,
) -> list[str]:
    """Return the lines of facts whose clause is in a passage, each once.

    Facts that share most words with the question come first, then by passage; those with less than
    half as many are left out. Facts that differ in their subject only are one line.

    Args:
        facts: With evidence.
        passages: Packed; None for lines as long as they may become.
        asked: Words of the question; none for all facts.
        duties: Whether the question asks who is responsible; else organs of tasks are left out.
    """
    alike: dict[tuple[str, str, str, tuple[int, ...]], tuple[Fact, dict[str, None]]] = {}
    for fact in facts:
        if passages is None:
            numbers: tuple[int, ...] = (_WIDEST,)
        else:
            numbers = tuple(p.number for p in passages if _states(p, fact))
        if numbers and (duties or not _is_duty(fact)):
            key = (fact.predicate, fact.object.name, _beside(fact), numbers)
            alike.setdefault(key, (fact, {}))[1][fact.subject.name] = None
    found: list[tuple[int, int, str]] = []
    for (*_, numbers), (fact, subjects) in alike.items():
        line = fact_line(list(subjects), fact, numbers)
        plain = normalize(line)  # looking for words is a tenth of the cost of cutting into them
        shared = sum(word in plain for word in set(asked))
        found.append((-shared, numbers[0], line))
    least = _RELATED * max((-shared for shared, _, _ in found), default=0)
    kept = sorted(one for one in found if not asked or -one[0] >= max(1, least))
    return list(dict.fromkeys(line for _, _, line in kept))


def _is_duty(fact: Fact) -> bool:
    return all(e.qualifiers.kind == "duty" for e in fact.evidence)


def row_lines(rows: Sequence[str]) -> list[str]:
    """Return rows of a graph query as lines, without anything that looks like a citation."""
    return [line for line in map(_one_line, rows) if line]


def take_lines(lines: Sequence[str], fits: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """Return as many of the first lines as fit.

    Args:
        lines: Most important first.
        fits: Whether lines fit; True for an empty list.
    """
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(tuple(lines[:middle])) else (low, middle - 1)
    return tuple(lines[:low])


def _beside(fact: Fact) -> str:
    """Return place, year and standing of a figure in brackets, if its evidence agrees."""
    told = {e.qualifiers for e in fact.evidence if e.qualifiers.kind == "target"}
    if not told or len(told) < len({e.qualifiers for e in fact.evidence}):
        return ""
    fields = (
        {q.region for q in told},
        {f"{q.year}年" if q.year else "" for q in told},
        {_STANDINGS[q.standing] for q in told},
    )
    said = [value for values in fields if len(values) == 1 for value in values if value]
    said = [value for value in said if value not in f"{fact.subject.name}{fact.object.name}"]
    return f"（{'，'.join(said)}）" if said else ""


def _states(passage: Passage, fact: Fact) -> bool:
    return any(
        e.doc_id == passage.doc_id and passage.start <= e.start and e.end <= passage.end
        for e in fact.evidence
    )


def _one_line(text: str) -> str:
    return without_marks(" ".join(text.split()))


def passage_block(passage: Passage) -> str:
    """Return a passage for a model: its [n], then title, sections and text, fenced.

    Title and sections are inside the fence, too, as they are a document's words; anything like a
    citation in them (a footnote's [7]) is written 〔7〕, so that no document can claim another's
    number. Documents and quotes keep their [7].
    """
    path = " > ".join((f"《{passage.title}》{passage.mark}", *passage.heading_path))
    return f"[{passage.number}]\n" + fence(
        without_marks(f"{path}\n{passage.text}"), label="passage"
    )


def passages_block(context: Context) -> str:
    """Return all passages in order; empty without any."""
    return "\n\n".join(passage_block(passage) for passage in context.passages)


def facts_block(facts: tuple[str, ...]) -> str:
    """Return the lines of facts, fenced; empty without any."""
    return fence("\n".join(facts), label="facts") if facts else ""
