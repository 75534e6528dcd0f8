"""The pages: asking, documents, tables, entities; rendered on the server."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from html import escape
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin
from urllib.parse import parse_qs, parse_qsl, urlencode

import anyio.to_thread
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from kgrag.answer.address import Address
from kgrag.answer.blocks import Quote, leaves
from kgrag.answer.render import html
from kgrag.answering.clauses import METHOD
from kgrag.api import KnowledgeBase
from kgrag.drawing.beside import as_html
from kgrag.errors import NotFoundError
from kgrag.ingestion.load import Source, page_pictures
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.maintenance.corrections import spellings
from kgrag.serve.api import (
    Endpoint,
    described,
    exported,
    failure,
    language_of,
    saved,
    status_of,
    with_form,
)
from kgrag.serve.desk import Desk, Emit, EventStream
from kgrag.serve.guard import COOKIE, LOGIN
from kgrag.serve.inputs import body_of, check_pairs, of_pairs
from kgrag.serve.rendering import entity_url, instead, page, rendered, said
from kgrag.statements.documents import documents_with_status
from kgrag.statements.overview import Facet, facets
from kgrag.statements.references import by_node
from kgrag.statements.selection import Selection
from kgrag.statements.sources import quoted
from kgrag.statements.table import Table, shown, worded
from kgrag.store.folders import FOLDERS, originals
from kgrag.store.likeness import not_called
from kgrag.text.document_nodes import node_id
from kgrag.text.messages import message, said_by
from kgrag.text.visible import visible
from kgrag.tools import TOOLS
from kgrag.tools.arguments import Arguments, Rows, Within, adapter, argument, parameters
from kgrag.tools.ask import FORMS, Asked, answered
from kgrag.tools.curation import CORRECTABLE, correctable_of
from kgrag.tools.reading import Read, Searched
from kgrag.tools.results import Answered, Reading, place_url
from kgrag.tools.tables import Listed
from kgrag.tools.tool import Tool
from kgrag.types import Document, Entity, Fact, Heading

_MOST_PICTURES = 50  # pages beside their text; the command line has more
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
_SHOWN_ROWS = 500  # of a table in a page; files have all


_MOST_NAMED = 60  # entities on the first page
_NO_NAMES = ("value", "deadline")  # types of entities that nobody looks for


@dataclass(frozen=True, kw_only=True)
class Panel(Arguments):
    """A page, or with `panel` the part of it that is put in another one."""

    panel: str = ""


@dataclass(frozen=True, kw_only=True)
class _Graphed(Arguments):
    """The neighbourhood of an entity."""

    entity: str = argument("", "", default="", max_length=MOST_QUESTION_CHARS)
    hops: int = argument("", "", default=1, ge=1, le=3)
    limit: int = argument("", "", default=60, ge=1, le=1000)


_OF_GRAPH = (  # examples: what is cited most, who has most tasks, aims by unit
    "start=document&step=in cites&aggregate=count&of=document2&by=document.title",
    "start=duty&step=assigned_to&aggregate=count&of=duty&by=organ.name",
    "start=target&where=standing%3Dplanned&aggregate=count&by=unit",
)


@lru_cache(maxsize=8)
def _examples(base: KnowledgeBase, _state: int) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Return what a table may be asked for, by its name or first field; kept until a change."""
    cards = {card.doc_id: card for card in base.documents()}
    nodes, stated = by_node(cards.values()), base.store.statements("reference", sorted(cards))
    cited = ((s, c) for s in stated for c in nodes.get(s.fact.object.entity_id, ()))
    counts = (
        Counter(s.doc_id for s in stated),
        Counter(c.doc_id for s, c in cited if c.doc_id != s.doc_id),
    )
    titles = [[{"document": cards[d].title} for d, _ in n.most_common(6)] for n in counts]
    most = base.entities(limit=200)
    named = {
        field: [{field: one.name} for one in most if one.type == type_][:6]
        for field, type_ in (("indicator", "target"), ("agency", "agency"))
    }
    of_graph = [dict(parse_qsl(asked)) for asked in _OF_GRAPH]
    return named | {"document": titles[0], "cited-by": titles[1], "graph-query": of_graph}


def _graph(desk: Desk, request: Request, given: _Graphed) -> Response:
    """Return the page of the facts around an entity; without one, of those with most facts."""
    if not given.entity:
        named = [one for one in desk.base.entities(limit=300) if one.type not in _NO_NAMES]
        return page(desk, request, "graph.html", center=None, named=named[:_MOST_NAMED])
    center, around = desk.base.graph(given.entity, hops=given.hops, limit=given.limit)
    store, cards, key = desk.base.store, desk.known().cards, center.entity_id
    naming = store.entity_uses([key]).get(key, [])
    written = spellings([key], store).get(key, {})
    return page(
        desk,
        request,
        "graph.html",
        title=center.name,
        center=center,
        aliases=[name for name in written if name != center.name],
        n_facts=store.entity_degrees([key]).get(key, 0),
        documents=[cards[doc_id] for doc_id in naming if doc_id in cards],
        **_drawn(desk, request, center, around),
    )


def _drawn(
    desk: Desk, request: Request, center: Entity, facts: Sequence[Fact]
) -> dict[str, object]:
    """Return a drawing of facts, and them by relation with the sentences that state them."""
    from kgrag.drawing.page import colours, drawing, in_order, lay_out, legend, places

    ordered = in_order(center, facts)
    svg = drawing(
        ordered,
        lay_out(center, ordered),
        link=lambda one: entity_url(one.name),
        word=lambda type_: said(type_, language_of(desk, request)),
    )
    spots = [[*dict.fromkeys((e.doc_id, e.start, e.end) for e in f.evidence)] for f in ordered]
    sources = quoted(desk.base.store, chain.from_iterable(spots))
    numbered = [
        (n, fact, [sources[spot] for spot in of if spot in sources])
        for n, (fact, of) in enumerate(zip(ordered, spots, strict=True), 1)
    ]
    relations = [
        (colour, predicate, [told for told in numbered if told[1].predicate == predicate])
        for predicate, colour in colours(ordered).items()
    ]
    drawn = {"drawing": Markup(svg), "legend": Markup(legend(ordered)), "n": len(ordered)}
    return drawn | {"relations": relations, "places_of": places}


@dataclass(frozen=True, kw_only=True)
class _Home(Asked):
    """The first page: with a question it is answered, `whole` without a script."""

    question: str = argument("", "", default="", max_length=MOST_QUESTION_CHARS)
    whole: str = ""


async def _home(desk: Desk, request: Request, given: _Home) -> Response:
    work = partial(_first, desk, request, given)
    if given.question:
        return await desk.run(work)
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)  # waits for no question


def _first(desk: Desk, request: Request, given: _Home) -> Response:
    values: dict[str, object] = {"counts": desk.base.counts(), "answer": None, "asking": ""}
    values["examples"] = partial(_examples, desk.base, desk.base.store.change_counter())
    if given.question and desk.base.chat.has("answer") and not given.whole:
        values["asking"] = "now"  # the script asks, so that the draft is seen
    elif given.question:
        values["answer"] = Markup(_answer_html(desk, request, given, answered(desk.base, given)))
    return page(desk, request, "ask.html", **values)


def _address(asked: Asked, question: str) -> str:
    """Return the query by which a question is asked so without the ones before it."""
    told: dict[str, object] = {
        name: getattr(asked, name)
        for name, (field, _) in parameters(Asked).items()
        if name not in ("history", "lang") and getattr(asked, name) != field.default
    }
    return urlencode(told | {"question": question}, doseq=True)


def _answer_html(desk: Desk, request: Request, asked: Asked, found: Answered) -> str:
    """Return the answer to a question with its citations as HTML."""
    answer, cited = found.answer, found.cited
    by_number = {one.citation.number: one for one in cited}

    def link(number: int) -> str:
        url = escape(place_url("", by_number[number].citation.address))
        return f'class="cite" href="{url}" data-n="{number}"'

    body = html(answer.blocks, answer.language, link) if cited else ""
    quoted = {b.citation.number for b in leaves(answer.blocks) if isinstance(b, Quote)}
    return rendered(
        desk,
        request,
        "answer.html",
        answer=answer,
        leans=answer.question != asked.question,
        by_rule=answer.method == METHOD and bool(quoted),
        quoted=quoted,
        body=Markup(visible(body)),
        cited=cited,
        fields=_address(asked, answer.question),
    )


@dataclass(frozen=True, kw_only=True)
class _Saved(Asked):
    """An answer as a file."""

    form: Literal["docx", "html", "md"] = "docx"


def _saved(desk: Desk, request: Request, given: _Saved) -> Response:
    """Return an answer as a file."""
    answer = answered(desk.base, given).answer
    return saved(FORMS[f".{given.form}"](answer), f"kgrag-answer.{given.form}")


def _stream(desk: Desk, request: Request, given: Asked) -> Response:
    """Answer the form of the page as events: the draft's text, then the answer's HTML."""
    work = partial(_streamed, desk, request, given)
    return EventStream(desk, work, language_of(desk, request))


def _streamed(desk: Desk, request: Request, given: Asked, emit: Emit) -> None:
    found = answered(desk.base, given, lambda text: emit("text", {"text": text}))
    answer = found.answer
    shown = _answer_html(desk, request, given, found)
    turn = {"question": answer.question, "text": answer.text, "cited": answer.cited_titles[:20]}
    address = _address(given, answer.question)
    emit("answer", {"html": shown, **turn, "address": address})


@dataclass(frozen=True, kw_only=True)
class _Search(Searched):
    """The page of a search, which may be empty."""

    question: str = argument("", "", default="", max_length=MOST_QUESTION_CHARS)


def _search(desk: Desk, request: Request, given: _Search) -> Response:
    results: Sequence[object] = ()
    if given.question:
        found = TOOLS["search"].run(desk.base, given)
        at = [str(Address(h.chunk.doc_id, h.chunk.start, h.chunk.end)) for h in found.hits]
        results = list(zip(found.hits, found.reasons, at, strict=True))
    return page(desk, request, "search.html", results=results)


# Facets by which documents are filtered; the arguments have their names.
_FACETS: Mapping[Facet, Facet] = {
    name: name for name in ("status", "year", "region", "kind", "issuer")
}


def _documents(desk: Desk, request: Request, given: Listed) -> Response:
    chosen, statuses = documents_with_status(desk.base.store, given.selection("documents"))
    cards = [*chosen.cards.values()]
    held = desk.known().cards.values()
    names = [name for card in held for name in (card.title, card.metadata.number)]
    unknown = not cards and given.words
    return page(
        desk,
        request,
        "documents.html",
        cards=cards,
        statuses=statuses,
        found=facets(cards, statuses),
        fields=_FACETS,
        nearest=not_called(message("document"), given.words, names).nearest if unknown else (),
    )


def _overview(desk: Desk, request: Request, given: Arguments) -> Response:
    found = TOOLS["overview"].run(desk.base, given)
    tables = [
        (table, worded(table.notes, given.lang))
        for table in found.tables
        if table.name not in _FACETS
    ]
    return page(
        desk,
        request,
        "overview.html",
        tables=tables,
        counts=desk.base.counts(),
        found=desk.known().facets,
        fields=_FACETS,
        shown=shown,
    )


class Paragraph(NamedTuple):
    """A line of a document's text: its start, and the level of the heading that it begins with.

    Pieces say of each whether it is of the heading, and whether of the quote.
    """

    start: int
    level: int  # from 1; 0 for none
    pieces: tuple[tuple[str, bool, bool], ...]


def paragraphs(
    text: str, headings: Sequence[Heading], quote: tuple[int, int] = (0, 0)
) -> Iterator[Paragraph]:
    """Yield the lines of a text that are not blank; a heading may be the beginning of its line."""
    begun = {heading.start: heading for heading in headings}
    start, (first, last) = 0, quote
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        if line.strip():
            inner = start + len(line) - len(line.lstrip())
            heading = begun.get(inner) or begun.get(start)
            reach = heading.end if heading else start
            cuts = sorted({start, end, *(at for at in (first, last, reach) if start < at < end)})
            pieces = tuple((text[a:b], a < reach, first <= a < last) for a, b in pairwise(cuts))
            yield Paragraph(start, heading.level if heading else 0, pieces)
        start = end


def _document(desk: Desk, request: Request, given: Panel) -> Response:
    """Return the page of a document, or of a place in it."""
    base = desk.base
    asked = Read(document=str(request.path_params["address"]), characters=10**9)
    found: Reading = TOOLS["read"].run(base, asked)
    document, excerpt = found.card, found.excerpt
    at = excerpt.citation if excerpt and not found.is_whole else None
    values = {
        "document": document,
        "status": found.status,
        "excerpt": excerpt if at else None,
        "file": _file_of(desk, document),
    }
    if given.panel:
        return page(desk, request, "panel.html", **values | {"excerpt": excerpt})
    known = desk.known()
    return page(
        desk,
        request,
        "document.html",
        **values,
        headings=found.headings,
        paragraphs=paragraphs(document.text, found.headings, (at.start, at.end) if at else (0, 0)),
        cites=base.rows(Selection(kind="cites", document=document.doc_id)),
        cited_by=_cited_by(desk, document),
        others=[known.cards[d] for d, s in known.statuses.items() if s.doc_id == document.doc_id],
        problems=document.warnings,
        node=_entity_of(desk, document),
        corrected=base.store.corrections().get(document.doc_id, {}),
        correctable=CORRECTABLE,
        typed=correctable_of(document),
    )


def _file_of(desk: Desk, document: Document) -> Path | None:
    """Return the file of a document, if it is still on this machine."""
    store = desk.base.store
    return next(originals(document, store.sources(), store.get_meta(FOLDERS)), None)


def _original(desk: Desk, request: Request, given: Arguments) -> Response:
    """Return the file of a document: a PDF to be shown, others to be saved."""
    document = desk.base.document(str(request.path_params["doc_id"]))
    file = _file_of(desk, document)
    if file is None:
        raise NotFoundError("{file} is not on this machine, or was moved", file=document.file)
    is_pdf = file.suffix.lower() == ".pdf"
    return FileResponse(
        file,
        media_type="application/pdf" if is_pdf else "application/octet-stream",
        filename=visible(file.name),
        content_disposition_type="inline" if is_pdf else "attachment",
        headers={"content-security-policy": "default-src 'none'; sandbox"} if not is_pdf else {},
    )


def _beside(desk: Desk, request: Request, given: Arguments) -> Response:
    """Return a document's text beside pictures of its pages, where its file is still here."""
    document = desk.base.document(str(request.path_params["doc_id"]))
    file = _file_of(desk, document)
    pictures = page_pictures(Source(file), most=_MOST_PICTURES) if file else {}
    headings = desk.base.store.headings([document.doc_id]).get(document.doc_id, [])
    return HTMLResponse(
        as_html(document, headings, pictures, language_of(desk, request)),
        headers={"content-security-policy": _ALONE},
    )


def _entity_of(desk: Desk, card: Document) -> str:
    """Return the name of a document's entity; empty if nothing is stated about it."""
    found = desk.base.store.entities([node_id(card.title, card.metadata)])
    return found[0].name if found else ""


def _cited_by(desk: Desk, card: Document) -> Table | None:
    try:
        return desk.base.rows(Selection(kind="cited_by", document=card.doc_id))
    except NotFoundError:
        return None


def _tables() -> dict[str, Tool]:
    """Return the tools whose tables have no page of their own, by name."""
    own = ("documents", "problems", "graph")
    tables = (tool for tool in TOOLS.values() if tool.is_table and not tool.curates)
    return {tool.name: tool for tool in tables if tool.name not in own}


def _table(desk: Desk, request: Request, _given: None) -> Response:
    """Return a table with the form for its arguments; it is made where something is asked for."""
    tools, name = _tables(), str(request.path_params["name"])
    if name not in tools:
        told = message("no table is called {name!r}: {names}", name=name, names=", ".join(tools))
        raise NotFoundError(told)
    tool, pairs = tools[name], request.query_params
    kind = with_form(tool)
    check_pairs(parameters(kind), pairs)
    is_asked = name in _AT_ONCE or any(v for k, v in pairs.items() if k not in ("lang", "by"))
    given: Any = of_pairs(kind, pairs, language_of(desk, request)) if is_asked else None
    table = tool.run(desk.base, given) if given else None
    if table and given.form != "json":
        return exported(table, given.form, given.lang)
    fields = _fields(tool.arguments)
    typed = (request.query_params.getlist(name) for name in fields if not fields[name])
    return page(
        desk,
        request,
        "table.html",
        name=tool.name,
        examples=partial(_examples, desk.base, desk.base.store.change_counter()),
        names=list(_tables()),
        fields=fields,
        is_within=issubclass(tool.arguments, Within),
        asked="、".join(chain.from_iterable(typed)),
        table=table,
        notes=worded(table.notes, given.lang) if table else (),
        shown=shown,
        most=_SHOWN_ROWS,
    )


def _fields(kind: type[Arguments]) -> dict[str, tuple[str, ...]]:
    """Return the arguments that the form of a table has of its own, each with its choices."""
    beside = {*parameters(Within if issubclass(kind, Within) else Arguments), *parameters(Rows)}
    return {
        name: get_args(of) if get_origin(of) is Literal else ("", "true") if of is bool else ()
        for name, (_, of) in parameters(kind).items()
        if name not in beside and get_origin(next(iter(get_args(of)), None)) is not Literal
    }


_AT_ONCE = ("conflicts",)  # tables that are shown without any condition


def _problems(desk: Desk, request: Request, given: Arguments) -> Response:
    found = desk.base.problems()
    kinds = Counter(problem.kind for problem in found).most_common()
    return page(desk, request, "problems.html", problems=found, kinds=kinds)


def _api(desk: Desk, request: Request, given: Arguments) -> Response:
    told = [(end, adapter(end.given).json_schema()) for end in described(request) if end.given]
    return page(desk, request, "api.html", described=told)


@dataclass(frozen=True, kw_only=True)
class _Login(Arguments):
    """The form for the key."""

    wrong: str = ""
    next: str = ""


async def _login(desk: Desk, request: Request, given: _Login) -> Response:
    return page(desk, request, "login.html", wrong=bool(given.wrong))


async def _enter(_desk: Desk, request: Request, _given: None) -> Response:
    """Set the cookie of a key that is given in the form, and go where it was asked for."""
    form = parse_qs((await body_of(request)).decode("utf-8", "replace"))
    session = await request.state.session_of(form.get("key", [""])[-1])
    if not session:
        return RedirectResponse(f"{LOGIN}?wrong=1", 303)
    wanted = form.get("next", [""])[-1]
    inside = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted
    response = RedirectResponse(wanted if inside else "/", 303)
    response.set_cookie(COOKIE, session, httponly=True, samesite="strict")
    return response


async def failed(desk: Desk, request: Request, exc: Exception) -> Response:
    """Return an error with the status for its kind: as a page to a browser, else as JSON."""
    if isinstance(exc, HTTPException):  # no route
        exc = NotFoundError("there is nothing at {path}", path=request.url.path)
    if "text/html" not in request.headers.get("accept", ""):
        return failure(exc, request, language_of(desk, request))
    nearest = instead(request, exc) if isinstance(exc, NotFoundError) else ()
    told = {"message": said_by(exc), "kind": type(exc).__name__, "nearest": nearest}
    response = page(desk, request, "error.html", **told)
    response.status_code = status_of(exc)
    return response


STATIC = Mount(
    "/static", StaticFiles(packages=[("kgrag.serve", "static"), ("kgrag.drawing", "static")])
)
ENDPOINTS = (
    Endpoint("/", _Home, _home),
    Endpoint("/ask", Asked, _stream, "POST"),
    Endpoint("/answer", _Saved, _saved),
    Endpoint("/search", _Search, _search),
    Endpoint("/overview", Arguments, _overview),
    Endpoint("/documents", Listed, _documents, is_kept=True),
    Endpoint("/documents/{address:path}", Panel, _document),
    Endpoint("/original/{doc_id:path}", Arguments, _original),
    Endpoint("/beside/{doc_id:path}", Arguments, _beside),
    Endpoint("/graph", _Graphed, _graph, is_kept=True),
    Endpoint("/tables/{name}", None, _table, is_kept=True),
    Endpoint("/problems", Arguments, _problems),
    Endpoint("/api", Arguments, _api),
    Endpoint(LOGIN, _Login, _login),
    Endpoint(LOGIN, None, _enter, "POST"),
)
