"""Notes on how questions are answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from kgrag.answer.answer import Answer
from kgrag.answer.notes import Note, note
from kgrag.answering.dated import as_of_asked, what_a_day_leaves_out, with_status, years_first
from kgrag.answering.search_context import SearchContext
from kgrag.config import Config
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.target import other_sizes
from kgrag.retrieval.bilingual import is_foreign, read
from kgrag.retrieval.filter import Filter, what_is_left_out
from kgrag.retrieval.settings import chinese_share
from kgrag.statements.choose import Chosen
from kgrag.statements.in_force import InForce
from kgrag.statements.table import worded
from kgrag.store.store import Store
from kgrag.text.places import places_in
from kgrag.text.quantities import broken_numbers
from kgrag.text.vocabulary import ABROAD
from kgrag.text.words import has_han
from kgrag.types import Query
from kgrag.verification.checks import notes_of

_READ = "the documents are Chinese, the question was read in Chinese: {}"
_HALF_READ = (
    "the documents are Chinese, and half of the question's words or more are not in the word list"
    " ({}): it was searched by the encoder alone, read as {}, and what was found may be about"
    " something else; ask in Chinese"
)
_MOST_NAMING = 1000  # passages that name a place
_UNREAD = (
    "the documents are Chinese, and no word of the question is in the word list: ask in Chinese"
)


def search_notes(
    store: Store,
    config: Config,
    sizes: ChunkSizes,
    within: Filter | None,
    as_of: str | date | None = None,
    question: str = "",
) -> list[str]:
    """Return notes on what is searched; needs no encoder.

    Args:
        store: The knowledge base.
        config: Settings.
        sizes: Its chunk sizes.
        within: Which documents are searched; all for None.
        as_of: The day of an option.
        question: To be searched; empty if the answer has the note on its reading.
    """
    cards = store.document_cards()
    chinese = chinese_share(cards)
    left_out = what_is_left_out(within, cards) if within else ""
    read_as = read_in_chinese(read(question, chinese=chinese), chinese) if question else ()
    asked = as_of_asked("", as_of)
    later = what_a_day_leaves_out(asked, InForce.read(store)) if asked.held else ""
    cut = other_sizes(config.chunks, sizes)
    shown = (*read_as, *worded((later,), "en"), left_out, cut)
    return [note for note in shown if note]


def with_notes(
    answer: Answer,
    query: Query,
    knowledge: SearchContext,
    within: Filter | None,
    notes: Sequence[str],
) -> Answer:
    """Return an answer with all that is said beside it, in its language.

    Args:
        answer: With the notes of its making.
        query: Its question.
        knowledge: What was searched.
        within: The filter.
        notes: Further ones, which come last.
    """
    as_of = knowledge.as_of
    answer = replace(answer, notes=(*answer.notes, *_broken_numbers(answer), *notes_of(answer)))
    answer = with_status(answer, as_of, knowledge.in_force())
    answer = years_first(answer, query, as_of, knowledge.store.documents)
    titles = "".join(card.title for card in knowledge.cards().values())
    abroad = tuple(word for word in query.words if word in ABROAD and word not in titles)
    first = [note("place-not-held", places=abroad)] if abroad else []
    told = (*first, *answer.notes, *_what_was_searched(query, knowledge, within), *notes)
    return replace(answer, notes=tuple(worded(told, answer.language)))


def _broken_numbers(answer: Answer) -> Mapping[Note, None]:
    """Return a note for each quoted number that is broken by a gap in the text."""
    return dict.fromkeys(
        note("broken-number", number=c.number, written=written, read="".join(written.split()))
        for c in answer.citations
        for start, end in broken_numbers(c.quote)
        for written in [c.quote[start:end]]
    )


def _what_was_searched(
    query: Query, knowledge: SearchContext, within: Filter | None
) -> Iterator[Note]:
    """Yield notes on documents that a filter excludes, and places that no document is about."""
    cards = knowledge.cards()
    chosen = Chosen(cards, knowledge.settings().cards)
    yield from chosen.place_notes(sorted(query.places))
    for place in chosen.not_held(sorted(query.places)):
        hits = knowledge.store.search_phrase(
            place,
            field="text",
            size=knowledge.settings().leaf,
            top_k=_MOST_NAMING,
            doc_ids=sorted(cards),
        )
        chunks = knowledge.store.chunks([chunk_id for chunk_id, _ in hits])
        named = {
            c.doc_id for c in chunks if any(p == place for *_, p in places_in(c.text, [place]))
        }
        if named:
            yield note("place-named", place=place, n=len(named))
    if within:
        yield from chosen.filter_notes()


def read_in_chinese(query: Query, chinese: float) -> tuple[str, ...]:
    """Return a note on how an English question was translated; none for others.

    Args:
        query: The question.
        chinese: Share of the documents that are Chinese, in [0, 1].
    """
    if query.unread:
        return (_HALF_READ.format(", ".join(dict.fromkeys(query.unread)), query.text),)
    if query.asked and has_han(query.text):
        is_chinese = query.language == "zh"
        return (note("read-as", question=query.text) if is_chinese else _READ.format(query.text),)
    return (_UNREAD,) if is_foreign(query, chinese) else ()
