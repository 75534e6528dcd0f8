"""As of when a question is asked, and what that makes of what is found."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.results import ScoredChunk
from kgrag.tables.in_force import InForce
from kgrag.text.as_of import parse_as_of, said_as_of
from kgrag.text.words import question_language, quoted_titles
from kgrag.types import Language

_MORE = 2  # candidates for each result asked for, where what is in force comes first


@dataclass(frozen=True, slots=True)
class AsOf:
    """The day as of which a question is asked.

    Attributes:
        day: ISO 8601; today where nobody says one.
        preferred: Whether what was in force then comes first: an option or the question says it.
        held: Whether documents that were issued later are left out: an option says it.
    """

    day: str
    preferred: bool = False
    held: bool = False


def as_of_asked(question: str, as_of: str | date | None) -> AsOf:
    """Return the day as of which a question is asked.

    Args:
        question: In any words; what it surely says counts where no option does.
        as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; None for none.

    Raises:
        ValueError: If it is no date.

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
    """Return results, where a day is asked for with what was not in force then behind the others.

    Args:
        retrieve: Gives so many results, best first.
        as_of: The day.
        in_force: What was in force.
        titled: Documents that the question names by their titles: these keep their place.
        top_k: Results at most.
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
            reason = f"behind what is in force: {status.told('en')}"
            behind.append(replace(hit, via=(*hit.via, reason)))
    least = min((hit.score for hit in before), default=float("inf"))
    lowered = [replace(hit, score=min(hit.score, least)) for hit in behind]
    return [*before, *lowered][:top_k]


def with_status(answer: Answer, as_of: AsOf, in_force: InForce) -> Answer:
    """Return an answer whose citations say whether their documents are in force.

    Of each document that is not, or is amended, a note says so, and of each that the question
    quotes the title of and a held one repeals or amends; where a day was given as an option,
    another says what it left out. That the years of a plan are over is a note only where a day is
    asked for: of older archives it holds for most plans.

    Args:
        answer: With its citations.
        as_of: The day.
        in_force: What was in force.
    """
    language = question_language(answer.question)
    answer = answer.citing(lambda c: replace(c, status=in_force.status(c.doc_id, as_of.day)))
    told_of = [c for c in answer.citations if as_of.preferred or not _is_over(c)]
    notes = dict.fromkeys(_status_note(c, language) for c in told_of)
    for _, _, title in quoted_titles(answer.question):
        if status := in_force.status_of_title(title, as_of.day):
            told = status.told(language)
            notes[note("status-of-title", language, title=title, status=told)] = None
    left_out = what_a_day_leaves_out(as_of, in_force, language)
    every = (*answer.notes, *notes, left_out)
    return replace(answer, notes=tuple(filter(None, every)))


def _is_over(cited: Citation) -> bool:
    return cited.status is not None and cited.status.kind == "over"


def _status_note(cited: Citation, language: Language) -> str:
    told = cited.status.told(language) if cited.status else ""
    return note("status", language, title=cited.title, status=told) if told else ""


def what_a_day_leaves_out(as_of: AsOf, in_force: InForce, language: Language) -> str:
    """Return what a day holds a search to, for people; empty where it holds it to nothing.

    Args:
        as_of: The day.
        in_force: Of all documents.
        language: Of the note.
    """
    if not as_of.held:
        return ""
    later, undated = len(in_force.issued_after(as_of.day)), len(in_force.undated())
    return note("as-of", language, day=as_of.day, later=later, undated=undated)
