"""Search settings of a knowledge base: chunk sizes, scales of similarity, titles and places."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from kgrag.ids import chunk_id
from kgrag.kb_meta import KbMeta
from kgrag.retrieval.named import TitleIndex
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id, node_name
from kgrag.text.facets import document_facets
from kgrag.text.words import has_han
from kgrag.types import Document, Query

Twins = Mapping[str, Sequence[Set[str]]]  # groups of ids by the id of each in them

_LEAST_STD = 0.01  # below, all texts are one to the encoder: no unit to count in
_SAMPLE = 128  # chunks whose cosines are compared with each other
_LEAST_SAMPLE = 16
_CHINESE = ("chi", "cmn", "yue")  # codes of it that do not begin with zh


@dataclass(frozen=True, slots=True)
class Settings:
    """How a knowledge base is searched.

    Attributes:
        leaf: Size of the chunks that retrievers rank.
        coarse: Size of the chunks that plain BM25 ranks.
        depth: Hits per retriever.
        cosine_mean: Mean cosine between unrelated passages; depends on the encoder.
        cosine_std: Their standard deviation: the unit of similarities.
        weak_encoder: Whether words outweigh similarities: for the encoder without a model, and
            for questions in a language that the encoder does not support.
        languages: Codes of the languages that the encoder supports; empty for any.
        chinese: Share of the documents whose title is Chinese, in [0, 1].
        places: Places of each document; documents about none are left out.
        known_places: All of these.
        cards: Every document without its text, by falling id.
        twins: Documents that may be copies, by id; see `twins_of`.
        nodes: Document id by the id of its node in the graph.
        titles: Index of titles, to find those that a question names without 《》.
    """

    leaf: int = 256
    coarse: int = 512
    depth: int = 100
    cosine_mean: float = 0.6
    cosine_std: float = 0.08
    weak_encoder: bool = False
    languages: tuple[str, ...] = ()
    chinese: float = 0.0
    places: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known_places: frozenset[str] = frozenset()
    cards: tuple[Document, ...] = ()
    twins: Twins = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)
    titles: TitleIndex = field(default_factory=TitleIndex)


def settings_of(store: Store, *, leaf: int, coarse: int) -> Settings:
    """Read the settings of a knowledge base from its documents."""
    meta = KbMeta(store.all_meta())
    cards = sorted(store.document_cards(), key=lambda card: card.doc_id, reverse=True)
    told = {c.doc_id: frozenset(document_facets(c.title, c.metadata).places) for c in cards}
    places = {doc_id: own for doc_id, own in told.items() if own}
    mean, std = _cosines(store, [c.doc_id for c in cards], size=leaf)
    return Settings(
        leaf=leaf,
        coarse=coarse,
        cosine_mean=mean,
        cosine_std=std,
        weak_encoder=meta.stand_in is True,
        languages=tuple(filter(None, meta.languages or ())),
        chinese=chinese_share(cards),
        places=places,
        known_places=frozenset().union(*places.values()),
        cards=tuple(cards),
        twins=twins_of(cards),
        nodes={node_id(card.title, card.metadata): card.doc_id for card in cards},
        titles=TitleIndex(cards, places),
    )


def twins_of(cards: Iterable[Document]) -> Twins:
    """Return for each document those with the same bytes, and those of the same name and place."""
    alike: defaultdict[str, set[str]] = defaultdict(set)
    for card in cards:
        alike[card.content_hash].add(card.doc_id)
        alike["\n".join((node_name(card.title), *card.metadata.regions))].add(card.doc_id)
    twins: defaultdict[str, list[set[str]]] = defaultdict(list)
    for doc_ids in alike.values():
        for doc_id in doc_ids if len(doc_ids) > 1 else ():
            twins[doc_id].append(doc_ids)
    return dict(twins)


def _cosines(store: Store, doc_ids: Sequence[str], *, size: int) -> tuple[float, float]:
    """Return mean and standard deviation of the cosines between the first chunks of documents.

    With few documents more chunks of each are used; with few chunks the defaults.
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
    """Return the settings for a question: words weigh more if the encoder lacks its language.

    A question without letters has no supported language.
    """
    asked = "zh" if has_han(query.text) else query.language if query.language == "en" else ""
    codes = (code.casefold() for code in settings.languages)
    read = {"zh" if code in _CHINESE else code[:2] for code in codes}  # zh-CN, ZH
    if not read or not asked or asked in read:
        return settings
    return replace(settings, weak_encoder=True)
