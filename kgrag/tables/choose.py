"""Which statements a table is of: documents, places, years, names."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kgrag.errors import NotFoundError
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.store.store import Store
from kgrag.tables.table import Note
from kgrag.text.facets import NATIONAL, called
from kgrag.text.places import asks_nationally, question_places
from kgrag.text.regions import path, region_of, regions_named
from kgrag.text.words import normalize_name
from kgrag.types import Document


@dataclass(frozen=True, slots=True)
class Chosen:
    """The documents that a table is of.

    Attributes:
        cards: Without texts, by id.
        total: How many the knowledge base has.
    """

    cards: dict[str, Document]
    total: int

    def note(self, stating: Collection[str], *, zh: str, en: str) -> Note:
        """Return of how many documents a table is, in words.

        Args:
            stating: Documents in it.
            zh: What they state: 这样的数字.
            en: The same in English: `such figures`.
        """
        n, chosen = len(stating), len(self.cards)
        some = chosen != self.total
        of, held = (f"中的{chosen}份", f" of {self.total}") if some else ("", "")
        if not n:  # what was not read may be there: that none states it nobody knows
            return Note(
                f"共{self.total}份文件{of}，从中未读出{zh}",
                en=f"no {en} were read of {chosen}{held}",
            )
        return Note(
            f"共{self.total}份文件{of}，其中读出{zh}的有{n}份",
            en=f"{n} of {chosen}{held} documents state {en}",
        )


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


def in_places(wanted: Sequence[str], chosen: Chosen) -> Callable[[Sequence[str]], bool]:
    """Return a test of whether a place, given by its path, is one of some or lies in one.

    Args:
        wanted: Full or short names: 四川, 成都市, 通州区; 全国 for the whole country.
        chosen: Whose documents may be about places that no list holds.

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
            raise NotFoundError(f"{text!r} names no place; places are given as 四川, 成都市, 全国")
    return lambda place: any(called(name) in asked for name in place)


def stated_place(told: Qualifiers, card: Document) -> tuple[str, ...]:
    """Return the place that a statement is about, full names, the outermost first.

    It is its own, else the narrowest of its document, else the one place that its title names
    (a national document that supports one province); 全国 where there is none.
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
    """Return the full name of the one listed place that a title names; 全国 for none or several."""
    named = [region for place in question_places(title, ()) for region in regions_named(place)]
    return named[0].name if len(named) == 1 else NATIONAL
