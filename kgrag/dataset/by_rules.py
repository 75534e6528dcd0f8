"""Generate questions by rules from extracted statements and headings, without a model."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import TypeVar, get_args

from kgrag.answer.sentences import sentence_around
from kgrag.config import QuestionKind
from kgrag.dataset.figures import Figures
from kgrag.dataset.library import Library, Span, spoken
from kgrag.dataset.questions import Made, Question, everyday, quoted, taken, worded
from kgrag.evaluation.queries import GoldQuery
from kgrag.qualifiers import StatementKind
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.numbering import item_end, without_numbering
from kgrag.text.title_keys import title_key
from kgrag.text.words import normalize_name, quoted_titles
from kgrag.types import Heading

_OPENING = 800  # characters in which a document says what it is to carry out
_SHORTEST_TITLE = 8  # characters of a cited title that names one document
_FEWEST, _MOST = 2, 6  # documents that mention another, where all are asked for
_LONGEST = 300  # characters of a sentence
_MOST_CITED = 5  # titles of an answer
_PURPOSES = ("依据", "落实")
_TASK = re.compile("(?!关于|其他|以下|上述)[^，。；：、（）()\\s]{7,24}")
# Without their document nobody knows of what they are: short ones, and those of running anything.
_UNCLEAR = re.compile("(?:加强|强化|完善|健全|加大|严格|落实|开展|做好|建立|组织|压实|明确)?.{0,8}")
_BRACKETED = re.compile("[(（〔\\[【]")  # a list of who is responsible, for what its heading says
_MOST_ORGANS = 6
_OFFICES = "处科室"  # within an organ: its own document's matter
_EVERYWHERE = 3  # documents that have a task: it is said to be that of one of them
_FEWEST_ITEMS, _MOST_ITEMS = 3, 9
_MEAN_ITEM = 6  # characters: 单位简介、联系方式 are forms to fill in
_ITEM = re.compile(r"[^。；：:…\n]{4,32}")
_TITLE = re.compile(r"[^。；：:…\n]{4,24}")

KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)

K = TypeVar("K")
V = TypeVar("V")


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
    library = Library(store, parent_size, left_out=frozenset(left_out))
    dropped: Counter[str] = Counter()

    def draw(name: str) -> Random:
        return Random(f"{seed} {name}")

    figures = Figures(library, draw("figures"), dropped)
    citations = _Clauses(library, draw("citations"), dropped)
    sections = _Clauses(library, draw("sections"), dropped)
    makers: dict[QuestionKind, Callable[[], Iterator[Question]]] = {
        "number": figures.number,
        "responsible": sections.responsible,
        "reference": citations.reference,
        "list": sections.items,
        "compare": figures.compare,
        "time": lambda: _in_turn(figures.years(), citations.effective(), figures.as_of()),
        "several": citations.several,
        "unanswerable": figures.unanswerable,
    }
    questions = taken({kind: makers[kind]() for kind in kinds}, n)
    return Made(tuple(questions), dict(dropped))


def _in_turn(*several: Iterator[Question]) -> Iterator[Question]:
    for of_a_rank in zip_longest(*several):
        yield from filter(None, of_a_rank)


class _Clauses:
    """Generates questions about the clauses and headings of documents."""

    def __init__(self, library: Library, draw: Random, dropped: Counter[str]) -> None:
        self._library = library
        self._draw = draw
        self._dropped = dropped

    def responsible(self) -> Iterator[Question]:
        """Yield questions of who is responsible for a task with a heading."""
        by_place: defaultdict[tuple[str, int, int, str], list[Statement]] = defaultdict(list)
        having = defaultdict(set)
        for s in self._library.store.statements("duty"):
            task = s.qualifiers.object or s.fact.object.name
            text = self._library.text(s.doc_id)
            if s.doc_id in self._library.cards and _BRACKETED.match(text, s.start):
                having[normalize_name(task)].add(s.doc_id)
                if s.doc_id not in self._library.left_out:
                    by_place[s.doc_id, s.start, s.end, task].append(s)
        for (doc_id, start, end, task), several in self._drawn(by_place):
            roles = {s.qualifiers.role or s.fact.predicate for s in several}
            asked = "牵头" if "牵头" in roles else "负责"
            organs = _organs(several, asked, self._library.text(doc_id)[start:end])
            if not 0 < len(organs) <= _MOST_ORGANS or not _TASK.fullmatch(task):
                continue
            template = "lead" if asked == "牵头" else "duty"
            is_inner = any(organ[-1] in _OFFICES for organ in organs)
            n_having = _EVERYWHERE if is_inner else len(having[normalize_name(task)])
            question = self._asked(template, doc_id, task, n_having)
            if not question:
                continue
            yield self._made("responsible", question, several, "、".join(organs))

    def items(self) -> Iterator[Question]:
        """Yield questions of the numbered headings below one that is unique in its text."""
        library = self._library
        doc_ids = [doc_id for doc_id in sorted(library.cards) if doc_id not in library.left_out]
        self._draw.shuffle(doc_ids)
        yield from _in_turn(*map(self._items_of, doc_ids))

    def _items_of(self, doc_id: str) -> Iterator[Question]:
        library = self._library
        name = library.name(doc_id)
        if not name:
            self._dropped["no short name tells the document apart"] += 1
            return
        headings = library.store.headings([doc_id]).get(doc_id, [])
        titles = Counter(_bare(heading) for heading in headings)
        divided = list(_divided(headings))
        self._draw.shuffle(divided)
        for heading, below in divided:
            if titles[_bare(heading)] == 1:
                yield self._listed(doc_id, quoted(name, self._draw), heading, below)

    def _listed(self, doc_id: str, name: str, heading: Heading, below: list[Heading]) -> Question:
        question = worded("items", self._draw, doc=name, what=_bare(heading))
        spans = tuple((item.start, item.end) for item in below)
        answer = "；".join(_bare(item) for item in below)
        gold = GoldQuery("", question, (doc_id,), {doc_id: spans}, "list", (answer,))
        return Question(gold, self._library.parent(doc_id, heading.start))

    def _asked(self, template: str, doc_id: str, task: str, n_having: int) -> str:
        """Return a question about a place that has the task once, or about a document by name."""
        library, draw = self._library, self._draw
        what = everyday(task, draw)
        tells = n_having < _EVERYWHERE and not _UNCLEAR.fullmatch(task)
        if tells and not library.saying(task, library.beside([doc_id])):
            regions = library.cards[doc_id].metadata.regions
            where = spoken(regions) if regions else "国家层面"
            return worded(template, draw, where=where, what=what)
        name = self._named(doc_id)
        return worded(f"{template}_in", draw, doc=name, what=what) if name else ""

    def reference(self) -> Iterator[Question]:
        """Yield questions of a document's basis, or of what it implements."""
        by_doc: defaultdict[tuple[str, str], list[Statement]] = defaultdict(list)
        for s in self._statements("reference"):
            role = s.qualifiers.role
            if role in _PURPOSES and s.start < _OPENING and s.fact.object != s.fact.subject:
                by_doc[s.doc_id, role].append(s)
        for (doc_id, role), several in self._drawn(by_doc):
            cited = dict.fromkeys(s.fact.object.name for s in several)
            titles = [t for t in cited if not any(t != other and t in other for other in cited)]
            name = self._named(doc_id)
            if name and len(titles) <= _MOST_CITED:
                template = "basis" if role == "依据" else "serves"
                answer = "、".join(f"《{title}》" for title in titles)
                question = worded(template, self._draw, doc=name)
                yield self._made("reference", question, several, answer)

    def several(self) -> Iterator[Question]:
        """Yield questions of all documents that mention one, by text search for its title, too."""
        by_title: defaultdict[str, list[Statement]] = defaultdict(list)
        for s in self._statements("reference"):
            by_title[s.fact.object.name].append(s)
        own = {card.title: doc_id for doc_id, card in self._library.cards.items()}
        for title, stated in self._drawn(by_title):
            citing = {s.doc_id for s in stated} - {own.get(title)}
            if len(title) < _SHORTEST_TITLE or not _FEWEST <= len(citing) <= _MOST:
                continue
            gold: defaultdict[str, dict[Span, None]] = defaultdict(dict)
            for s in stated:
                gold[s.doc_id][s.start, s.end] = None
            known = {*gold, *self._library.left_out}
            others = [doc for doc in sorted(self._library.cards) if doc not in known]
            for said in self._library.saying(title, others):
                gold[said.doc_id].setdefault(said.span)
            gold.pop(own.get(title, ""), None)
            if len(gold) > _MOST:
                self._dropped["several: too many documents"] += 1
                continue
            question = worded("cited_by", self._draw, what=title)
            titles = (f"《{self._library.cards[doc].title}》" for doc in gold)
            found = GoldQuery(
                query_id="",
                question=question,
                gold_docs=tuple(gold),
                gold_spans={doc: tuple(spans) for doc, spans in gold.items()},
                kind="several",
                answers=("、".join(titles),),
            )
            first = stated[0]
            yield Question(found, self._library.parent(first.doc_id, first.start))

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
                yield self._made("time", question, several, *values)
            elif name:
                self._dropped["time: several days"] += 1

    def _is_own(self, statement: Statement) -> bool:
        """Return whether a date is that of the document, not of one quoted beside it."""
        text = self._library.text(statement.doc_id)
        start, end = sentence_around(text, statement.start, statement.end, longest=_LONGEST)
        own = title_key(self._library.cards[statement.doc_id].title)
        titles = [title_key(title) for _, _, title in quoted_titles(text[start:end])]
        return all(title in own for title in titles)

    def _statements(self, kind: StatementKind) -> list[Statement]:
        found = self._library.store.statements(kind)
        return [s for s in found if s.doc_id not in self._library.left_out]

    def _drawn(self, groups: dict[K, V]) -> list[tuple[K, V]]:
        items = list(groups.items())
        self._draw.shuffle(items)
        return items

    def _named(self, doc_id: str) -> str:
        name = self._library.name(doc_id)
        if not name:
            self._dropped["no short name tells the document apart"] += 1
        return quoted(name, self._draw) if name else ""

    def _made(
        self, kind: str, question: str, several: Sequence[Statement], answer: str
    ) -> Question:
        doc_id, spans = several[0].doc_id, dict.fromkeys((s.start, s.end) for s in several)
        gold = GoldQuery("", question, (doc_id,), {doc_id: tuple(spans)}, kind, (answer,))
        return Question(gold, self._library.parent(doc_id, several[0].start))


def _organs(several: list[Statement], role: str, clause: str) -> list[str]:
    """Return the organs with a role as written, in the clause's order."""
    of_role = (s for s in several if (s.qualifiers.role or s.fact.predicate) == role)
    names = (s.qualifiers.subject or s.fact.subject.name for s in of_role)
    return sorted(dict.fromkeys(name.removesuffix("分别") for name in names), key=clause.find)


def _bare(heading: Heading) -> str:
    return without_numbering(heading.text)


def _divided(headings: list[Heading]) -> Iterator[tuple[Heading, list[Heading]]]:
    """Yield headings with numbered ones directly below."""
    for at, heading in enumerate(headings):
        inner = []
        for other in headings[at + 1 :]:
            if other.level <= heading.level:
                break
            inner.append(other)
        below = [other for other in inner if other.level == min(o.level for o in inner)]
        fits = all(item_end(o.text) and _ITEM.fullmatch(_bare(o)) for o in below)
        distinct = len({_bare(o) for o in below}) == len(below)
        fits = fits and sum(len(_bare(o)) for o in below) >= _MEAN_ITEM * len(below)
        is_named = item_end(heading.text) and _TITLE.fullmatch(_bare(heading))
        if _FEWEST_ITEMS <= len(below) <= _MOST_ITEMS and fits and distinct and is_named:
            yield heading, below
