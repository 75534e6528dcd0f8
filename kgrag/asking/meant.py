"""The one document that a question is about, by its title or by words of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from kgrag.asking.search_context import SearchContext
from kgrag.retrieval.search import Search
from kgrag.text.words import normalize_name
from kgrag.types import Chunk, Document, Language

_MOST_OTHERS = 3
_NOTES: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("按《{title}》作答，题中名称与它不完全相同", "；也可能指{others}", "、"),
    "en": (
        "taken for 《{title}》, which is not called exactly so in the question",
        "; {others} may be meant, too",
        ", ",
    ),
}


@dataclass(frozen=True, slots=True)
class Meant:
    """A document that a question is about.

    Attributes:
        card: Without its text.
        notes: Which document it was taken for where that is not sure, and which may be meant, too.
    """

    card: Document
    notes: tuple[str, ...] = ()


def document_meant(search: Search, knowledge: SearchContext) -> Meant | None:
    """Return the document that a question names; None for none, or several titles.

    Args:
        search: For the question.
        knowledge: Whose documents are asked.
    """
    query, within = search.query, knowledge.doc_ids
    if len(query.titles) > 1:
        return None
    cards = {
        c.doc_id: c for c in knowledge.settings().cards if within is None or c.doc_id in within
    }
    sure = [doc_id for doc_id in search.titled if doc_id in cards]
    if query.titles and sure:
        wanted = normalize_name(query.titles[0])
        exact = [d for d in sure if normalize_name(cards[d].title) == wanted] or sure
        return Meant(cards[exact[0]]) if len(exact) == 1 else None
    asked = query.titles[0] if query.titles else query.text
    likely = search.settings.titles.likely(asked, places=_places(search))
    held = [cards[doc_id] for doc_id in likely if doc_id in cards]
    if not held:
        return None
    taken, others, joint = _NOTES[query.language]
    note = taken.format(title=held[0].title)
    if held[1:]:
        titles = joint.join(f"《{card.title}》" for card in held[1 : 1 + _MOST_OTHERS])
        note += others.format(others=titles)
    return Meant(held[0], (note,))


def _places(search: Search) -> frozenset[str]:
    """Return the places that a question names, in the title that it quotes, too."""
    query = search.query
    known = frozenset[str]().union(*search.settings.places.values())
    return query.places | {
        place for title in query.titles for place in known if len(place) > 1 and place in title
    }


def chunk_at(chunks: list[Chunk], start: int) -> str:
    """Return the chunk that holds a place, by its id; the first for none."""
    holding = (chunk.chunk_id for chunk in chunks if chunk.start <= start < chunk.end)
    return next(holding, chunks[0].chunk_id if chunks else "")
