"""What asking gives back: retrieved chunks, a context, an answer with its citations and checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgrag.json_ready import JsonReady, as_dict
from kgrag.notebook import answer_html, list_html, passage_html, place_html
from kgrag.status import Status, mark
from kgrag.types import Chunk, Language

IN_SECTION = "section "  # begins the reason of what stands in a section that the question names
VerdictStatus = Literal["passed", "failed", "unverified"]
ProblemKind = Literal["wrong", "unsupported", "citation", "missing"]


@dataclass(frozen=True, slots=True)
class ScoredChunk(JsonReady):
    """A retrieved chunk and how it came.

    Attributes:
        chunk: The chunk.
        score: Higher is better; comparable within one ranking only.
        via: Reasons, strongest first, e.g. `vector 0.71`, `fact: A - cites - B`,
            `merged from 5 of 8`, `filled between 3 and 5`.
        title: Of its document; like `file`, a search's last step sets it, and results that differ
            in nothing else are equal.
        file: Of its document, as ingested.
        status: Whether its document is in force; None where nobody asked.
        also_in: Other files that hold the passage, or most of it: of documents with the same text,
            or nearly.
    """

    chunk: Chunk
    score: float
    via: tuple[str, ...] = ()
    title: str = field(default="", compare=False)
    file: str = field(default="", compare=False)
    status: Status | None = field(default=None, compare=False)
    also_in: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping as `search --json` prints it.

        The keys are those of a run file, and `status` and `also_in`.
        """
        return {
            "chunk_id": self.chunk.chunk_id,
            "doc_id": self.chunk.doc_id,
            "file": self.file,
            "start": self.chunk.start,
            "end": self.chunk.end,
            "score": self.score,
            "text": self.chunk.text,
            "via": list(self.via),
            "status": self.status.to_dict() if self.status else None,
            "also_in": list(self.also_in),
        }

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        chunk = self.chunk
        where = place_html(
            self.title + mark(self.status, _language_of(self.title)),
            chunk.heading_path,
            file=self.file,
            start=chunk.start,
            end=chunk.end,
            score=self.score,
        )
        return passage_html(where, chunk.text)


class Hits(list[ScoredChunk]):
    """Results of a search, best first: a list that notebooks show."""

    def _repr_html_(self) -> str:
        """Return them for a notebook."""
        shown = list_html((n, hit._repr_html_()) for n, hit in enumerate(self, 1))
        return shown or "<p>nothing found</p>"


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered piece of a context.

    Attributes:
        number: The [n] by which an answer cites it, from 1.
        doc_id: The document.
        title: Its title.
        heading_path: Sections around its start, outermost first.
        start: First character in the document's text.
        end: Offset after the last.
        text: What a model reads: `document.text[start:end]`, or less where it was compressed.
        chunk_id: The retrieved chunk that it is made of.
        mark: What is put behind the title of a document that is not in force; empty for others.
    """

    number: int
    doc_id: str
    title: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    text: str
    chunk_id: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What an answer may draw from.

    Attributes:
        passages: In document order: documents by their best rank, then by place.
        facts: Triples of the graph that bear on the question, as lines of text.
        tokens: Their length, estimated.
        best: Number of the passage that was ranked first; 0 where there is none.
    """

    passages: tuple[Passage, ...]
    facts: tuple[str, ...] = ()
    tokens: int = 0
    best: int = 0


@dataclass(frozen=True, slots=True)
class Citation(JsonReady):
    """What a sentence of an answer rests on.

    Attributes:
        number: The [n] in the answer, from 1.
        doc_id: The document.
        title: Its title.
        file: Its file as ingested.
        heading_path: Sections around the quote, outermost first.
        page: 1-based page, where the file has pages.
        start: First character of the quote in the document's text.
        end: Offset after the quote.
        quote: `document.text[start:end]`, verbatim.
        chunk_id: The retrieved chunk that holds the quote.
        status: Whether the document is in force; None where nobody asked.
        also_in: Other files that hold it, in documents with the same text, or nearly.
    """

    number: int
    doc_id: str
    title: str
    file: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    quote: str
    chunk_id: str
    status: Status | None = None
    also_in: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        where = place_html(
            self.title + mark(self.status, _language_of(self.title)),
            self.heading_path,
            file=self.file,
            start=self.start,
            end=self.end,
            page=self.page,
        )
        return passage_html(where, self.quote)


@dataclass(frozen=True, slots=True)
class SentenceCheck(JsonReady):
    """What the offline checks say of one sentence of an answer.

    Attributes:
        start: First character of the sentence in the answer's text.
        end: Offset after it.
        numbers: The [n] that it carries.
        missing: Numbers, dates and names in it that its cited text does not hold, as written.
        cited: Whether it carries a citation that leads to a passage, or needs none.
        elsewhere: Numbers in it that stand in the cited passage, but not in what is quoted of
            it: they may belong to something else.
        contrary: Figures, years, agencies and modal words in it that its cited text holds, but
            says of something else, or otherwise.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    missing: tuple[str, ...]
    cited: bool
    elsewhere: tuple[str, ...] = ()
    contrary: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Return whether nothing speaks against the sentence."""
        return self.cited and not self.missing and not self.contrary


@dataclass(frozen=True, slots=True)
class Step(JsonReady):
    """One step of asking, for people who want to see how an answer came about.

    Attributes:
        name: What was done, e.g. `analyse`, `retrieve`, `generate`, `verify`, `revise`.
        detail: What came of it, on one or more lines.
        calls: Calls of a model that it took.
        failed: Whether a model could not do it, so that it was left out or done by rule; whether
            an answer could be verified, its verdict says.
    """

    name: str
    detail: str
    calls: int = 0
    failed: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping; whether it failed, the answer's notes say."""
        return as_dict(self, without=("failed",))


@dataclass(frozen=True, slots=True)
class Problem(JsonReady):
    """What is wrong with an answer, as the check names it.

    Attributes:
        kind: `wrong` (contradicts its references, or is about another place, year or document),
            `unsupported` (they do not say so), `citation` (right, but cites another one),
            `missing` (a part that was asked for).
        sentence: Of the answer; empty where a part is missing.
        why: In words.
    """

    kind: ProblemKind
    sentence: str
    why: str


@dataclass(frozen=True, slots=True)
class Verdict(JsonReady):
    """What verification says of an answer.

    Attributes:
        method: `cov`, `cov-paper`, `cov-two-stage`, `chats-grid` or `none`.
        status: `passed` where the answer may stand, `failed` where it may not, `unverified`
            where it could not be checked.
        scores: By measure, each in [0, 1].
        reason: Why, in words.
        revised_question: A better question to retrieve with; empty where there is none.
        rounds: How often was answered, at least 1.
        problem: What is wrong with the answer, where the check names it.
    """

    method: str
    status: VerdictStatus
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    revised_question: str = ""
    rounds: int = 1
    problem: Problem | None = None

    @property
    def passed(self) -> bool:
        """Return whether the answer may stand."""
        return self.status == "passed"

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with `passed` in the place of the status."""
        told = {"method": self.method, "passed": self.passed}
        return told | as_dict(self, without=("method", "status"))


@dataclass(frozen=True, slots=True)
class Answer(JsonReady):
    """An answer with its citations.

    Attributes:
        question: As asked.
        text: The answer; each sentence ends in its [n].
        citations: In the order of their numbers; empty when not `found`.
        found: False when nothing in the documents supports an answer.
        method: Who wrote it: `extractive`, or a model's name.
        notes: What the reader should know, e.g. that the stand-in encoder was used.
        checks: Of each sentence that says something, in order.
        verdict: What verification says; None where it was not asked.
        steps: How it came about.
        fallback: Whether sentences were quoted by rule because the model could not answer.
        repointed: Numbers of the citations that stand where the model named another passage, which
            supports the sentence less.
    """

    question: str
    text: str
    citations: tuple[Citation, ...]
    found: bool
    method: str
    notes: tuple[str, ...] = ()
    checks: tuple[SentenceCheck, ...] = ()
    verdict: Verdict | None = None
    steps: tuple[Step, ...] = ()
    fallback: bool = False
    repointed: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as `kgrag ask --json` prints it."""
        return as_dict(self, without=("fallback",))

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        cited = ((c.number, c._repr_html_()) for c in self.citations)
        return answer_html(self.question, self.text, cited, self.notes)


def _language_of(title: str) -> Language:
    """Return the language in which a notebook shows a mark: there is no question to go by."""
    return "zh" if any("一" <= c <= "鿿" for c in title) else "en"
