"""Choose statements by document, indicator, agency, place, year and standing, here only."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kgrag.answer.notes import Note, note
from kgrag.ingestion.statements.duty_sentences import is_organ
from kgrag.limits import check_whole
from kgrag.qualifiers import Qualifiers, StatementKind
from kgrag.retrieval.filter import documents_of_archive, documents_within
from kgrag.statements.figures import decimal_of
from kgrag.statements.in_force import InForce
from kgrag.statements.sources import role_of, subject_of
from kgrag.store.graph import Statement
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called, document_facets
from kgrag.text.indicators import indicator_names
from kgrag.text.messages import message
from kgrag.text.organs import canonical_organ
from kgrag.text.places import asks_nationally, question_places, with_places_inside
from kgrag.text.regions import level_of, listed_regions, path, region_of, regions_named
from kgrag.text.words import normalize_name
from kgrag.types import Document

if TYPE_CHECKING:
    from kgrag.statements.selection import Selection

_LISTED = ("省", "市")  # levels of which the gazetteer has all divisions
_BRACKET = re.compile(r"[（(][^（）()]*[）)]$")
_BETWEEN = re.compile("[、，,；;]")  # indicators
_Is = Callable[[Statement, Document], bool]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The documents that a table covers, and the statements chosen from them.

    Attributes:
        cards: Documents without texts, by id.
        held: All documents of the knowledge base, without texts.
        statements: By document and offset.
        names: The indicators that were looked for; empty for any.
        earlier: Number of documents that are left out, as a later version of each is in force.
        passed_over: Number of those that have statements that would be chosen.
    """

    cards: dict[str, Document]
    held: Sequence[Document]
    statements: Sequence[Statement] = ()
    names: tuple[str, ...] = ()
    earlier: int = 0
    passed_over: int = 0

    @property
    def stating(self) -> frozenset[str]:
        """The documents with chosen statements, by id."""
        return frozenset(s.doc_id for s in self.statements)

    def note(self, stating: Collection[str], what: Note) -> Note:
        """Return a note on how many documents the table covers.

        Args:
            stating: Ids of the documents with rows.
            what: What they state.
        """
        kind = "table-read" if stating else "table-none-read"
        told = {"total": len(self.held), "chosen": len(self.cards), "excluded": self._excluded}
        part = "-of" if self._excluded else ""
        return note(kind + part, "zh", **told, n=len(stating), what=what)

    def filter_notes(self) -> list[Note]:
        """Return a note on how many documents the filter excludes, if it does."""
        told = {"excluded": self._excluded, "total": len(self.held)}
        return [note("excluded", "zh", **told)] if self._excluded else []

    def having(self, names: Sequence[str], kind: StatementKind) -> list[Statement]:
        """Return the statements, all of a kind, with one of some names; all for no names."""
        is_named = _named(kind, names)
        return [s for s in self.statements if is_named(s, self.cards[s.doc_id])]

    def without(self, earlier: frozenset[str]) -> "Chosen":
        """Return the same without documents of which a later version is in force."""
        return replace(
            self,
            cards={doc_id: card for doc_id, card in self.cards.items() if doc_id not in earlier},
            statements=[s for s in self.statements if s.doc_id not in earlier],
            earlier=len(earlier),
            passed_over=len(self.stating & earlier),
        )

    def of_each_name(self, kind: StatementKind) -> "dict[str, Chosen]":
        """Return the same with the statements of each of several names, by name; of one by ""."""
        return {
            name if len(self.names) > 1 else "": replace(
                self, statements=self.having([name], kind), names=(name,)
            )
            for name in self.names
        }

    @property
    def _excluded(self) -> int:
        return len(self.held) - len(self.cards) - self.earlier

    def not_held(self, places: Collection[str]) -> tuple[str, ...]:
        """Return those of some places that no document of the knowledge base is about.

        Args:
            places: Full or short names; those that are no province or city of China are left out.
        """
        listed = [p for p in places if any(r.level != "县" for r in regions_named(p))]
        if not listed:
            return ()
        facets = (document_facets(card.title, card.metadata) for card in self.held)
        near = {region for of in facets for region in of.regions}
        return tuple(p for p in listed if not with_places_inside([called(p)]) & near)

    def place_notes(self, places: Collection[str]) -> list[Note]:
        """Return notes on places that no document is about, and on versions that are left out."""
        lacking = self.not_held(places)
        told = [note("place-not-held", "zh", places=lacking)] if lacking else []
        if self.passed_over:
            told.append(note("earlier-left-out", "zh", n=self.passed_over))
        return told


def choose(store: Store, selection: "Selection", kind: StatementKind = "") -> Chosen:
    """Return the documents that a selection covers, and its statements of a kind.

    Args:
        store: The knowledge base.
        selection: `searched` chooses documents; names, places, level, years, standing and role
            choose statements.
        kind: Of the statements; empty for none.

    Raises:
        NotFoundError: If no document is left, or a place is unknown.
        GarbledTextError: If a name has a broken encoding.
    """
    held, within = store.document_cards(), selection.searched
    cards = _covered(store, held, selection)
    if not kind:
        return Chosen(cards, held)
    earlier = _earlier_versions(store, held, cards, selection)
    is_here = in_places(selection.places, cards.values(), selection.level)
    years = selection.years if kind == "target" else None

    def is_chosen(s: Statement, card: Document) -> bool:
        return (
            (not selection.standing or s.qualifiers.standing == selection.standing)
            and (not selection.role or role_of(s) == selection.role)
            and _in_years(s.qualifiers, years)
            and is_here(stated_place(s.qualifiers, card))
        )

    stated = store.statements(kind, sorted(cards) if within else None)
    chosen = [s for s in stated if s.doc_id in cards and is_chosen(s, cards[s.doc_id])]
    every, names = Chosen(cards, held, chosen), _names(selection, kind)
    found = every.having(names, kind)
    if kind == "target" and not found:
        names = tuple(filter(None, (p.strip() for name in names for p in _BETWEEN.split(name))))
        found = every.having(names, kind)
    return Chosen(cards, held, found, names).without(earlier)


def _covered(store: Store, held: Sequence[Document], selection: "Selection") -> dict[str, Document]:
    """Return the documents that a selection searches, by id."""

    def in_force() -> frozenset[str]:
        return InForce.read(store, held).in_force(selection.day)

    cards = {card.doc_id: card for card in held}
    if not selection.searched:
        return cards
    of_archive = partial(documents_of_archive, store)
    left = documents_within(selection.searched, held, in_force=in_force, archive=of_archive)
    return {doc_id: card for doc_id, card in cards.items() if doc_id in left}


def _earlier_versions(
    store: Store, held: Sequence[Document], cards: Mapping[str, Document], selection: "Selection"
) -> frozenset[str]:
    """Return the documents of which another version is read, as in answers; none if named."""
    named = selection.searched.documents if selection.searched else ()
    is_alone = len({card.title for card in cards.values()}) == len(cards)
    if is_alone or not all(documents_of_archive(store, name) for name in named):
        return frozenset()
    return InForce.read(store, held).earlier_versions(cards, selection.day)


def _names(selection: "Selection", kind: StatementKind) -> tuple[str, ...]:
    """Return the names by which statements of a kind are selected; none for any."""
    name = selection.agency if kind == "duty" else selection.indicator
    check_whole("name", name)
    return (name,) if name.strip() else ()


def _named(kind: StatementKind, names: Sequence[str]) -> _Is:
    """Return a predicate: whether a statement of a kind has one of some names; true for none."""
    _, way = _BY_NAME[kind]
    ways = [way(name) for name in names]
    return lambda statement, card: not ways or any(way(statement, card) for way in ways)


def check_named(store: Store, chosen: Chosen, kind: StatementKind) -> None:
    """Raise NotFoundError, with the nearest names, for the first name that nothing stated has.

    Args:
        store: The knowledge base.
        chosen: Names that its own statements have are not looked for again.
        kind: Of the statements that may have the names.
    """
    lacking = [n for n in chosen.names if not chosen.having([n], kind)]
    if not lacking:
        return
    cards = {card.doc_id: card for card in store.document_cards()}
    stated = [s for s in store.statements(kind) if s.doc_id in cards]
    for name in lacking:
        is_named = _named(kind, [name])
        if not any(is_named(s, cards[s.doc_id]) for s in stated):
            what, _ = _BY_NAME[kind]
            raise not_called(message(what), name, {s.fact.subject.name for s in stated})


def names_all(wanted: str) -> Callable[[str], bool]:
    """Return a predicate: whether a name contains all words of a query.

    >>> names_all("非化石 比重")("非化石能源消费比重"), names_all("PUE")("数据中心pue")
    (True, True)
    """
    pieces = [normalize_name(piece) for piece in wanted.split()]
    return lambda name: all(piece in normalize_name(name) for piece in pieces)


def names_indicator(wanted: str) -> _Is:
    """Return a predicate: whether a figure is of an indicator.

    Args:
        wanted: Words of its name, or any of its names.
    """
    as_given, *as_known = (names_all(name) for name in (wanted, *indicator_names(wanted)))

    def is_wanted(figure: Statement, card: Document) -> bool:
        name, written = figure.fact.subject.name, figure.qualifiers.subject
        known = any(named(name) for named in as_known)
        return as_given(name) or known or (bool(written) and as_given(written))

    return is_wanted


def names_organ(wanted: str) -> _Is:
    """Return a predicate: whether a duty in a document is of an organ.

    Args:
        wanted: Words of its name, or how documents of its place call it: 住建局.
    """
    named, last = names_all(wanted), (wanted.split() or [""])[-1]
    end = normalize_name(last) if is_organ(last) else ""  # 商务部 is no 商务部门

    def told(name: str) -> bool:
        ends = (_BRACKET.sub("", name), name.rstrip("）)"))
        return named(name) and any(normalize_name(bare).endswith(end) for bare in ends)

    def is_of(duty: Statement, card: Document) -> bool:
        name = duty.fact.subject.name
        full = canonical_organ(wanted, regions=card.metadata.regions)
        return told(name) or told(subject_of(duty)) or name == full

    return is_of


# What statements of a kind are chosen by, in a message; and the predicate of a name.
_BY_NAME: Mapping[StatementKind, tuple[str, Callable[[str], _Is]]] = {
    "target": ("indicator", names_indicator),
    "duty": ("organ with duties", names_organ),
}


def in_places(
    wanted: Sequence[str], cards: Iterable[Document] = (), level: str = ""
) -> Callable[[Sequence[str]], bool]:
    """Return a predicate: whether a place, given by its path, equals or lies in a wanted one.

    Args:
        wanted: Full or short names: 四川, 成都市; 全国 for the whole country. Empty for any.
        cards: Documents whose places are accepted beside those of the gazetteer.
        level: Of the place itself, 省 or 市; empty for any.

    Raises:
        NotFoundError: If a text names no place.

    >>> here = in_places(["四川"])
    >>> here(("四川省", "成都市")), here(("云南省",))
    (True, False)
    """
    held = {called(r) for card in cards for r in card.metadata.regions} if wanted else set()
    for text in wanted:
        if not _is_place(text.strip(), held):
            names = held.union(region.name for region in listed_regions())
            remedy = message("places are given as 四川, 成都市, 全国")
            raise not_called(message("place"), text, names, remedy=remedy)
    asked = {NATIONAL if asks_nationally(text) else called(text.strip()) for text in wanted}

    def is_here(place: Sequence[str]) -> bool:
        is_level = not level or level_of(place[-1]) == level
        return is_level and (not asked or any(called(name) in asked for name in place))

    return is_here


def _is_place(text: str, held: Collection[str]) -> bool:
    if asks_nationally(text) or called(text) in held or regions_named(called(text)):
        return True
    unlisted = region_of(text)
    return unlisted is not None and unlisted.level not in _LISTED


def _in_years(told: Qualifiers, years: tuple[int, int] | None) -> bool:
    return years is None or (told.year.isdigit() and years[0] <= int(told.year) <= years[1])


def stated_place(told: Qualifiers, card: Document) -> tuple[str, ...]:
    """Return the place of a statement as full names, outermost first.

    It is the statement's own place, else the narrowest of its document, else the one place in the
    title (a national document that supports one province), else 全国.
    """
    around = card.metadata.regions
    region = told.region or (around[-1] if around else NATIONAL)
    if region == NATIONAL and not around:
        region = _named_in(card.title)
    if region in around:
        return around[: around.index(region) + 1]
    known = region_of(region, within=around)
    return path(known) if known else (region,)


def _named_in(title: str) -> str:
    """Return the full name of the one listed place in a title; 全国 for none or several."""
    named = [region for place in question_places(title, ()) for region in regions_named(place)]
    return named[0].name if len(named) == 1 else NATIONAL


def ranked(chosen: Chosen, selection: "Selection") -> tuple[Sequence[Statement], tuple[Note, ...]]:
    """Return the figures in the order of a selection, and a note on what is left out.

    Only figures of the usual unit and kind of change are comparable; a note counts the others.
    """
    statements = chosen.statements
    if not selection.order:
        return statements, ()
    measures = Counter(map(_measure, statements))
    usual = max(filter(None, measures), key=lambda measure: measures[measure], default=None)
    alike = [s for s in statements if usual and _measure(s) == usual]
    alike.sort(key=lambda s: float(s.qualifiers.value), reverse=selection.order == "most")
    n = len(statements) - len(alike)
    return alike, (note("left-out-units", "zh", n=n),) if n else ()


def _measure(statement: Statement) -> tuple[str, str] | None:
    """Return unit and kind of change of a figure; None if its value is no number."""
    told = statement.qualifiers
    if decimal_of(told.value) is None:
        return None
    return told.unit, told.comparator if told.comparator in ("+", "-") else ""
