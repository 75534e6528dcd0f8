"""What tools return besides tables, and the JSON of both at every door."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from kgrag.answer.address import Address
from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation, reference
from kgrag.answer.excerpt import Excerpt
from kgrag.json_ready import JsonReady
from kgrag.metadata import Metadata
from kgrag.results import ScoredChunk
from kgrag.statements.table import Table, worded
from kgrag.status import Status, mark
from kgrag.types import Document, Heading, Language


@dataclass(frozen=True, slots=True)
class Page(Table):
    """Some rows of a table.

    Attributes:
        offset: Rows of it before these.
        language: Of headings and notes.
    """

    offset: int = 0
    language: Language = "zh"

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping; `next_offset` is where more rows begin, if there are any."""
        after = self.offset + len(self.rows)
        return {
            "name": self.name,
            "columns": [{"key": c.key, "heading": c.heading(self.language)} for c in self.columns],
            "rows": self.records(),
            "notes": worded(self.notes, self.language),
            "total": self.total,
        } | ({"next_offset": after} if after < self.total else {})


@dataclass(frozen=True, slots=True)
class Overview(JsonReady):
    """Several tables.

    Attributes:
        tables: In order.
        language: Of headings, words in cells and notes.
    """

    tables: Sequence[Table]
    language: Language

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        return {
            "tables": [
                {"name": t.name, "rows": t.records(), "notes": worded(t.notes, self.language)}
                for t in self.tables
            ]
        }


@dataclass(frozen=True, slots=True)
class Found(JsonReady):
    """Passages for a question.

    Attributes:
        hits: Best first.
        reasons: How each came, in words.
        numbers: The number (文号) of the document of each.
        notes: On what was searched.
        language: Of marks: the question's.
    """

    hits: Sequence[ScoredChunk]
    reasons: Sequence[str]
    numbers: Sequence[str]
    notes: Sequence[str]
    language: Language

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping; `id` and `title` are those that connectors expect."""
        return {"results": [*self._results()], "notes": worded(self.notes, self.language)}

    def _results(self) -> Iterator[dict[str, object]]:
        for hit, reason, number in zip(self.hits, self.reasons, self.numbers, strict=True):
            path = hit.chunk.heading_path
            address = str(Address(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end))
            cited = reference(hit.title, number, path) + mark(hit.status, self.language)
            told = {"id": address, "address": address, "title": cited, "reason": reason}
            yield told | {"heading_path": list(path)} | hit.to_dict()


@dataclass(frozen=True, slots=True)
class Reading(JsonReady):
    """A document, or a place in it with the text around it.

    Attributes:
        card: The document, with its text.
        status: Whether it is in force today.
        excerpt: The place; None if the document has no text.
        until: Where what was asked for ends.
        headings: Its headings.
        is_whole: Whether it is read from its beginning, not at a place.
        language: Of words about it.
    """

    card: Document
    status: Status
    excerpt: Excerpt | None
    until: int
    headings: Sequence[Heading]
    is_whole: bool
    language: Language

    @property
    def next(self) -> str:
        """The address of what was left out at the end; empty if nothing was."""
        end = self.excerpt.citation.end if self.excerpt else self.until
        return str(Address(self.card.doc_id, end, self.until)) if end < self.until else ""

    @property
    def title(self) -> str:
        """How it is cited, with a mark where the document is not in force."""
        return self.reference + mark(self.status, self.language)

    @property
    def reference(self) -> str:
        """How it is cited: 《title》（文号）第X条."""
        return self.excerpt.citation.reference if self.excerpt else self.card.title

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        told: dict[str, object] = {"id": self.card.doc_id, "title": self.title, "text": ""}
        if found := self.excerpt:
            at = found.citation.address
            told |= {"id": at, "address": at, "text": found.citation.quote}
            told |= {"before": found.before, "after": found.after, "reference": self.reference}
            told |= {"heading_path": list(found.citation.heading_path)}
            told |= {"page": found.citation.page, "cells": found.citation.cells}
        outline = [
            {
                "level": heading.level,
                "text": heading.text,
                "address": str(Address(self.card.doc_id, heading.start, heading.end)),
            }
            for heading in (self.headings if self.is_whole else ())
        ]
        standing = {"status": self.status.to_dict(), "standing": self.status.told(self.language)}
        about = self.card.card_dict() | standing | {"characters": len(self.card.text)}
        return told | {"next": self.next, "document": about, "outline": outline}


@dataclass(frozen=True, slots=True)
class Cited(JsonReady):
    """A citation with what it is checked by.

    Attributes:
        citation: It.
        metadata: Of the document; silent if it was deleted since.
        exact: Whether the document was read again and has the quote there, word for word.
        remarks: What the checks say of sentences that cite it; empty if they found nothing.
        language: Of words about it.
    """

    citation: Citation
    metadata: Metadata
    exact: bool
    remarks: tuple[str, ...]
    language: Language

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        cited, told = self.citation, self.metadata
        return cited.to_dict() | {
            "issuers": list(told.issuers),
            "issued": told.issue_date,
            "issued_is_inferred": told.is_issue_inferred,
            "exact": self.exact,
            "remarks": list(self.remarks),
            "standing": cited.status.told(self.language) if cited.status else "",
        }


@dataclass(frozen=True, slots=True)
class Answered(JsonReady):
    """An answer with its citations checked.

    Attributes:
        answer: It.
        cited: Its citations, each checked against its document as it is now.
    """

    answer: Answer
    cited: Sequence[Cited]

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        return self.answer.to_dict() | {"citations": [one.to_dict() for one in self.cited]}


def place_url(root: str, address: str) -> str:
    """Return where a place, or a document, is shown.

    Args:
        root: Of the knowledge base, without a slash at its end.
        address: DOCUMENT:START-END, or the id of a document.
    """
    return f"{root}/documents/{quote(address, safe='')}"


def with_urls(value: Any, root: str) -> Any:
    """Return JSON-ready data in which every place, and every document, has its `url`."""
    if isinstance(value, list | tuple):
        return [with_urls(one, root) for one in value]
    if not isinstance(value, Mapping):
        return value
    told = {key: with_urls(one, root) for key, one in value.items()}
    at = told.get("address") or told.get("doc_id")
    return told | {"url": place_url(root, at)} if isinstance(at, str) else told
