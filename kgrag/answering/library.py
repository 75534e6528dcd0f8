"""Questions about documents as such: which one is meant, which are in force."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from kgrag.answer.notes import note
from kgrag.answering.listed import Place
from kgrag.answering.rows import Complete, Stated, place_of
from kgrag.answering.search_context import SearchContext
from kgrag.errors import NotFoundError
from kgrag.question.question import question_of
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.search import Search
from kgrag.status import Status, StatusKind
from kgrag.store.store import Store
from kgrag.tables.sources import Spot, object_of, role_of
from kgrag.tables.timeline import EVENTS, WantedTimes, timeline
from kgrag.text.document_nodes import node_name
from kgrag.text.facets import document_facets
from kgrag.text.words import normalize_name, words
from kgrag.types import Chunk, Document, Language

_MOST_OTHERS = 3


@dataclass(frozen=True, slots=True)
class _Meant:
    """The document that a question is about.

    Attributes:
        card: Without its text.
        notes: If that is not certain: which one was chosen, and which others may be meant.
    """

    card: Document
    notes: tuple[str, ...] = ()


def document_meant(search: Search, knowledge: SearchContext) -> _Meant | None:
    """Return the document in a question; None for none, or several titles.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    if len(query.titles) > 1:
        return None
    cards = knowledge.cards()
    if query.titles and (sure := titled_documents(search, cards)):
        return _Meant(cards[sure[0]]) if len(sure) == 1 else None
    asked = query.titles[0] if query.titles else query.text
    likely = search.settings.titles.likely(asked, places=_places(search))
    held = [cards[doc_id] for doc_id in likely if doc_id in cards]
    if not held:
        return None
    taken: str = note("taken-for", query.language, title=held[0].title)
    if held[1:]:
        joint = ", " if query.language == "en" else "、"
        titles = joint.join(f"《{card.title}》" for card in held[1 : 1 + _MOST_OTHERS])
        taken += note("others-meant", query.language, others=titles)
    return _Meant(held[0], (taken,))


def titled_documents(search: Search, cards: Mapping[str, Document]) -> list[str]:
    """Return the documents of a quoted title; those with exactly that title, if there are any."""
    found = [doc_id for doc_id in search.titled if doc_id in cards]
    wanted = normalize_name(search.query.titles[0])
    return [d for d in found if normalize_name(cards[d].title) == wanted] or found


def _places(search: Search) -> frozenset[str]:
    """Return the places in a question, also in its quoted title."""
    query = search.query
    known = frozenset[str]().union(*search.settings.places.values())
    return query.places | {
        place for title in query.titles for place in known if len(place) > 1 and place in title
    }


def chunk_at(chunks: list[Chunk], start: int) -> str:
    """Return the id of the chunk at a place; the first for none."""
    holding = (chunk.chunk_id for chunk in chunks if chunk.start <= start < chunk.end)
    return next(holding, chunks[0].chunk_id if chunks else "")


_ENDED: tuple[StatusKind, ...] = ("repealed", "superseded", "expired")
_ACTS: Mapping[StatusKind, str] = {"repealed": "废止", "amended": "修订"}


def validity(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return whether a document is in force, or which ones are not; None for other questions.

    Args:
        search: For the question; it names one title, or asks which documents.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    asks_else = question.sides or "what is cited" in question.asks  # 《甲办法》取代了什么
    if "validity" not in question.asks or asks_else or len(query.titles) > 1:
        return None
    day, in_force, language = knowledge.as_of.day, knowledge.in_force(), query.language
    cards = knowledge.cards()
    if not query.titles:
        if not ("a list" in question.asks and _OF_DOCUMENTS.search(query.text)):
            return None
        about = set(words(_OF_VALIDITY.sub(" ", " ".join(question.pieces))))
        cards = {d: card for d, card in cards.items() if is_of(card, query.places)}
        told = {card.doc_id: in_force.status(card.doc_id, day) for card in cards.values()}
        ended = {d: status for d, status in told.items() if status.kind in _ENDED}
        rows = _standings(ended, cards, knowledge, language)
        if "repeals" in question.asks:
            rows = (*rows, *_repeals(knowledge, cards, {row.place for row in rows}))
        if about:
            rows = tuple(row for row in rows if _says(cards[row.place.doc_id], row, about))
            if not rows:
                return None
        counted = note("validity-counted", language, n=len(ended), total=len(cards))
        return Complete(rows, (note("validity", language, day=day, told=counted),), "validity")
    title = query.titles[0]
    meant = document_meant(search, knowledge) if search.titled else None
    status = (
        in_force.status(meant.card.doc_id, day) if meant else in_force.status_of_title(title, day)
    )
    if status is None:
        return Complete((), (note("not-held", language, title=title),), "validity", about=title)
    if meant and status.kind in ("in_force", "unknown"):
        counted = note("in-force", language, title=meant.card.title)
    else:
        named = meant.card.title if meant else title
        counted = note("ended", language, title=named, status=status.told(language))
    doc_id = meant.card.doc_id if meant else ""
    rows = _standings({doc_id: status}, cards, knowledge, language, title=title)
    notes = (note("validity", language, day=day, told=counted), *(meant.notes if meant else ()))
    return Complete(rows, notes, "validity", about=title)


def is_of(card: Document, places: Collection[str]) -> bool:
    """Return whether a document is about one of some places, by short names; true for none."""
    return not places or bool(set(places) & set(document_facets(card.title, card.metadata).places))


def _says(card: Document, row: Stated, about: Collection[str]) -> bool:
    """Return whether a row's titles have half of some words, or more."""
    held = set(words(f"{card.title} {row.aside}"))
    return 2 * len(held.intersection(about)) >= len(about)


_OF_VALIDITY = re.compile(
    "失效|废止|作废|取代|替代|修订|有效|现行|已经?|被|或|的|了|都|老|旧|新|库[里中]?|本库|方面|关于|目前|现在|规章"
)
_OF_DOCUMENTS = re.compile(
    "文件|政策|法规|规定|规章|办法|方案|规划|条例|通知|意见|document|polic|rule"
)


def _standings(
    told: Mapping[str, Status],
    cards: Mapping[str, Document],
    knowledge: SearchContext,
    language: Language,
    title: str = "",
) -> tuple[Stated, ...]:
    """Return a row for each document: where it is said that it ended, or what it says of its dates.

    Args:
        told: Statuses by document; an empty id stands for a title that is not held.
        cards: Documents to search.
        knowledge: The knowledge base.
        language: Of the words in brackets.
        title: That is asked about.
    """
    store, leaf = knowledge.store, knowledge.settings().leaf
    rows = []
    for doc_id, status in told.items():
        name = cards[doc_id].title if doc_id in cards else title
        spot = _act(store, status, name) or (_dates(store, doc_id, status) if doc_id else None)
        if spot is not None:
            where, start, end = spot
            chunk = chunk_at(store.chunks_of([where], size=leaf), start)
            if where != doc_id and status.kind in _ACTS:
                aside = f"{_ACTS[status.kind]}《{name}》"
            else:  # the date stands in the quote, or beside the citation
                aside = replace(status, since="").told(language) or _IN_FORCE[language]
            rows.append(Stated(Place(where, start, end, chunk), aside=aside))
    return tuple(rows)


def _repeals(
    knowledge: SearchContext, cards: Mapping[str, Document], shown: Collection[Place]
) -> Iterator[Stated]:
    """Yield a row for each title that a document repeals, held or not."""
    for s in knowledge.store.statements("reference", predicates=(_ACTS["repealed"],)):
        if s.doc_id in cards and place_of(s) not in shown:
            yield Stated(place_of(s), aside=f"{role_of(s)}《{object_of(s)}》")


_IN_FORCE: Mapping[Language, str] = {"zh": "现行有效", "en": "in force"}


def _act(store: Store, status: Status, title: str) -> Spot | None:
    """Return where another document repeals or amends a title."""
    if not status.doc_id or status.kind not in _ACTS:
        return None
    acts = store.statements("reference", [status.doc_id], predicates=(_ACTS[status.kind],))
    wanted = normalize_name(node_name(title))
    named = [s for s in acts if normalize_name(s.fact.object.name) in wanted or len(acts) == 1]
    return next(((s.doc_id, s.start, s.end) for s in named), None)


def _dates(store: Store, doc_id: str, status: Status) -> Spot | None:
    """Return where a document says until, else from when it holds, else its beginning."""
    within = Filter(documents=(doc_id,))
    try:
        wanted_times = WantedTimes(within=within, events=("expires", "effective", "issued"))
        found = timeline(store, wanted_times)
    except NotFoundError:  # deleted meanwhile
        return None
    of = {row.cells[1]: row.sources[0] for row in reversed(found.rows) if row.sources}
    ends, begins = EVENTS["expires"], (EVENTS["effective"], EVENTS["issued"])
    wanted = (ends,) if status.kind == "expired" else (*begins, ends)
    source = next((of[name] for name in wanted if name in of), None)
    if source:
        return doc_id, source.start, source.end
    text = next((document.text for document in store.documents([doc_id])), "")
    end = text.find("\n", len(text) - len(text.lstrip()))
    return (doc_id, 0, end if end > 0 else len(text)) if text else None
