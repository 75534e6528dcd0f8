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

from kgrag.question.query import analyse, like
from kgrag.question.question import question_of
from kgrag.store.store import SearchedStore
from kgrag.text.document_nodes import node_name
from kgrag.text.leading_region import leading_region
from kgrag.text.title_keys import ISSUE_NUMBER, title_key, title_keys
from kgrag.text.vocabulary import DOCUMENT_KINDS, FIVE_YEAR_PLAN
from kgrag.text.words import normalize_name
from kgrag.types import Document, Query

_KIND = re.compile(DOCUMENT_KINDS)
_PERIOD = rf"{FIVE_YEAR_PLAN}(?:时期|期间)?|(?:20\d\d年?){{1,2}}(?:年?[度版])?"
_PERIODS = re.compile(_PERIOD)
_PERIOD_BEFORE = re.compile(rf"(?:{_PERIOD})$")
_MONTH_BEFORE = re.compile(r"(20\d\d)年\d{1,2}月(?:份|\d{1,2}日)?(?:[制定出印发布台]{1,3})?$")
_ISSUER = re.compile(r"^(?:(?!贯彻|落实|转发|实施).){2,80}?关于")
# What a title may begin with before it says what it is about, and a name may leave out.
_AHEAD = re.compile(
    r"^(?:关于|印发|发布|进一步|加快|推[动进]|促进|深入|全面|积极|扎实|切实|大力|稳妥|有序|做好|加强|开展|组织"
    r"|建立|健全|完善|坚决|严格|支持|实施|打好|应对"
    r"|[全我本][省市区]|与(?!外)){1,20}"
)
_AHEAD_BEFORE = re.compile(_AHEAD.pattern[1:] + "$")
# What may stand before a name, so that it is no part of a longer one.
_BEGINS = re.compile(
    r"(?:^|[的了在按据照对和与及跟同把将从由看查问以比是有于里中上下版份个项据或者请个部委局厅院府办会署过着叫做]"
    r"|引用|援引|落实|贯彻|提到|参照|转发|修订|废止|哪些|什么|关于|印发|发布|出台|国家|全国|中央|我国|层面|级"
    r"|年|月|日)$"
)
_SHORT, _IN_FULL = re.compile("双碳"), ("碳达峰", "碳中和")
_NATION_BEFORE = re.compile(r"(?:国家|全国|中央|我国)(?:级|层面)?$")
_SUFFIX = r"(?:省|市|(?:[一-鿿]{1,6}族)?自治[区州县]|特别行政区|州|区|县|地区)?"
_WINDOW = 48  # characters before a kind in which its name stands
_COMMON = 400  # titles that share a pair of characters which leads to none of them
_TRIED = 24  # titles that a name is held against
_REACH = 2  # characters between the two of a pair that a name draws together: 环保 for 环境保护

# How sure is sure: shares of what makes a title rare (benchmarks/decisions.md).
_LEAST = 0.5  # of a title whose place is named, too
_MOST = 0.7  # of a national one
_ALL = 0.95  # of a title without its place
_MARGIN = 0.1  # ahead of the next title
_LEAST_WITH_PLACE, _LEAST_ALONE = 2, 6  # characters besides place, period and kind
_LEAST_CITED = 8  # characters of a title that is cited and not held
_NUMBER, _NO_MARKS = re.compile(ISSUE_NUMBER), str.maketrans("", "", "《》")
# What stands before the number of a document that is not held, and is no part of it.
_BEFORE_NUMBER = re.compile(
    r"^.*(?:[的了和与及跟是在被把据照于由中对按]|引用|落实|贯彻|请问?|看看|什么|哪些)(?=..)"
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
        if not _place_before(question[:start].rstrip('“"'), query.places)
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
    def _numbered(self) -> list[tuple[str, Document]]:
        """Return the letters of each number, the longest first, with its document."""
        numbered = [(_letters(c.metadata.number)[0], c) for c in self._cards if c.metadata.number]
        return sorted(numbered, key=lambda one: -len(one[0]))

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
        letters, offsets = _letters(question)
        found: dict[int, tuple[int, int, Document | None]] = {}
        for number, card in self._numbered:
            if (at := letters.find(number)) < 0:
                continue
            start, end = offsets[at], offsets[at + len(number) - 1] + 1
            before = question[:start]
            if not before[-1:].isalnum() or _BEGINS.search(before):
                found.setdefault(end, (start, end, card))
        for match in _NUMBER.finditer(question):
            lead = _BEFORE_NUMBER.match(re.split(r"\W", match[0], maxsplit=1)[0])
            start = match.start() + (lead.end() if lead else 0)
            found.setdefault(match.end(), (start, match.end(), None))
        return [found[end] for end in sorted(found)]

    def cited_as(self, doc_ids: Collection[str]) -> tuple[str, ...]:
        """Return the names by which other documents cite some of these."""
        names = (self._cited_as[doc_id] for doc_id in doc_ids if doc_id in self._cited_as)
        return tuple(dict.fromkeys(names))

    def named(
        self, question: str, *, places: Collection[str], national: bool
    ) -> dict[str, tuple[str, ...]]:
        """Return the documents that a question names unambiguously: {name: document ids}."""
        letters, offsets = _letters(question)
        found: dict[str, tuple[str, ...]] = {}
        first = len(letters)  # of the name that follows: 关于落实甲方案的通知 names no 甲方案
        for kind in reversed(list(_KIND.finditer(letters))):
            if kind.end() > first:
                continue
            text = letters[max(0, kind.end() - _WINDOW) : kind.end()]
            fits = self._fits(text, kind[0], frozenset(places), national=national)
            if fits:
                first = kind.end() - len(text) + fits[0].start
                name = question[offsets[first] : offsets[kind.end() - 1] + 1]
                found[name] = tuple(dict.fromkeys(fit.title.doc_id for fit in fits))
        return dict(reversed(found.items()))

    def _fits(self, text: str, kind: str, places: frozenset[str], *, national: bool) -> list[_Fit]:
        """Return the best matching title at the end of a text, with all documents that have it."""
        tried = [self._fit(text, kind, title) for title in self._like(text, kind, places)]
        fits = [fit for fit in tried if fit and _is_sure(fit, text, places, national=national)]
        if not places:  # a title without its place is the nation's, where it has one
            fits = [fit for fit in fits if not fit.title.places] or fits
        if not fits:
            return []
        best = max(fits, key=lambda fit: (fit.share, -fit.start))
        alike = [fit for fit in fits if _identity(fit) == _identity(best)]
        least = best.share - _MARGIN
        known = {fit.title.doc_id for fit in alike}
        others = [f for f in fits if f.title.doc_id not in known and f.share > least]
        return [] if others else alike

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
        got, letters, placed = 0.0, 0, False
        while at:
            if (past := _time_before(text, at, title)) is not None:
                if past < 0:
                    return None
                at = past
            elif (below := _back(text, at, bare, left)) is not None:
                at, reached = below
                left = reached[0]
                got += sum(weights[i] for i in reached)
                letters += len(reached)
            elif not placed and (name := _place_before(text[:at], title.places)):
                placed, at = True, at - len(name)
            elif not left and (ahead := _AHEAD_BEFORE.search(text, 0, at)):
                at = ahead.start()
            else:
                break
        if left or not (placed or _BEGINS.search(text[:at])):
            return None
        return _Fit(title, at, got / (sum(weights) or 1.0), letters)

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


def _is_sure(fit: _Fit, text: str, places: Collection[str], *, national: bool) -> bool:
    """Return whether a name, with the rest of the question, can mean no other document."""
    own = fit.title.places
    if not own and _place_before(text[: fit.start], places):
        return False  # 甘肃节能方案 is not the nation's
    in_part = fit.share >= _LEAST and fit.letters >= _LEAST_WITH_PLACE
    if own & set(places):
        return in_part
    if own:
        whole = fit.share >= _ALL and fit.letters >= _LEAST_ALONE
        return whole and not places and not national
    if national and (not places or _NATION_BEFORE.search(text[: fit.start])):
        return in_part
    return fit.share >= _MOST and fit.letters >= _LEAST_ALONE


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


def _time_before(text: str, at: int, title: _Title) -> int | None:
    """Return the start of a period or date of issue at the end of a text; None without one.

    It is -1 if the title, or its document, has another time.
    """
    if month := _MONTH_BEFORE.search(text, 0, at):
        return month.start() if title.year in (None, int(month[1])) else -1
    if not (period := _PERIOD_BEFORE.search(text, 0, at)):
        return None
    told = _period(period[0])
    fits = told in title.periods or (not title.periods and told == str(title.year or told))
    return period.start() if fits else -1


def _about(
    title: str, issuers: Sequence[str], places: Collection[str]
) -> tuple[str, frozenset[str]]:
    """Return the letters of a title's subject, and its years and periods."""
    keys = title_keys(title)
    periods = frozenset(_period(p) for key in keys for p in _PERIODS.findall(key))
    organs = [title_key(issuer) for issuer in issuers]
    return min((_bare(key, organs, places) for key in keys), key=len, default=""), periods


def _bare(key: str, organs: Sequence[str], places: Collection[str]) -> str:
    bare = _ISSUER.sub("", _PERIODS.sub("", key))
    for organ in organs:
        bare = bare.removeprefix(organ)
    bare = _AHEAD.sub("", bare)
    _, end = leading_region(bare)
    if any(place in bare[:end] for place in places):
        bare = bare[end:]
    return _AHEAD.sub("", bare.removeprefix("自治区"))


def _period(text: str) -> str:
    return re.sub(r"时期|期间|年|度|版", "", text)


def _place_before(text: str, places: Collection[str]) -> str:
    for place in places:
        if match := re.search(rf"{re.escape(place)}{_SUFFIX}$", text):
            return match[0]
    return ""


def _letters(question: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    offsets: list[int] = []
    short = [match.start() for match in _SHORT.finditer(question)]
    for at, character in enumerate(question):
        if at in short:
            character = _IN_FULL[0]
        elif at - 1 in short:
            character = _IN_FULL[1]
        for letter in unicodedata.normalize("NFKC", character).casefold():
            if letter.isalnum() and letter != "的":
                letters.append(letter)
                offsets.append(at)
    return "".join(letters), offsets


def _pairs(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(len(text) - 1)]
