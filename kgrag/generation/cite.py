"""Resolve the [n] of a draft to spans of documents."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgrag.answer_text import MARK, Statement, marks, not_found, says_not_found, statements
from kgrag.generation.citation import citation
from kgrag.generation.draft import Draft
from kgrag.generation.support import Support, find_support
from kgrag.text import is_latin
from kgrag.types import Answer, Citation, Context, Document, Heading, Passage, ScoredChunk

_RANGE = re.compile(r"(\d+)\D{0,12}?[\-–—~～至]\D{0,12}?(\d+)")
_DIGITS = re.compile(r"\d+")
_LINK = re.compile(r"(?<=\])\((?:https?:|#)[^)\s]*\)")
_REPEATED = re.compile(r"(\[\d+\])(?:\s*\1)+")
_SHORTEST = 6  # characters before an [n] inside a sentence that say enough to be looked for
_INHERITED = 0.35  # share of a sentence without [n] that its neighbour's passage must hold
_FOUND = 0.5  # share that a passage must hold which the model did not name

_NOTES = {
    "astray": (
        "去掉了不指向任何文段的引用：{}。",
        "Citations that lead to no passage were removed: {}.",
    ),
    "uncited": (
        "模型没有标出依据；引用是按文字比对找到的。",
        "The model cited nothing; the citations were found by comparing texts.",
    ),
}


def resolve(
    question: str,
    draft: Draft,
    context: Context,
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    results: Sequence[ScoredChunk] = (),
) -> Answer:
    """Return the answer of a draft, each [n] resolved to the sentences that support it.

    Every way to write a citation becomes [n]; one that leads to no passage is removed and noted.
    Citations are numbered in the order in which they appear; sentences that cite one passage at
    different places get a citation each. A sentence without [n] gets those of the next cited
    sentence of its block where that passage holds it. Where the model cited nothing at all, each
    sentence gets the passage that holds most of it, if any does.

    Args:
        question: As asked; its language is that of notes.
        draft: As `generate` or `integrate` gave it.
        context: What it was drawn from.
        documents: With text, at least those of the context.
        headings: By document.
        results: What the context was packed from, best first: tells which chunk holds a quote.
    """
    latin = is_latin(question)
    text, astray = normalise(draft.text, {p.number for p in context.passages})
    if not text or says_not_found(text):
        return Answer(question, not_found(question), (), False, draft.model, draft.notes)
    notes = list(draft.notes)
    if astray:
        notes.append(_NOTES["astray"][latin].format(" ".join(f"[{n}]" for n in astray)))
    book = _Book(question, context, documents, headings, results)
    cited = cited_passages(text, context)
    if not cited:
        notes.append(_NOTES["uncited"][latin])
    resolved = _rewritten(text, book, cited=bool(cited))
    return Answer(question, resolved, tuple(book.citations), True, draft.model, tuple(notes))


def cited_texts(
    citations: Iterable[Citation],
    *,
    documents: Mapping[str, Document],
    passages: Sequence[Passage] = (),
) -> dict[int, str]:
    """Return what `kgrag.verification.checks.check` compares each [n] with.

    That is the whole passage that a quote stands in, or the quote alone where none is given,
    under its document's title, places and sections.

    Args:
        citations: Of an answer.
        documents: With text.
        passages: Of the context that the answer was drawn from.
    """
    texts = {}
    for cited in citations:
        document = documents[cited.doc_id]
        around = [
            p
            for p in passages
            if p.doc_id == cited.doc_id and p.start <= cited.start and cited.end <= p.end
        ]
        spans = [(p.start, p.end) for p in around] or [(cited.start, cited.end)]
        paths = [p.heading_path for p in around] + [cited.heading_path]
        texts[cited.number] = "\n".join(
            [
                document.title,
                document.metadata.get("places", ""),
                *(heading for path in paths for heading in path),
                *(document.text[start:end] for start, end in spans),
            ]
        )
    return texts


def cited_passages(text: str, context: Context) -> set[int]:
    """Return the numbers of the passages that a draft cites, however it writes them."""
    known = {p.number for p in context.passages}
    return {number for _, _, number in marks(normalise(text, known)[0])}


def normalise(text: str, known: Iterable[int]) -> tuple[str, list[int]]:
    """Return (text, numbers removed): every citation as [n], those not known left out.

    >>> normalise("甲【1】。乙[1-3]，丙[^2]。丁[文档9]", [1, 2, 3])
    ('甲[1]。乙[1][2][3]，丙[2]。丁', [9])
    """
    held, astray = set(known), dict[int, None]()

    def plain(match: re.Match[str]) -> str:
        numbers = _numbers(match.group(), held)
        astray.update(dict.fromkeys(n for n in numbers if n not in held))
        return "".join(f"[{n}]" for n in numbers if n in held)

    text = MARK.sub(plain, _LINK.sub("", text).strip())
    return _REPEATED.sub(r"\1", text).strip(), list(astray)


def _numbers(mark: str, held: set[int]) -> list[int]:
    """Return the numbers in a citation; of a range, those held, and its ends."""
    numbers: dict[int, None] = {}
    bare = mark.split("†")[0]
    for match in _RANGE.finditer(bare):
        low, high = int(match.group(1)), int(match.group(2))
        numbers.update(dict.fromkeys(n for n in range(low, high + 1) if n in held))
    numbers.update(dict.fromkeys(int(d) for d in _DIGITS.findall(bare)))
    return sorted(numbers) if _RANGE.search(bare) else list(numbers)


@dataclass(slots=True)
class _Book:
    """Citations made so far; the same span is one citation."""

    question: str
    context: Context
    documents: Mapping[str, Document]
    headings: Mapping[str, Sequence[Heading]]
    results: Sequence[ScoredChunk]
    citations: list[Citation] = field(default_factory=list)

    def support(self, number: int, sentence: str) -> Support:
        passage = self.context.passages[number - 1]
        whole = self.documents[passage.doc_id].text[passage.start : passage.end]
        seen = None if passage.text == whole else passage.text
        return find_support(
            sentence, whole, question=self.question, offset=passage.start, seen=seen
        )

    def best_of_all(self, sentence: str) -> list[tuple[int, Support]]:
        """Return the passage that holds most of a sentence, if one holds enough."""
        found = [(p.number, self.support(p.number, sentence)) for p in self.context.passages]
        number, support = max(found, key=lambda pair: (pair[1].share, -pair[0]))
        return [(number, support)] if support.share >= _FOUND else []

    def enter(self, number: int, support: Support) -> str:
        """Return the [n] of the spans of a passage that support a sentence."""
        passage = self.context.passages[number - 1]
        return "".join(f"[{self._enter(passage, span)}]" for span in support.spans)

    def _enter(self, passage: Passage, span: tuple[int, int]) -> int:
        for made in self.citations:
            if (made.doc_id, made.start, made.end) == (passage.doc_id, *span):
                return made.number
        made = citation(
            len(self.citations) + 1,
            document=self.documents[passage.doc_id],
            headings=self.headings.get(passage.doc_id, ()),
            span=span,
            chunk_id=self._chunk_of(passage, span),
        )
        self.citations.append(made)
        return made.number

    def _chunk_of(self, passage: Passage, span: tuple[int, int]) -> str:
        """Return the best result that holds a span, or the passage's own chunk."""
        chunks = (r.chunk for r in self.results if r.chunk.doc_id == passage.doc_id)
        holding = (c.chunk_id for c in chunks if c.start <= span[0] and span[1] <= c.end)
        return next(holding, passage.chunk_id)


def _rewritten(text: str, book: _Book, *, cited: bool) -> str:
    """Return the text with the numbers of citations in place of those of passages."""
    parts, reach = [], 0
    for statement in statements(text):
        parts.append(text[reach : statement.start])
        sentence = text[statement.start : statement.end]
        if statement.numbers:
            parts.append(_renumbered(sentence, statement, book))
        else:
            parts += [sentence, _added(statement, book, cited=cited)]
        reach = statement.end
    parts.append(text[reach:])
    return _REPEATED.sub(r"\1", "".join(parts))


def _renumbered(sentence: str, statement: Statement, book: _Book) -> str:
    """Return a sentence with each [n] resolved by what stands before it.

    In 福建65%[2]，国家40%[1] the numbers stand for different halves.
    """
    parts, reach, said = [], 0, ""
    for start, end, number in marks(sentence):
        before = sentence[reach:start]
        said = before if len(before.strip()) >= _SHORTEST else (said or statement.text)
        parts += [before, book.enter(number, book.support(number, said))]
        reach = end
    return "".join([*parts, sentence[reach:]])


def _added(statement: Statement, book: _Book, *, cited: bool) -> str:
    """Return the [n] that a claim without any is given; none where nothing supports it."""
    if statement.form != "claim":
        return ""
    found = [(n, book.support(n, statement.text)) for n in statement.rests_on]
    held = found if any(support.share >= _INHERITED for _, support in found) else []
    if not cited:
        held = book.best_of_all(statement.text)
    return "".join(book.enter(number, support) for number, support in held)
