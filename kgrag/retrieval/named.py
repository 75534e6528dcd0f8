"""Link names without 《》 in a question to documents, also abbreviated ones: 四川林草碳汇行动方案.

A number (文号) stands for the title of its document.
A name ends in a kind of document (规划, 方案), preceded by words of one title in order, some of
them omitted: 山东新能源产业规划 for 山东省“十四五”新能源产业发展规划.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from statistics import fmean

from kgrag.question.question import analyse, like, question_of
from kgrag.store.store import SearchedStore
from kgrag.text.document_nodes import node_name
from kgrag.text.facets import called
from kgrag.text.leading_region import leading_region
from kgrag.text.region_mentions import names_in
from kgrag.text.title_keys import ISSUE_NUMBER, issuer_ahead, title_key, title_keys
from kgrag.text.vocabulary import DOCUMENT_KINDS, FIVE_YEAR_PLAN
from kgrag.text.words import normalize_name
from kgrag.types import Document, Query

_KIND = re.compile(DOCUMENT_KINDS)
_PERIOD = re.compile(rf"({FIVE_YEAR_PLAN})(?:时期|期间)?|(20\d\d)年?(?:\d{1, 2}月)?")
_NATION = frozenset(("国家", "全国", "中央", "我国"))
_WINDOW = 48  # characters before a kind in which its name stands
_COMMON = 400  # titles that share a pair of characters which leads to none of them
_TRIED = 24  # titles that a name is held against
_REACH = 2  # characters between the two of a pair that a name draws together: 环保 for 环境保护

# How sure is sure: shares of what makes a title rare (benchmarks/decisions.md).
_LEAST = 0.5  # of a title whose place is named, too
_MOST = 0.7  # of a national one
_ALL = 0.9  # of a title without its place
_MARGIN = 0.1  # ahead of the next title
_LEAST_WITH_PLACE, _LEAST_ALONE = 2, 6  # characters besides place, period and kind
_LEAST_CITED = 8  # characters of a title that is cited and not held
_NUMBER, _NO_MARKS = re.compile(ISSUE_NUMBER), str.maketrans("", "", "《》")
# What stands before the number of a document that is not held, and is no part of it.
_BEFORE_NUMBER = re.compile(
    r"\w*(?:[的了和与及跟是在被把据照于由中对按]|引用|落实|贯彻|请问?|看看|什么|哪些)(?=\w\w)"
)


@dataclass(frozen=True, slots=True)
class _Title:
    """A title, prepared for comparison with names.

    Attributes:
        doc_id: Its document.
        bare: Letters of its subject, without issuer, place and period.
        periods: Years and periods in it.
        places: Short names of the document's places; empty for a national one.
        year: Of issue; None if unknown.
    """

    doc_id: str
    bare: str
    periods: frozenset[str]
    places: frozenset[str]
    year: int | None


@dataclass(frozen=True, slots=True)
class _Fit:
    """Match of a name and a title: start, share of the name, number of letters."""

    title: _Title
    start: int
    share: float
    letters: int


def with_documents(query: Query, *, titles: "TitleIndex", store: SearchedStore) -> Query:
    """Return a query with the documents that it names without 《》 added to its titles.

    A query that quotes a title, or compares places, whose sides may name different documents, is
    unchanged. A name without a document here may be that of a cited one. A number is read as the
    quoted title of its document; a kind of which all documents are asked for is no cited one.
    """
    query = _with_numbers(query, titles)
    if query.titles or not _KIND.search(query.text) or question_of(query).sides:
        return query
    named = titles.named(query.text, places=query.places, national=query.national)
    named = named or _cited(query, store)
    if not named:
        return query
    named_too = analyse(query.text, known_places=query.places, named=named)
    return like(query, named_too)


def _with_numbers(query: Query, titles: "TitleIndex") -> Query:
    text, named = query.text, dict(query.named)
    quoted = [normalize_name(title) for title in query.titles]
    for start, end, card in reversed(titles.numbers(text)):
        title = card.title.translate(_NO_MARKS) if card else text[start:end]
        around = text[:start][-1:] + text[end:][:1]
        if around in ("《》", "（）", "()"):
            start, end = start - 1, end + 1
        if any(name in normalize_name(title) for name in quoted):
            text = text[:start] + text[end:]  # 《节能办法》（云政发〔2021〕3号）
            continue
        text = f"{text[:start]}《{title}》{text[end:]}"
        named[title] = (*named.get(title, ()), *((card.doc_id,) if card else ()))
    if text == query.text:
        return query
    read = like(query, analyse(text, known_places=query.places, named=named))
    return replace(read, asked=query.question) if any(named.values()) else read


def _cited(query: Query, store: SearchedStore) -> dict[str, tuple[str, ...]]:
    question = query.text
    names = {
        normalize_name(question[start : kind.end()]): question[start : kind.end()]
        for kind in _KIND.finditer(question)
        for start in range(max(kind.end() - _WINDOW, 0), kind.end() - _LEAST_CITED + 1)
        if not _whose(question[:start].rstrip('“"'), query.places)
    }
    found = store.find_entities(list(names)) if names else []
    known = [
        key for e in found if e.type == "document" and (key := normalize_name(e.name)) in names
    ]
    return {names[max(known, key=len)]: ()} if known else {}


class TitleIndex:
    """An index of document titles, to find those that a question names without 《》."""

    def __init__(
        self, cards: Sequence[Document] = (), places: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        """Keep documents, and their places by id; titles are parsed with the first question."""
        self._cards = cards
        self._places = places or {}
        self._weighed: dict[str, Sequence[float]] = {}

    @cached_property
    def _numbered(self) -> Mapping[str, Document]:
        """Return documents by the letters of their number."""
        held = [card for card in self._cards if card.metadata.number]
        return {_letters(card.metadata.number)[0]: card for card in held}

    @cached_property
    def _by_id(self) -> Mapping[str, str]:
        return {card.doc_id: card.title for card in self._cards}

    def title_of(self, doc_id: str) -> str:
        """Return a document's title; empty if unknown."""
        return self._by_id.get(doc_id, "")

    def numbers(self, question: str) -> list[tuple[int, int, Document | None]]:
        """Return (start, end, document) of each number (文号) in a question, in order.

        Brackets may have any form. The document is None for a number that none held has.
        """
        found: list[tuple[int, int, Document | None]] = []
        for match in _NUMBER.finditer(question):
            lead = _BEFORE_NUMBER.match(match[0])
            start = match.start() + (lead.end() if lead else 0)
            number = _letters(question[start : match.end()])[0]
            found.append((start, match.end(), self._numbered.get(number)))
        return found

    def cited_as(self, doc_ids: Collection[str]) -> tuple[str, ...]:
        """Return the names by which other documents cite some of these."""
        names = (self._cited_as[doc_id] for doc_id in doc_ids if doc_id in self._cited_as)
        return tuple(dict.fromkeys(names))

    def named(
        self, question: str, *, places: Collection[str], national: bool
    ) -> dict[str, tuple[str, ...]]:
        """Return the documents that a question names unambiguously: {name: document ids}."""
        letters, offsets = _letters(question)
        letters, times, kept = _timeless(letters)
        found: dict[str, tuple[str, ...]] = {}
        first = len(letters)  # of the name that follows: 关于落实甲方案的通知 names no 甲方案
        for kind in reversed(list(_KIND.finditer(letters))):
            if kind.end() > first:
                continue
            text = letters[max(0, kind.end() - _WINDOW) : kind.end()]
            fits = self._fits(text, kind[0], frozenset(places), national=national)
            past = kind.end() - len(text)
            fits = [f for f in fits if _is_of(f.title, times, past + f.start, kind.end())]
            if fits:
                first = past + fits[0].start
                start = min([kept[first], *(at for n, at, _ in times if n == first)])
                name = question[offsets[start] : offsets[kept[kind.end() - 1]] + 1]
                found[name] = tuple(dict.fromkeys(fit.title.doc_id for fit in fits))
        return dict(reversed(found.items()))

    def _fits(self, text: str, kind: str, places: frozenset[str], *, national: bool) -> list[_Fit]:
        """Return the best matching title at the end of a text, with all documents that have it."""
        tried = filter(None, (self._fit(text, kind, t) for t in self._like(text, kind, places)))
        fits = [fit for fit in tried if _is_sure(fit, places, national=national)]
        if not fits:
            return []
        if not places:  # a title without its place is the nation's, where it has one
            fits = [fit for fit in fits if not fit.title.places] or fits
        best = max(fits, key=lambda fit: (fit.share, -fit.start))
        alike = [fit for fit in fits if _identity(fit) == _identity(best)]
        least = best.share - _MARGIN
        known = {fit.title.doc_id for fit in alike}
        near = {fit.title.doc_id for fit in fits if fit.share > least}
        return alike if near <= known else []

    def _like(self, text: str, kind: str, places: frozenset[str]) -> list[_Title]:
        """Return the titles of a kind and place that share most bigrams with a text."""
        shared: Counter[int] = Counter()
        for pair in dict.fromkeys(_pairs(text)):
            holding = self._holding.get(pair, ())
            if len(holding) <= _COMMON or places:
                shared.update(holding)
        likely = [
            (-n, title.doc_id, title)
            for i, n in shared.items()
            if (title := self._titles[i]).bare.endswith(kind)
            and (not title.places or not places or title.places & places)
        ]
        return [title for _, _, title in sorted(likely, key=lambda item: item[:2])[:_TRIED]]

    def _fit(self, text: str, kind: str, title: _Title) -> _Fit | None:
        """Match the end of a text with a title, backwards from the kind of document."""
        bare = title.bare
        at, left = len(text) - len(kind), len(bare) - len(kind)
        weights = self._weights(bare[:left])
        got, letters = 0.0, 0
        while at and (below := _back(text, at, bare, left)) is not None:
            at, reached = below
            left = reached[0]
            got += sum(weights[i] for i in reached)
            letters += len(reached)
        begins_late = left and fmean(self._weights(bare[:left])) >= fmean(weights)
        if begins_late or got < _LEAST * sum(weights):
            return None  # what the title is about: 海洋生态环境 is no 生态环境
        whose = _whose(text[:at], title.places)
        of = _places_in(whose, title.places)
        if whose and not (title.places or _NATION) & of:
            return None  # 甘肃节能方案 is not the nation's
        if not whose and text[max(at - 2, 0) : at] in self._holding:
            return None  # a longer name, of another document
        at -= len(whose) if title.places else 0
        return _Fit(title, at, got / (sum(weights[left:]) or 1.0), letters)

    def _weights(self, about: str) -> Sequence[float]:
        """Return the weight of each character of a title: rare bigrams weigh more."""
        if about not in self._weighed:
            n = len(self._titles)
            rare = [math.log(1 + n / len(self._holding.get(p, "1"))) for p in _pairs(about)]
            self._weighed[about] = list(map(max, [*rare, 0.0], [0.0, *rare])) if rare else [1.0]
        return self._weighed[about]

    @cached_property
    def _cited_as(self) -> dict[str, str]:
        return {card.doc_id: node_name(card.title) for card in self._cards}

    @cached_property
    def _titles(self) -> list[_Title]:
        return [
            _Title(card.doc_id, bare, periods, places, card.metadata.sure_year)
            for card in self._cards
            for places in [self._places.get(card.doc_id, frozenset[str]())]
            for bare, periods in dict.fromkeys(
                _about(text, card.metadata.issuers, places)
                for text in (card.title, card.metadata.notice)
                if text
            )
            if len(bare) > _LEAST_WITH_PLACE
        ]

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        """Index titles by character bigram."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for i, title in enumerate(self._titles):
            for pair in dict.fromkeys(_pairs(title.bare)):
                found[pair].append(i)
        return dict(found)


def _identity(fit: _Fit) -> tuple[str, frozenset[str]]:
    return fit.title.bare, fit.title.places


def _is_sure(fit: _Fit, places: Collection[str], *, national: bool) -> bool:
    """Return whether a name, with the rest of the question, can mean no other document."""
    own = fit.title.places
    in_part = fit.share >= _LEAST and fit.letters >= _LEAST_WITH_PLACE
    if own & set(places):
        return in_part
    if own:
        whole = fit.share >= _ALL and fit.letters >= _LEAST_ALONE
        return whole and not places and not national
    if national:
        return in_part
    return fit.share >= _MOST and fit.letters >= _LEAST_ALONE


def _is_of(title: _Title, times: Sequence[tuple[int, int, str]], start: int, end: int) -> bool:
    """Return whether the years and periods that a name has or follows are those of a title."""
    told = {period for at, _, period in times if start <= at < end}
    return told <= title.periods or told == {str(title.year)}


def _back(text: str, at: int, bare: str, left: int) -> tuple[int, tuple[int, ...]] | None:
    """Return where a text continues backwards in a title: its start, and the title's positions.

    The character before `at` equals that before `left`; or the two before `at` occur earlier,
    adjacent or as an abbreviation (环保 for 环境保护).
    """
    if left and bare[left - 1] == text[at - 1]:
        return at - 1, (left - 1,)
    if at < 2:
        return None
    found = bare.rfind(text[at - 2 : at], 0, left)
    if found >= 0:
        return at - 2, (found, found + 1)
    for end in range(left - 1, 0, -1):
        if bare[end] == text[at - 1]:
            start = bare.rfind(text[at - 2], max(end - 1 - _REACH, 0), end)
            if start >= 0:
                return at - 2, (start, end)
    return None


def _about(
    title: str, issuers: Sequence[str], places: Collection[str]
) -> tuple[str, frozenset[str]]:
    """Return the letters of a title's subject, and its years and periods."""
    keys = map(_timeless, title_keys(title))
    bare, times, _ = min(keys, key=lambda read: len(read[0]), default=("", [], []))
    for organ in map(title_key, issuers):
        bare = bare.removeprefix(organ)
    _, end = leading_region(bare)
    bare = bare[end:] if any(p in bare[:end] for p in places) else bare.removeprefix("自治区")
    return bare, frozenset(period for *_, period in times)


def _timeless(text: str) -> tuple[str, list[tuple[int, int, str]], list[int]]:
    """Return a text without its years and periods, these, and where its characters stood.

    Years and periods are told by where they stood without and with the others.
    """
    times: list[tuple[int, int, str]] = []
    kept: list[int] = []
    past = 0
    for match in _PERIOD.finditer(text):
        kept += range(past, match.start())
        times.append((len(kept), match.start(), match[1] or match[2]))
        past = match.end()
    kept += range(past, len(text))
    return "".join(text[i] for i in kept), times, kept


def _whose(text: str, known: Collection[str]) -> str:
    """Return the place or the issuer that ends a text; empty for none."""
    places = (text[at:] for at, name in names_in(text, known=known) if text[at:] == name)
    nation = (name for name in _NATION if text.endswith(name))
    return next(chain(places, nation), "") or issuer_ahead(text)


def _places_in(name: str, known: Collection[str]) -> frozenset[str]:
    """Return the short names of the places in a name; the nation's where it has none."""
    return frozenset(called(place) for _, place in names_in(name, known=known)) or _NATION


def _letters(question: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    offsets: list[int] = []
    short = [at for at in range(len(question)) if question.startswith("双碳", at)]
    for at, character in enumerate(question):
        if at in short:
            character = "碳达峰"
        elif at - 1 in short:
            character = "碳中和"
        for letter in unicodedata.normalize("NFKC", character).casefold():
            if letter.isalnum() and letter != "的":
                letters.append(letter)
                offsets.append(at)
    return "".join(letters), offsets


def _pairs(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(len(text) - 1)]
