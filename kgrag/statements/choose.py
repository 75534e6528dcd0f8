"""Select the statements of a table: by document, place, year and name."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from kgrag.answer.notes import Note, note
from kgrag.ingestion.statements.duty_sentences import is_organ
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.statements.in_force import InForce
from kgrag.statements.sources import subject_of
from kgrag.store.graph import Statement
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called, document_facets
from kgrag.text.messages import message
from kgrag.text.organs import canonical_organ
from kgrag.text.places import asks_nationally, question_places, with_places_inside
from kgrag.text.regions import listed_regions, path, region_of, regions_named
from kgrag.text.words import normalize_name
from kgrag.types import Document

_LISTED = ("省", "市")  # levels of which the gazetteer has all divisions
_BRACKET = re.compile(r"[（(][^（）()]*[）)]$")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The documents that a table covers.

    Attributes:
        cards: Documents without texts, by id.
        held: All documents of the knowledge base, without texts.
    """

    cards: dict[str, Document]
    held: Sequence[Document]

    @property
    def total(self) -> int:
        """The number of documents in the knowledge base."""
        return len(self.held)

    @property
    def excluded(self) -> int:
        """The number of documents that the filter excludes."""
        return len(self.held) - len(self.cards)

    def note(self, stating: Collection[str], what: Note) -> Note:
        """Return a note on how many documents the table covers.

        Args:
            stating: Ids of the documents with rows.
            what: What they state.
        """
        kind = "table-read" if stating else "table-none-read"
        told = {"total": self.total, "chosen": len(self.cards), "excluded": self.excluded}
        part = "-of" if self.excluded else ""
        return note(kind + part, "zh", **told, n=len(stating), what=what)

    def filter_notes(self) -> list[Note]:
        """Return a note on how many documents the filter excludes, if it does."""
        told = {"excluded": self.excluded, "total": self.total}
        return [note("excluded", "zh", **told)] if self.excluded else []

    def not_held(self, places: Collection[str]) -> tuple[str, ...]:
        """Return those of some places that no document of the knowledge base is about.

        Args:
            places: Full or short names; those that are no province or city of China are left out.
        """
        listed = [p for p in places if any(r.level != "县" for r in regions_named(p))]
        near = about(self.held)
        return tuple(p for p in listed if not with_places_inside([called(p)]) & near)

    def place_notes(self, places: Collection[str]) -> list[Note]:
        """Return notes on the places that no document, or none that is covered, is about.

        Args:
            places: As for `not_held`.
        """
        held = self.not_held(places)
        covered = replace(self, held=tuple(self.cards.values())).not_held(places)
        excluded = tuple(place for place in covered if place not in held)
        kinds = (("place-not-held", held), ("place-excluded", excluded))
        return [note(kind, "zh", places=names) for kind, names in kinds if names]


def about(cards: Iterable[Document]) -> frozenset[str]:
    """Return the short names of the places that documents are about, provinces around included."""
    return frozenset(r for c in cards for r in document_facets(c.title, c.metadata).regions)


def choose(store: Store, within: Filter | None) -> Chosen:
    """Return the documents that pass a filter; all for None.

    Raises:
        NotFoundError: If none passes.
    """
    cards = store.document_cards()
    in_force = partial(_in_force_today, store, cards)
    doc_ids = documents_within(within, cards, in_force=in_force) if within else None
    return Chosen({c.doc_id: c for c in cards if doc_ids is None or c.doc_id in doc_ids}, cards)


def _in_force_today(store: Store, cards: Sequence[Document]) -> frozenset[str]:
    return InForce.read(store, cards).in_force(date.today().isoformat())


def names_all(wanted: str) -> Callable[[str], bool]:
    """Return a predicate: whether a name contains all words of a query.

    >>> names_all("非化石 比重")("非化石能源消费比重"), names_all("PUE")("数据中心pue")
    (True, True)
    """
    pieces = [normalize_name(piece) for piece in wanted.split()]
    return lambda name: all(piece in normalize_name(name) for piece in pieces)


def names_organ(wanted: str) -> Callable[[Statement, Document], bool]:
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


def in_places(wanted: Sequence[str], chosen: Chosen) -> Callable[[Sequence[str]], bool]:
    """Return a predicate: whether a place, given by its path, equals or lies in a wanted one.

    Args:
        wanted: Full or short names: 四川, 成都市, 通州区; 全国 for the whole country.
        chosen: Documents whose places are accepted beside those of the gazetteer.

    Raises:
        NotFoundError: If a text names no place.

    >>> here = in_places(["四川"], Chosen({}, ()))
    >>> here(("四川省", "成都市")), here(("云南省",))
    (True, False)
    """
    if not wanted:
        return lambda _: True
    held = {called(r) for card in chosen.cards.values() for r in card.metadata.regions}
    asked = {NATIONAL if asks_nationally(text) else called(text.strip()) for text in wanted}
    for name, text in ((called(text.strip()), text) for text in wanted):
        unlisted = region_of(text)
        is_part = unlisted is not None and unlisted.level not in _LISTED
        if not (asks_nationally(text) or name in held or regions_named(name) or is_part):
            names = held.union(region.name for region in listed_regions())
            remedy = message("places are given as 四川, 成都市, 全国")
            raise not_called(message("place"), text, names, remedy=remedy)
    return lambda place: any(called(name) in asked for name in place)


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
