"""What a model may ask of a knowledge base, as JSON-ready mappings of limited size.

Each public method of `McpTools` is a tool; its docstring is what a model reads about it.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from kgrag.answer.address import Address
from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation, reference
from kgrag.answer.excerpt import Excerpt
from kgrag.answering.notes import search_notes
from kgrag.errors import OutOfRangeError
from kgrag.limits import checked_count, checked_text
from kgrag.qualifiers import Standing
from kgrag.retrieval.filter import Filter, document_meant, documents_within, parse_years
from kgrag.serve.answers import place_url
from kgrag.serve.desk import Desk
from kgrag.statements.naming import day_of_issue
from kgrag.statements.selection import By, Kind, Selection
from kgrag.statements.sources import quoted
from kgrag.statements.table import Row, Source, Table, shown, worded
from kgrag.status import Status, mark
from kgrag.store.networks import facts_around
from kgrag.text.as_of import parse_as_of
from kgrag.text.headings import HeadingTree
from kgrag.text.visible import json_line, shortened
from kgrag.text.words import normalize_name, question_language
from kgrag.types import Document, Fact, Heading, Language

_FETCHED = 20_000  # characters of a text that `fetch` returns at once
_READ = 6_000  # the same for `read`
_SHORT = 2_000  # characters of a place up to which the text around it is shown
_AROUND = 1_500  # characters of the text before a place, and behind it
_ANSWER = 12_000  # characters of an answer
_QUOTE = 400  # characters of a quote
_CITATIONS = 40  # of an answer
_SOURCES = 3  # of a row or a fact
_INSTEAD = 5  # passages that are shown where nothing was found
_MOST = 100  # rows at once
_MOST_PASSAGES = 50  # results of a search at once
_MOST_ROWS = 10**9
_PAGE = 16_000  # characters of rows at once
_MOST_HEADINGS = 500  # headings at once
_LINE = 60  # characters of text on each side of a hit
_PATTERN = 200  # characters of a text that is looked for
_NEIGHBOURS = 50  # facts around each entity but the first, and of it with more hops
_FACTS = 1_000  # facts around an entity
_BATCH = 64  # documents whose texts are held at once
_SECONDS = 5.0  # for one look through all texts
_LISTED = re.compile(r"[、,，;；]")
# Full-width forms and capitals as what they are forms of; offsets stay.
_NARROW = str.maketrans(
    {0xFF01 + n: chr(0x21 + n).lower() for n in range(94)}
    | {0x3000: " "}
    | {chr(n): chr(n + 32) for n in range(ord("A"), ord("Z") + 1)}
)

Found = dict[str, object]
T = TypeVar("T")


class McpTools:
    """The tools over one knowledge base; all read only, and may run in several threads.

    Every method raises `KgragError` for arguments that it cannot take.
    """

    def __init__(self, desk: Desk, *, url: str) -> None:
        """Keep the knowledge base.

        Args:
            desk: Of the knowledge base.
            url: Where its documents are shown; ends in /.
        """
        self._desk = desk
        self._base = desk.base
        self._url = url

    def ask(
        self,
        question: str,
        document: str = "",
        region: str = "",
        year: str | int = "",
        kind: str = "",
        as_of: str | int = "",
        max_chars: int = 0,
    ) -> Found:
        """Answer a question with sentences quoted from the documents; each [n] is a citation.

        Start here: figures, duties, conditions, comparisons of places, what applied when. `found`
        is false where the documents do not say it; `instead` then has the nearest passages, which
        are no answer. Without a model quotes are chosen by rules: judge whether they answer, and
        `read` what stands around them. `checks.problems` names sentences not to rely on.
        At most 12,000 characters and 40 citations; `max_chars` (100-20000) asks for more or less.
        """
        within, day = _within(document, region, year, kind), _day(as_of)
        most = max_chars or None
        answer = self._base.ask(question, within=within, as_of=day, max_chars=most)
        cut = [f"cut: {len(answer.text):,} characters"] if len(answer.text) > _ANSWER else []
        more = len(answer.citations) - _CITATIONS
        cut += [f"cut: {more} more citations; ask in parts"] if more > 0 else []
        found: Found = {
            "found": answer.found,
            "text": answer.text[:_ANSWER],
            "citations": [self._cited(c, answer) for c in answer.citations[:_CITATIONS]],
            "checks": _checks(answer),
            "verdict": answer.verdict.to_dict() if answer.verdict else None,
            "notes": [*map(str, answer.notes), *cut],
            "method": answer.method,
        }
        if not answer.found:
            near = self.search(question, _INSTEAD, 200, document, region, year, kind, as_of)
            found["instead"] = near["results"]
        return found

    def search(
        self,
        query: str,
        limit: int = 10,
        snippet: int = 0,
        document: str = "",
        region: str = "",
        year: str | int = "",
        kind: str = "",
        as_of: str | int = "",
    ) -> Found:
        """Find passages for a question or keywords, best first: {results: [{id, title, url}]}.

        The title is the reference (《title》（文号）第X条), with 【…】 where the document is not in
        force. `snippet`: characters of text shown of each result (0-400). At most 50 results.
        """
        within = _within(document, region, year, kind)
        most = checked_count("limit", limit, most=_MOST_PASSAGES)
        long = checked_count("snippet", snippet, least=0, most=_QUOTE)
        day = _day(as_of)
        hits = self._base.search(query, top_k=most, within=within, as_of=day)
        cards, language = self._desk.known().cards, question_language(query)
        results: list[Found] = []
        for hit in hits:
            chunk = hit.chunk
            at = str(Address(chunk.doc_id, chunk.start, chunk.end))
            cited = _title(cards[chunk.doc_id], chunk.heading_path, hit.status, language)
            found: Found = {"id": at, "title": cited, "url": self._at(at)}
            results.append(found | ({"text": shortened(chunk.text, long)} if long else {}))
        if not (long or within or day):
            return {"results": results}
        about = self._base.store, self._base.config, self._base.sizes
        return {"results": results, "notes": search_notes(*about, within, day, query)}

    def fetch(self, id: str) -> Found:
        """Return the text of a search result or a document: {id, title, text, url, metadata}.

        A short passage comes with the paragraphs around it; `metadata.passage` is the passage
        itself. At most 20,000 characters: `metadata.next` is the id of the rest.
        """
        found, around = self._passage(id, paragraphs=2, most=_FETCHED)
        cited = found.citation
        text = f"{found.before}{cited.quote}{found.after}"
        told = self._place(found) | around
        if text != cited.quote:
            told["passage"] = cited.quote
        return {
            "id": id,
            "title": found.reference + mark(cited.status),
            "text": text,
            "url": self._at(id),
            "metadata": told,
        }

    def read(self, id: str, paragraphs: int = 1) -> Found:
        """Read a passage between its surroundings, to check a quote; or a document from its start.

        `paragraphs`: how many before and after (0-20). At most 6,000 characters: `next` is the id
        of the rest. DOCUMENT:0-6000 and the like are ids, too.
        """
        found, around = self._passage(id, paragraphs=paragraphs, most=_READ)
        cited = found.citation
        head: Found = {"id": cited.address, "title": found.reference + mark(cited.status)}
        texts: Found = {"before": found.before, "text": cited.quote, "after": found.after}
        return head | texts | self._place(found) | around | {"url": self._at(cited.address)}

    def outline(self, document: str, offset: int = 0, limit: int = 200) -> Found:
        """List the headings of a document with the id of each section, to fetch or read it."""
        card, headings = self._document(document)
        sections = [
            {"level": level, "heading": shortened(heading, 200), "id": f"{card.doc_id}:{a}-{b}"}
            for heading, level, a, b in _sections(headings, len(card.text))
        ]
        page = _page(sections, offset, limit, most=_MOST_HEADINGS, row=lambda section: section)
        told = self._card(card) | {"characters": len(card.text)}
        return told | {"headings": page.pop("rows"), **page}

    def grep(
        self,
        pattern: str,
        document: str = "",
        region: str = "",
        year: str | int = "",
        kind: str = "",
        offset: int = 0,
        limit: int = 20,
    ) -> Found:
        """Find a literal text in all documents, with a count of all hits; no regular expression.

        Use it to check that words or a number are written anywhere, or nowhere. Width, capitals,
        blanks and line breaks do not matter. Stops after 5 s and says how far it came.
        """
        looked_for = _literal(pattern)
        checked_count("offset", offset, least=0, most=_MOST_ROWS)
        most = checked_count("limit", limit, most=_MOST_PASSAGES)
        statuses = self._desk.known().statuses
        ids = self._chosen(_within(document, region, year, kind))
        stop, hits, holding, seen = time.monotonic() + _SECONDS, 0, 0, 0
        rows: list[Found] = []
        for text in self._texts(ids):
            spans = [m.span() for m in looked_for.finditer(text.text.translate(_NARROW))]
            first, hits = max(offset - hits, 0), hits + len(spans)
            some = spans[first : first + most - len(rows)]
            rows += self._hits(text, some, statuses[text.doc_id])
            holding, seen = holding + bool(spans), seen + 1
            if time.monotonic() > stop:
                break
        found: Found = {"hits": hits, "documents": holding, "searched": f"{seen} of {len(ids)}"}
        if seen < len(ids):
            found["note"] = "stopped for time; narrow it down by document, region, year or kind"
        return found | {"rows": rows} | _next(offset, len(rows), hits)

    def facts(self, entity: str, hops: int = 1, offset: int = 0, limit: int = 20) -> Found:
        """List extracted facts around an entity (organ, document, indicator), with sentences.

        What extraction missed is missing. `hops` 1-3.
        """
        checked_count("hops", hops, most=3)
        around = _FACTS if hops == 1 else _NEIGHBOURS
        center, facts = facts_around(self._base.store, entity, hops=hops, limit=around)
        checked_count("offset", offset, least=0, most=_MOST_ROWS)
        spots = {
            fact.fact_id: list(dict.fromkeys((e.doc_id, e.start, e.end) for e in fact.evidence))
            for fact in facts[offset : offset + limit]
        }
        some = (spot for found in spots.values() for spot in found[:_SOURCES])
        sources, statuses = quoted(self._base.store, some), self._desk.known().statuses

        def row(fact: Fact) -> Found:
            of, ends = spots[fact.fact_id], (fact.subject.name, fact.predicate, fact.object.name)
            told: Found = dict(zip(("subject", "predicate", "object"), ends, strict=True))
            found = [sources[s] for s in of if s in sources]
            return told | self._sources(found, len(of), statuses)

        page = _page(facts, offset, limit, most=_MOST, row=row)
        degree = self._base.store.entity_degrees([center.entity_id]).get(center.entity_id, 0)
        if degree > around:
            page["note"] = f"{around} of the {degree} facts around it were looked at"
        return {"entity": center.name, "type": center.type, **page}

    def documents(
        self,
        title: str = "",
        region: str = "",
        year: str | int = "",
        kind: str = "",
        as_of: str | int = "",
        in_force: Literal["", "yes", "no"] = "",
        offset: int = 0,
        limit: int = 20,
    ) -> Found:
        """List documents, to find ids and whether they are in force (`status`, `replaced_by`).

        `title`: words of the title. `in_force`: only those that count then (in_force: nothing shows
        otherwise; unknown: without a date; amended), or only the others.
        """
        cards, words = self._desk.known().cards, [normalize_name(w) for w in title.split()]
        statuses = self._base.statuses(_day(as_of))
        named = [
            doc_id
            for doc_id in self._chosen(_within("", region, year, kind))
            if all(word in normalize_name(cards[doc_id].title) for word in words)
            and in_force in ("", "yes" if statuses[doc_id].counts else "no")
        ]
        return _page(
            named,
            offset,
            limit,
            most=_MOST,
            row=lambda doc_id: self._card(cards[doc_id], statuses[doc_id]),
        )

    def cites(self, document: str, offset: int = 0, limit: int = 20) -> Found:
        """List what a document cites, in which role (依据, 落实, 废止 …)."""
        return self._table(self._rows("cites", document=document), document, offset, limit)

    def cited_by(self, title: str, offset: int = 0, limit: int = 20) -> Found:
        """List which documents cite one, also one that is not held: who implements it, repeals it.

        `title`: title, or id of a held document.
        """
        return self._table(self._rows("cited_by", document=title), title, offset, limit)

    def basis(self, document: str, hops: int = 3, offset: int = 0, limit: int = 20) -> Found:
        """List the legal basis (依据) of a document, and the basis of that, as a chain."""
        found = self._rows("basis", document=document, hops=hops)
        return self._table(found, document, offset, limit)

    def targets(
        self,
        indicator: str = "",
        place: str = "",
        due: str | int = "",
        standing: Standing = "",
        document: str = "",
        offset: int = 0,
        limit: int = 20,
    ) -> Found:
        """List the figures that documents state of an indicator, each with its clause.

        `indicator`: words of its name (非化石能源消费). `place`: 四川省. `due`: year of the figure,
        2025 or 2025-2030. `standing`: planned aims or achieved results. Extraction may miss some:
        check with `grep`.
        """
        found = self._rows(
            "targets",
            indicator=indicator,
            places=_names(place),
            years=_years(due),
            standing=standing,
            within=_within(document),
        )
        return self._table(found, indicator, offset, limit)

    def compare(
        self,
        indicator: str,
        by: By = "province",
        place: str = "",
        due: str | int = "",
        standing: Standing = "",
        offset: int = 0,
        limit: int = 40,
    ) -> Found:
        """Set the figures of an indicator side by side; names also what states none.

        Arguments as of `targets`.
        """
        found = self._rows(
            "compare",
            indicator=indicator,
            by=by,
            places=_names(place),
            years=_years(due),
            standing=standing,
        )
        return self._table(found, indicator, offset, limit)

    def duties(
        self,
        organ: str,
        role: Literal["", "牵头", "负责", "配合"] = "",
        document: str = "",
        region: str = "",
        offset: int = 0,
        limit: int = 20,
    ) -> Found:
        """List what an organ must do: role, task, deadline.

        `organ`: words of its name (四川 生态环境厅). `role`: 牵头 leads, 配合 assists.
        """
        found = self._rows("duties", agency=organ, role=role, within=_within(document, region))
        return self._table(found, organ, offset, limit)

    def _rows(self, kind: Kind, **fields: Any) -> Table:
        return self._base.rows(Selection(kind=kind, **fields))

    def _at(self, id: str) -> str:
        return place_url(self._url.rstrip("/"), id)

    def _document(self, name: str) -> tuple[Document, list[Heading]]:
        """Return a document with its text, and its headings."""
        document = self._base.document(name)
        doc_id = document.doc_id
        return document, self._base.store.headings([doc_id]).get(doc_id, [])

    def _chosen(self, within: Filter | None) -> list[str]:
        """Return the ids of the documents of a filter, ordered by file."""
        cards = self._desk.known().cards
        chosen = documents_within(within, list(cards.values())) if within else cards.keys()
        return [doc_id for doc_id in cards if doc_id in chosen]

    def _passage(self, id: str, *, paragraphs: int, most: int) -> tuple[Excerpt, Found]:
        """Return a place of a document, cut, and where it goes on.

        Raises:
            NotFoundError: If there is no such document.
            OutOfRangeError: If it has no such characters.
        """
        checked_count("paragraphs", paragraphs, least=0, most=20)
        name, start, end = self._meant(id)
        document, headings = self._document(name)
        length = len(document.text)
        if end is None or start < length < end:
            end = length
        stop = min(end, start + most)
        status = self._desk.known().statuses[document.doc_id]
        span = start, stop
        found = Excerpt.of(document, headings, span, paragraphs=paragraphs, status=status)
        if stop - start > _SHORT:
            found = replace(found, before="", after="")
        around: Found = {"characters": f"{start}-{stop} of {length}"}
        if stop < end:
            around["next"] = str(Address(document.doc_id, stop, end))
        before, after = found.before[-_AROUND:], found.after[:_AROUND]
        shown = replace(
            found,
            before="…" * (before != found.before) + before,
            after=after + "…" * (after != found.after),
        )
        return shown, around

    def _meant(self, id: str) -> tuple[str, int, int | None]:
        """Return the document, start and end that an id names; None for its end."""
        known = self._desk.known().cards
        cards = list(known.values())
        if id not in known:
            try:
                at = Address.parse(id)
            except OutOfRangeError:
                pass
            else:
                return document_meant(at.document, cards).doc_id, at.start, at.end
        return document_meant(id, cards).doc_id, 0, None

    def _place(self, found: Excerpt) -> Found:
        """Return what is told of a place besides its text."""
        cited = found.citation
        about = self._card(self._desk.known().cards[cited.doc_id])
        told = {"section": " › ".join(cited.heading_path), "page": cited.page}
        return {"document": about.pop("id"), "document_title": about.pop("title")} | {
            key: value for key, value in (about | told).items() if value and key != "url"
        }

    def _card(self, card: Document, status: Status | None = None) -> Found:
        """Return what a list shows of a document, today by default; nothing of what is unknown."""
        about, status = card.metadata, status or self._desk.known().statuses[card.doc_id]
        told: Found = {
            "number": about.number,
            "date": day_of_issue(card),
            "issuers": "、".join(about.issuers),
            "regions": "、".join(about.regions),
            "status": status.told() or status.kind,
            "replaced_by": status.doc_id,
            "file": Path(card.file).name,
        }
        known = {key: value for key, value in told.items() if value}
        return {"id": card.doc_id, "title": card.title, **known, "url": self._at(card.doc_id)}

    def _cited(self, cited: Citation, answer: Answer) -> Found:
        """Return a citation of an answer; the quote only where the answer's text lacks it."""
        line = shortened(cited.quote, _QUOTE)
        told: Found = {
            "number": cited.number,
            "id": cited.address,
            "title": cited.reference + mark(cited.status, answer.language),
            "url": self._at(cited.address),
        }
        if line not in answer.text:
            told["quote"] = line
        if cited.also_in:
            told["also_in"] = [Path(file).name for file in cited.also_in[:_SOURCES]]
        return told

    def _texts(self, ids: Sequence[str]) -> Iterator[Document]:
        for at in range(0, len(ids), _BATCH):
            yield from self._base.store.documents(ids[at : at + _BATCH])

    def _hits(
        self, document: Document, spans: Sequence[tuple[int, int]], status: Status
    ) -> list[Found]:
        """Return the places of hits with their lines."""
        if not spans:
            return []
        headings = self._base.store.headings([document.doc_id]).get(document.doc_id, [])
        tree = HeadingTree(document.text, headings)
        found: list[Found] = []
        for start, end in spans:
            at = str(Address(document.doc_id, start, end))
            cited = _title(document, tree.path(start, end), status)
            line = _line_around(document.text, start, end)
            found.append({"id": at, "title": cited, "line": line, "url": self._at(at)})
        return found

    def _table(self, table: Table, about: str, offset: int, limit: int) -> Found:
        """Return some rows of a table, without empty cells."""
        statuses = self._desk.known().statuses
        keys = [column.key for column in table.columns]

        def told(row: Row) -> Found:
            cells = zip(keys, row.cells, strict=True)
            given: Found = {key: shown(cell) for key, cell in cells if cell not in (None, "")}
            return given | self._sources(row.sources, len(row.sources), statuses)

        page = _page(table.rows, offset, limit, most=_MOST, row=told)
        return page | {"notes": worded(table.notes, question_language(about or "中"))}

    def _sources(self, sources: Sequence[Source], n: int, statuses: Mapping[str, Status]) -> Found:
        """Return the first of n sources of a row."""
        told = [
            {
                "id": source.address,
                "title": source.reference + mark(statuses[source.doc_id]),
                "clause": shortened(source.clause, 100),
                "quote": source.quote,
                "url": self._at(source.address),
            }
            for source in sources[:_SOURCES]
        ]
        return {"sources": told} | ({"n_sources": n} if n > len(told) else {})


def _title(
    card: Document, path: Sequence[str], status: Status | None, language: Language = "zh"
) -> str:
    """Return the reference of a place, with a mark where the document is not in force."""
    return reference(card.title, card.metadata.number, path) + mark(status, language)


def _page(
    items: Sequence[T], offset: int, limit: int, *, most: int, row: Callable[[T], Found]
) -> Found:
    """Return some rows, the number of all, and where the next ones begin.

    There are fewer than `limit` where they are long, but at least one.
    """
    checked_count("offset", offset, least=0, most=_MOST_ROWS)
    checked_count("limit", limit, most=most)
    rows: list[Found] = []
    length = 0
    for made in map(row, items[offset : offset + limit]):
        length += len(json_line(made))
        if rows and length > _PAGE:
            break
        rows.append(made)
    return {"rows": rows, "total": len(items)} | _next(offset, len(rows), len(items))


def _next(offset: int, n: int, total: int) -> Found:
    return {"next_offset": offset + n} if n and offset + n < total else {}


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in _LISTED.split(text) if name.strip())


def _years(text: str | int) -> tuple[int, int] | None:
    return parse_years(str(text)) if text else None


def _day(text: str | int) -> str | None:
    return parse_as_of(str(text)) if text else None


def _within(
    document: str = "", region: str = "", year: str | int = "", kind: str = ""
) -> Filter | None:
    """Return the filter of a call; None for all documents."""
    found = Filter((document,) if document else (), _names(region), _names(kind), _years(year))
    return found or None


def _line_around(text: str, start: int, end: int) -> str:
    """Return the text around a hit on one line."""
    first, last = max(start - _LINE, 0), min(end + _LINE, len(text))
    return "…" * (first > 0) + shortened(text[first:last], last) + "…" * (last < len(text))


def _literal(pattern: str) -> re.Pattern[str]:
    """Return a pattern for a text as it is, between whose characters blanks may stand.

    Raises:
        OutOfRangeError: If it has fewer than two characters, or more than 200.
    """
    plain = "".join(checked_text("pattern", pattern).translate(_NARROW).split())
    if not 2 <= len(plain) <= _PATTERN:
        raise OutOfRangeError(
            f"pattern has 2 to {_PATTERN} characters besides blanks, got {len(plain)}"
        )
    return re.compile(r"\s*".join(map(re.escape, plain)))


def _sections(headings: Sequence[Heading], end: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield the text, level, start and end of every heading's section."""
    ends = [end] * len(headings)
    above: list[int] = []
    for n, heading in enumerate(headings):
        while above and headings[above[-1]].level >= heading.level:
            ends[above.pop()] = heading.start
        above.append(n)
    for heading, stop in zip(headings, ends, strict=True):
        yield heading.text, heading.level, heading.start, stop


def _checks(answer: Answer) -> Found:
    """Return the number of checked sentences, and those with a problem."""
    text = answer.text
    return {
        "sentences": len(answer.checks),
        "problems": [
            {"sentence": shortened(text[check.start : check.end], _QUOTE)}
            for check in answer.checks
            if not check.supported or check.elsewhere
        ],
    }
