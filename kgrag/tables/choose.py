"""Which statements a table is of: documents, places, years, names."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kgrag.errors import NotFoundError
from kgrag.language.facets import called
from kgrag.language.places import asks_nationally, question_places, with_places_inside
from kgrag.language.text import normalize_name
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.store.store import Store
from kgrag.types import Document

NATIONAL_REGION = "全国"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The documents that a table is of.

    Attributes:
        cards: Without texts, by id.
        total: How many the knowledge base has.
    """

    cards: dict[str, Document]
    total: int

    def note(self, stating: Collection[str], *, what: str) -> str:
        """Return of how many documents a table is, in words.

        Args:
            stating: Documents in it.
            what: What they state: `targets`.
        """
        held = "" if len(self.cards) == self.total else f" of {self.total}"
        return f"{len(stating)} of {len(self.cards)}{held} documents state {what}"


def choose(store: Store, within: Filter | None) -> Chosen:
    """Return the documents that a filter leaves; all for None.

    Raises:
        NotFoundError: If it leaves none.
    """
    cards = store.document_cards()
    doc_ids = documents_within(within, cards) if within else None
    return Chosen(
        {c.doc_id: c for c in cards if doc_ids is None or c.doc_id in doc_ids}, len(cards)
    )


def names_all(wanted: str) -> Callable[[str], bool]:
    """Return a test of whether a name has all the words of what is looked for.

    >>> names_all("非化石 比重")("非化石能源消费比重"), names_all("PUE")("数据中心pue")
    (True, True)
    """
    pieces = [normalize_name(piece) for piece in wanted.split()]
    return lambda name: all(piece in normalize_name(name) for piece in pieces)


def in_places(wanted: Sequence[str]) -> Callable[[str], bool]:
    """Return a test of whether a region's full name is one of some places, or a city of one.

    Raises:
        NotFoundError: If a text names no place.
    """
    if not wanted:
        return lambda _: True
    asked: set[str] = set()
    for text in wanted:
        places = with_places_inside(question_places(text, ()))
        if not places and not asks_nationally(text):
            raise NotFoundError(f"{text!r} names no place; places are given as 四川, 成都市, 全国")
        asked |= places or {NATIONAL_REGION}
    return lambda region: bool(region) and (region in asked or called(region) in asked)


def stated_region(told: Qualifiers, card: Document) -> str:
    """Return the place that a statement is about: its own, else the narrowest of its document."""
    return told.region or (card.metadata.regions[-1] if card.metadata.regions else NATIONAL_REGION)
