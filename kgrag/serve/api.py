"""The HTTP API: every tool at `/api/NAME`, described as OpenAPI."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Literal

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kgrag.errors import BusyError, ConfigError, ModelError, NotFoundError, StoreUnavailableError
from kgrag.serve.desk import Desk, Emit, EventStream
from kgrag.serve.guard import ALIVE, READY
from kgrag.serve.inputs import read
from kgrag.statements.export import FORMS
from kgrag.statements.table import Table
from kgrag.text.messages import in_language
from kgrag.text.visible import json_line
from kgrag.tools import TOOLS
from kgrag.tools.arguments import Arguments, adapter, argument
from kgrag.tools.ask import Asked, answered
from kgrag.tools.results import with_urls
from kgrag.tools.tool import Tool
from kgrag.types import Language

_STATUS_OF: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (BusyError, 503),
    (StoreUnavailableError, 503),
    (ModelError, 502),
    (ConfigError, 400),
    (ValueError, 400),
)
_JSON = "application/json"
_Form = Literal["json", "xlsx", "csv", "docx", "html"]
_WITH_FORM: dict[str, type[Arguments]] = {}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_MEDIA: Mapping[str, str] = {
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}
_TEXTS = {"type": "array", "items": {"type": "string"}}  # steps and conditions, as texts
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["type", "message"]}},
}


class Json(JSONResponse):
    """A JSON response; control and invisible characters are escapes."""

    def render(self, content: object) -> bytes:
        """Return the body."""
        return json_line(content).encode()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of the server.

    Attributes:
        path: With parameters in braces.
        given: What it may be asked for; None where the handler reads the request by itself.
        make: Called in a thread with desk, request and what is asked for; a coroutine function
            is awaited.
        method: GET or POST.
        is_kept: Whether the response depends on the address and the state only.
        summary: In words, for the description of the API, which has no others.
        media: Of the body of a POST; only JSON and forms are read.
        gives: JSON schema of the response.
    """

    path: str
    given: type | None
    make: Callable[[Desk, Request, Any], Any]
    method: str = "GET"
    is_kept: bool = False
    summary: str = ""
    media: str = _JSON
    gives: Mapping[str, Any] | None = None

    def route(self, desk: Desk) -> Route:
        """Return its route."""

        async def respond(request: Request) -> Response:
            given: Any = None
            if self.given is not None and self.media == _JSON:
                given = await read(self.given, request, language_of(desk, request))
            if iscoroutinefunction(self.make):
                made: Response = await self.make(desk, request, given)
                return made
            work = partial(self.make, desk, request, given)
            return await (desk.kept(request, work) if self.is_kept else desk.run(work))

        return Route(self.path, respond, methods=[self.method])

    def described(self) -> dict[str, Any]:
        """Return its description in OpenAPI."""
        schema = adapter(self.given).json_schema() if self.given else {}
        refused = {_JSON: {"schema": _ERROR}}
        told: dict[str, Any] = {
            "summary": self.summary,
            "responses": {
                "200": {"description": "It.", "content": {_JSON: {"schema": self.gives or {}}}},
                "400": {"description": "What is asked for is not allowed.", "content": refused},
                "404": {"description": "It is not held here.", "content": refused},
                "503": {"description": "Too many requests: try again.", "content": refused},
            },
        }
        if self.method == "POST":
            return told | {"requestBody": {"content": {self.media: {"schema": schema}}}}
        fields = schema.get("properties", {}).items()
        told["parameters"] = [
            {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": _TEXTS if "$ref" in field.get("items", ()) else field,
                "description": field.get("description", ""),
            }
            for name, field in fields
            if "$defs" not in schema or name != "history"  # which only a body can hold
        ]
        return told


def failure(exc: Exception, request: Request, language: Language) -> Response:
    """Return an error as JSON, with the status for its kind; with Dify's code, too, for Dify."""
    said = in_language(exc, language)
    error: dict[str, object] = {"type": type(exc).__name__, "message": said}
    if isinstance(exc, NotFoundError) and exc.nearest:
        error["nearest"] = exc.nearest
    told: dict[str, object] = {"error": error}
    if request.url.path == "/retrieval":
        code = 2001 if isinstance(exc, NotFoundError) else status_of(exc)
        told |= {"error_code": code, "error_msg": said}
    retry = {"retry-after": "2"} if isinstance(exc, BusyError) else {}
    return Json(told, status_of(exc), retry)


def status_of(exc: Exception) -> int:
    """Return the HTTP status for an error."""
    return next((status for kind, status in _STATUS_OF if isinstance(exc, kind)), 500)


def root_of(request: Request) -> str:
    """Return the absolute address of the knowledge base, without a slash at its end."""
    return f"{request.url.scheme}://{request.url.netloc}"


def language_of(desk: Desk, request: Request) -> Language:
    """Return the language of what is shown: chosen by `lang`, kept in a cookie, or the desk's."""
    asked = request.query_params.get("lang") or request.cookies.get("kgrag-lang")
    return "en" if asked == "en" else "zh" if asked == "zh" else desk.language


def saved(data: bytes, name: str) -> Response:
    """Return a file to be saved, whose kind is that of its name's ending."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_MEDIA[name.rpartition(".")[2]], headers=headers)


def exported(table: Table, form: str, language: Language) -> Response:
    """Return a table as a file to be saved."""
    return saved(FORMS[form](table, language), f"kgrag-{table.name}.{form}")


def with_form(tool: Tool) -> type[Arguments]:
    """Return the arguments of a table with one for the form in which it is given."""
    if tool.name not in _WITH_FORM:
        kind, form = (
            tool.arguments,
            argument("JSON, or a file.", "JSON，或文件的格式。", default="json"),
        )
        made = {"__annotations__": {"form": _Form}, "form": form, "__doc__": kind.__doc__}
        of_tool = type(kind.__name__, (kind,), made)
        _WITH_FORM[tool.name] = dataclass(frozen=True, kw_only=True)(of_tool)
    return _WITH_FORM[tool.name]


def _run(desk: Desk, tool: Tool, given: Any) -> Any:
    return tool.run(desk.base, given)


def endpoint(tool: Tool, method: str, run: Callable[[Desk, Tool, Any], Any] = _run) -> Endpoint:
    """Return the endpoint of a tool; it takes the same in a query and in a body.

    Args:
        tool: It.
        method: GET or POST.
        run: Has a desk run the tool.
    """

    def respond(desk: Desk, request: Request, given: Any) -> Response:
        root = root_of(request)
        if tool.name == "ask" and "text/event-stream" in request.headers.get("accept", ""):
            return EventStream(desk, partial(_streamed, desk, given, root), given.lang)
        found = run(desk, tool, given)
        if getattr(given, "form", "json") != "json":
            return exported(found, given.form, given.lang)
        return Json(with_urls(found.to_dict(), root))

    kind = with_form(tool) if tool.is_table and not tool.curates else tool.arguments
    return Endpoint(
        f"/api/{tool.name}",
        kind,
        respond,
        method,
        is_kept=tool.is_kept and method == "GET",
        summary=tool.summary,
        gives=tool.gives,
    )


def _streamed(desk: Desk, given: Asked, root: str, emit: Emit) -> None:
    found = answered(desk.base, given, lambda text: emit("text", {"text": text}))
    emit("answer", with_urls(found.to_dict(), root))


def _description(_desk: Desk, request: Request, _given: None) -> Response:
    """Return the description of the API (OpenAPI 3.1)."""
    paths: dict[str, dict[str, object]] = {}
    for end in described(request):
        paths.setdefault(end.path, {})[end.method.lower()] = end.described()
    about = {"title": "kgrag", "version": "1"}
    return Json({"openapi": "3.1.0", "info": about, "paths": paths})


async def _probed(desk: Desk, request: Request, _given: None) -> Response:
    if request.url.path == READY:  # beside all other work: whoever waits for that is ready
        await anyio.to_thread.run_sync(desk.base.store.change_counter, abandon_on_cancel=True)
    return Json({"status": "ok", "process": os.getpid()})


def described(request: Request) -> list[Endpoint]:
    """Return the endpoints of the server that the description of its API has."""
    return [end for end in request.app.state.endpoints if end.summary]


ENDPOINTS = (
    *(
        endpoint(tool, method)
        for tool in TOOLS.values()
        if not tool.curates
        for method in ("GET", "POST")
    ),
    Endpoint("/openapi.json", None, _description),
    *(Endpoint(path, None, _probed) for path in (ALIVE, READY)),
)
