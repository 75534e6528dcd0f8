"""Questions of documents: what one rests on, which mention another, from when one is in force."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from kgrag.dataset.library import Library, Span
from kgrag.dataset.questions import Question
from kgrag.dataset.wording import quoted, worded
from kgrag.evaluation.queries import GoldQuery
from kgrag.qualifiers import StatementKind
from kgrag.store.graph import Statement
from kgrag.text.title_keys import title_key
from kgrag.text.words import quoted_titles, sentence_around

_OPENING = 800  # characters in which a document says what it is to carry out
_SHORTEST_TITLE = 8  # characters of a cited title that names one document
_FEWEST, _MOST = 2, 6  # documents that mention another, where all are asked for
_LONGEST = 300  # characters of a sentence
_MOST_CITED = 5  # titles of an answer
_PURPOSES = ("依据", "落实")
K = TypeVar("K")
V = TypeVar("V")


class Citations:
    """Makes questions of what documents say of documents."""

    def __init__(self, library: Library, draw: Random, dropped: Counter[str]) -> None:
        """Keep the documents; see `kgrag.dataset.figures.Figures`."""
        self._library = library
        self._draw = draw
        self._dropped = dropped

    def reference(self) -> Iterator[Question]:
        """Yield questions of what a document is based on, or is to carry out."""
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
        """Yield questions of all documents that mention one, by a search for its title, too."""
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
        """Yield questions of the day from which a document is in force."""
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
        """Return whether a day is that of the document, and not of one that is quoted beside it."""
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
