"""Resolving the [n] of a draft to spans of documents."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Missing, Run
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answer.support import (
    ASKED_WEIGHT,
    NUMBER,
    Features,
    Searched,
    Support,
    Wanted,
    asked_features,
    find_support,
    joined_places,
    wording,
)
from kgrag.answering.clauses import lead_in
from kgrag.answering.generate import Draft, normalise
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.text.answer_text import (
    Statement,
    marks,
    says_not_found,
    statements,
    without_denials,
)
from kgrag.text.headings import HeadingTree
from kgrag.text.table_rows import columns_above, header_before, is_row
from kgrag.text.words import normalize_name, read_word_list, words
from kgrag.types import Document, Heading, Query
from kgrag.verification.claims import Clause, completing, findings
from kgrag.verification.parts import is_modal, lines_of

# Weights and margins: benchmarks/decisions.md, from `python benchmarks/moved.py`.
_ABOVE_WEIGHT = 0.5  # of what only stands in title and headings
_MARGIN = 0.15  # share of a sentence that another passage must hold more of
_FEWEST = 0.3  # share that it must hold at all
_COPIED = 0.85  # share of a sentence's features that is as good as copied
_SHORTEST = 6  # characters before an [n] inside a sentence that say enough to be looked for
# Share of a sentence without [n] that its neighbour's passage must hold (benchmarks/decisions.md).
_INHERITED = 0.4
_FOUND = 0.5  # share that a passage must hold which the model did not name
# Share of a sentence's words that stand in what is cited for it, and how many it must have.
_WORDED, _FEWEST_WORDS = 0.5, 2
# Of several [n] behind the same words, one that holds next to nothing, beside one that holds much.
_IDLE, _MUCH = 0.2, 0.5
_MOST_ADDED = 4  # sentences that state parts of one
_Supports = list[tuple[int, Support]]  # by the number of a passage


def resolve(
    query: Query,
    draft: Draft,
    context: Context,
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    results: Sequence[ScoredChunk] = (),
) -> Answer:
    """Return the answer of a draft, each [n] resolved to the sentences that support it.

    All notations of citations are recognised; one to no passage is removed, with a note.
    Citations are numbered in order of appearance, one for each place. An [n] whose passage supports
    its sentence clearly less than another one of the context is changed to that one, with a note. A
    sentence without [n] gets those of the next cited sentence of its block if that
    passage supports it, else of the one before, else the passage that supports it best, if well
    enough.

    Args:
        query: The question; its language is that of notes.
        draft: Of `generate`.
        context: Of the draft.
        documents: With text, at least those of the context.
        headings: By document.
        results: Chunks of the context, best first.
    """
    question = query.question
    text, astray = normalise(draft.text, {p.number for p in context.passages})
    if not text or says_not_found(text):
        return Answer(question, (Missing(),), draft.model, draft.notes)
    book = _Book(question, context, documents, headings, results)
    cited = any(marks(text))
    claims = _cited_once([*_claims(text, book, cited=cited)], context)
    answer = Answer(question, claims, draft.model)
    found = _notes(answer, book, astray, cited=cited)
    return replace(answer, notes=(*draft.notes, *found))


def _cited_once(claims: Sequence[Claim], context: Context) -> tuple[Claim, ...]:
    """Return claims that cite a clause which a row states as well as a passage by the longer."""
    rows = {(p.doc_id, p.start, p.end) for p in context.passages if p.is_row}
    every = {(c.doc_id, c.start, c.end): c for claim in claims for c in claim.citations}

    def longest(cited: Citation) -> Citation:
        doc_id, start, end = own = (cited.doc_id, cited.start, cited.end)
        around = (p for p in every if p[0] == doc_id and p[1] <= start and end <= p[2])
        same = [p for p in around if not rows.isdisjoint((p, own))]
        return every[max(same, key=lambda p: p[2] - p[1])] if same else cited

    return tuple(claim.citing(longest) for claim in claims)


def _notes(answer: Answer, book: "_Book", astray: Sequence[int], *, cited: bool) -> Iterator[str]:
    """Yield notes on citations that were removed, added or changed."""
    runs = [run for block in answer.blocks if isinstance(block, Claim) for run in block.runs]
    added = [run for run in runs if run.origin == "added"]
    if astray:
        yield note("astray", marks=_marks(astray))
    if not cited:
        yield note("uncited" if added else "unfounded")
    elif added:
        numbers = dict.fromkeys(c.number for run in added for c in run.citations)
        yield note("added", n=len(added), marks=_marks(numbers))
    if book.idle:
        yield note("idle", n=book.idle)
    if answer.repointed:
        yield note("repointed", marks=_marks(answer.repointed))


def _marks(numbers: Iterable[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)


def cited_texts(
    citations: Iterable[Citation],
    *,
    documents: Mapping[str, Document],
    passages: Sequence[Passage],
) -> dict[int, Clause]:
    """Return the clauses that `kgrag.verification.checks.checked` compares each [n] with.

    The quote, under its document's title, number, places and sections, in the passages around it.

    Args:
        citations: Of an answer.
        documents: With text.
        passages: Of the answer's context.
    """
    return {c.number: _clause(c, documents[c.doc_id], passages) for c in citations}


def _clause(cited: Citation, document: Document, passages: Iterable[Passage]) -> Clause:
    metadata, text = document.metadata, document.text
    around = [
        p
        for p in passages
        if p.doc_id == cited.doc_id and p.start <= cited.start and cited.end <= p.end
    ]
    begin = text.rfind("\n", 0, cited.start) + 1
    lead = cited.lead or lead_in(text, begin)
    issued = (metadata.number, *metadata.issuers, metadata.issued, metadata.written)
    columns = header_before(text, cited.start) if is_row(cited.quote.split("\n")[0]) else ""
    marks = (p.mark for p in around)
    above = (document.title, *issued, *marks, *metadata.regions, *cited.heading_path, columns, lead)
    return Clause(
        lines_of(cited.quote, columns),
        "\n".join(dict.fromkeys(filter(None, above))),
        text[begin : cited.start],
        "\n".join(text[p.start : p.end] for p in around),
        metadata.regions,
    )


@dataclass(slots=True)
class _Book:
    """Finds the citations of an answer's sentences.

    Attributes:
        idle: Number of [n] dropped because others of the sentence support it.
    """

    question: str
    context: Context
    documents: Mapping[str, Document]
    headings: Mapping[str, Sequence[Heading]]
    results: Sequence[ScoredChunk]
    idle: int = 0
    _searched: dict[int, Searched] = field(default_factory=dict)
    _near: dict[str, int] = field(default_factory=dict)  # where each document was cited last

    def support(self, number: int, sentence: str) -> Support:
        passage = self.context.passages[number - 1]
        near = self._near.get(passage.doc_id)
        found = find_support(sentence, self._read(passage), question=self.question, near=near)
        whole = ((passage.start, passage.end),)  # which states the row
        return replace(found, spans=whole) if passage.is_row else found

    def led_back(self, cited: Sequence[int], sentence: str) -> list[int]:
        """Return the passages that a sentence should cite; at most one is replaced.

        A cited passage is replaced by another if that raises the share of all cited ones by a
        margin; none is if nearly everything is in what would be quoted. Features are weighted by
        how few passages contain them, so that shares of different passages are comparable.

        Args:
            cited: Numbers as the model wrote them, each once.
            sentence: Without [n].
        """
        found = {p.number: self.support(p.number, sentence) for p in self.context.passages}
        own, of_question = Features.of(sentence), asked_features(self.question)
        said, asked = own.all(), of_question.all()
        if len(said & _quoted(found, cited)) >= _COPIED * len(said):
            return list(cited)
        holding = Counter[str]()
        for passage in self.context.passages:
            whole = self._read(passage).whole
            holding.update(own.held_by(whole) | of_question.held_by(whole) | self._title(passage))
        weights = Wanted.of(said, holding, len(found)).weights
        besides = Wanted.of(asked - said, holding, len(found)).weights
        weights |= {f: ASKED_WEIGHT * weight for f, weight in besides.items()}
        total = math.fsum(weights.values())

        def share(numbers: Sequence[int]) -> float:
            here = _quoted(found, numbers)
            cited = (self.context.passages[n - 1] for n in numbers)
            above = {f for p in cited for f in found[p.number].above | self._title(p)} - here
            got = (w if f in here else _ABOVE_WEIGHT * (f in above) * w for f, w in weights.items())
            return math.fsum(got) / total

        best, most = list(cited), max(share(cited) + _MARGIN, _FEWEST) if total else 1.0
        for place, named in enumerate(cited):
            passage = self.context.passages[named - 1]
            if passage.is_row or f"《{passage.title}》" in sentence:
                continue  # the row says more than its clause, the sentence whose passage it is
            for other in sorted(found.keys() - set(cited)):
                changed = [*cited[:place], other, *cited[place + 1 :]]
                if total and share(changed) > most:
                    best, most = changed, share(changed)
        return best

    def _title(self, passage: Passage) -> frozenset[str]:
        document = self.documents[passage.doc_id]
        return wording("\n".join((document.title, *document.metadata.regions)))

    def _read(self, passage: Passage) -> Searched:
        if passage.number not in self._searched:
            document = self.documents[passage.doc_id]
            headings = HeadingTree(document.text, self.headings.get(passage.doc_id, ())).path
            text = document.text[passage.start : passage.end]
            read = Searched.of(text, offset=passage.start, headings=headings)
            self._searched[passage.number] = read
        return self._searched[passage.number]

    def best_of_all(self, sentence: str) -> _Supports:
        """Return the passage that supports a sentence best; none where there is no passage."""
        found = [(p.number, self.support(p.number, sentence)) for p in self.context.passages]
        return sorted(found, key=lambda pair: (-pair[1].share, pair[0]))[:1]

    def bears_out(self, number: int, support: Support, sentence: str) -> bool:
        """Return whether a quote states a sentence: its words, and all of its parts.

        As strict as the checks. A sentence of too few words cannot be compared.
        """
        passage = self.context.passages[number - 1]
        clause = self._stated(passage, support.spans)
        wanted = _content(sentence)
        if len(wanted) < _FEWEST_WORDS and NUMBER.search(sentence):  # 500家。 answers the question
            wanted |= _content(self.question)
        held = sum(normalize_name(word) in clause.letters for word in wanted)
        return (
            len(wanted) >= _FEWEST_WORDS
            and held >= _WORDED * len(wanted)
            and all(
                f.verdict == "computed" for f in findings(sentence, clause, asked=self.question)
            )
        )

    def completed(self, number: int, support: Support, sentence: str) -> Support:
        """Return a support with the sentences beside it that state further parts of a sentence."""
        passage = self.context.passages[number - 1]
        text, places = self.documents[passage.doc_id].text, self._read(passage).places
        sentences = [lines_of(text[a:b], columns_above(text, a, b)) for a, b in places]
        spans = support.spans
        for _ in range(_MOST_ADDED):
            quoted = [
                i for i, (a, b) in enumerate(places) if any(s <= a and b <= e for s, e in spans)
            ]
            clause = self._stated(passage, spans)
            more = completing(sentence, clause, sentences, quoted, asked=self.question)
            if more is None:
                break
            spans = joined_places({*quoted, more}, places)
        return replace(support, spans=spans)

    def _stated(self, passage: Passage, spans: Iterable[tuple[int, int]]) -> Clause:
        document = self.documents[passage.doc_id]
        cited = (self._cited(passage, span) for span in spans)
        return Clause.joined([_clause(c, document, [passage]) for c in cited])

    def enter(self, number: int, support: Support) -> tuple[Citation, ...]:
        """Return the citations of the spans of a passage that support a sentence."""
        passage = self.context.passages[number - 1]
        self._near[passage.doc_id] = support.spans[-1][1]
        return tuple(self._cited(passage, span) for span in support.spans)

    def _cited(self, passage: Passage, span: tuple[int, int]) -> Citation:
        """Return the citation of a span in the best result around it, or the passage's own."""
        own = [r for r in self.results if r.chunk.doc_id == passage.doc_id]
        around = [r for r in own if r.chunk.start <= span[0] and span[1] <= r.chunk.end]
        around += [r for r in own if r.chunk.chunk_id == passage.chunk_id]
        document, headings = self.documents[passage.doc_id], self.headings.get(passage.doc_id, ())
        chunk_id = around[0].chunk.chunk_id if around else passage.chunk_id
        cited = Citation.of(document, headings, span, chunk_id)
        return replace(cited, also_in=around[0].also_in) if around else cited


def _quoted(found: Mapping[int, Support], numbers: Iterable[int]) -> frozenset[str]:
    return frozenset[str]().union(*(found[n].held for n in numbers))


def _content(sentence: str) -> frozenset[str]:
    """Return the content words of a sentence, without figures."""
    general = frozenset(read_word_list("general_words.txt"))
    told = (word for word in words(sentence) if len(word) > 1 and not word[0].isdigit())
    return frozenset(word for word in told if word not in general and not is_modal(word))


def _claims(text: str, book: _Book, *, cited: bool) -> Iterator[Claim]:
    """Yield the sentences of a draft with their citations; trailing layout is one of them."""
    reach = 0
    before: dict[int, tuple[int, ...]] = {}  # numbers of the last cited sentence, by block
    told = statements(text)
    for statement, following in zip(told, [*told[1:], None], strict=True):
        sentence = text[statement.start : statement.end]
        if _leads_to(statement, following):
            runs = [Run(without_citations(sentence))]
        elif statement.numbers:
            runs = list(_resolved(sentence, statement, book))
            before[statement.block] = statement.numbers
        else:
            near = (*statement.rests_on, *before.get(statement.block, ())) if cited else ()
            added = _added(statement, book, near)
            runs = [Run(sentence, added, "added" if added else "writer")]
        yield Claim(tuple(runs), statement.form, text[reach : statement.start], statement.block)
        reach = statement.end
    if text[reach:]:
        yield Claim((Run(text[reach:]),), "heading")


def _leads_to(statement: Statement, following: Statement | None) -> bool:
    """Return whether a lead-in without a figure takes the [n] of the sentence it introduces."""
    return (
        statement.form == "lead-in"
        and following is not None
        and bool(set(statement.numbers) & set(following.rests_on))
        and not NUMBER.search(statement.text)
    )


def without_citations(sentence: str) -> str:
    """Return a sentence without its [n].

    >>> without_citations("措施包括[1]：")
    '措施包括：'
    """
    for start, end, _ in reversed([*marks(sentence)]):
        sentence = sentence[:start] + sentence[end:]
    return sentence


def _resolved(sentence: str, statement: Statement, book: _Book) -> Iterator[Run]:
    """Yield a sentence, each [n] resolved by the words before it.

    In 福建65%[2]，国家40%[1] each citation belongs to one half.
    """
    said, words, group = "", "", list[int]()
    for text, number in _pieces(sentence):
        if text.strip() and group:
            yield from _of_group(words, group, said, book, claims=statement.form == "claim")
            words, group = "", []
        words += text
        if number is None:
            break
        if not group:
            told = without_denials(words).strip()
            said = told if len(told) >= _SHORTEST else (said or without_denials(statement.text))
        group.append(number)
    if group:
        yield from _of_group(words, group, said, book, claims=statement.form == "claim")
    elif words:
        yield Run(words)


def _pieces(sentence: str) -> Iterator[tuple[str, int | None]]:
    """Yield the words before each [n] with its number, and those behind the last with None."""
    reach = 0
    for start, end, number in marks(sentence):
        yield sentence[reach:start], number
        reach = end
    yield sentence[reach:], None


def _of_group(
    words: str, named: Sequence[int], said: str, book: _Book, *, claims: bool
) -> Iterator[Run]:
    """Yield words with the citations after them, without those that do not support them.

    Args:
        words: As written.
        named: Passages as the model named them.
        said: The words that are looked for.
        book: Of the answer.
        claims: Whether they make a statement, so that another passage may support it better.
    """
    once = list(dict.fromkeys(named))
    numbers = book.led_back(once, said) if claims else once
    found = [(number, book.support(number, said)) for number in numbers]
    most = max(support.share for _, support in found)
    held = [(n, s) for n, s in found if most < _MUCH or s.share > _IDLE]
    book.idle += len(found) - len(held)
    held = [(n, book.completed(n, s, said)) for n, s in held] if claims else held
    for is_own, same in groupby(held, key=lambda pair: pair[0] in once):
        cited = tuple(c for number, support in same for c in book.enter(number, support))
        yield Run(words, cited, "writer" if is_own else "repointed")
        words = ""


def _added(statement: Statement, book: _Book, near: Sequence[int]) -> tuple[Citation, ...]:
    """Return citations for a claim without any; none if nothing supports it.

    Args:
        statement: Without [n].
        book: Of the answer.
        near: Passages cited by the sentences around; the best is taken if it supports the sentence
            somewhat, else the best of all that supports it well.
    """
    if statement.form != "claim":
        return ()
    held = [(n, book.support(n, statement.text)) for n in dict.fromkeys(near)]
    held = [(number, support) for number, support in held if support.share >= _INHERITED]
    following = [(number, support) for number, support in held if number in statement.rests_on]
    best = [one for one in book.best_of_all(statement.text) if one[1].share >= _FOUND]
    held = following or held or best
    held = [(number, s) for number, s in held if book.bears_out(number, s, statement.text)]
    return tuple(c for number, support in held for c in book.enter(number, support))
