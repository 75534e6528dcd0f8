"""The day and the years that a question is asked for, and their effect on results and answer."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Run
from kgrag.answer.citation import Citation
from kgrag.answer.notes import Note, note
from kgrag.question.question import Question, question_of
from kgrag.results import Reason, ScoredChunk
from kgrag.statements.in_force import InForce
from kgrag.text.as_of import parse_as_of, said_as_of
from kgrag.text.plan_periods import periods_in
from kgrag.text.words import normalize_name, quoted_titles
from kgrag.types import Document, Language, Query

_Period = tuple[int, int]  # first and last year
_EVER: _Period = (0, 9999)
_BEFORE = 400  # characters ahead of a quote in which its year is told
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
    query: Query,
    as_of: AsOf,
    in_force: InForce,
    *,
    titled: Collection[str],
    top_k: int,
) -> list[ScoredChunk]:
    """Return results, those of documents of which another edition is asked for last.

    Versions of one title of which another is there that is asked for, or in force, have the reason
    `version`: answers leave them out.

    If a day is asked for, so are those not in force then.

    Args:
        retrieve: Returns so many results, best first.
        query: The question.
        as_of: The day.
        in_force: Status of documents.
        titled: Documents that the question names by title: these keep their rank among those in
            force.
        top_k: Maximum number of results.
    """
    preferred = as_of.preferred
    found = retrieve(top_k * (_MORE if preferred else 1))
    doc_ids = [hit.chunk.doc_id for hit in found]
    led = in_force.led(doc_ids, as_of.day, lambda card: _is_edition_asked(card, query))
    before: list[ScoredChunk] = []
    behind: list[ScoredChunk] = []
    for hit, doc_id in zip(found, doc_ids, strict=True):
        status = in_force.status(doc_id, as_of.day)
        if doc_id in led:
            is_version = led[doc_id] == in_force.title(doc_id)
            reason = Reason("version" if is_version else "edition", what=led[doc_id])
        elif preferred and not status.counts and doc_id not in titled:
            reason = Reason("outdated", what=status.told("en"))
        else:
            before.append(hit)
            continue
        behind.append(replace(hit, via=(*hit.via, reason)))
    least = min((hit.score for hit in before), default=float("inf"))
    lowered = [replace(hit, score=min(hit.score, least)) for hit in behind]
    return [*before, *lowered][:top_k]


def is_version(reason: str) -> bool:
    """Return whether a reason says that another version of the document answers."""
    return isinstance(reason, Reason) and reason.kind == "version"


def _is_edition_asked(card: Document, query: Query) -> int:
    """Return whether a question names a year of an edition (2), or its title (1).

    With the title, the year of issue is one.
    """
    years = question_of(query).years_named
    titled = normalize_name(card.title) in normalize_name(query.text)
    named = any(first <= year <= last for year in years for first, last in _edition(card))
    return 2 if named or (titled and card.metadata.sure_year in years) else int(titled)


def _edition(card: Document) -> list[_Period]:
    """Return the periods that a document is of by its title: not 2030年前碳达峰 of 2021."""
    year, told = card.metadata.year, periods_in(card.title)
    return [p for p in told if p[0] < p[1] or year is None or abs(p[0] - year) <= 1]


def years_first(
    answer: Answer,
    query: Query,
    as_of: AsOf,
    documents: Callable[[Sequence[str]], Sequence[Document]],
) -> Answer:
    """Return an answer that begins with the years asked for that nothing quoted bears.

    Args:
        answer: With citations.
        query: Its question.
        as_of: The day that is asked for.
        documents: Returns documents with text, by id.
    """
    question = question_of(query)
    asked = _asked(question, as_of)
    if not asked or not answer.found:
        return answer
    held = {d.doc_id: d for d in documents(list({c.doc_id for c in answer.citations}))}
    cited = [(c, held[c.doc_id]) for c in answer.citations if c.doc_id in held]
    absent = [p for p in asked if not _is_borne(p, cited, p[0] not in question.due)]
    if not absent or not cited:
        return answer
    first, *rest = answer.blocks
    if isinstance(first, Claim):
        first = replace(first, before=f"\n\n{first.before}")
    return replace(answer, blocks=(_lead(absent, cited, answer.language), first, *rest))


def _lead(
    absent: Sequence[_Period], cited: Sequence[tuple[Citation, Document]], language: Language
) -> Claim:
    """Return the sentence that says which years nothing is of, and of which all is."""
    stated = [_edition(d) or periods_in(c.quote) or _issued(d) for c, d in cited]
    told = {"asked": _in_words(absent), "stated": _in_words(sorted({p for s in stated for p in s}))}
    kind = "of-other-years" if all(stated) else "of-no-such-year"
    return Claim((Run(note(kind, language, **told)),))


def _is_borne(asked: _Period, cited: Sequence[tuple[Citation, Document]], by_issue: bool) -> bool:
    """Return whether anything cited is of a period that is asked for."""
    borne = (period for c, d in cited for period in _borne(c, d, by_issue))
    return any(first <= asked[1] and asked[0] <= last for first, last in borne)


def _asked(question: Question, as_of: AsOf) -> list[_Period]:
    """Return the periods and years of a question, but for that of the day that it is asked for."""
    periods = [p for p in periods_in(question.query.text) if p[0] < p[1]]
    ends = {year for period in periods for year in period}
    if as_of.preferred and not as_of.held:
        ends.add(int(as_of.day[:4]))
    years = sorted(question.years_named - ends)
    return [*periods, *((year, year) for year in years)]


def _borne(cited: Citation, document: Document, by_issue: bool) -> list[_Period]:
    """Return the years that a citation is of; all where none is told.

    They are those of its quote, headings and title, the last that is told before it, and of the
    document from when it was issued to when it ends, unless its title says of which year it is
    (2022年放假安排, issued in 2021) and it is not asked when it was issued.
    """
    before = document.text[max(0, cited.start - _BEFORE) : cited.start]
    quoted = [*periods_in(before)[-1:], *periods_in(f"{cited.columns}\n{cited.quote}")]
    periods = periods_in("\n".join((cited.title, *cited.heading_path)))
    # “十四五” in a quote is of whatever it says; only its ends are told.
    periods += [(year, year) for period in quoted for year in period]
    told, is_edition = document.metadata, bool(_edition(document))
    if told.sure_year is None:
        return periods if is_edition or (periods and not by_issue) else [_EVER]
    if by_issue or not is_edition:
        days = filter(None, (told.issue_date, told.effective, told.expires))
        known = [int(day[:4]) for day in days]
        periods.append((min(known), max(known)))
    return periods


def _issued(document: Document) -> list[_Period]:
    year = document.metadata.sure_year
    return [(year, year)] if year else []


def _in_words(periods: Sequence[_Period]) -> tuple[Note, ...]:
    return tuple(note("year" if a == b else "years", first=a, last=b) for a, b in periods)


def with_status(answer: Answer, as_of: AsOf, in_force: InForce) -> Answer:
    """Return an answer whose citations have the status of their documents.

    Notes name each document that is not in force or is amended, and each
    quoted title that a document repeals or amends; with a day as an option, another note says what
    was excluded. That a plan's years are over is noted only if a day is asked for: in older
    archives that is true of most plans.

    Args:
        answer: With citations.
        as_of: The day.
        in_force: Status of documents.
    """
    answer = answer.citing(lambda c: replace(c, status=in_force.status(c.doc_id, as_of.day)))
    notes = {
        note("status", title=c.title, status=c.status): None
        for c in answer.citations
        if c.status and c.status.told() and (as_of.preferred or c.status.kind != "over")
    }
    notes.update(_earlier_versions(answer, as_of, in_force))
    for _, _, title in quoted_titles(answer.question):
        if status := in_force.status_of_title(title, as_of.day):
            notes[note("status-of-title", title=title, status=status)] = None
    every = [*answer.notes, *notes, what_a_day_leaves_out(as_of, in_force)]
    silent = in_force.undated() if as_of.held else frozenset[str]()
    titles = dict.fromkeys(f"《{c.title}》" for c in answer.citations if c.doc_id in silent)
    if titles:  # cited, and perhaps issued after the day
        every.append(note("undated-cited", titles=tuple(titles)))
    return replace(answer, notes=tuple(filter(None, every)))


def _earlier_versions(answer: Answer, as_of: AsOf, in_force: InForce) -> dict[Note, None]:
    """Return a note for each cited document of which earlier versions are held and not cited."""
    cited = {c.doc_id: c.title for c in answer.citations}
    notes: dict[Note, None] = {}
    for doc_id, title in cited.items():
        earlier = {card.doc_id for card in in_force.replaced(doc_id, as_of.day)} - cited.keys()
        if earlier:
            notes[note("earlier-versions", title=title, n=len(earlier))] = None
    return notes


def what_a_day_leaves_out(as_of: AsOf, in_force: InForce) -> str:
    """Return a note on the documents that a day excludes; empty if there are none.

    Args:
        as_of: The day.
        in_force: Status of all documents.
    """
    if not as_of.held:
        return ""
    later, undated = len(in_force.issued_after(as_of.day)), len(in_force.undated())
    return note("as-of", day=as_of.day, later=later, undated=undated)
