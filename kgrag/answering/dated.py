"""The day that a question is asked for, and its effect on results and answer."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Row
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.results import Reason, ScoredChunk
from kgrag.status import kind_in_words
from kgrag.tables.in_force import InForce
from kgrag.text.as_of import parse_as_of, said_as_of
from kgrag.text.words import quoted_titles
from kgrag.types import Language

_MORE = 2  # candidates for each result asked for, where what is in force comes first


@dataclass(frozen=True, slots=True)
class AsOf:
    """The day that a question is asked for.

    Attributes:
        day: ISO 8601; today by default.
        preferred: Whether documents in force then are ranked first (by option or question).
        held: Whether documents issued later are excluded (by option).
    """

    day: str
    preferred: bool = False
    held: bool = False


def as_of_asked(question: str, as_of: str | date | None) -> AsOf:
    """Return the day that a question is asked for.

    Args:
        question: A day that it clearly states is used if there is no option.
        as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; None for no option.

    Raises:
        ValueError: If it is not a date.

    >>> as_of_asked("节能补贴有哪些", "2022")
    AsOf(day='2022-12-31', preferred=True, held=True)
    """
    if isinstance(as_of, date):
        return AsOf(as_of.isoformat()[:10], preferred=True, held=True)
    if as_of is not None:
        return AsOf(parse_as_of(as_of), preferred=True, held=True)
    today = date.today().isoformat()
    said = said_as_of(question, today=today)
    return AsOf(said or today, preferred=bool(said))


def in_force_first(
    retrieve: Callable[[int], Sequence[ScoredChunk]],
    as_of: AsOf,
    in_force: InForce,
    *,
    titled: Collection[str],
    top_k: int,
) -> list[ScoredChunk]:
    """Return results; if a day is asked for, those not in force then come last.

    Args:
        retrieve: Returns so many results, best first.
        as_of: The day.
        in_force: Status of documents.
        titled: Documents that the question names by title: these keep their rank.
        top_k: Maximum number of results.
    """
    if not as_of.preferred:
        return list(retrieve(top_k))
    found = retrieve(top_k * _MORE)
    before: list[ScoredChunk] = []
    behind: list[ScoredChunk] = []
    for hit in found:
        status = in_force.status(hit.chunk.doc_id, as_of.day)
        if status.counts or hit.chunk.doc_id in titled:
            before.append(hit)
        else:
            reason = Reason("outdated", what=status.told("en"))
            behind.append(replace(hit, via=(*hit.via, reason)))
    least = min((hit.score for hit in before), default=float("inf"))
    lowered = [replace(hit, score=min(hit.score, least)) for hit in behind]
    return [*before, *lowered][:top_k]


def with_status(answer: Answer, as_of: AsOf, in_force: InForce) -> Answer:
    """Return an answer whose citations have the status of their documents.

    Notes name each document that is not in force or is amended, unless its row says so, and each
    quoted title that a document repeals or amends; with a day as an option, another note says what
    was excluded. That a plan's years are over is noted only if a day is asked for: in older
    archives that is true of most plans.

    Args:
        answer: With citations.
        as_of: The day.
        in_force: Status of documents.
    """
    language = answer.language
    answer = answer.citing(lambda c: replace(c, status=in_force.status(c.doc_id, as_of.day)))
    told_of = [c for c in answer.citations if as_of.preferred or not _is_over(c)]
    said = {b.citation.doc_id for b in answer.blocks if isinstance(b, Row) and _says_status(b)}
    told_of = [c for c in told_of if c.doc_id not in said]
    notes = dict.fromkeys(_status_note(c, language) for c in told_of)
    for _, _, title in quoted_titles(answer.question):
        if status := in_force.status_of_title(title, as_of.day):
            told = status.told(language)
            notes[note("status-of-title", language, title=title, status=told)] = None
    left_out = what_a_day_leaves_out(as_of, in_force, language)
    every = (*answer.notes, *notes, left_out, _undated(answer, as_of, in_force))
    return replace(answer, notes=tuple(filter(None, every)))


def _undated(answer: Answer, as_of: AsOf, in_force: InForce) -> str:
    """Return a note on cited documents that may have been issued after the day."""
    silent = in_force.undated() if as_of.held else frozenset[str]()
    titles = dict.fromkeys(f"《{c.title}》" for c in answer.citations if c.doc_id in silent)
    return note("undated-cited", answer.language, titles=tuple(titles)) if titles else ""


def _is_over(cited: Citation) -> bool:
    return cited.status is not None and cited.status.kind == "over"


def _says_status(row: Row) -> bool:
    status = row.citation.status
    return status is not None and any(
        kind_in_words(status.kind, language) in row.titled for language in ("zh", "en")
    )


def _status_note(cited: Citation, language: Language) -> str:
    told = cited.status.told(language) if cited.status else ""
    return note("status", language, title=cited.title, status=told) if told else ""


def what_a_day_leaves_out(as_of: AsOf, in_force: InForce, language: Language) -> str:
    """Return a note on the documents that a day excludes; empty if there are none.

    Args:
        as_of: The day.
        in_force: Status of all documents.
        language: Of the note.
    """
    if not as_of.held:
        return ""
    later, undated = len(in_force.issued_after(as_of.day)), len(in_force.undated())
    return note("as-of", language, day=as_of.day, later=later, undated=undated)
