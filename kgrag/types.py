"""The small frozen types that travel between stages; the container is a plain list."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgrag.json_ready import JsonReady
from kgrag.metadata import SILENT, Metadata
from kgrag.qualifiers import NONE, Qualifiers

_CORNER = re.compile("([A-Z]+)([0-9]+)")
SegmentKind = Literal["page", "paragraph", "line", "slide", "row"]
NodeKind = Literal["chunk", "summary", "document", "fact"]
TextField = Literal["text", "path"]
DocIds = Collection[str] | None  # of the documents that are searched; None for all
Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A place in the original file: `text[start:end]` is on page or in paragraph `number`.

    Attributes:
        start: First character offset in the document's text.
        end: Offset after the last character; `end > start`.
        kind: What is counted: pages of a PDF, paragraphs of a Word or HTML file, lines of text,
            slides, rows of a sheet.
        number: 1-based.
        level: Of a heading that the format states (a style of Word, h1 to h6): 1 is the
            outermost; 0 for everything else.
        label: The cells of a row as spreadsheets name them, `项目!A12:F12`; empty for others.
    """

    start: int
    end: int
    kind: SegmentKind
    number: int
    level: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class Document(JsonReady):
    """One policy document as text.

    Attributes:
        doc_id: Identity within a knowledge base (`kgrag.ids.document_id`, or the user's own id).
        title: Never empty; the file's stem where the text names none.
        text: The whole text; every offset in the system counts its characters (code points).
        file: Where it came from, as shown to the user (a path, or `corpus.jsonl#id`).
        media_type: `txt`, `md`, `html`, `pdf`, `docx` or `jsonl`.
        content_hash: sha256 (hex) of the original bytes, or of title and text for `.jsonl`.
        segments: Pages or paragraphs in text order, without overlap; may leave gaps.
        warnings: What the loader had to guess or leave out, for the ingest report.
        properties: Properties of the file or its neighbours, by name: `encoding`, `author`, `date`
            of a page; `stated.title` and the like of a `metadata.csv` beside it.
        metadata: Extracted from the text.
    """

    doc_id: str
    title: str
    text: str
    file: str
    media_type: str
    content_hash: str
    segments: tuple[Segment, ...] = ()
    warnings: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    metadata: Metadata = SILENT

    def page_at(self, offset: int) -> int | None:
        """Return the 1-based page or slide of a character; None if the file has none."""
        pages = (s for s in self.segments if s.kind in ("page", "slide"))
        return next((page.number for page in pages if page.start <= offset < page.end), None)

    def cells_at(self, start: int, end: int) -> str:
        """Return the cells of a sheet that a text is from, of several sheets those of the first.

        Empty if the file has no sheets.
        """
        labels = [s.label for s in self.segments if s.start < end and start < s.end and s.label]
        parted = [label.rpartition("!") for label in labels]
        corners = [_CORNER.findall(cells) for sheet, _, cells in parted if sheet == parted[0][0]]
        if not corners:
            return ""
        columns = sorted({c for row in corners for c, _ in row}, key=lambda c: (len(c), c))
        ends = columns[0] + corners[0][0][1], columns[-1] + corners[-1][-1][1]
        return "".join(parted[0][:2]) + ":".join(dict.fromkeys(ends))

    def card_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping without the text."""
        return {
            "doc_id": self.doc_id,
            "title": self.title,
            "file": self.file,
            "media_type": self.media_type,
            "year": self.metadata.year,
            "year_is_inferred": self.metadata.year != self.metadata.sure_year,
            "metadata": self.metadata.to_record(),
        }


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading found in a document's text.

    Attributes:
        start: Offset of the heading's first character.
        end: Offset after its last character.
        level: 1 is the outermost; a heading's section ends where one of the same or a lower
            number begins.
        text: The heading on one line, without leading or trailing blanks.
    """

    start: int
    end: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Chunk(JsonReady):
    """A piece of a document; `text == document.text[start:end]` always holds.

    Attributes:
        chunk_id: `kgrag.ids.chunk_id(doc_id, size, position)`.
        doc_id: The document that it is a piece of.
        size: The group that it belongs to, named by the group's largest length in characters
            (2048 for parents, 1024, 512 or 256 for children by default).
        position: 0-based reading order within the document and group.
        start: First character offset in the document's text.
        end: Offset after the last character.
        text: The characters themselves.
        parent_id: The parent chunk that contains a child; None for parents.
        heading_path: Titles of the sections around `start`, outermost first, without the
            document's own title; may be empty.
    """

    chunk_id: str
    doc_id: str
    size: int
    position: int
    start: int
    end: int
    text: str
    parent_id: str | None = None
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary(JsonReady):
    """An index node: a short text that represents `document.text[start:end]`.

    Attributes:
        summary_id: `kgrag.ids.summary_id(doc_id, start, end, text)`.
        doc_id: The document summarised.
        start: First character offset of what it represents.
        end: Offset after the last character.
        text: The summary.
        level: What it represents: `document`, `section` or `chunk`.
        source: Who wrote it, e.g. `import`.
        target_ids: Parent chunks that the span touches, in reading order.
    """

    summary_id: str
    doc_id: str
    start: int
    end: int
    text: str
    level: str
    source: str
    target_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity(JsonReady):
    """A node of the knowledge graph.

    Attributes:
        entity_id: `kgrag.ids.entity_id(name)`: one per normalised name.
        name: As first written.
        type: `document`, a type derived from the name or given by the extractor, or `entity`.
    """

    entity_id: str
    name: str
    type: str = "entity"


@dataclass(frozen=True, slots=True)
class Evidence(JsonReady):
    """A place that states a fact.

    Attributes:
        doc_id: The document.
        start: First character of the clause that states it.
        end: Offset after the clause.
        chunk_id: The smallest chunk that contains the clause; a clause that lies
            over several of them has a record for each.
        extractor: Who found it here: `rules`, `import`, a model's name.
        confidence: In (0, 1].
        qualifiers: What the document adds to the triple there.
    """

    doc_id: str
    start: int
    end: int
    chunk_id: str
    extractor: str = "rules"
    confidence: float = 1.0
    qualifiers: Qualifiers = NONE


@dataclass(frozen=True, slots=True)
class Fact(JsonReady):
    """A triple with the evidence for it; wording and direction as stated.

    Attributes:
        fact_id: `kgrag.ids.fact_id(subject, predicate, object)`.
        subject: The subject entity.
        predicate: As written.
        object: The object entity (values are entities, too).
        evidence: At least one, ordered by (doc_id, start, end, extractor).
    """

    fact_id: str
    subject: Entity
    predicate: str
    object: Entity
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Mention(JsonReady):
    """An entity that a chunk names without a fact about it."""

    entity: Entity
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the retrievers read it.

    Attributes:
        text: As asked.
        words: Content words in order, as `kgrag.text.words.words` gives them.
        titles: What the question quotes in 《》, or surely names without them, in order.
        remainder: The question without these titles.
        places: Places named that some document is about.
        national: Whether it asks for the national level (国家, 全国, 中央, ...).
        keywords: Names and terms to look for besides its own words, weightiest first.
        critical: What the question is really about, in few words; empty if not given.
        language: Of the question: that of prompts, answer and notes.
        named: Of the titles those without 《》, as worded, each with the ids of the documents that
            have it; none if the document is not stored.
        asked: The question as asked, where `text` is what it says in Chinese; else empty.
        unread: Of its words those that `text` leaves out, where they are half of them or more: then
            only an encoder finds similar texts.
    """

    text: str
    words: tuple[str, ...]
    titles: tuple[str, ...] = ()
    remainder: str = ""
    places: frozenset[str] = frozenset()
    national: bool = False
    keywords: tuple[str, ...] = ()
    critical: str = ""
    language: Language = "zh"
    named: tuple[tuple[str, tuple[str, ...]], ...] = ()
    asked: str = ""
    unread: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """Return the question as asked."""
        return self.asked or self.text
