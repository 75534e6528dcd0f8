"""Answering offline with the sentences that support an answer best, each cited."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Block, Missing, Quote, Side
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answer.sentences import FLAT_ROW, Sentence, sentences, whole_quote
from kgrag.answering.listed import Listing, Place, asks_for_list
from kgrag.embedding.embedder import Embedder, Thresholds
from kgrag.qualifiers import Qualifiers
from kgrag.question.answer_kinds import QUANTITIES, Kind, asked_kind, asked_kinds, states_kind
from kgrag.question.question import Question, question_of
from kgrag.results import Reason, ScoredChunk
from kgrag.text.facets import document_facets
from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import han_numeral
from kgrag.text.official_terms import wordings
from kgrag.text.quantities import narrow
from kgrag.text.table_rows import cells_of, columns_above, is_header, named_cells
from kgrag.text.visible import shortened
from kgrag.text.vocabulary import CITING
from kgrag.text.words import is_latin, normalize_name, words
from kgrag.types import Document, Fact, Heading, Query

_DIGIT = re.compile(r"\d")
_LEAST = 2  # sentences that each side may have

_REACH = 0.8  # of the best score, within which what is asked for must be found
_QUOTED = 0.5  # of the least support, where the question quotes a title
_MOST_COMPARED = 6  # sentences
_FIGURES = frozenset(
    (*QUANTITIES, "money", "age", "share", "duration", "day", "date", "number", "count")
)
_COUNT = re.compile(
    r"(\d{1,9}|[三四五六七八九十百]{1,6})\s*+[家个项种类条所座名位][^，。？\d]{0,20}?(?:是|有|叫|包括|分别是)?(?:哪些|哪几|什么)"
)
_LEAST_NAMED = 4  # of the things that a question counts, fewer where it counts fewer
_ALIKE = 0.7  # share of a quoted title's pairs of characters that a title that is meant has
_LONGEST = 61  # characters of what was found instead


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its score, comparable to a cosine."""

    sentence: Sentence
    score: float


def is_answered(
    scored: Sequence[Scored],
    query: Query,
    embedder: Embedder,
    absent: Callable[[], Sequence[str]] = tuple,
    apart: Callable[[], Sequence[str]] = tuple,
) -> bool:
    """Return whether sentences answer a question.

    The best must score enough, or one of the good ones resemble the question without its places.
    If the question begins with a word that no document has, its subject is not held, unless a
    sentence is more like the question for it, or it names a place (`benchmarks/decisions.md`).
    Nor is it if no sentence has both of its rarest words.
    If a figure, a date or an agency is asked for, one of the good ones must contain it, in the
    requested unit, and score well or resemble the question: another figure of the same place is no
    answer. The encoder states how much is enough (`Thresholds`); of one that does not, cosines
    refuse nothing.

    Args:
        scored: Best first; may be empty.
        query: The question.
        embedder: Measures the resemblance.
        absent: Returns the words of the question that no document has; called for weak answers.
        apart: Returns its rarest words if no sentence has both; called for weak answers.
    """
    limits = embedder.thresholds or Thresholds()
    free = not query.titles and not is_latin(query.text)
    # A named document is held: only the rest of the question is to be met.
    support = limits.free if free else limits.support * (_QUOTED if query.titles else 1)
    if not scored or scored[0].score < support:
        return False
    near = [s for s in scored if s.score >= _REACH * scored[0].score]
    # A character may stand before the word: 元宇宙, 在火星.
    if free and near[0].score <= limits.certain and not query.places:
        subject = next((word for word in absent() if 0 <= query.text.find(word) < 2), "")
        if subject and not _draws_on(subject, near[:_MOST_COMPARED], query, embedder):
            return False
        if apart():
            return False
    # Sentences of the place that a question names score by that alone.
    weak = free and near[0].score <= limits.weak
    if weak and _likeness(near[:_MOST_COMPARED], query, embedder) <= limits.unlike:
        return False
    kinds = asked_kinds(query.text)
    held = [s for s in near if any(states_kind(s.sentence.text, kind) for kind in kinds)]
    if not kinds or not held:
        return not kinds
    if not free or kinds[0].name not in _FIGURES or held[0].score > limits.sure:
        return True
    return _likeness(held[:_MOST_COMPARED], query, embedder) > limits.like


def names_what_is_counted(question: str, quotes: Sequence[str], *, listed: int = 0) -> bool:
    """Return whether quotes name the counted things that a question asks for; True for others.

    Args:
        question: The question.
        quotes: Candidate answer.
        listed: Items of a list among the quotes.

    >>> names_what_is_counted("剔除的38家企业是哪些", ["剔除38家企业。"])
    False
    >>> names_what_is_counted("那三个城市是哪些", ["甲市、乙市、丙市"])
    True
    >>> names_what_is_counted("那两个阶段是什么", ["第一阶段是甲。", "第二阶段是乙。"])
    True
    """
    counted = _COUNT.search(question)
    if not counted or not quotes:
        return True
    number = int(counted[1]) if counted[1].isdigit() else int(han_numeral(counted[1]) or 0)
    named = max(listed, *(1 + quote.count("、") for quote in quotes))
    return number <= len(quotes) or named >= min(number, _LEAST_NAMED)


def _likeness(held: Sequence[Scored], query: Query, embedder: Embedder) -> float:
    """Return the highest cosine of a sentence and the question without its places."""
    asked = query.text
    for place in sorted(query.places, key=len, reverse=True):
        asked = asked.replace(place, "")
    return _cosines(held, [asked], embedder)[0]


def _draws_on(word: str, held: Sequence[Scored], query: Query, embedder: Embedder) -> bool:
    """Return whether a sentence is more like the question with a word than any is without it."""
    cosines = _cosines(held, [query.text, query.text.replace(word, "")], embedder)
    return cosines[0] > cosines[1]


def _cosines(held: Sequence[Scored], asked: list[str], embedder: Embedder) -> list[float]:
    """Return for each question the highest cosine of a sentence."""
    vectors = embedder.embed([s.sentence.text for s in held], "passage")
    return [float(best) for best in (vectors @ embedder.embed(asked, "query").T).max(axis=0)]


def is_title_meant(quoted: str, title: str) -> bool:
    """Return whether a title contains the quoted one, or most of it.

    >>> is_title_meant("碳达峰方案", "甲市碳达峰实施方案"), is_title_meant("碳达峰方案", "节能条例")
    (True, False)
    """
    bare, own = normalize_name(quoted), normalize_name(title)
    if bare in own:
        return True
    (asked, _), (place, _) = leading_region(quoted), leading_region(title)
    if asked and place and asked[-1] not in place:  # 江西省实施方案 is not 青海省实施方案
        return False
    pairs = {bare[i : i + 2] for i in range(len(bare) - 1)}
    return sum(pair in own for pair in pairs) > _ALIKE * len(pairs)


def _instead(
    scored: Sequence[Scored],
    query: Query,
    titles: Mapping[str, str],
    absent: Sequence[str],
    apart: Sequence[str],
) -> tuple[str, ...]:
    """Return notes on what was found instead: a missing document, the nearest sentence.

    Args:
        scored: Best first; may be empty.
        query: The question.
        titles: By document.
        absent: Words of the question that no document has.
        apart: Its rarest words if no sentence has both.
    """
    notes = [note("absent", query.language, words=tuple(absent))] if absent else []
    if apart and not absent:
        notes.append(note("apart", query.language, one=apart[0], other=apart[1]))
    notes += [
        note("title-missing", query.language, title=title)
        for title in query.titles
        if not any(is_title_meant(title, own) for own in titles.values())
    ]
    for best in scored[:1]:
        title, quote = titles[best.sentence.doc_id], shortened(best.sentence.text, _LONGEST)
        notes.append(note("nearest", query.language, title=title, quote=quote))
    return tuple(notes)


_OTHER_STANDING = -0.03  # on a sentence's score: all its figures are of the other kind
_OTHER_YEAR = -0.1  # none of its figures is for the year asked for

METHOD = "extractive"
_CITING = re.compile(CITING)
_NAMED_AFTER = re.compile(rf"(?:{_CITING.pattern})[^《》]{{0,6}}《")

_ARTICLE = re.compile(r"第[一二三四五六七八九十百\d]{1,5}条")
_STOP = re.compile(r"[。；;！？]$")
_FIGURE = re.compile(r"\d")
_WORDS = re.compile(r"[^\W\d_]{2}")  # which a row of numbers has not
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


def quoted(
    query: Query,
    results: Sequence[ScoredChunk],
    *,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    embedder: Embedder,
    max_sentences: int = 7,
    facts: Sequence[Fact] = (),
    absent: Callable[[], Sequence[str]] = tuple,
    apart: Callable[[], Sequence[str]] = tuple,
    sure: bool = False,
) -> Answer:
    """Return an answer of sentences quoted from results, each with its citation.

    Sentences are ranked by similarity to the question, shared words, and the kind of thing asked
    for: money, a share, a date, an agency. If they do not answer, the answer is that nothing was
    found, with a note on what was found instead.

    Args:
        query: The question.
        results: Retrieved chunks, best first; may be empty.
        documents: With text, segments and metadata, at least those of the results.
        headings: By document.
        embedder: Encoder of question and sentences.
        max_sentences: Maximum number of quotes, at least 1.
        facts: Stated in the results: which figures are planned, and for which year.
        absent: As for `is_answered`.
        apart: As for `is_answered`.
        sure: Whether the best sentences are an answer in any case.

    Raises:
        ValueError: If max_sentences < 1.
    """
    if max_sentences < 1:
        raise ValueError(f"max_sentences must be at least 1, got {max_sentences}")
    titles = {doc_id: document.title for doc_id, document in documents.items()}
    targets, asked, listing = StatedTargets(facts), question_of(query), Listing(query, documents)
    scored = score_sentences(
        query,
        _quotable(results, query, documents, headings, listing)[:_MOST_SENTENCES],
        titles=titles,
        embedder=embedder,
        fit=lambda s: targets.fit(s, asked) + listing.fit(s) + _fit_of_result(s),
    )
    chosen = _choose(scored, query, documents, max_sentences)
    places, n_items = listing.whole(chosen)
    citations = _each_once([_cited(place, documents, headings) for place in places])
    if not (sure and scored) and (
        not is_answered(scored, query, embedder, absent, apart)
        or not names_what_is_counted(query.text, [c.quote for c in citations], listed=n_items)
    ):
        instead = _instead(scored, query, titles, absent(), apart())
        return Answer(query.text, (Missing(),), METHOD, notes=instead)
    return Answer(query.text, tuple(map(Quote, citations)), METHOD)


def _quotable(
    results: Sequence[ScoredChunk],
    query: Query,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
    listing: Listing,
) -> list[Sentence]:
    """Return the sentences that may be quoted: about what is asked for, and complete."""
    titles = {doc_id: document.title for doc_id, document in documents.items()}
    lists = asks_for_list(query.text)  # whose items may be headings
    found = [
        listing.completed(sentence) if listing.defines(sentence.text) else sentence
        for sentence in _of_named_documents(sentences(results), titles, query)
        if _about_asked_place(sentence, documents[sentence.doc_id], query)
        and not _repeats(sentence.text, titles[sentence.doc_id])
        and (lists or not _is_bare_heading(sentence, headings.get(sentence.doc_id, ())))
        and not _is_imprint(sentence.text, query.text)
        and not is_header(documents[sentence.doc_id].text, sentence.start, sentence.end)
    ]
    told = _with_columns(found, documents, normalize_name(query.text))
    return [sentence for sentence in told if _WORDS.search(sentence.text)]


def _with_columns(
    candidates: Sequence[Sentence], documents: Mapping[str, Document], asked: str
) -> list[Sentence]:
    """Return sentences, those that are rows of tables with the names of their columns.

    Of a table of which the question has cells of some rows (水泥), those rows alone.
    """
    headers = [columns_above(documents[s.doc_id].text, s.start, s.end) for s in candidates]
    rows = list(zip(candidates, headers, strict=True))
    named = {
        (s.doc_id, s.start): header
        for s, header in rows
        if header and any(normalize_name(c) in asked for c in cells_of(s.text) if _WORDS.search(c))
    }
    tables = {(doc_id, header) for (doc_id, _), header in named.items()}
    return [
        replace(s, text=named_cells(header, s.text)) if header else s
        for s, header in rows
        if (s.doc_id, header) not in tables or (s.doc_id, s.start) in named
    ]


def _cited(
    place: Place,
    documents: Mapping[str, Document],
    headings: Mapping[str, Sequence[Heading]],
) -> Citation:
    return Citation.of(
        document=documents[place.doc_id],
        headings=headings.get(place.doc_id, ()),
        span=whole_quote(documents[place.doc_id].text, place.start, place.end),
        chunk_id=place.chunk_id,
    )


def _each_once(citations: Sequence[Citation]) -> list[Citation]:
    """Return the citations without those that lie within another one."""
    spans = {(c.doc_id, c.start, c.end) for c in citations}
    return [
        c
        for c in citations
        if not any(
            doc_id == c.doc_id
            and start <= c.start
            and c.end <= end
            and (start, end) != (c.start, c.end)
            for doc_id, start, end in spans
        )
    ]


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
    if abroad := question_of(query).abroad:
        return any(name in f"{document.title}{sentence.text}" for name in abroad)
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


def _fit_of_result(sentence: Sentence) -> float:
    """Return the bonus of the section asked for, and the penalty of another edition."""
    kinds = {r.kind for r in sentence.chunk.via if isinstance(r, Reason)}
    return _SECTION * ("section" in kinds) + _OTHER_YEAR * ("edition" in kinds)


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
        has = kind.weight if kind and _states(sentence.text, kind, asked) else 0.0
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


def _states(text: str, kind: Kind, asked: set[str]) -> bool:
    """Return whether a text contains an answer of a kind; a quantity, with a word beside its unit.

    5吨产品为吨熟料 tells nothing of 多少吨以上算重点排放单位.
    """
    if not states_kind(text, kind):
        return False
    return kind.name not in QUANTITIES or len(asked & set(words(text))) > 1


def _share(asked: set[str], text: str) -> float:
    """Return the share of the requested words in a text."""
    return len(asked & set(words(text))) / max(1, len(asked))


def _in_context(sentence: Sentence, title: str) -> str:
    """Return a sentence after its title and last heading."""
    path = sentence.chunk.chunk.heading_path
    return "\n".join([part for part in (title, *path[-1:]) if part] + [sentence.text])


def _choose(
    scored: Sequence[Scored], query: Query, documents: Mapping[str, Document], most: int
) -> list[Sentence]:
    """Return the sentences to quote, best first, after those of `_naming`, no wording twice.

    If a question asks who cites a title, each document is quoted once.
    """
    chosen = {normalize_name(s.text): s for s in _naming(scored, query, documents)}
    for item in scored:
        if len(chosen) >= most or item.score < _CLOSE * scored[0].score:
            break
        sentence = item.sentence
        cites = _cites_what_is_quoted(sentence, documents[sentence.doc_id].title, query)
        chosen.setdefault(sentence.doc_id if cites else normalize_name(sentence.text), sentence)
    return list(chosen.values())[:most]


def _naming(
    scored: Sequence[Scored], query: Query, documents: Mapping[str, Document]
) -> list[Sentence]:
    """Return the best sentences that name a place asked for which no document is about.

    Good ones with another word of the question, and rows of figures in a passage with one.
    """
    about = {r for d in documents.values() for r in document_facets(d.title, d.metadata).places}
    places = query.places - about
    asked = {w for w in _asked(query) if not any(p in w or w in p for p in query.places)}

    def is_told(s: Scored) -> bool:
        own = s.sentence
        if FLAT_ROW.search(own.text):
            return any(word in own.chunk.chunk.text for word in asked)
        return s.score >= _REACH * scored[0].score and any(word in own.text for word in asked)

    named = (s for s in scored if any(place in s.sentence.text for place in places))
    return [s.sentence for s in named if is_told(s)][:_LEAST]


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


def answer_by_sides(
    query: Query,
    sides: Sequence[str],
    quote: Callable[[str, int, bool], Answer],
    *,
    max_sentences: int,
) -> Answer:
    """Return the answers of all sides.

    If one side is answered, the others have the best sentences about them.

    Args:
        query: The question.
        sides: Names of the sides, at least one.
        quote: Answers one side with at most so many sentences, for True in any case.
        max_sentences: Maximum number of quotes, but two for each side.
    """
    most = max(_LEAST, max_sentences // len(sides))
    told = {side: quote(side, most, False) for side in sides}
    notes = dict.fromkeys(note for answer in told.values() for note in answer.notes)
    if not any(answer.found for answer in told.values()):
        return Answer(query.text, (Missing(),), METHOD, notes=tuple(notes))
    found = {s: a if a.found else quote(s, most, True) for s, a in told.items()}
    notes = dict.fromkeys(
        note for answer in found.values() if answer.found for note in answer.notes
    )
    blocks = [side(s, a, nearest=not told[s].found) for s, a in found.items()]
    return Answer(query.text, tuple(blocks), METHOD, notes=tuple(notes))


def side(label: str, answer: Answer, *, nearest: bool) -> Block:
    """Return a side of a comparison with its answer, or without one."""
    return Side(label, answer.blocks, nearest) if answer.found else Missing(label)


def _asked(query: Query) -> set[str]:
    """Return the content words of a question, without numbers."""
    return {word for word in query.words if len(word) > 1 and not _DIGIT.search(word)}


def of_side(
    side: Query, answer: Answer, *, titled: Collection[str], documents: Mapping[str, Document]
) -> Answer:
    """Return the quotes of a side's document or place.

    If there are none, it is not found. A quote belongs to a place if its document is about it, or
    it, or a heading above it, names the place; to the country, if its document is of no place.

    Args:
        side: The side.
        answer: The quotes.
        titled: Documents that it names.
        documents: Those of the quotes, by id.
    """
    titles = [normalize_name(title) for title in side.titles]

    def is_own(c: Citation) -> bool:
        if titles:
            return c.doc_id in titled or any(t in normalize_name(c.title) for t in titles)
        card = documents[c.doc_id]
        if side.national and not side.places:
            return not card.metadata.regions
        about = set(document_facets(card.title, card.metadata).places)
        said = "\n".join((*c.heading_path, c.quote))
        return not side.places or bool(about & side.places) or any(p in said for p in side.places)

    own = tuple(block for block in answer.blocks if all(map(is_own, block.citations)))
    if len(own) == len(answer.blocks):
        return answer
    return replace(answer, blocks=own or (Missing(),), notes=())
