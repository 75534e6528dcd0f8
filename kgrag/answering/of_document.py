"""Questions about one document: its dates, its tasks or measures."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.answer.notes import note
from kgrag.answering.listed import Place
from kgrag.answering.rows import Complete, Stated
from kgrag.answering.search_context import SearchContext
from kgrag.question.question import grammar, question_of
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.search import Search
from kgrag.tables.table import Cell, Row
from kgrag.tables.timeline import EVENTS, WantedTimes, timeline
from kgrag.text.plan_periods import plan_ending
from kgrag.text.quantities import narrow
from kgrag.text.words import normalize_name
from kgrag.types import Chunk, Document, Heading

_MOST_OTHERS = 3
_MOST = 60  # rows
_CERTAINTY, _INFERRED = 5, "推断"  # column of the timeline; in it, a day that no text tells
_TARGET = EVENTS["target"]
# What a document has a part of, by what the question asks for and tags of headings.
_PARTS = ("tasks", "projects", "safeguards", "principles", "fields")
_MOST_HEADINGS = 40  # headings


@dataclass(frozen=True, slots=True)
class Meant:
    """The document that a question is about.

    Attributes:
        card: Without its text.
        notes: If that is not certain: which one was chosen, and which others may be meant.
    """

    card: Document
    notes: tuple[str, ...] = ()


def document_meant(search: Search, knowledge: SearchContext) -> Meant | None:
    """Return the document in a question; None for none, or several titles.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
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
    taken: str = note("taken-for", query.language, title=held[0].title)
    if held[1:]:
        joint = ", " if query.language == "en" else "、"
        titles = joint.join(f"《{card.title}》" for card in held[1 : 1 + _MOST_OTHERS])
        taken += note("others-meant", query.language, others=titles)
    return Meant(held[0], (taken,))


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


def times(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the dates of a document in the question; None for other questions.

    Dates of one sentence are one row; inferred ones are left out.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    asked = "time points" in question_of(query).asks
    meant = document_meant(search, knowledge) if asked else None
    if meant is None:
        return None
    doc_id = meant.card.doc_id
    found = timeline(knowledge.store, WantedTimes(within=Filter(documents=(doc_id,))))
    told = [row for row in found.rows if row.sources and row.cells[_CERTAINTY] != _INFERRED]
    by_sentence: defaultdict[tuple[Cell, Cell, str], list[Row]] = defaultdict(list)
    for row in told:
        by_sentence[row.cells[0], row.cells[1], row.sources[0].quote].append(row)
    chunks = knowledge.store.chunks_of([doc_id], size=knowledge.settings().leaf)
    rows = [
        Stated(
            Place(doc_id, at.start, at.end, chunk_at(chunks, at.start)),
            lead=_lead(several, at.quote),
        )
        for several in by_sentence.values()
        for at in several[0].sources[:1]
    ]
    if not rows:
        return None
    notes = [note("times", query.language, title=meant.card.title, n=len(told))]
    if len(rows) > _MOST:
        notes.append(note("first-times", query.language, shown=_MOST))
    return Complete(tuple(rows[:_MOST]), (*notes, *meant.notes), "times")


def _lead(rows: Sequence[Row], quote: str) -> str:
    """Return date and event of the rows of one sentence, and what they add to the sentence."""
    date, event = str(rows[0].cells[0]), rows[0].cells[1]
    pieces = zip(date.split("-"), "年月日", strict=False)
    day = "".join(f"{int(number)}{name}" for number, name in pieces)
    if date not in narrow(quote):  # at the end of a plan's five years
        plan = plan_ending(int(date[:4]))
        day = f"“{plan}”" if len(date) == 4 and plan and plan in quote else day
    said = [str(row.cells[2]) for row in rows]
    beyond = [what for what in said if normalize_name(what) not in normalize_name(quote)]
    return f"{day}（{event}）" + (f"：{'、'.join(beyond)}" if beyond and event == _TARGET else "")


def sections(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the headings below a part of a document in the question; None for other questions.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    asks = question_of(query).asks
    name = next((name for name in _PARTS if name in asks), "")
    part = re.compile("|".join(map(re.escape, grammar().words(name)))) if name else None
    if part is None or not ("a list" in asks or _ends_with(query.text, part)):
        return None
    meant = document_meant(search, knowledge)
    if meant is None:
        return None
    card = meant.card
    found = _under(knowledge.store.headings([card.doc_id]).get(card.doc_id, ()), part)
    if found is None:
        return None
    heading, inner = found
    chunks = knowledge.store.chunks_of([card.doc_id], size=knowledge.settings().leaf)
    rows = tuple(
        Stated(Place(card.doc_id, h.start, h.end, chunk_at(chunks, h.start))) for h in inner
    )
    counted = note("sections", query.language, title=card.title, part=heading.text, n=len(inner))
    return Complete(rows, (counted, *meant.notes), "sections")


def _ends_with(text: str, part: re.Pattern[str]) -> bool:
    """Return whether a question only names the part: 某某方案的重点任务."""
    bare = text.rstrip("？?。. ")
    return any(match.end() == len(bare) for match in part.finditer(bare))


def _under(
    headings: Sequence[Heading], part: re.Pattern[str]
) -> tuple[Heading, list[Heading]] | None:
    """Return the first heading that names a part, and those directly below it; None for too few."""
    for at, heading in enumerate(headings):
        if not part.search(heading.text):
            continue
        inner: list[Heading] = []
        for following in headings[at + 1 :]:
            if following.level <= heading.level:
                break
            inner.append(following)
        top = min((h.level for h in inner), default=0)
        direct = [h for h in inner if h.level == top]
        if 2 <= len(direct) <= _MOST_HEADINGS:
            return heading, direct
    return None
