"""Select the statements of a table: by document, place, year and name."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from kgrag.answer.notes import Note, note
from kgrag.errors import NotFoundError
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.store.store import Store
from kgrag.tables.in_force import InForce
from kgrag.text.facets import NATIONAL, called
from kgrag.text.messages import message
from kgrag.text.places import asks_nationally, question_places
from kgrag.text.regions import path, region_of, regions_named
from kgrag.text.words import normalize_name
from kgrag.types import Document


@dataclass(frozen=True, slots=True)
class Chosen:
    """The documents that a table covers.

    Attributes:
        cards: Documents without texts, by id.
        total: Number of documents in the knowledge base.
    """

    cards: dict[str, Document]
    total: int

    def note(self, stating: Collection[str], what: Note) -> Note:
        """Return a note on how many documents the table covers.

        Args:
            stating: Ids of the documents with rows.
            what: What they state.
        """
        chosen, total = len(self.cards), self.total
        kind = "table-read" if stating else "table-none-read"
        part = "" if chosen == total else "-of"
        return note(kind + part, "zh", total=total, chosen=chosen, n=len(stating), what=what)


def choose(store: Store, within: Filter | None) -> Chosen:
    """Return the documents that pass a filter; all for None.

    Raises:
        NotFoundError: If none passes.
    """
    cards = store.document_cards()
    in_force = partial(_in_force_today, store, cards)
    doc_ids = documents_within(within, cards, in_force=in_force) if within else None
    return Chosen(
        {c.doc_id: c for c in cards if doc_ids is None or c.doc_id in doc_ids}, len(cards)
    )


def _in_force_today(store: Store, cards: Sequence[Document]) -> frozenset[str]:
    return InForce.read(store, cards).in_force(date.today().isoformat())


def names_all(wanted: str) -> Callable[[str], bool]:
    """Return a predicate: whether a name contains all words of a query.

    >>> names_all("非化石 比重")("非化石能源消费比重"), names_all("PUE")("数据中心pue")
    (True, True)
    """
    pieces = [normalize_name(piece) for piece in wanted.split()]
    return lambda name: all(piece in normalize_name(name) for piece in pieces)


def in_places(wanted: Sequence[str], chosen: Chosen) -> Callable[[Sequence[str]], bool]:
    """Return a predicate: whether a place, given by its path, equals or lies in a wanted one.

    Args:
        wanted: Full or short names: 四川, 成都市, 通州区; 全国 for the whole country.
        chosen: Documents whose places are accepted beside those of the gazetteer.

    Raises:
        NotFoundError: If a text names no place.

    >>> here = in_places(["四川"], Chosen({}, 0))
    >>> here(("四川省", "成都市")), here(("云南省",))
    (True, False)
    """
    if not wanted:
        return lambda _: True
    held = {called(r) for card in chosen.cards.values() for r in card.metadata.regions}
    asked = {NATIONAL if asks_nationally(text) else called(text.strip()) for text in wanted}
    for name, text in ((called(text.strip()), text) for text in wanted):
        if not (asks_nationally(text) or name in held or regions_named(name) or region_of(text)):
            raise NotFoundError(
                message(
                    "{text!r} names no place; places are given as 四川, 成都市, 全国", text=text
                )
            )
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
