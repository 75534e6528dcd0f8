"""Answering offline with the sentences that support an answer best, each cited."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Missing, Quote
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answer.sentences import Sentence, sentences
from kgrag.answering.answered import (
    Scored,
    asks_for_figure,
    instead,
    is_answered,
    is_title_meant,
    names_what_is_counted,
)
from kgrag.answering.listed import Listing, Place, asks_for_list
from kgrag.embedding.embedder import Embedder
from kgrag.qualifiers import Qualifiers
from kgrag.question.answer_kinds import asked_kind, states_kind
from kgrag.question.question import Question, question_of
from kgrag.results import Reason, ScoredChunk
from kgrag.text.facets import document_facets
from kgrag.text.official_terms import wordings
from kgrag.text.quantities import narrow
from kgrag.text.vocabulary import CITING
from kgrag.text.words import normalize_name, words
from kgrag.types import Document, Fact, Heading, Language, Query

_OTHER_STANDING = -0.03  # on a sentence's score: all its figures are of the other kind
_OTHER_YEAR = -0.1  # none of its figures is for the year asked for

METHOD = "extractive"
_CITING = re.compile(CITING)
_NAMED_AFTER = re.compile(rf"(?:{_CITING.pattern})[^《》]{{0,6}}《")

_ARTICLE = re.compile(r"第[一二三四五六七八九十百\d]{1,5}条")
_STOP = re.compile(r"[。；;！？]$")
_FIGURE = re.compile(r"\d")
_LONGEST_MARKER = 5  # characters of the number before a heading: （十二）, 第十二章
_SHORT_HEADING = 16  # characters of a heading that ends like a sentence
_MOST_SENTENCES = 400  # encoded for one answer
_CLOSE = 0.9  # of the best sentence's score, for another to be quoted, too
_WORD_WEIGHT = 0.2  # of the share of the question's words in a sentence, beside its cosine
_TITLE_WEIGHT = 0.3  # of naming a title that the question quotes
_SECTION = 0.3  # of standing in the section that the question names
_CHUNK_WEIGHT = 0.02  # of each point that its chunk lies behind the best one

# A line that says who can be asked, or when a document was signed and under which number.
_IMPRINT = re.compile(
    r"[(（]?(?:此件|信息)?[^，。；：:]{0,4}\d{4}年\d{1,2}月\d{1,2}日[印发布)）]*"
    r"|[^，。；：:\s]{0,12}[〔\[(（]\d{4}[〕\])）]\s*第?\d+号"
    r"|(?:联系)?(?:电话|传真|(?:电子)?邮箱|邮件|人|地址|邮编|邮政编码)\s*[：:].{0,40}"
)
_ASKS_IMPRINT = re.compile(
    r"电话|邮箱|联系|地址|文号|哪[天日年月]|哪一[天日年月]|何时|时候|时间|日期|几[号日月]|when|date|phone|mail",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quoted:
    """An answer of quotes, and its score.

    Attributes:
        answer: The answer.
        score: Of its best sentence, comparable to a cosine; 0 without quotes.
    """

    answer: Answer
    score: float = 0.0


def quoted(
    query: Query,
    results: Sequence[ScoredChunk],
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    embedder: Embedder,
    max_sentences: int = 7,
    facts: Sequence[Fact] = (),
) -> Quoted:
    """Return an answer of sentences quoted from results, each with its citation.

    Sentences are ranked by similarity to the question, shared words, and the kind of thing asked
    for: money, a share, a date, an agency. If they do not answer (`kgrag.answering.answered`), are
    of another year, or of another place, the answer is that nothing was found, with a note on what
    was found instead.

    Args:
        query: The question.
        results: Retrieved chunks, best first; may be empty.
        documents: With text, segments and metadata, at least those of the results.
        headings: By document.
        embedder: Encoder of question and sentences.
        max_sentences: Maximum number of quotes, at least 1.
        facts: Stated in the results: which figures are planned, and for which year.

    Raises:
        ValueError: If max_sentences < 1.
    """
    if max_sentences < 1:
        raise ValueError(f"max_sentences must be at least 1, got {max_sentences}")
    titles = {doc_id: document.title for doc_id, document in documents.items()}
    targets, asked = StatedTargets(facts), question_of(query)
    listing = Listing(query, documents)
    scored = score_sentences(
        query,
        _quotable(results, query, documents, headings)[:_MOST_SENTENCES],
        titles=titles,
        embedder=embedder,
        fit=lambda s: targets.fit(s, asked) + listing.fit(s) + _SECTION * _is_asked_section(s),
    )
    chosen = _choose(scored, query, titles, max_sentences)
    other_year = targets.note(chosen, asked, query.language)
    places, counted = listing.whole(chosen)
    citations = [_cited(place, documents, headings) for place in places]
    if (
        (other_year and asks_for_figure(query.text))
        or not is_answered(scored, query, embedder)
        or not names_what_is_counted(
            query.text, [c.quote for c in citations], listed=len(places) if counted else 0
        )
    ):
        notes = tuple(filter(None, (other_year, *instead(scored, query, titles))))
        return Quoted(Answer(query.text, (Missing(),), METHOD, notes=notes))
    told = Answer(
        query.text, tuple(map(Quote, citations)), METHOD, notes=(counted,) if counted else ()
    )
    return Quoted(told, scored[0].score)


def _quotable(
    results: Sequence[ScoredChunk],
    query: Query,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
) -> list[Sentence]:
    """Return the sentences that may be quoted: about what is asked for, and complete."""
    titles = {doc_id: document.title for doc_id, document in documents.items()}
    lists = asks_for_list(query.text)  # whose items may be headings
    return [
        sentence
        for sentence in _of_named_documents(sentences(results), titles, query)
        if _about_asked_place(sentence, documents[sentence.doc_id], query)
        and not _repeats(sentence.text, titles[sentence.doc_id])
        and (lists or not _is_bare_heading(sentence, headings.get(sentence.doc_id, ())))
        and not _is_imprint(sentence.text, query.text)
    ]


def _cited(
    place: Place,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
) -> Citation:
    return Citation.of(
        document=documents[place.doc_id],
        headings=headings.get(place.doc_id, ()),
        span=(place.start, place.end),
        chunk_id=place.chunk_id,
    )


def _of_named_documents(
    candidates: Sequence[Sentence], titles: Mapping[str, str], query: Query
) -> list[Sentence]:
    """Return the sentences of the document that is asked about by title, if there is one.

    All sentences if the question leads elsewhere: who cites it, or what its basis says.
    """
    quoted = [normalize_name(title) for title in query.titles]
    kind = asked_kind(query.text)
    leads_on = _CITING.search(query.remainder) and (kind is None or kind.name != "titles")
    if _NAMED_AFTER.search(query.quoting) or leads_on:
        return list(candidates)
    meant = {doc_id for _, doc_ids in query.named for doc_id in doc_ids}
    meant.update(d for d in titles if any(is_title_meant(t, titles[d]) for t in query.titles))
    own = [s for s in candidates if s.doc_id in meant]
    if own or not quoted:
        return own or list(candidates)
    # What others say of a document that is not there may still answer.
    return [s for s in candidates if any(title in normalize_name(s.text) for title in quoted)]


def _about_asked_place(sentence: Sentence, document: Document, query: Query) -> bool:
    """Return whether a sentence, or its document, is about a requested place, if there is one."""
    if not query.places:
        return True
    about = set(document_facets(document.title, document.metadata).places)
    return bool(about & query.places) or any(p in sentence.chunk.chunk.text for p in query.places)


def _repeats(text: str, title: str) -> bool:
    """Return whether a sentence is the title, or a line of it."""
    return normalize_name(text) in normalize_name(title)


def _is_imprint(text: str, question: str) -> bool:
    """Return whether a line is only a date, a number or a contact that is not asked for."""
    return _IMPRINT.fullmatch(narrow(text).strip()) is not None and not _ASKS_IMPRINT.search(
        question
    )


def _is_asked_section(sentence: Sentence) -> bool:
    return any(isinstance(r, Reason) and r.kind == "section" for r in sentence.chunk.via)


def _is_bare_heading(sentence: Sentence, headings: Sequence[Heading]) -> bool:
    """Return whether a sentence is a heading line without content of its own.

    A numbered line with a figure (12.森林覆盖率（%）15.0) has content.
    """
    at = bisect_right(headings, sentence.start, key=lambda heading: heading.start) - 1
    if at < 0 or sentence.end > headings[at].end + 1 or _ARTICLE.match(sentence.text):
        return False
    if _FIGURE.search(sentence.text, _LONGEST_MARKER):
        return False
    return not _STOP.search(sentence.text) or len(sentence.text) <= _SHORT_HEADING


def score_sentences(
    query: Query,
    candidates: Sequence[Sentence],
    *,
    titles: Mapping[str, str],
    embedder: Embedder,
    fit: Callable[[Sentence], float] = lambda _: 0.0,
) -> list[Scored]:
    """Return the sentences best first, ties by rank and place.

    Args:
        query: The question.
        candidates: Sentences of retrieved chunks.
        titles: Title by document; a sentence is encoded after its title and last heading.
        embedder: Encoder of question and sentences.
        fit: Penalty of a sentence whose figures are not those asked for.
    """
    if not candidates:
        return []
    # What a quoted title says is true of its whole document: the rest of the question decides.
    asked = set(words(query.remainder)) if query.titles else set(query.words)
    question = query.remainder if query.titles and asked else query.text
    named = bool(query.titles and asked)
    passages = [_in_context(s, "" if named else titles[s.doc_id]) for s in candidates]
    vectors = embedder.embed(passages, "passage")
    asking = wordings(question)
    cosines = (vectors @ np.asarray(embedder.embed(asking, "query")).T).mean(axis=1)
    sought = [asked, *(set(words(wording)) for wording in asking[1:])]
    kind = asked_kind(query.text)
    best_chunk = max(s.chunk.score for s in candidates)
    scored = []
    for sentence, passage, cosine in zip(candidates, passages, cosines, strict=True):
        has = kind.weight if kind and states_kind(sentence.text, kind) else 0.0
        score = (
            float(cosine)
            + _WORD_WEIGHT * max(_share(each, passage) for each in sought)
            + has
            + _TITLE_WEIGHT * _cites_what_is_quoted(sentence, titles[sentence.doc_id], query)
            - _CHUNK_WEIGHT * (best_chunk - sentence.chunk.score)
            + fit(sentence)
        )
        scored.append(Scored(sentence, score))
    return sorted(scored, key=lambda s: (-s.score, s.sentence.rank, s.sentence.start))


def _share(asked: set[str], text: str) -> float:
    """Return the share of the requested words in a text."""
    return len(asked & set(words(text))) / max(1, len(asked))


def _in_context(sentence: Sentence, title: str) -> str:
    """Return a sentence after its title and last heading."""
    path = sentence.chunk.chunk.heading_path
    return "\n".join([part for part in (title, *path[-1:]) if part] + [sentence.text])


def _choose(
    scored: Sequence[Scored], query: Query, titles: Mapping[str, str], most: int
) -> list[Sentence]:
    """Return the sentences to quote, best first, no wording twice.

    If a question asks who cites a title, each document is quoted once.
    """
    chosen: dict[str, Sentence] = {}
    for item in scored:
        if len(chosen) == most or item.score < _CLOSE * scored[0].score:
            break
        sentence = item.sentence
        cites = _cites_what_is_quoted(sentence, titles[sentence.doc_id], query)
        chosen.setdefault(sentence.doc_id if cites else normalize_name(sentence.text), sentence)
    return list(chosen.values())


def _cites_what_is_quoted(sentence: Sentence, title: str, query: Query) -> bool:
    """Return whether a sentence of another document names a title, if that is asked for.

    …引用了《A》 asks who names A; 《A》引用了… asks what A names.
    """
    if not _NAMED_AFTER.search(query.quoting):
        return False
    bare, own = normalize_name(sentence.text), normalize_name(title)
    quoted = [normalize_name(t) for t in query.titles]
    return any(t in bare and t not in own for t in quoted)


class StatedTargets:
    """Figures of facts, by their place."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._places: dict[str, dict[tuple[int, int, Qualifiers], None]] = defaultdict(dict)
        for fact in facts:
            for e in fact.evidence:
                if e.qualifiers.kind == "target":
                    self._places[e.doc_id][e.start, e.end, e.qualifiers] = None

    def within(self, sentence: Sentence) -> list[Qualifiers]:
        """Return the figures stated in a sentence."""
        return [
            told
            for start, end, told in self._places.get(sentence.doc_id, ())
            if start < sentence.end and sentence.start < end
        ]

    def fit(self, sentence: Sentence, asked: Question) -> float:
        """Return the penalty of a sentence whose figures are not those asked for.

        Returns:
            In [-0.13, 0]; 0 for a sentence without known figures.
        """
        told = self.within(sentence)
        if not told:
            return 0.0
        loss = 0.0
        if asked.standing and all(q.standing not in ("", asked.standing) for q in told):
            loss += _OTHER_STANDING
        years = set(map(str, asked.years))
        if years and all(q.year and q.year not in years for q in told):
            loss += _OTHER_YEAR
        return loss

    def note(self, chosen: Sequence[Sentence], asked: Question, language: Language) -> str:
        """Return a note if no figure found is of the requested year.

        Args:
            chosen: The sentences quoted.
            asked: The parsed question.
            language: Of the note.
        """
        years = {q.year for sentence in chosen for q in self.within(sentence)}
        wanted = set(map(str, asked.years))
        if not wanted or not years or "" in years or years & wanted:
            return ""
        stated, asked_for = "、".join(sorted(years)), "、".join(sorted(wanted))
        return note("other-year", language, stated=stated, asked=asked_for)
