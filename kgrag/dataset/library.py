"""Documents for question generation: texts, parent chunks, names."""

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgrag.answer.sentences import sentence_around
from kgrag.statements.figures import is_of_the_country
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called
from kgrag.text.regions import level_of, path, region_of
from kgrag.text.title_keys import title_key
from kgrag.text.titles import titles_within
from kgrag.types import Chunk, Document

_LONGEST_NAME = 40  # characters of a title that people would say
_LONGEST_SENTENCE = 300
_TEXTS = 512  # documents whose texts and chunks are kept

_ISSUED = re.compile("^.{0,30}关于印发(?=.{6})")  # of a notice whose title is cut

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document.

    Attributes:
        doc_id: The document.
        span: Its offsets.
        text: The sentence.
    """

    doc_id: str
    span: Span
    text: str


class Library:
    """Documents of a knowledge base.

    Attributes:
        store: Their store.
        cards: Documents without texts, by id.
        parent_size: Of the parent chunks.
        left_out: Documents that will be missing when the questions are asked.
    """

    def __init__(
        self, store: Store, parent_size: int, *, left_out: frozenset[str] = frozenset()
    ) -> None:
        self.store = store
        self.parent_size = parent_size
        self.left_out = left_out
        self.cards = {card.doc_id: card for card in store.document_cards()}
        self._names = Counter(title_key(self._name(card)) for card in self.cards.values())
        self._of_place: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for doc_id in sorted(self.cards):
            self._of_place[self._place(doc_id)].append(doc_id)
        self.text = lru_cache(_TEXTS)(self._text)
        self.parents = lru_cache(_TEXTS)(self._parents)

    def parent(self, doc_id: str, start: int) -> str:
        """Return the id of the parent chunk at an offset; empty for none."""
        parents = self.parents(doc_id)
        at = bisect.bisect_right([chunk.start for chunk in parents], start) - 1
        return parents[at].chunk_id if at >= 0 and start < parents[at].end else ""

    def name(self, doc_id: str) -> str:
        """Return a colloquial name of a document; empty if no short name is unique."""
        name = self._name(self.cards[doc_id])
        alone = self._names[title_key(name)] == 1
        return name if alone and len(name) <= _LONGEST_NAME else ""

    def beside(self, doc_ids: Sequence[str]) -> list[str]:
        """Return the other documents about the places of some, without `left_out`."""
        places = dict.fromkeys(map(self._place, doc_ids))
        known = {*doc_ids, *self.left_out}
        return [d for place in places for d in self._of_place[place] if d not in known]

    def saying(self, words: str, doc_ids: Sequence[str]) -> list[Sentence]:
        """Return the sentences of documents that contain some words, in order."""
        found = {}
        for doc_id in doc_ids:
            text = self.text(doc_id)
            at = text.find(words)
            while at >= 0:
                span = sentence_around(text, at, at + len(words), longest=_LONGEST_SENTENCE)
                found[doc_id, span] = Sentence(doc_id, span, text[span[0] : span[1]])
                at = text.find(words, max(span[1], at + 1))
        return list(found.values())

    def _place(self, doc_id: str) -> tuple[str, ...]:
        """Return the places of a document; its title for a part of the country."""
        card = self.cards[doc_id]
        is_part = not card.metadata.regions and not is_of_the_country(card)
        return (card.title,) if is_part else card.metadata.regions

    def _name(self, card: Document) -> str:
        """Return a title without its notice, with a place or issuer before it if it has none."""
        name = _ISSUED.sub("", titles_within(card.title)[-1])
        regions, issuers = card.metadata.regions, card.metadata.issuers
        short = called(regions[-1]) if regions else ""
        if short and short not in name:
            return f"{spoken(regions)}{name}"
        if name.startswith("关于") and issuers:
            return f"{issuers[0]}{name}"
        return name

    def _text(self, doc_id: str) -> str:
        found = self.store.documents([doc_id])
        return found[0].text if found else ""

    def _parents(self, doc_id: str) -> list[Chunk]:
        chunks = self.store.chunks_of([doc_id], size=self.parent_size)
        return sorted(chunks, key=lambda chunk: chunk.start)


def spoken(place: Sequence[str]) -> str:
    """Return the colloquial name of a place, given by full names, outermost first.

    >>> spoken(("四川省",)), spoken(("四川省", "成都市")), spoken(("全国",)), spoken(())
    ('四川', '成都', '全国', '全国')
    >>> spoken(("上海市", "徐汇区"))
    '上海徐汇区'
    """
    if not place:
        return NATIONAL
    last = place[-1]
    if level_of(last) == "县":
        known = region_of(last, within=place[:-1])
        around = place[:-1] or (path(known)[:-1] if known else ())
        return (called(around[-1]) if around else "") + last
    return called(last)
