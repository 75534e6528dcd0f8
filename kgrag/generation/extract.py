"""Answer a question offline with the sentences that support it best, each cited."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgrag.embedding.embedder import Embedder
from kgrag.generation.sentences import Sentence, sentences
from kgrag.headings import heading_path
from kgrag.text import words
from kgrag.types import Answer, Citation, Document, Heading, Query, ScoredChunk

NOT_FOUND = "在这些文件中未找到答案。"
NOT_FOUND_EN = "Not found in these documents."
METHOD = "extractive"

_MOST_SENTENCES = 400  # encoded for one answer
_CLOSE = 0.93  # of the best sentence's score, for another to be quoted, too
_WORD_WEIGHT = 0.35  # of the share of the question's words in a sentence, beside its cosine
_KIND_WEIGHT = 0.06  # of holding what the question asks for: a number, an agency, a date
_RANK_WEIGHT = 0.004  # lost with each rank of the chunk
_SUPPORT = 0.52  # score below which nothing supports an answer
_SUPPORT_STAND_IN = 0.24

# What the question asks for, and how a sentence looks that has it.
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(
            r"多少|几[个家座项种类年条倍成]|多大|多高|比例|百分|目标值|规模|how many|how much"
        ),
        re.compile(r"\d|[一二三四五六七八九十百千万]+[个家座项种类年条倍成]"),
    ),
    (
        re.compile(r"哪个部门|哪些部门|哪几家|谁|牵头|负责|责任|哪个机构|哪两个[厅局部]|由哪"),
        re.compile(r"负责|牵头|责任单位|[厅局委部办]"),
    ),
    (re.compile(r"什么时候|何时|哪年|哪一年|时间|期限|when"), re.compile(r"\d{4}|\d+\s*[年月日]")),
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence and how well it supports an answer; about a cosine, higher is better."""

    sentence: Sentence
    score: float


def answer(
    query: Query,
    results: Sequence[ScoredChunk],
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    embedder: Embedder,
    max_sentences: int = 5,
) -> Answer:
    """Return an answer made of sentences quoted from results, each with its citation.

    Sentences are ranked by their similarity to the question, the words that they share and
    whether they hold the kind of thing that is asked for. Where the best of them falls below
    a threshold, the answer says that these documents do not tell.

    Args:
        query: The question.
        results: Retrieved chunks, best first; may be empty.
        documents: With text and segments, at least those of the results.
        headings: By document.
        embedder: Encodes question and sentences.
        max_sentences: Quoted at most, at least 1.

    Raises:
        ValueError: If max_sentences < 1.
    """
    if max_sentences < 1:
        raise ValueError(f"max_sentences must be at least 1, got {max_sentences}")
    scored = score_sentences(query, sentences(results)[:_MOST_SENTENCES], embedder=embedder)
    support = _SUPPORT_STAND_IN if embedder.is_stand_in else _SUPPORT
    if not scored or scored[0].score < support:
        return Answer(query.text, _not_found(query.text), (), False, METHOD)
    chosen = _choose(scored, query, max_sentences)
    citations = tuple(
        _citation(n, sentence, documents[sentence.doc_id], headings.get(sentence.doc_id, ()))
        for n, sentence in enumerate(chosen, 1)
    )
    text = "\n".join(f"{_one_line(c.quote)}[{c.number}]" for c in citations)
    return Answer(query.text, text, citations, True, METHOD)


def score_sentences(
    query: Query, candidates: Sequence[Sentence], *, embedder: Embedder
) -> list[Scored]:
    """Return the sentences best first, ties by rank and place."""
    if not candidates:
        return []
    passages = [_in_context(sentence) for sentence in candidates]
    vectors = embedder.embed(passages, "passage")
    cosines = vectors @ np.asarray(embedder.embed([query.text], "query")[0])
    asked = set(query.words)
    wanted = [has for asks, has in _KINDS if asks.search(query.text)]
    scored = []
    for sentence, passage, cosine in zip(candidates, passages, cosines, strict=True):
        shared = len(asked & set(words(passage))) / max(1, len(asked))
        kind = sum(has.search(sentence.text) is not None for has in wanted) / max(1, len(wanted))
        score = (
            float(cosine)
            + _WORD_WEIGHT * shared
            + _KIND_WEIGHT * kind
            - _RANK_WEIGHT * sentence.rank
        )
        scored.append(Scored(sentence, score))
    return sorted(scored, key=lambda s: (-s.score, s.sentence.rank, s.sentence.start))


def _in_context(sentence: Sentence) -> str:
    """Return a sentence behind the last heading of its chunk, which says what it is about."""
    path = sentence.chunk.chunk.heading_path
    return f"{path[-1]}\n{sentence.text}" if path else sentence.text


def _choose(scored: Sequence[Scored], query: Query, most: int) -> list[Sentence]:
    """Return the sentences to quote, in the order of their documents' best, then of the text."""
    best = scored[0].score
    chosen: list[Sentence] = []
    for item in scored:
        if len(chosen) == most or item.score < _CLOSE * best:
            break
        if all(_one_line(item.sentence.text) != _one_line(c.text) for c in chosen):
            chosen.append(item.sentence)
    order = {doc_id: n for n, doc_id in enumerate(dict.fromkeys(s.doc_id for s in chosen))}
    return sorted(chosen, key=lambda s: (order[s.doc_id], s.start))


def _citation(
    number: int, sentence: Sentence, document: Document, headings: Sequence[Heading]
) -> Citation:
    return Citation(
        number=number,
        doc_id=document.doc_id,
        title=document.title,
        file=document.file,
        heading_path=heading_path(document.text, headings, sentence.start, sentence.end),
        page=_page(document, sentence.start),
        start=sentence.start,
        end=sentence.end,
        quote=document.text[sentence.start : sentence.end],
        chunk_id=sentence.chunk.chunk.chunk_id,
    )


def _page(document: Document, offset: int) -> int | None:
    pages = (s for s in document.segments if s.kind == "page" and s.start <= offset < s.end)
    return next((page.number for page in pages), None)


def _one_line(text: str) -> str:
    """Return text on one line; breaks between Chinese characters vanish, others are blanks."""
    return re.sub(r"\s*\n\s*", lambda m: "" if not text.isascii() else " ", text.strip())


def _not_found(question: str) -> str:
    return NOT_FOUND_EN if question.isascii() else NOT_FOUND
