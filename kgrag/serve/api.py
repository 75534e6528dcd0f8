"""The HTTP API: JSON for programs, described as OpenAPI."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kgrag.answer.address import Address
from kgrag.errors import (
    BusyError,
    ConfigError,
    KgragError,
    ModelError,
    NotFoundError,
    StoreUnavailableError,
)
from kgrag.retrieval.filter import documents_within
from kgrag.serve.answers import answer_dict, answered, card_shown, place_url
from kgrag.serve.desk import Desk, EventStream
from kgrag.serve.inputs import (
    Around,
    Asked,
    Given,
    Listed,
    Placed,
    Searched,
    Tabled,
    read,
)
from kgrag.statements.export import as_csv, as_docx, as_html, as_xlsx
from kgrag.statements.table import Table, worded
from kgrag.status import Status
from kgrag.text.messages import in_language
from kgrag.text.visible import json_line
from kgrag.text.words import normalize_name
from kgrag.types import Document, Language

_Handler = Callable[[Desk, Request, Any], Response]
_OwnHandler = Callable[[Desk, Request], Awaitable[Response]]
_STATUS_OF: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (BusyError, 503),
    (StoreUnavailableError, 503),
    (ModelError, 502),
    (ConfigError, 400),
    (ValueError, 400),
)
_WRITERS: Mapping[str, Callable[[Table, Language], bytes]] = {
    "xlsx": as_xlsx,
    "csv": as_csv,
    "docx": as_docx,
    "html": as_html,
}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_MEDIA: Mapping[str, str] = {
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


class Json(JSONResponse):
    """A JSON response; control and invisible characters are escapes."""

    def render(self, content: object) -> bytes:
        """Return the body."""
        return json_line(content).encode()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of the API.

    Attributes:
        path: With parameters in braces.
        summary: In words, for the description.
        given: What it may be asked for.
        handler: Called in a thread with desk, request and what is asked for; a coroutine function
            is awaited, and reads the request by itself.
        method: GET, POST or DELETE.
        media: Of the body of a POST.
    """

    path: str
    summary: str
    given: type[Given]
    handler: _Handler | _OwnHandler
    method: str = "GET"
    media: str = "application/json"

    def route(self, desk: Desk) -> Route:
        """Return its route."""
        handler = self.handler

        async def respond(request: Request) -> Response:
            try:
                if self.method == "POST":  # whose fields are in its body
                    Given.check_names(request.query_params)
                if iscoroutinefunction(handler):
                    own: Response = await handler(desk, request)
                    return own
                given = await read(self.given, request)
                work = partial(cast(_Handler, handler), desk, request, given)
                return await (desk.kept(request, work) if given.is_kept else desk.run(work))
            except (KgragError, ValueError) as exc:
                return failure(exc, language_of(desk, request))

        return Route(self.path, respond, methods=[self.method])


def failure(exc: Exception, language: Language = "en") -> Response:
    """Return an error as JSON, with the status for its kind."""
    said = in_language(exc, language)
    error: dict[str, object] = {"type": type(exc).__name__, "message": said}
    if isinstance(exc, NotFoundError) and exc.nearest:
        error["nearest"] = exc.nearest
    told = {"error": error}
    retry = {"retry-after": "2"} if isinstance(exc, BusyError) else {}
    return Json(told, status_of(exc), retry)


def status_of(exc: Exception) -> int:
    """Return the HTTP status for an error."""
    return next((status for kind, status in _STATUS_OF if isinstance(exc, kind)), 500)


def root_of(request: Request) -> str:
    """Return the absolute address of the knowledge base, without a slash at its end."""
    root = request.scope.get("root_path", "")  # of the application that is mounted
    return f"{request.url.scheme}://{request.url.netloc}{root}"


def language_of(desk: Desk, request: Request) -> Language:
    """Return the language of what is shown: chosen by `lang`, kept in a cookie, or the desk's."""
    asked = request.query_params.get("lang") or request.cookies.get("kgrag-lang")
    return "en" if asked == "en" else "zh" if asked == "zh" else desk.language


def _search(desk: Desk, request: Request, given: Searched) -> Response:
    found = desk.base.search(given.question, **given.options)
    root = root_of(request)
    told = [
        hit.to_dict()
        | {"title": hit.title, "heading_path": list(hit.chunk.heading_path)}
        | _placed(Address(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end), root)
        for hit in found
    ]
    return Json({"results": told})


def _placed(address: Address, root: str) -> dict[str, object]:
    return {"address": str(address), "url": place_url(root, str(address))}


async def _ask(desk: Desk, request: Request) -> Response:
    """Answer as JSON, or as events where the client accepts them."""
    given = await read(Asked, request)
    base, root = desk.base, root_of(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        return EventStream(
            desk,
            lambda emit: emit("answer", answer_dict(base, answered(base, given, emit), root)),
        )
    return await desk.run(lambda: Json(answer_dict(base, answered(base, given), root)))


def _documents(desk: Desk, request: Request, given: Listed) -> Response:
    cards, statuses = listed(desk, given)
    language = language_of(desk, request)
    root = root_of(request)
    told = [card_shown(card, root, statuses, language) for card in cards]
    return Json({"documents": told, "of": len(statuses)})


def listed(desk: Desk, given: Listed) -> tuple[list[Document], Mapping[str, Status]]:
    """Return the documents that a list asks for, and the statuses of all documents."""
    known = desk.known()
    cards = list(known.cards.values())
    statuses = known.statuses
    if given.as_of:
        at_day = desk.base.statuses(given.as_of)
        statuses = {doc_id: at_day.get(doc_id, status) for doc_id, status in statuses.items()}
    counting = frozenset(doc_id for doc_id, status in statuses.items() if status.counts)
    if given.filter:
        within = documents_within(given.filter, cards, in_force=lambda: counting)
        cards = [card for card in cards if card.doc_id in within]
    words = [normalize_name(word) for word in given.words.split()]
    return [
        card
        for card in cards
        if (not given.status or statuses[card.doc_id].kind == given.status)
        and all(word in _words_of(card) for word in words)
    ], statuses


def _words_of(card: Document) -> str:
    told = card.metadata
    return "\n".join(map(normalize_name, (card.title, told.number, *told.issuers, card.file)))


def _document(desk: Desk, request: Request, given: Placed) -> Response:
    base, name = desk.base, str(request.path_params["address"])
    language = language_of(desk, request)
    try:
        card = base.find_document(name)
    except NotFoundError:
        at = Address.parse(name)
        found = base.excerpt(at.document, at.start, at.end, paragraphs=given.paragraphs)
        return Json(found.to_dict() | _placed(at, root_of(request)))
    document = base.document(card.doc_id)
    headings = base.store.headings([card.doc_id]).get(card.doc_id, [])
    outline = [
        {"level": h.level, "text": h.text}
        | _placed(Address(card.doc_id, h.start, h.end), root_of(request))
        for h in headings
    ]
    told = card_shown(card, root_of(request), desk.known().statuses, language)
    return Json(told | {"characters": len(document.text), "outline": outline})


def _table(desk: Desk, request: Request, given: Tabled) -> Response:
    table = table_of(desk, str(request.path_params["name"]), given)
    language = language_of(desk, request)
    if given.form != "json":
        return exported(table, given.form, language)
    root = root_of(request)
    rows = [
        dict(zip((c.key for c in table.columns), row.cells, strict=True))
        | {"sources": [s.to_dict() | {"url": place_url(root, s.address)} for s in row.sources]}
        for row in table.rows
    ]
    columns = [{"key": c.key, "heading": c.heading(language)} for c in table.columns]
    notes = worded(table.notes, language)
    return Json({"name": table.name, "columns": columns, "rows": rows, "notes": notes})


def exported(table: Table, form: str, language: Language) -> Response:
    """Return a table as a file to be saved."""
    return saved(_WRITERS[form](table, language), f"kgrag-{table.name}.{form}")


def saved(data: bytes, name: str) -> Response:
    """Return a file to be saved, whose kind is that of its name's ending."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_MEDIA[name.rpartition(".")[2]], headers=headers)


def table_of(desk: Desk, name: str, given: Tabled) -> Table:
    """Return a table by name.

    Raises:
        NotFoundError: As for `Tabled.check_table`, or if what it is asked for is not held.
        OutOfRangeError: If it is asked for something that is not allowed.
    """
    given.check_table(name)
    return desk.base.rows(given.selection(name))


def _graph(desk: Desk, request: Request, given: Around) -> Response:
    center, facts = desk.base.graph(given.name, hops=given.hops, limit=given.limit)
    root = root_of(request)
    told = []
    for fact in facts:
        at = [Address(e.doc_id, e.start, e.end) for e in fact.evidence]
        told.append(
            {
                "subject": fact.subject.name,
                "predicate": fact.predicate,
                "object": fact.object.name,
                "evidence": [_placed(address, root) for address in at],
            }
        )
    return Json({"entity": center.to_dict(), "facts": told})


def _problems(desk: Desk, _request: Request, _given: Given) -> Response:
    return Json({"problems": [problem.to_dict() for problem in desk.base.problems()]})


def _overview(desk: Desk, _request: Request, _given: Given) -> Response:
    held = {name: [one.to_dict() for one in of] for name, of in desk.known().facets.items()}
    return Json({"name": desk.name, "counts": desk.base.counts().to_dict(), "facets": held})


ENDPOINTS = (
    Endpoint("/api/search", "The passages that answer a question best.", Searched, _search),
    Endpoint(
        "/api/ask",
        "An answer; with `Accept: text/event-stream` its draft as events `text`, then `answer`.",
        Asked,
        _ask,
        "POST",
    ),
    Endpoint("/api/documents", "The documents, with their status.", Listed, _documents),
    Endpoint(
        "/api/documents/{address:path}",
        "A document with its outline; of DOCUMENT:START-END the text there, with that around it.",
        Placed,
        _document,
    ),
    Endpoint("/api/tables/{name}", f"A table: {', '.join(Tabled.forms)}.", Tabled, _table),
    Endpoint(
        "/api/graph", "The facts around an entity, with where they are stated.", Around, _graph
    ),
    Endpoint("/api/problems", "What was read badly or not at all.", Given, _problems),
    Endpoint(
        "/api/overview",
        "How much is stored, and the values that documents are filtered by.",
        Given,
        _overview,
    ),
)


def routes(desk: Desk, endpoints: Sequence[Endpoint] = ENDPOINTS) -> list[Route]:
    """Return the routes of the API; its description has `endpoints`, which may be more."""

    async def described(_request: Request) -> Response:
        return Json(_openapi(endpoints))

    return [*(end.route(desk) for end in ENDPOINTS), Route("/openapi.json", described)]


def _openapi(endpoints: Sequence[Endpoint]) -> dict[str, object]:
    """Return the description of the API (OpenAPI 3.1)."""
    paths: dict[str, dict[str, object]] = {}
    for end in endpoints:
        schema = end.given.model_json_schema()
        told: dict[str, object] = {
            "summary": end.summary,
            "responses": {
                "200": {"description": "It.", "content": {"application/json": {}}},
                "400": {"description": "What is asked for is not allowed."},
                "404": {"description": "It is not held here."},
                "503": {"description": "Too many requests are being worked on: try again."},
            },
        }
        parameters = [
            {
                "name": name.split(":")[0],
                "in": "path",
                "required": True,
                "schema": {"type": "string"},
            }
            for name in _parameters(end.path)
        ]
        if end.method != "POST":
            parameters += [
                {
                    "name": name,
                    "in": "query",
                    "required": name in schema.get("required", ()),
                    "description": field.get("description", ""),
                    "schema": field,
                }
                for name, field in schema.get("properties", {}).items()
            ]
        else:
            told["requestBody"] = {"content": {end.media: {"schema": schema}}}
        paths.setdefault(_bare(end.path), {})[end.method.lower()] = told | {
            "parameters": parameters
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "kgrag", "version": "1"},
        "paths": paths,
    }


def _parameters(path: str) -> list[str]:
    return [part.partition("}")[0].partition(":")[0] for part in path.split("{")[1:]]


def _bare(path: str) -> str:
    return path.replace(":path}", "}")
