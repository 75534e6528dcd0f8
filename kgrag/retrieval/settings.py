"""How a knowledge base is searched: sizes, scales, and what its documents are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kgrag.ids import chunk_id
from kgrag.kb_meta import KbMeta
from kgrag.retrieval.named import HeldTitles
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.facets import document_facets
from kgrag.text.words import has_han
from kgrag.types import Document, Query

_LEAST_STD = 0.01  # below, all texts are one to the encoder: no unit to count in
_SAMPLE = 128  # chunks whose cosines are compared with each other
_LEAST_SAMPLE = 16
_CHINESE = ("chi", "cmn", "yue")  # codes of it that do not begin with zh


@dataclass(frozen=True, slots=True)
class Settings:
    """How a knowledge base is searched.

    Attributes:
        leaf: Size of the chunks that routes rank.
        coarse: Size of the chunks that plain BM25 ranks.
        embedded: Sizes of the chunks that carry vectors; none for the leaves alone.
        depth: Hits that each route gives.
        cosine_mean: Mean cosine between passages that have nothing to do with each other.
        cosine_std: Standard deviation of the same; the unit in which similarities are counted.
            Encoders differ in both.
        weak_encoder: Whether similarities are worth little, so that words must decide: with
            the stand-in, and for questions in a language that the encoder does not read.
        languages: Codes of the languages that the encoder reads well; empty for any.
        chinese: Share of the documents whose title is Chinese, in [0, 1].
        places: Places that each document is about; documents about none are left out.
        known_places: All of these.
        cards: Every document without its text, by falling id.
        nodes: Document id by the id of its node in the graph.
        titles: Those of all documents, to find the ones that a question names without 《》.
    """

    leaf: int = 256
    coarse: int = 512
    embedded: tuple[int, ...] = ()
    depth: int = 100
    cosine_mean: float = 0.6
    cosine_std: float = 0.08
    weak_encoder: bool = False
    languages: tuple[str, ...] = ()
    chinese: float = 0.0
    places: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known_places: frozenset[str] = frozenset()
    cards: tuple[Document, ...] = ()
    nodes: Mapping[str, str] = field(default_factory=dict)
    titles: HeldTitles = field(default_factory=HeldTitles)

    @property
    def only_leaves_embedded(self) -> bool:
        """Return whether the chunks that routes rank are those that carry vectors."""
        return self.embedded in ((), (self.leaf,))


def settings_of(store: Store, *, leaf: int, coarse: int) -> Settings:
    """Return the settings for a knowledge base as it is now.

    Args:
        store: The knowledge base; the cards of all its documents are read.
        leaf: Size of the chunks that routes rank.
        coarse: Size of the chunks that plain BM25 ranks.
    """
    meta = KbMeta(store.all_meta())
    cards = sorted(store.document_cards(), key=lambda card: card.doc_id, reverse=True)
    embedded = meta.embedded_sizes or ()
    told = {c.doc_id: frozenset(document_facets(c.title, c.metadata).places) for c in cards}
    places = {doc_id: own for doc_id, own in told.items() if own}
    mean, std = _cosines(store, [c.doc_id for c in cards], size=min(embedded, default=leaf))
    return Settings(
        leaf=leaf,
        coarse=coarse,
        embedded=embedded,
        cosine_mean=mean,
        cosine_std=std,
        weak_encoder=meta.stand_in is True,
        languages=tuple(filter(None, meta.languages or ())),
        chinese=chinese_share(cards),
        places=places,
        known_places=frozenset().union(*places.values()),
        cards=tuple(cards),
        nodes={node_id(card.title, card.metadata): card.doc_id for card in cards},
        titles=HeldTitles(cards, places),
    )


def _cosines(store: Store, doc_ids: Sequence[str], *, size: int) -> tuple[float, float]:
    """Return mean and standard deviation of the cosines between the first chunks of documents.

    Of more chunks of each where there are few documents; the defaults where chunks are few.
    """
    default = Settings().cosine_mean, Settings().cosine_std
    some = doc_ids[:: -(-len(doc_ids) // _SAMPLE)] if doc_ids else []
    each = _SAMPLE // len(some) if some else 0
    found = store.vectors_of(
        [chunk_id(d, size, position) for d in some for position in range(each)]
    )
    if len(found) < _LEAST_SAMPLE:
        return default
    matrix = np.stack([found[node_id] for node_id in sorted(found)])  # sums depend on the order
    cosines = (matrix @ matrix.T)[np.triu_indices(len(matrix), 1)]
    deviation = round(float(cosines.std()), 6)
    return (round(float(cosines.mean()), 6), deviation) if deviation > _LEAST_STD else default


def chinese_share(cards: Sequence[Document]) -> float:
    """Return the share of documents whose title is Chinese, in [0, 1]."""
    return sum(has_han(card.title) for card in cards) / max(1, len(cards))


def for_language(settings: Settings, query: Query) -> Settings:
    """Return the settings for a question: words count more where the encoder cannot read it.

    Args:
        settings: Of the knowledge base.
        query: The question; one without letters is of no language to an encoder.
    """
    asked = "zh" if has_han(query.text) else query.language if query.language == "en" else ""
    codes = (code.casefold() for code in settings.languages)
    read = {"zh" if code in _CHINESE else code[:2] for code in codes}  # zh-CN, ZH
    if not read or not asked or asked in read:
        return settings
    return replace(settings, weak_encoder=True)
