"""Lists within a document: all items of the list around a sentence."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kgrag.answer.sentences import LEADERS, Sentence
from kgrag.question.answer_kinds import QUANTITIES, asked_kind
from kgrag.question.question import grammar, question_of
from kgrag.text.numbering import ARTICLE, DIVISIONS, numbering_at
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.official_terms import official_terms
from kgrag.types import Document, Query

# Marks of items, from the outermost to the innermost; what counts articles ends every list.
_KINDS = {
    "chinese": 0, "bracketed chinese": 1, "digit": 2, "bracketed digit": 3, "half bracket": 4,
    "circle": 5, **dict.fromkeys((ARTICLE, *DIVISIONS), -1),
}  # fmt: skip
_LINE = re.compile(r"[^\n]+")
_LEADS = re.compile(r"[：:]\s*$")
_LEADS_IN_WORDS = re.compile("下列|以下")  # without a colon
_ENDS = re.compile(r"[。；;！？]")
_ASKS = re.compile(
    rf"哪[几些两{HAN_SMALL}]|几[大个类项种块条招样]|有什么(?!不同|[差区]别|差异|影响|关系)|啥|列[出举]"
    r"|\b(?:which|what are|list|all)\b",
    re.IGNORECASE,
)
# Onto a sentence's score, about a cosine: one that leads to a list, one that enumerates.
_LEADING = 0.06
_ENUMERATING = 0.03
_DEFINING = 0.1  # one that says what the thing asked about is, or which belong to it
_SHORTEST_TOPIC = 3  # characters
_FEWEST, _MOST = 2, 20  # items of a list
_FIRST = 2  # among so many best places a heading stands for what is under it
_LONGEST = 900  # characters of a list whose items are quoted whole
_LONGEST_QUOTE = 500  # characters of a list that is one quote
_LONGEST_HEADING = 80  # characters of an item that is quoted by its heading


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that begins with an item's or article's mark.

    Attributes:
        start: First character, without whitespace.
        end: Offset after the last.
        kind: Index of its mark in `_KINDS`; -1 for an article, which ends every list.
        number: 1 for the first item.
    """

    start: int
    end: int
    kind: int
    number: int


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of a document.

    Attributes:
        lead: (start, end) of its lead-in; None for items that are sections.
        items: (start, end) of each item, in order; of long ones, the first sentence or heading.
        is_led: Whether a colon introduces it.
    """

    lead: tuple[int, int] | None
    items: tuple[tuple[int, int], ...]
    is_led: bool


class Place(NamedTuple):
    """A span to quote.

    Attributes:
        doc_id: The document.
        start: First character.
        end: Offset after the last.
        chunk_id: The chunk that was found.
    """

    doc_id: str
    start: int
    end: int
    chunk_id: str


class Listing:
    """Quotes complete lists if a question asks for one."""

    def __init__(self, query: Query, documents: Mapping[str, Document]) -> None:
        """Initialise.

        Args:
            query: The question.
            documents: With text, by id.
        """
        self._asked = asks_for_list(query.text)
        kind = asked_kind(query.text)
        self._of_organs = kind is not None and kind.name == "agency"  # they stand in brackets
        self.defines = definitions(query)
        self._places = query.places
        self._documents = documents
        self._lists: dict[str, Lists] = {}

    def fit(self, sentence: Sentence) -> float:
        """Return the bonus of a sentence that defines, introduces a list, or is one; at least 0."""
        bonus = _DEFINING if self.defines(sentence.text) else 0.0
        if not self._asked or self._of_organs:
            return bonus
        if self._of(sentence.doc_id).begins(sentence.start, sentence.end):
            return bonus + _LEADING
        return bonus + (_ENUMERATING if sentence.text.count("、") >= _FEWEST else 0.0)

    def _is_national(self, sentence: Sentence) -> bool:
        """Return whether a sentence defines for the whole country what is asked of no place."""
        regions = self._documents[sentence.doc_id].metadata.regions
        return not regions and not self._places and self.defines(sentence.text)

    def completed(self, sentence: Sentence) -> Sentence:
        """Return a sentence that introduces a short list with its items; others as they are."""
        lists, text = self._of(sentence.doc_id), self._documents[sentence.doc_id].text
        if not lists.begins(sentence.start, sentence.end):
            return sentence
        listed = lists.of(sentence.start, sentence.end)
        end = listed.items[-1][1] if listed else 0
        if not sentence.end < end <= sentence.start + _LONGEST_QUOTE:
            return sentence
        return replace(sentence, end=end, text=text[sentence.start : end])

    def whole(self, chosen: Sequence[Sentence]) -> tuple[list[Place], int]:
        """Return the places to quote, and how many items of a list are among them.

        What introduces a short list is quoted with it. If a list is asked for and a sentence
        introduces one or is in one, all its items are quoted instead.

        Args:
            chosen: Sentences, best first.
        """
        whole = map(self.completed, sorted(chosen, key=lambda s: not self._is_national(s)))
        places = [Place(s.doc_id, s.start, s.end, s.chunk.chunk.chunk_id) for s in whole]
        found = self._likeliest(places) if self._asked else None
        if found is None:
            return places, 0
        at, listed = found
        spans = [*([listed.lead] if listed.lead else []), *listed.items]
        items = [places[at]._replace(start=start, end=end) for start, end in spans]
        text = self._documents[places[at].doc_id].text
        others = [p for p in places if p.doc_id != places[at].doc_id or _more(p, spans, text)]
        before = [place for place in others if places.index(place) < at]
        return [*before, *items, *others[len(before) :]], len(listed.items)

    def _of(self, doc_id: str) -> "Lists":
        if doc_id not in self._lists:
            self._lists[doc_id] = Lists(self._documents[doc_id].text)
        return self._lists[doc_id]

    def _likeliest(self, places: Sequence[Place]) -> "tuple[int, ItemList] | None":
        """Return the list with most of the places, and the first of them; None for none.

        Sections under one heading need not be a list: without a colon, two of them must be among
        the places, or the heading among the best places.
        """
        found: dict[tuple[str, ItemList], list[int]] = {}
        for at, place in enumerate(places):
            listed = self._of(place.doc_id).of(place.start, place.end)
            if listed is not None:
                found.setdefault((place.doc_id, listed), []).append(at)
        sure = [
            (not self._is_defining(doc_id, listed), -len(at), at[0], listed)
            for (doc_id, listed), at in found.items()
            if listed.is_led or len(at) > 1 or (listed.lead and at[0] < _FIRST)
        ]
        if not sure:
            return None
        *_, first, listed = min(sure, key=lambda one: one[:3])
        return first, listed

    def _is_defining(self, doc_id: str, listed: ItemList) -> bool:
        lead = listed.lead and self._documents[doc_id].text[slice(*listed.lead)]
        return bool(lead and self.defines(lead))


def _more(place: Place, spans: Sequence[tuple[int, int]], text: str) -> bool:
    """Return whether a place extends beyond ordered spans."""
    at = place.start
    for start, end in spans:
        if start < place.end and at < end:
            if text[at:start].strip():
                return True
            at = max(at, end)
    return bool(text[at : place.end].strip())


def definitions(query: Query) -> Callable[[str], bool]:
    """Return whether a text says what the things asked about are, or which belong to them.

    Never for questions that ask for no list, definition or quantity.

    >>> from kgrag.question.query import analyse
    >>> defines = definitions(analyse("两高项目包括哪些行业"))
    >>> defines("“两高”项目暂按煤电、石化等六个行业统计。"), defines("严控“两高”项目。")
    (True, False)
    """
    topics = topics_of(query)
    if not topics:
        return lambda text: False
    named = "|".join('[“”"]?'.join(map(re.escape, topic)) for topic in topics)
    defines = grammar().compile(grammar().told["plain_patterns"]["defines"].replace("TOPIC", named))
    return lambda text: defines.search(text) is not None


def topics_of(query: Query) -> list[str]:
    """Return the things of which a question asks what they are or which belong to them."""
    asked, kind = question_of(query), asked_kind(query.text)
    if not (
        asks_for_list(query.text)
        or "definition" in asked.asks
        or (kind is not None and kind.name in QUANTITIES)
    ):
        return []
    terms = (query.text[t.start : t.end] for t in official_terms(query.text))
    topics = list(dict.fromkeys((*asked.unbound(), *terms)))
    return [t for t in topics if len(t) >= _SHORTEST_TOPIC] or topics[:1]


def asks_for_list(question: str) -> bool:
    """Return whether a question asks for several things.

    >>> asks_for_list("申报要交哪些材料"), asks_for_list("由哪个部门负责")
    (True, False)
    """
    return _ASKS.search(question) is not None


class Lists:
    """The lists of a document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [line for m in _LINE.finditer(text) if (line := _marked(m))]
        self._starts = [line.start for line in self._lines]

    def of(self, start: int, end: int) -> ItemList | None:
        """Return the list that a place introduces or is an item of; None for none.

        Args:
            start: First character of a sentence.
            end: Offset after it.
        """
        first = bisect_right(self._starts, start - 1)
        if first == len(self._lines):
            return None
        line = self._lines[first]
        if line.start == start and self._is_heading(first):
            inner = self._around(first + 1)
            return replace(inner, lead=(line.start, line.end)) if inner else None
        following = first + (line.start == start)
        if following < len(self._lines) and self._is_lead(start, end, self._lines[following]):
            return self._around(following)
        return self._around(first) if line.start == start and line.number else None

    def begins(self, start: int, end: int) -> bool:
        """Return whether a sentence introduces a list with a colon."""
        first = bisect_right(self._starts, start)
        return first < len(self._lines) and self._is_lead(start, end, self._lines[first])

    def _is_heading(self, at: int) -> bool:
        """Return whether a line is directly followed by the first item of a list within it."""
        line, *more = self._lines[at : at + 2]
        return bool(more) and (
            line.kind >= 0
            and more[0].kind > line.kind
            and more[0].number == 1
            and not self._text[line.end : more[0].start].strip()
        )

    def _is_lead(self, start: int, end: int, item: _Line) -> bool:
        """Return whether a sentence ends in a colon right before an item, or runs on into it."""
        lead = self._text[start : item.start]
        if item.number != 1 or "\n" in lead.strip():
            return False
        if item.start <= end + 3 and _LEADS.search(lead):
            return True
        words = _LEADS_IN_WORDS.search(self._text, start, min(end, item.start))
        return bool(words and _ENDS.match(lead.rstrip()[-1:]))

    def _around(self, at: int) -> ItemList | None:
        kind = self._lines[at].kind
        run = [at]
        for step in (-1, 1):
            here, number = at, self._lines[at].number
            while 0 <= (here := here + step) < len(self._lines):
                line = self._lines[here]
                if line.kind < kind or (line.kind == kind and line.number != number + step):
                    break
                if line.kind == kind:
                    number += step
                    run.append(here)
        found = [self._lines[n] for n in sorted(run)]
        if found[0].number != 1 or not _FEWEST <= len(found) <= _MOST:
            return None
        lead = self._lead_before(found[0].start)
        items = self._items(found, whole=lead is not None)
        return ItemList(lead, items, is_led=lead is not None)

    def _lead_before(self, start: int) -> tuple[int, int] | None:
        """Return the line before a place, if it ends in a colon or says 下列."""
        end = len(self._text[:start].rstrip())
        begin = self._text.rfind("\n", 0, end) + 1
        upto = end
        if not _LEADS.search(self._text[begin:end]):
            words = _LEADS_IN_WORDS.search(self._text, begin, end)
            if not words or not _ENDS.match(self._text[end - 1 : end]):
                return None
            upto = words.start()
        sentence = max((m.end() for m in _ENDS.finditer(self._text, begin, upto)), default=begin)
        return sentence, end

    def _items(self, lines: Sequence[_Line], *, whole: bool) -> tuple[tuple[int, int], ...]:
        """Return the items in full if they are short and introduced, else their beginnings."""
        ends = [line.start for line in lines[1:]]
        last = lines[-1].end
        spans = [(a.start, b) for a, b in zip(lines, [*ends, last], strict=True)]
        if whole and sum(b - a for a, b in spans) <= _LONGEST:
            return tuple((a, a + len(self._text[a:b].rstrip())) for a, b in spans)
        return tuple((line.start, self._first_sentence(line)) for line in lines)

    def _first_sentence(self, line: _Line) -> int:
        end = _ENDS.search(self._text, line.start, line.end)
        return min(end.end() if end else line.end, line.start + 4 * _LONGEST_HEADING)


def _marked(match: re.Match[str]) -> _Line | None:
    line = match[0]
    start = match.start() + len(line) - len(line.lstrip())
    end = match.start() + len(line.rstrip())
    mark = numbering_at(line.strip())
    if mark is None or mark.family not in _KINDS:
        return None
    kind = _KINDS[mark.family]
    is_contents = kind >= 0 and LEADERS.search(line)
    return None if is_contents else _Line(start, end, kind, mark.number[0] if kind >= 0 else 0)
