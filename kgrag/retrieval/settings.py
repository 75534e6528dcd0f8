"""How a knowledge base is searched: sizes, scales, and what its documents are called."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kgrag.store.store import Store
from kgrag.text import is_latin, normalize_name
from kgrag.titles import document_name


@dataclass(frozen=True, slots=True)
class Settings:
    """How a knowledge base is searched.

    Attributes:
        leaf: Size of the chunks that carry vectors and that routes rank.
        coarse: Size of the chunks that plain BM25 ranks.
        depth: Hits that each route gives.
        spread: Standard deviation of the cosine between passages that have nothing to do with
            each other; the unit in which similarities are counted. Depends on the encoder.
        weak_encoder: Whether similarities are worth little, so that words must decide: with
            the stand-in, and for questions in a language that the encoder does not read.
        languages: Codes of the languages that the encoder reads well; empty for any.
        places: Places that each document is about; documents about none are left out.
        named: Document id by the normalised name that others cite it by.
    """

    leaf: int = 256
    coarse: int = 512
    depth: int = 100
    spread: float = 0.07
    weak_encoder: bool = False
    languages: tuple[str, ...] = ()
    places: Mapping[str, frozenset[str]] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)

    def known_places(self) -> frozenset[str]:
        """Return every place that some document is about."""
        return frozenset().union(*self.places.values())


def settings_of(store: Store, *, leaf: int, coarse: int) -> Settings:
    """Return the settings for a knowledge base as it is now.

    Args:
        store: The knowledge base; the cards of all its documents are read.
        leaf: Size of the chunks that carry vectors.
        coarse: Size of the chunks that plain BM25 ranks.
    """
    meta = store.all_meta()
    cards = sorted(store.document_cards(), key=lambda card: card.doc_id, reverse=True)
    return Settings(
        leaf=leaf,
        coarse=coarse,
        weak_encoder=meta.get("stand_in") == "yes",
        languages=tuple(filter(None, meta.get("languages", "").split(","))),
        places={
            card.doc_id: frozenset(card.metadata["places"].split("、"))
            for card in cards
            if card.metadata.get("places")
        },
        named={normalize_name(document_name(card.title)): card.doc_id for card in cards},
    )


def for_language(settings: Settings, question: str) -> Settings:
    """Return the settings for a question: words count more where the encoder cannot read it.

    Args:
        settings: Of the knowledge base.
        question: Its letters tell the language.
    """
    languages = settings.languages
    if not languages or "en" in languages or not is_latin(question):
        return settings
    return replace(settings, weak_encoder=True)
