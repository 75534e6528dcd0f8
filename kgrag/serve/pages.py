"""The pages: asking, documents, tables, entities; rendered on the server."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any, Literal

import anyio.to_thread
from markupsafe import Markup
from pydantic import Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from kgrag.answer.address import Address
from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote, leaves
from kgrag.answer.excerpt import Excerpt
from kgrag.answer.reasons import explained
from kgrag.answer.render import html
from kgrag.answering.quotes import METHOD
from kgrag.errors import KgragError, NotFoundError, OutOfRangeError
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.serve.answers import answered, cited_in, place_url
from kgrag.serve.api import (
    Endpoint,
    exported,
    failure,
    language_of,
    listed,
    saved,
    status_of,
    table_of,
)
from kgrag.serve.desk import Desk, Emit, EventStream
from kgrag.serve.guard import COOKIE, LOGIN
from kgrag.serve.inputs import (
    Around,
    Asked,
    Given,
    Listed,
    Panel,
    Searched,
    Tabled,
    body_of,
    read,
)
from kgrag.serve.originals import file_of, original, page_view, picture
from kgrag.serve.rendering import instead, page, rendered, said
from kgrag.serve.views import Besides, Graphed, beside_page, entity, examples, graph
from kgrag.statements.compare import matrix
from kgrag.statements.overview import Facet, facets
from kgrag.statements.table import Row, Table, shown, worded
from kgrag.statements.targets import WantedTargets
from kgrag.statements.timeline import EVENTS, Event
from kgrag.store.likeness import not_called
from kgrag.text.document_nodes import node_id
from kgrag.text.messages import in_language, message, said_by
from kgrag.text.visible import visible
from kgrag.types import Document, Heading

Page = Callable[[Desk, Request, Any], Response]
_SHOWN_ROWS = 500  # of a table in a page; files have all


class _Home(Asked):
    """The first page: with a question it is answered, `whole` without a script."""

    question: str = Field(default="", max_length=MOST_QUESTION_CHARS)
    whole: str = ""


def _home(desk: Desk, request: Request, given: _Home) -> Response:
    values: dict[str, object] = {"counts": desk.base.counts(), "answer": None, "asking": ""}
    values["examples"] = partial(examples, desk.base, desk.base.store.change_counter())
    if given.question and desk.base.chat.has("answer") and not given.whole:
        values["asking"] = "now"  # the script asks, so that the draft is seen
    elif given.question:
        values["answer"] = Markup(_answer_html(desk, request, given, answered(desk.base, given)))
    return page(desk, request, "ask.html", **values)


def _answer_html(desk: Desk, request: Request, asked: Asked, answer: Answer) -> str:
    """Return the answer to a question with its citations as HTML."""
    cited = cited_in(desk.base, answer)
    root = request.scope.get("root_path", "")
    by_number = {one.citation.number: one for one in cited}

    def link(number: int) -> str:
        url = escape(place_url(root, by_number[number].citation.address))
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
        fields=asked.address(answer.question),
    )


class _Saved(Asked):
    """An answer as a file."""

    form: Literal["docx", "html", "md"] = "docx"


def _saved(desk: Desk, request: Request, given: _Saved) -> Response:
    """Return an answer as a file."""
    answer = answered(desk.base, given)
    make: Mapping[str, Callable[[], bytes]] = {
        "docx": answer.to_docx,
        "html": lambda: answer.to_html().encode(),
        "md": lambda: answer.to_markdown().encode(),
    }
    return saved(make[given.form](), f"kgrag-answer.{given.form}")


async def _stream(desk: Desk, request: Request) -> Response:
    """Answer the form of the page as events: the draft's text, then the answer's HTML."""
    try:
        given = await read(Asked, request)
        return EventStream(desk, partial(_streamed, desk, request, given))
    except (KgragError, ValueError) as exc:
        return HTMLResponse(
            escape(visible(in_language(exc, language_of(desk, request)))), status_of(exc)
        )


def _streamed(desk: Desk, request: Request, given: Asked, emit: Emit) -> None:
    try:
        answer = answered(desk.base, given, emit)
    except KgragError as exc:
        language = language_of(desk, request)
        told = f"{said(type(exc).__name__, language)} {in_language(exc, language)}"
        emit("error", {"type": type(exc).__name__, "message": told})
        return
    shown = _answer_html(desk, request, given, answer)
    turn = {"question": answer.question, "text": answer.text, "cited": answer.cited_titles[:20]}
    address = given.address(answer.question)
    emit("answer", {"html": shown, **turn, "address": address})


class _Search(Searched):
    """The page of a search, which may be empty."""

    question: str = Field(default="", max_length=MOST_QUESTION_CHARS)


def _search(desk: Desk, request: Request, given: _Search) -> Response:
    results: Sequence[object] = ()
    if given.question:
        found = desk.base.search(given.question, **given.options)
        told = explained(given.question, found, language_of(desk, request))
        at = [str(Address(h.chunk.doc_id, h.chunk.start, h.chunk.end)) for h in found]
        results = list(zip(found, told, at, strict=True))
    return page(desk, request, "search.html", results=results)


def _documents(desk: Desk, request: Request, given: Listed) -> Response:
    cards, statuses = listed(desk, given)
    held = desk.known().cards.values()
    names = [name for card in held for name in (card.title, card.metadata.number)]
    unknown = not cards and given.words.strip()
    return page(
        desk,
        request,
        "documents.html",
        cards=cards,
        statuses=statuses,
        found=facets(cards, statuses),
        fields=_FACET_FIELDS,
        nearest=not_called(message("document"), given.words, names).nearest if unknown else (),
    )


# The field of a request that filters by a facet.
_FACET_FIELDS: Mapping[Facet, str] = {
    "status": "status",
    "year": "years",
    "region": "regions",
    "kind": "kinds",
    "issuer": "issuers",
}


def _overview(desk: Desk, request: Request, given: Given) -> Response:
    language = language_of(desk, request)
    tables = [
        (table, worded(table.notes, language))
        for table in desk.base.overview(language=language)
        if table.name not in _FACET_FIELDS
    ]
    return page(
        desk,
        request,
        "overview.html",
        tables=tables,
        counts=desk.base.counts(),
        found=desk.known().facets,
        fields=_FACET_FIELDS,
        shown=shown,
    )


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of a document's text.

    Attributes:
        start: Offset of its first character.
        level: Of the heading that it begins with, from 1; 0 for none.
        pieces: Its text in pieces: whether each is of the heading, and whether of the quote.
    """

    start: int
    level: int
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


# What can be corrected of a document, with its label.
CORRECTABLE: Mapping[str, str] = {
    "title": "Title",
    "issuers": "Issuer",
    "number": "Number",
    "issued": "Date of issue",
    "written": "Signed",
    "effective": "In force from",
    "expires": "In force until",
    "regions": "Region",
    "level": "Level",
    "kind": "Kind",
    "status": "Limiting words",
    "recipients": "Addressees",
}


def correctable_of(card: Document) -> dict[str, str]:
    """Return the fields of a document that can be corrected, as they are typed."""
    told: dict[str, Any] = {**card.metadata.to_record(), "title": card.title}
    between = {"recipients": "；"}
    return {
        name: value if isinstance(value, str) else between.get(name, "、").join(value)
        for name, value in ((name, told.get(name, "")) for name in CORRECTABLE)
    }


def _document(desk: Desk, request: Request, given: Panel) -> Response:
    return document_page(desk, request, str(request.path_params["address"]))


def document_page(
    desk: Desk,
    request: Request,
    name: str,
    typed: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
) -> Response:
    """Return the page of a document, or of a place in it.

    Args:
        desk: Where it is.
        request: Whose page it is.
        name: Of the document, or DOCUMENT:START-END.
        typed: By field what a reader typed as a correction, if it is shown again.
        wrong: By field what is wrong with it.

    Raises:
        NotFoundError: If there is none.
    """
    base = desk.base
    span = None
    try:
        card = base.find_document(name)
    except NotFoundError:
        if not (at := _address(name)):
            raise
        card, span = base.find_document(at.document), (at.start, at.end)
    document = base.document(card.doc_id)
    headings = base.store.headings([card.doc_id]).get(card.doc_id, [])
    known = desk.known()
    status = known.statuses.get(card.doc_id) or base.statuses()[card.doc_id]
    excerpt = (
        Excerpt.of(document, headings, span or (0, len(document.text)), paragraphs=1, status=status)
        if document.text
        else None
    )
    values = {
        "document": document,
        "status": status,
        "excerpt": excerpt if span else None,
        "file": file_of(desk, document),
    }
    if "panel" in request.query_params:
        return page(desk, request, "panel.html", **values)
    tables = base.tables()
    return page(
        desk,
        request,
        "document.html",
        **values,
        headings=headings,
        paragraphs=paragraphs(document.text, headings, span or (0, 0)),
        cites=tables.cites(card.doc_id),
        cited_by=_cited_by(desk, card),
        others=[known.cards[d] for d, s in known.statuses.items() if s.doc_id == card.doc_id],
        problems=document.warnings,
        node=_entity_of(desk, card),
        corrections=_corrections(desk, card, typed or {}, wrong or {}),
    )


def _address(text: str) -> Address | None:
    try:
        return Address.parse(text)
    except OutOfRangeError:
        return None


def _entity_of(desk: Desk, card: Document) -> str:
    """Return the name of a document's entity; empty if nothing is stated about it."""
    found = desk.base.store.entities([node_id(card.title, card.metadata)])
    return found[0].name if found else ""


def _corrections(
    desk: Desk, card: Document, typed: Mapping[str, str], wrong: Mapping[str, str]
) -> list[tuple[str, str, str, str, bool]]:
    """Return name, label, value, what is wrong and whether it is corrected of each field."""
    if not desk.writable:
        return []
    corrected = desk.base.store.corrections().get(card.doc_id, {})
    values = {**correctable_of(card), **typed}
    return [
        (name, label, values[name], wrong.get(name, ""), name in corrected)
        for name, label in CORRECTABLE.items()
    ]


def _cited_by(desk: Desk, card: Document) -> Table | None:
    try:
        return desk.base.tables().cited_by(card.doc_id)
    except NotFoundError:
        return None


def _table(desk: Desk, request: Request, given: Tabled) -> Response:
    name, language = str(request.path_params["name"]), language_of(desk, request)
    given.check_table(name)
    asked = any(v for k, v in request.query_params.items() if k not in ("lang", "by"))
    values: dict[str, Any] = {"notes": None, "matrix": None, "axis": None, "n": 0}
    if asked or name in _AT_ONCE:
        if given.form != "json":
            return exported(table_of(desk.base.tables(), name, given), given.form, language)
        values |= _matrix(desk, given) if name == "compare" else _rows(desk, name, given)
        if name == "timeline" and values["n"]:
            values |= _axis(values["table"])
        values["notes"] = worded(values["notes"], language)
    return page(
        desk,
        request,
        "table.html",
        name=name,
        examples=partial(examples, desk.base, desk.base.store.change_counter()),
        names=list(given.forms),
        fields=given.forms[name],
        given=given,
        shown=shown,
        most=_SHOWN_ROWS,
        **values,
    )


def _rows(desk: Desk, name: str, given: Tabled) -> dict[str, Any]:
    table = table_of(desk.base.tables(), name, given)
    n = len(table.rows)
    return {"table": table, "columns": table.filled, "notes": table.notes, "n": n}


# Lanes of a timeline, with the events of each.
_LANES: Mapping[str, tuple[Event, ...]] = {
    "Issue": ("written", "issued"),
    "Validity": ("effective", "expires"),
    "Deadlines": ("due",),
    "Targets": ("target",),
}


def _axis(table: Table) -> dict[str, Any]:
    """Return a drawing of all events of a timeline.

    Those of a lane's year are drawn one by one, or as a bar: the fewest first, as many as a page
    has rows.
    """
    from kgrag.drawing.axis import STEP, axis

    lane_of = {EVENTS[event]: lane for lane, events in _LANES.items() for event in events}
    spots: dict[tuple[str, str], list[tuple[str, str, Row | int]]] = {}
    for row in table.rows:
        when, lane = str(row.cells[0]), lane_of[str(row.cells[1])]
        spots.setdefault((when[:4], lane), []).append((when, lane, row))
    left, drawn = _SHOWN_ROWS, list[tuple[str, str, Row | int]]()
    for (year, lane), several in sorted(spots.items(), key=lambda spot: len(spot[1])):
        left -= len(several)
        drawn += several if left >= 0 else [(year, lane, len(several))]
    drawn.sort(key=lambda one: one[0])
    return {
        "axis": axis([(when, lane) for when, lane, _ in drawn], day=date.today()),
        "step": STEP,
        "lanes": _LANES,
        "totals": {
            of: sum(len(s) for (_, lane), s in spots.items() if lane == of) for of in _LANES
        },
        "drawn": drawn,
        "n_drawn": sum(not isinstance(one, int) for _, _, one in drawn),
    }


def _matrix(desk: Desk, given: Tabled) -> dict[str, Any]:
    """Return a comparison, and the documents that it rests on with a number each."""
    wanted = WantedTargets(given.indicator, **given.figures)
    made = matrix(desk.base.store, wanted, by=given.by)
    cited = {
        source.doc_id: source
        for line in made.lines
        for head in made.heads
        for value in line.cells.get(head, ())
        for source in value.sources
    }
    numbers = {doc_id: n for n, doc_id in enumerate(cited, 1)}
    values = {"matrix": made, "cited": list(cited.values()), "numbers": numbers}
    return {**values, "notes": made.notes, "n": len(made.lines)}


_AT_ONCE = ("conflicts",)  # tables that are shown without any condition


def _problems(desk: Desk, request: Request, given: Given) -> Response:
    found = desk.base.problems()
    kinds = Counter(problem.kind for problem in found).most_common()
    return page(desk, request, "problems.html", problems=found, kinds=kinds)


def _api(endpoints: Sequence[Endpoint], desk: Desk, request: Request, given: Given) -> Response:
    described = [(end, end.given.model_json_schema()) for end in endpoints]
    return page(desk, request, "api.html", described=described)


class _Login(Given):
    """The form for the key."""

    wrong: str = ""
    next: str = ""


def _login(desk: Desk, request: Request, given: _Login) -> Response:
    return page(desk, request, "login.html", wrong=bool(given.wrong))


async def _enter(request: Request) -> Response:
    """Set the cookie of a key that is given in the form, and go where it was asked for."""
    from urllib.parse import parse_qs

    root = request.scope.get("root_path", "")
    form = parse_qs((await body_of(request)).decode("utf-8", "replace"))
    session = request.state.session_of(form.get("key", [""])[-1])
    if not session:
        return RedirectResponse(f"{root}{LOGIN}?wrong=1", 303)
    wanted = form.get("next", [""])[-1]
    inside = wanted.startswith(f"{root}/") and not wanted.startswith("//") and "\\" not in wanted
    response = RedirectResponse(wanted if inside else f"{root}/", 303)
    response.set_cookie(COOKIE, session, path=root or "/", httponly=True, samesite="strict")
    return response


_PAGES: tuple[tuple[str, type[Given], Page], ...] = (
    ("/", _Home, _home),
    ("/answer", _Saved, _saved),
    ("/search", _Search, _search),
    ("/overview", Given, _overview),
    ("/documents", Listed, _documents),
    ("/documents/{address:path}", Panel, _document),
    ("/original/{doc_id:path}", Given, original),
    ("/picture/{address:path}", Given, picture),
    ("/page/{address:path}", Given, page_view),
    ("/tables/{name}", Tabled, _table),
    ("/graph", Graphed, graph),
    ("/entity", Around, entity),
    ("/beside", Besides, beside_page),
    ("/problems", Given, _problems),
    (LOGIN, _Login, _login),
)


def nowhere(desk: Desk) -> Route:
    """Return the route of all other addresses."""

    async def respond(request: Request) -> Response:
        exc = NotFoundError("there is nothing at {path}", path=request.url.path)
        if "text/html" not in request.headers.get("accept", ""):
            return failure(exc, language_of(desk, request))
        return await desk.run(partial(failed_page, desk, request, exc))

    return Route("/{path:path}", respond, methods=["GET", "POST", "PUT", "DELETE"])


def failed_page(desk: Desk, request: Request, exc: Exception) -> Response:
    """Return an error as a page, with the status for its kind."""
    nearest = instead(request, exc) if isinstance(exc, NotFoundError) else ()
    told = {"message": said_by(exc), "kind": type(exc).__name__, "nearest": nearest}
    response = page(desk, request, "error.html", **told)
    response.status_code = status_of(exc)
    return response


STATIC = Mount(
    "/static", StaticFiles(packages=[("kgrag.serve", "static"), ("kgrag.drawing", "static")])
)


def page_route(desk: Desk, path: str, kind: type[Given], make: Page, method: str = "GET") -> Route:
    """Return the route of a page; an error is a page, too."""

    async def respond(request: Request) -> Response:
        try:
            given = await read(kind, request)
            work = partial(make, desk, request, given)
            if given.is_kept:
                return await desk.kept(request, work)
            if isinstance(given, _Home | _Login) and not getattr(given, "question", ""):
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            return await desk.run(work)
        except (KgragError, ValueError) as exc:
            return failed_page(desk, request, exc)

    return Route(path, respond, methods=[method])


def routes(desk: Desk, endpoints: Sequence[Endpoint]) -> list[BaseRoute]:
    """Return the routes of the pages; that of the API tells of `endpoints`."""

    async def stream(request: Request) -> Response:
        return await _stream(desk, request)

    return [
        *(page_route(desk, *one) for one in _PAGES),
        page_route(desk, "/api", Given, partial(_api, endpoints)),
        Route("/ask", stream, methods=["POST"]),
        Route(LOGIN, _enter, methods=["POST"]),
        STATIC,
    ]
