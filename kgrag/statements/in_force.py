"""Which documents are in force at a date, from metadata, citations and later editions."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import permutations

from kgrag.metadata import Metadata
from kgrag.status import ISSUED, SUGGESTED, Status, StatusKind
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.as_of import parse_as_of
from kgrag.text.document_nodes import node_id, node_name
from kgrag.text.plan_periods import last_year, periods_in
from kgrag.text.title_keys import title_key, without_edition
from kgrag.types import Document

ACTS: Mapping[str, StatusKind] = {"废止": "repealed", "修订": "amended"}
_DRAFTS = ("征求意见稿", "送审稿", "草案")
_ENDED: Mapping[str, StatusKind] = {"废止": "repealed", "失效": "expired"}
_WORST_FIRST: tuple[StatusKind, ...] = ("repealed", "expired", "superseded", "over", "amended")
# 关于《…（草案）》的决议 is none.
_NO_DRAFT = re.compile(r"(?:决议|决定|说明|解读|报告|通报)(?:[（(][^（）()]*[）)])?$")
# Kinds that are issued again under the same title without replacing what was before.
_AGAIN = (
    *("通知", "公告", "通告", "通报", "公报", "公示", "函", "批复", "答复", "决定", "决议", "请示"),
    *("报告", "令", "要点", "名单", "清单", "申报指南", "纪要", "解读"),
)
_YEARS = re.compile(r"(?:(?:19|20)\d\d年?度?)+")
_SHORTEST = 8  # characters of a title that tells what it is about
MOST_EDITIONS = 12  # documents of one title and issuer; more are a form, such as 处罚决定书
_APART = 31  # days between two editions; fewer lie between a signature and a page of one
_REVISED = 366  # days from its beginning after which a text is a revised one


@dataclass(frozen=True, slots=True)
class _Event:
    """A change of a document's status: the kind, from when, and the document that causes it."""

    kind: StatusKind
    since: str
    doc_id: str = ""
    title: str = ""


class InForce:
    """Status of all documents of one state of a knowledge base, at any date."""

    def __init__(self, cards: Sequence[Document], statements: Iterable[Statement]) -> None:
        """Build from documents and citations.

        Args:
            cards: All documents; texts are not needed.
            statements: References that repeal or amend.
        """
        self._cards = {card.doc_id: card for card in cards}
        self._titles = {_name_key(card.title) for card in cards}
        self._events: defaultdict[str, list[_Event]] = defaultdict(list)
        self._named: defaultdict[str, list[_Event]] = defaultdict(list)
        for event, held, names in _acts(cards, statements):
            for name in () if held else names:
                self._named[_name_key(name)].append(event)
            for doc_id in held:
                self._events[doc_id].append(event)
        for doc_id, event in _later_editions(cards):
            self._events[doc_id].append(event)

    @classmethod
    def read(cls, store: Store, cards: Sequence[Document] | None = None) -> "InForce":
        """Build from a store.

        Args:
            store: The knowledge base.
            cards: All its documents, if already loaded.
        """
        held = store.document_cards() if cards is None else cards
        return cls(held, store.statements("reference", predicates=tuple(ACTS)))

    def status(self, doc_id: str, day: str) -> Status:
        """Return the status of a document at a day; `unknown` if there is no such document.

        Args:
            doc_id: The document.
            day: ISO 8601, with month and day.
        """
        card = self._cards.get(doc_id)
        return self._status(card, day) if card else Status("unknown", day)

    def status_of_title(self, title: str, day: str, *, edition: bool = False) -> Status | None:
        """Return the status of a title without a document here; None if no document affects it.

        Args:
            title: In full, with or without 《》; or a number (文号).
            day: ISO 8601, with month and day.
            edition: Whether another edition than the one that is held here is meant.
        """
        key = _name_key(title)
        events = self._named.get(key, ()) if edition or key not in self._titles else ()
        past = _past(events, day)
        if not past:
            return None
        last = max(past, key=lambda e: (e.kind == "repealed", e.since))
        return Status(last.kind, day, last.since, "", last.doc_id, last.title)

    def in_force(self, day: str) -> frozenset[str]:
        """Return the documents that may be relied on at a day (ISO 8601); see `Status.counts`."""
        return frozenset(d for d, card in self._cards.items() if self._status(card, day).counts)

    def issued_after(self, day: str) -> frozenset[str]:
        """Return the documents that were certainly issued after a day (ISO 8601).

        Revised texts of documents that existed before are not included.
        """
        return frozenset(d for d, c in self._cards.items() if _issued_after(c.metadata, day))

    def undated(self) -> frozenset[str]:
        """Return the documents without a stated date of issue."""
        return frozenset(d for d, c in self._cards.items() if not c.metadata.told_date)

    def led(
        self, doc_ids: Iterable[str], day: str, is_asked: Callable[[Document], int]
    ) -> dict[str, str]:
        """Return the documents of which another edition is read first, with its title.

        Editions are documents of a place whose titles differ in years and （征求意见稿） only. The
        first is that asked for, else one that may be relied on at the day, else the newest. Of
        versions of one title those give way that are not asked for by year as the first is, or may
        not be relied on as the first may.

        Args:
            doc_ids: Documents.
            day: ISO 8601, with month and day.
            is_asked: Whether a question asks for a document: 2 if it names its year, 1 its title.
        """
        groups: defaultdict[tuple[object, ...], list[Document]] = defaultdict(list)
        for card in filter(None, map(self._cards.get, dict.fromkeys(doc_ids))):
            groups[work_of(card)].append(card)
        led: dict[str, str] = {}
        for group in groups.values():
            first = max(group, key=lambda c: (is_asked(c), self._status(c, day).counts, age_of(c)))
            if len(group) <= MOST_EDITIONS:
                others = (c for c in group if c.title != first.title and not is_asked(c))
                led.update((card.doc_id, first.title) for card in others)
                others = (c for c in group if is_asked(c) < is_asked(first) == 2)
                versions = (*others, *self._behind(first, group, day))
                led.update((c.doc_id, c.title) for c in versions if c.title == first.title)
        return led

    def earlier_versions(self, doc_ids: Iterable[str], day: str) -> frozenset[str]:
        """Return the documents of which another version, of the same title, is read; see `led`."""
        led = self.led(doc_ids, day, lambda _: 0)
        return frozenset(d for d, title in led.items() if title == self._cards[d].title)

    def title(self, doc_id: str) -> str:
        """Return the title of a document."""
        return self._cards[doc_id].title

    def _behind(self, first: Document, group: Iterable[Document], day: str) -> Iterator[Document]:
        """Yield the versions with the first one's title that it has taken the place of by a day."""
        for card in group if self._status(first, day).counts else ():
            if card.title == first.title and not self._status(card, day).counts:
                yield card

    def replaced(self, doc_id: str, day: str) -> list[Document]:
        """Return the versions of its title that a document has taken the place of by a day."""
        card = self._cards.get(doc_id)
        same = (c for c in self._cards.values() if card and c.title == card.title)
        group = [c for c in same if card and work_of(c) == work_of(card)]
        return [*self._behind(card, group, day)] if card and len(group) <= MOST_EDITIONS else []

    def _status(self, card: Document, day: str) -> Status:
        told = card.metadata
        latest = {e.kind: e for e in _past(self._events.get(card.doc_id, ()), day)}
        if begins := _not_yet(told, day):
            return begins
        if word := _draft(card):
            final = latest.get("superseded", _Event("draft", ""))
            return Status("draft", day, final.since, word, final.doc_id, final.title)
        pages: dict[StatusKind, _Event] = {
            _ENDED[word]: _Event(_ENDED[word], "") for word in told.status if word in _ENDED
        }
        found: dict[StatusKind, _Event] = {**pages, **latest}
        if told.expires and _last(told.expires) < day:
            found["expired"] = _Event("expired", told.expires)
        if year := _over(card, day):
            found["over"] = _Event("over", year)
        for kind in _WORST_FIRST:
            if event := found.get(kind):
                return Status(kind, day, event.since, "", event.doc_id, event.title)
        return Status("in_force" if told.effective or told.told_date else "unknown", day)


def _past(events: Iterable[_Event], day: str) -> list[_Event]:
    """Return the events until a day, in order."""
    past = (e for e in events if not e.since or _first(e.since) <= day)
    return sorted(past, key=lambda e: e.since)


def _not_yet(told: Metadata, day: str) -> Status | None:
    """Return the status of a document that is issued or in force only after a day."""
    if told.effective and _first(told.effective) > day:
        return Status("not_yet", day, told.effective)
    if _issued_after(told, day):
        return Status("not_yet", day, told.issue_date, ISSUED)
    guessed = "" if told.effective or told.told_date else told.issue_date
    return Status("not_yet", day, guessed, SUGGESTED) if guessed and _first(guessed) > day else None


def _over(card: Document, day: str) -> str:
    """Return the last year of a plan that is over at a day; empty otherwise."""
    year = None if card.metadata.expires else last_year(card.title)
    return str(year) if year and str(year) < day[:4] else ""


def _first(when: str) -> str:
    """Return the first day of a date that may lack month and day."""
    return when + "-01-01"[len(when) - 10 :] if len(when) < 10 else when


def _last(when: str) -> str:
    return parse_as_of(when) if len(when) < 10 else when


def _issued_after(told: Metadata, day: str) -> bool:
    begin = told.told_date
    return bool(begin) and _first(begin) > day and not _is_revised(told, day)


def _is_revised(told: Metadata, day: str) -> bool:
    """Return whether a text is a later version of a law that was in force at a day."""
    if len(told.effective) < 10 or told.effective > day:
        return False
    return _days(told.effective, _first(told.issue_date)) > _REVISED


def _days(first: str, last: str) -> int:
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def _draft(card: Document) -> str:
    """Return the word for a draft, such as 征求意见稿; empty for other documents."""
    if _NO_DRAFT.search(card.title):
        return ""
    return next((word for word in _DRAFTS if word in card.metadata.status), "")


def _acts(
    cards: Sequence[Document], statements: Iterable[Statement]
) -> Iterator[tuple[_Event, list[str], list[str]]]:
    """Yield repeals and amendments: the documents meant, and the title and number it names."""
    by_id = {card.doc_id: card for card in cards if not _draft(card)}
    by_node: defaultdict[str, list[Document]] = defaultdict(list)
    for card in cards:
        by_node[node_id(card.title, card.metadata)].append(card)
    for s in statements:
        acting, kind = by_id.get(s.doc_id), ACTS.get(s.qualifiers.role)
        if acting is None or kind is None or s.qualifiers.match.startswith("fuzzy"):
            continue
        told = acting.metadata
        event = _Event(kind, told.effective or told.issue_date, acting.doc_id, acting.title)
        meant = by_node.get(s.fact.object.entity_id, ())
        names = filter(None, (s.fact.object.name, s.qualifiers.number))
        yield event, [c.doc_id for c in meant if _is_meant(c, s, acting)], list(names)


def _name_key(title: str) -> str:
    return title_key(node_name(title))


def _is_meant(card: Document, statement: Statement, acting: Document) -> bool:
    """Return whether a repeal means this edition: editions share a node in the graph."""
    if card.doc_id == acting.doc_id:
        return False
    number, own = statement.qualifiers.number, card.metadata.number
    if number and own and number != own:
        return False
    earlier, later = card.metadata.told_date, acting.metadata.told_date
    if earlier and later and _days(_first(earlier), _first(later)) <= 0:
        return False
    return bool(number and own) or card.metadata.number != acting.metadata.number or not own


def _later_editions(cards: Sequence[Document]) -> Iterator[tuple[str, _Event]]:
    """Yield later editions: the same title and issuer, certainly a later date."""
    groups: defaultdict[tuple[str, str], list[Document]] = defaultdict(list)
    for card in cards:
        key = _edition_key(card)
        if key and card.metadata.owner and card.metadata.told_date:
            groups[key, card.metadata.owner].append(card)
    for group in groups.values():
        for earlier, later in permutations(group, 2) if len(group) <= MOST_EDITIONS else ():
            if _is_later_edition(later, earlier):
                since = later.metadata.effective or later.metadata.told_date
                yield earlier.doc_id, _Event("superseded", since, later.doc_id, later.title)


def _edition_key(card: Document) -> str:
    """Return the title of all editions; empty for kinds that replace none that was before."""
    key = title_key(without_edition(node_name(card.title)))
    key = key.replace("暂行", "").replace("试行", "")
    return "" if len(key) < _SHORTEST or key.endswith(_AGAIN) else key


def work_of(card: Document) -> tuple[object, ...]:
    """Return what all editions of a document have: the title without years, the place."""
    key = _YEARS.sub("", title_key(without_edition(node_name(card.title))).removeprefix("关于"))
    return key if len(key) >= _SHORTEST else card.doc_id, card.metadata.regions


def age_of(card: Document) -> tuple[int, str]:
    """Return the last year that a title names, or the year of issue, and the date of issue."""
    years = (last for _, last in periods_in(card.title))
    return max(years, default=card.metadata.year or 0), card.metadata.issue_date


def _is_later_edition(later: Document, earlier: Document) -> bool:
    one, other = earlier.metadata, later.metadata
    if _draft(later) or (one.number and one.number == other.number):
        return False
    first, second = one.told_date, other.told_date
    told = min(len(first), len(second))
    if second[:told] <= first[:told]:
        return False
    return _draft(earlier) != "" or _days(_first(first), _first(second)) > _APART
