"""Questions for the time points of one document: all that its timeline has."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from kgrag.asking.meant import chunk_at, document_meant
from kgrag.asking.rows import Complete, Stated
from kgrag.asking.search_context import SearchContext
from kgrag.generation.listed import Place
from kgrag.question.question import question_of
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.search import Search
from kgrag.tables.table import Cell, Row
from kgrag.tables.timeline import EVENTS, WantedTimes, timeline
from kgrag.text.plan_periods import plan_ending
from kgrag.text.quantities import narrow
from kgrag.text.words import normalize_name
from kgrag.types import Language

_NOTES: Mapping[Language, tuple[str, str]] = {
    "zh": ("从《{title}》读出时间点{n}项", "列出前{shown}项"),
    "en": ("{n} points in time were read from 《{title}》", "the first {shown}"),
}
_MOST = 60  # rows
_CERTAINTY, _INFERRED = 5, "推断"  # column of the timeline; in it, a day that no text tells
_TARGET = EVENTS["target"]


def times(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the time points of a document that a question names; None for another question.

    Those of one sentence are one row; a day that is only inferred is none.

    Args:
        search: For the question.
        knowledge: Whose documents are asked.
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
    counted, first = _NOTES[query.language]
    notes = [counted.format(title=meant.card.title, n=len(told))]
    if len(rows) > _MOST:
        notes.append(first.format(shown=_MOST))
    return Complete(tuple(rows[:_MOST]), (*notes, *meant.notes), "times")


def _lead(rows: Sequence[Row], quote: str) -> str:
    """Return date and event of rows of one sentence, and what they say beyond the sentence."""
    date, event = str(rows[0].cells[0]), rows[0].cells[1]
    pieces = zip(date.split("-"), "年月日", strict=False)
    day = "".join(f"{int(number)}{name}" for number, name in pieces)
    if date not in narrow(quote):  # at the end of a plan's five years
        plan = plan_ending(int(date[:4]))
        day = f"“{plan}”" if len(date) == 4 and plan and plan in quote else day
    said = [str(row.cells[2]) for row in rows]
    beyond = [what for what in said if normalize_name(what) not in normalize_name(quote)]
    return f"{day}（{event}）" + (f"：{'、'.join(beyond)}" if beyond and event == _TARGET else "")
