"""Generate questions by rules from extracted statements and headings, without a model."""

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from random import Random
from typing import Any, TypeVar, get_args

from kgrag.answer.sentences import sentence_around
from kgrag.config import QuestionKind
from kgrag.dataset.questions import Made, Question, everyday, quoted, taken, worded
from kgrag.evaluation.queries import GoldQuery
from kgrag.qualifiers import StatementKind
from kgrag.statements.conflicts import Figure, planned_figures
from kgrag.statements.figures import Measured, signed_words, value_words
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called
from kgrag.text.indicators import is_indicator
from kgrag.text.numbering import item_end, without_numbering
from kgrag.text.regions import level_of, path, region_of
from kgrag.text.title_keys import title_key
from kgrag.text.titles import titles_within
from kgrag.text.words import quoted_titles
from kgrag.types import Chunk, Document, Heading

_TEXTS = 512  # documents whose texts and chunks are kept
_LONGEST_NAME = 40  # characters of a title that people would say
_LONGEST_SENTENCE = 300
_SHORTEST_NAME = 4  # characters of an indicator that says of itself what is measured
_SHORTEST_TITLE = 8  # characters of a cited title that names one document
_OPENING = 800  # characters in which a document says what it is to carry out
_PURPOSES = {"依据": "basis", "落实": "serves"}  # roles of references, with their templates
_ROLES = {"牵头": "lead", "负责": "duty"}
_DOCUMENTS = range(2, 7)  # that mention another, where all are asked for
_ORGANS = range(1, 7)  # of an answer
_ITEMS = range(3, 10)
_WIDELY = 3  # places of an indicator that people may look for anywhere
_TASK = re.compile(r"[^，。；：、（）()\s]{7,24}")
_ITEM = re.compile(r"[^。；：:…\n]{4,32}")

KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)

_K = TypeVar("_K")
_Span = tuple[int, int]
_Gold = dict[str, list[_Span]]


def by_rules(
    store: Store,
    *,
    parent_size: int,
    n: int,
    kinds: Sequence[QuestionKind] = KINDS,
    seed: int = 0,
    left_out: Collection[str] = (),
) -> Made:
    """Generate questions from extracted statements; deterministic for a seed.

    Each names what identifies its documents: a place, or a title. One that documents answer
    differently is dropped and counted; if several answer alike, all are gold.

    Args:
        store: The knowledge base.
        parent_size: Of its parent chunks.
        n: Maximum number.
        kinds: To generate, in equal shares as far as possible.
        seed: For sampling.
        left_out: Ids of documents whose figures become unanswerable questions.
    """
    rules = _Rules(_Library(store, parent_size), frozenset(left_out), Random(seed))
    makers: dict[QuestionKind, Callable[[], Iterator[Question]]] = {
        "number": rules.number,
        "responsible": rules.responsible,
        "reference": rules.reference,
        "list": rules.items,
        "compare": rules.compare,
        "time": lambda: _in_turn(rules.years(), rules.effective(), rules.as_of()),
        "several": rules.several,
        "unanswerable": rules.unanswerable,
    }
    questions = taken({kind: makers[kind]() for kind in kinds}, n)
    return Made(tuple(questions), dict(rules.dropped))


class _Library:
    """The documents of a knowledge base: their texts, parent chunks and names.

    Attributes:
        store: Their store.
        cards: Documents without texts, by id.
    """

    def __init__(self, store: Store, parent_size: int) -> None:
        self.store = store
        self._parent_size = parent_size
        self.cards = {card.doc_id: card for card in store.document_cards()}
        self._names = Counter(title_key(_name(card)) for card in self.cards.values())
        self.text = lru_cache(_TEXTS)(self._text)
        self._parents = lru_cache(_TEXTS)(self._sorted_parents)

    def parent(self, doc_id: str, start: int) -> str:
        """Return the id of the parent chunk at an offset; empty for none."""
        parents = self._parents(doc_id)
        at = bisect.bisect_right([chunk.start for chunk in parents], start) - 1
        return parents[at].chunk_id if at >= 0 and start < parents[at].end else ""

    def name(self, doc_id: str) -> str:
        """Return a colloquial name of a document; empty if no short name is unique."""
        name = _name(self.cards[doc_id])
        alone = self._names[title_key(name)] == 1
        return name if alone and len(name) <= _LONGEST_NAME else ""

    def saying(self, words: str, doc_ids: Collection[str]) -> Iterator[tuple[str, _Span, str]]:
        """Yield (doc_id, span, text) of the sentences of documents that contain some words."""
        for doc_id in doc_ids:
            text, reached = self.text(doc_id), 0
            while (at := text.find(words, reached)) >= 0:
                span = sentence_around(text, at, at + len(words), longest=_LONGEST_SENTENCE)
                yield doc_id, span, text[span[0] : span[1]]
                reached = max(span[1], at + 1)

    def _text(self, doc_id: str) -> str:
        found = self.store.documents([doc_id])
        return found[0].text if found else ""

    def _sorted_parents(self, doc_id: str) -> list[Chunk]:
        chunks = self.store.chunks_of([doc_id], size=self._parent_size)
        return sorted(chunks, key=lambda chunk: chunk.start)


def _name(card: Document) -> str:
    """Return a title without its notice, with a place or issuer before it if it has none."""
    name = titles_within(card.title)[-1]
    regions, issuers = card.metadata.regions, card.metadata.issuers
    if regions and called(regions[-1]) not in name:
        return f"{_spoken(regions)}{name}"
    return f"{issuers[0]}{name}" if name.startswith("关于") and issuers else name


class _Rules:
    """Generates questions of each kind.

    Attributes:
        dropped: Number of questions that are not generated, by reason.
    """

    def __init__(self, library: _Library, left_out: frozenset[str], draw: Random) -> None:
        self.dropped: Counter[str] = Counter()
        self._library = library
        self._left_out = left_out
        self._draw = draw
        self._held = [doc_id for doc_id in sorted(library.cards) if doc_id not in left_out]
        self._figures = list(_figures(library))
        draw.shuffle(self._figures)

    def number(self) -> Iterator[Question]:
        """Yield questions of a figure that no other document of the place contradicts."""
        for stated in self._figures:
            if gold := self._gold(stated):
                answers = (signed_words(stated[0].statement), value_words(stated[0].statement))
                yield self._of_figure("number", "reach", stated[0], gold, *answers)

    def years(self) -> Iterator[Question]:
        """Yield questions of two years of one indicator."""
        for one, other in self._pairs(lambda f: (f.measured, f.place), lambda f: f.year):
            yield from self._of_both("time", "years", one, other, later=str(other[0].year))

    def compare(self) -> Iterator[Question]:
        """Yield questions of the same figure of two places of one level."""
        for one, other in self._pairs(
            lambda f: (f.measured, f.year, level_of(f.place[-1])), lambda f: f.place
        ):
            if NATIONAL not in (*one[0].place, *other[0].place) and one[0].value != other[0].value:
                there = _spoken(other[0].place)
                yield from self._of_both("compare", "compare", one, other, there=there)

    def as_of(self) -> Iterator[Question]:
        """Yield questions of a figure that a later document of the place changed."""
        for stated in self._figures:
            early, *later = sorted(stated, key=lambda f: f.card.metadata.sure_year or 0)
            until = early.card.metadata.sure_year or 0
            years = {f.card.metadata.sure_year or 0 for f in later if f.value != early.value}
            if until and len(later) == len(years) == 1 and min(years) > until:
                gold, answer = _spans([early.statement]), signed_words(early.statement)
                yield self._of_figure("time", "until", early, gold, answer, until=str(until))

    def unanswerable(self) -> Iterator[Question]:
        """Yield questions of figures that no document states of the place.

        First those of the documents in `left_out`; then indicators stated for at least three
        places, of a place about which no sentence may state them.
        """
        places: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for stated in self._figures:
            places[stated[0].indicator].add(stated[0].place)
        every = sorted({place for several in places.values() for place in several})
        asked = [(s[0], s[0].place) for s in self._figures if self._left_out >= _docs(s)]
        asked += [
            (stated[0], self._draw.choice(every))
            for stated in self._figures
            if len(places[stated[0].indicator]) >= _WIDELY
        ]
        for figure, place in asked:
            if self._may_be_stated(figure.indicator, place):
                self.dropped["unanswerable: a document may state it"] += 1
            else:
                yield self._of_figure("unanswerable", "reach", figure, {}, where=_spoken(place))

    def responsible(self) -> Iterator[Question]:
        """Yield questions of who is responsible for a task, by the remark in brackets behind it."""
        by_task: defaultdict[tuple[str, int, int, str], list[Statement]] = defaultdict(list)
        for s in self._statements("duty"):
            task = s.qualifiers.object or s.fact.object.name
            if _TASK.fullmatch(task) and self._library.text(s.doc_id)[s.start] in "(（〔[【":
                by_task[s.doc_id, s.start, s.end, task].append(s)
        for (doc_id, start, end, task), several in self._drawn(by_task):
            by_role = defaultdict(list)
            for s in several:
                by_role[s.qualifiers.role or s.fact.predicate].append(s)
            role = next((role for role in _ROLES if role in by_role), "")
            clause = self._library.text(doc_id)[start:end]
            names = {s.qualifiers.subject or s.fact.subject.name for s in by_role[role]}
            organs = sorted(names, key=lambda organ: (clause.find(organ), organ))
            name = self._named(doc_id) if len(organs) in _ORGANS else ""
            if role and name:
                what = everyday(task, self._draw)
                question = worded(_ROLES[role], self._draw, doc=name, what=what)
                yield self._made("responsible", question, _spans(several), "、".join(organs))

    def reference(self) -> Iterator[Question]:
        """Yield questions of a document's basis, or of what it implements."""
        by_doc: defaultdict[tuple[str, str], list[Statement]] = defaultdict(list)
        for s in self._statements("reference"):
            role = s.qualifiers.role
            if role in _PURPOSES and s.start < _OPENING and s.fact.object != s.fact.subject:
                by_doc[s.doc_id, role].append(s)
        for (doc_id, role), several in self._drawn(by_doc):
            titles = dict.fromkeys(f"《{s.fact.object.name}》" for s in several)
            if name := self._named(doc_id):
                question = worded(_PURPOSES[role], self._draw, doc=name)
                yield self._made("reference", question, _spans(several), "、".join(titles))

    def several(self) -> Iterator[Question]:
        """Yield questions of all documents that mention one, by text search for its title, too."""
        by_title: defaultdict[str, list[Statement]] = defaultdict(list)
        for s in self._statements("reference"):
            by_title[s.fact.object.name].append(s)
        for title, stated in self._drawn(by_title):
            if len(title) < _SHORTEST_TITLE:
                continue
            gold = _spans(stated)
            others = [doc_id for doc_id in self._held if doc_id not in gold]
            for doc_id, span, _ in self._library.saying(title, others):
                gold.setdefault(doc_id, []).append(span)
            titles = {doc_id: self._library.cards[doc_id].title for doc_id in gold}
            gold = {doc_id: spans for doc_id, spans in gold.items() if titles[doc_id] != title}
            if len(gold) in _DOCUMENTS:
                question = worded("cited_by", self._draw, what=title)
                answer = "、".join(f"《{titles[doc_id]}》" for doc_id in gold)
                yield self._made("several", question, gold, answer)

    def effective(self) -> Iterator[Question]:
        """Yield questions of a document's effective date."""
        days = defaultdict(list)
        for s in self._statements("condition"):
            if s.fact.predicate == "施行日期" and s.qualifiers.year and self._is_own(s):
                days[s.doc_id].append(s)
        for doc_id, several in self._drawn(days):
            values = {s.fact.object.name for s in several}
            name = self._named(doc_id)
            if name and len(values) == 1:
                question = worded("effective", self._draw, doc=name)
                yield self._made("time", question, _spans(several), *values)
            elif name:
                self.dropped["time: several days"] += 1

    def items(self) -> Iterator[Question]:
        """Yield questions of the numbered headings below one that is unique in its text."""
        yield from _in_turn(*map(self._items_of, self._draw.sample(self._held, len(self._held))))

    def _items_of(self, doc_id: str) -> Iterator[Question]:
        name = self._named(doc_id)
        headings = self._library.store.headings([doc_id]).get(doc_id, []) if name else []
        titles = Counter(map(_bare, headings))
        divided = [(h, below) for h, below in _divided(headings) if titles[_bare(h)] == 1]
        for heading, below in self._draw.sample(divided, len(divided)):
            question = worded("items", self._draw, doc=name, what=_bare(heading))
            gold = {doc_id: [(item.start, item.end) for item in below]}
            yield self._made("list", question, gold, "；".join(map(_bare, below)))

    def _is_own(self, statement: Statement) -> bool:
        """Return whether a date is that of the document, not of one quoted beside it."""
        text = self._library.text(statement.doc_id)
        start, end = sentence_around(
            text, statement.start, statement.end, longest=_LONGEST_SENTENCE
        )
        own = title_key(self._library.cards[statement.doc_id].title)
        return all(title_key(title) in own for _, _, title in quoted_titles(text[start:end]))

    def _statements(self, kind: StatementKind) -> list[Statement]:
        found = self._library.store.statements(kind)
        return [s for s in found if s.doc_id not in self._left_out]

    def _drawn(self, groups: Mapping[_K, list[Statement]]) -> list[tuple[_K, list[Statement]]]:
        return self._draw.sample(list(groups.items()), len(groups))

    def _named(self, doc_id: str) -> str:
        name = self._library.name(doc_id)
        if not name:
            self.dropped["no short name tells the document apart"] += 1
        return quoted(name, self._draw) if name else ""

    def _pairs(
        self, key: Callable[[Figure], object], order: Callable[[Figure], Any]
    ) -> Iterator[tuple[list[Figure], list[Figure]]]:
        """Yield pairs of figures with one key, by their order."""
        groups = defaultdict(list)
        for stated in self._figures:
            groups[key(stated[0])].append(stated)
        for several in groups.values():
            ordered = sorted(several, key=lambda stated: order(stated[0]))
            yield from zip(ordered[::2], ordered[1::2], strict=False)

    def _of_both(
        self, kind: str, template: str, one: list[Figure], other: list[Figure], **more: str
    ) -> Iterator[Question]:
        """Yield a question of two figures, if documents agree on both."""
        if not ((gold := self._gold(one)) and (also := self._gold(other))):
            return
        for doc_id, spans in also.items():
            gold[doc_id] = list(dict.fromkeys((*gold.get(doc_id, ()), *spans)))
        said = (
            (f"{f.year}年" if kind == "time" else _spoken(f.place)) + signed_words(f.statement)
            for f in (one[0], other[0])
        )
        yield self._of_figure(kind, template, one[0], gold, "；".join(said), **more)

    def _gold(self, stated: Sequence[Figure]) -> _Gold:
        """Return the evidence of a figure; empty if documents disagree on it, or are left out."""
        figure, doc_ids = stated[0], _docs(stated)
        if doc_ids & self._left_out:
            return {}
        if len({f.value for f in stated}) > 1:
            self.dropped["figure: documents differ"] += 1
            return {}
        gold = _spans(f.statement for f in stated)
        regions = [self._library.cards[doc_id].metadata.regions for doc_id in doc_ids]
        cards = self._library.cards
        beside = [d for d in self._held if d not in gold and cards[d].metadata.regions in regions]
        for doc_id, span, text in self._library.saying(figure.indicator, beside):
            if str(figure.year) not in text:
                continue
            if value_words(figure.statement) not in text:
                self.dropped["figure: another document may differ"] += 1
                return {}
            gold.setdefault(doc_id, []).append(span)
        return gold

    def _may_be_stated(self, indicator: str, place: tuple[str, ...]) -> bool:
        """Return whether a sentence about a place may be of an indicator, in any wording.

        That is one with the beginning of its name (绿色出行占比 for 绿色出行比例), or with its end
        and another pair of its characters: 秸秆综合利用率 may be 主要农作物秸秆利用率.
        """
        short = _spoken(place)
        pairs = {indicator[at : at + 2] for at in range(len(indicator) - 3)}
        parts = ((indicator[:_SHORTEST_NAME], {""}), (indicator[-2:], pairs))
        for doc_id in self._held:
            card = self._library.cards[doc_id]
            own = {*place} & ({*card.metadata.regions} or {NATIONAL}) or short in card.title
            for words, besides in parts:
                for _, _, text in self._library.saying(words, [doc_id]):
                    if (own or short in text) and any(pair in text for pair in besides):
                        return True
        return False

    def _of_figure(
        self, kind: str, template: str, figure: Figure, gold: _Gold, *answers: str, **more: str
    ) -> Question:
        what = everyday(figure.indicator, self._draw)
        fields = {"where": _spoken(figure.place), "year": str(figure.year), "what": what, **more}
        return self._made(kind, worded(template, self._draw, **fields), gold, *answers)

    def _made(self, kind: str, question: str, gold: _Gold, *answers: str) -> Question:
        spans = {doc_id: tuple(dict.fromkeys(of)) for doc_id, of in gold.items()}
        first = next(((doc_id, of[0][0]) for doc_id, of in spans.items()), None)
        made = GoldQuery("", question, tuple(spans), spans, kind, tuple(dict.fromkeys(answers)))
        return Question(made, self._library.parent(*first) if first else "")


def _in_turn(*several: Iterator[Question]) -> Iterator[Question]:
    for of_a_rank in zip_longest(*several):
        yield from filter(None, of_a_rank)


def _figures(library: _Library) -> Iterator[list[Figure]]:
    """Yield planned levels by indicator, place and year, each with all documents that state it.

    Only of indicators in two documents at least: what occurs once is as often an extraction error,
    as is a target for a year before its document.
    """
    groups: defaultdict[tuple[Measured, tuple[str, ...], int], list[Figure]] = defaultdict(list)
    stating = defaultdict(set)
    for f in planned_figures(library.store.statements("target"), library.cards):
        measured, is_late = f.measured, f.year < (f.card.metadata.year or 0)
        is_level = not (measured.change or measured.base_year or measured.counted)
        is_named = is_indicator(f.indicator) and len(f.indicator) >= _SHORTEST_NAME
        depends = measured.scope or f.statement.qualifiers.condition
        if is_level and is_named and not (depends or is_late or measured.unit == "倍"):
            stating[measured.indicator_id].add(f.card.doc_id)
            groups[measured, f.place, f.year].append(f)
    for _, alike in sorted(groups.items()):
        if len(stating[alike[0].measured.indicator_id]) > 1:
            yield alike


def _docs(stated: Iterable[Figure]) -> set[str]:
    return {figure.card.doc_id for figure in stated}


def _spans(statements: Iterable[Statement]) -> _Gold:
    gold: defaultdict[str, list[_Span]] = defaultdict(list)
    for s in statements:
        gold[s.doc_id].append((s.start, s.end))
    return dict(gold)


def _spoken(place: Sequence[str]) -> str:
    """Return the colloquial name of a place, given by full names, outermost first.

    >>> _spoken(("四川省",)), _spoken(("四川省", "成都市")), _spoken(("全国",))
    ('四川', '成都', '全国')
    >>> _spoken(("上海市", "徐汇区"))
    '上海徐汇区'
    """
    last = place[-1]
    if level_of(last) == "县":
        known = region_of(last, within=place[:-1])
        around = place[:-1] or (path(known)[:-1] if known else ())
        return (called(around[-1]) if around else "") + last
    return called(last)


def _bare(heading: Heading) -> str:
    return without_numbering(heading.text)


def _divided(headings: list[Heading]) -> Iterator[tuple[Heading, list[Heading]]]:
    """Yield numbered headings with the numbered ones directly below, if these are several."""
    below: defaultdict[int, list[Heading]] = defaultdict(list)
    around: list[int] = []  # indices
    for at, heading in enumerate(headings):
        while around and headings[around[-1]].level >= heading.level:
            around.pop()
        if around:
            below[around[-1]].append(heading)
        around.append(at)
    for at, items in below.items():
        names = {_bare(item) for item in items}
        distinct = len(names) == len(items) and len(items) in _ITEMS
        if distinct and all(map(_is_item, (headings[at], *items))):
            yield headings[at], items


def _is_item(heading: Heading) -> bool:
    return bool(item_end(heading.text) and _ITEM.fullmatch(_bare(heading)))
