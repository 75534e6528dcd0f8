"""Templates, and words of pages in both languages."""

import re
from collections.abc import Sequence
from datetime import date
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from urllib.parse import urlencode

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from kgrag.errors import NotFoundError
from kgrag.serve.api import language_of
from kgrag.serve.desk import Desk
from kgrag.status import mark
from kgrag.text.messages import catalogue, in_language
from kgrag.text.visible import visible, without_folders
from kgrag.tools.results import place_url
from kgrag.types import Language

_NAME = re.compile("[a-z_]+")  # of a status or table
_ENGLISH = {
    "NotFoundError": "That was not found; look at names, regions and other conditions.",
    "OutOfRangeError": "What was asked for is not allowed.",
    "GarbledTextError": "The text was damaged on its way here.",
    "BusyError": "Too many questions at once: try again shortly.",
    "ConfigError": "A setting is wrong.",
    "StoreUnavailableError": "The knowledge base cannot be read just now.",
    "StoreError": "The knowledge base has a problem.",
    "ModelError": "The model did not answer.",
    "not_yet": "not yet in force",
    "over": "period over",
    "superseded": "there is a later edition",
    "unknown": "date unknown",
}


@cache
def _version() -> str:
    """Return what stands behind the addresses of static files: it changes with any of them."""
    folders = [resources.files(name) / "static" for name in ("kgrag.serve", "kgrag.drawing")]
    files = sorted((f.name, f.read_bytes()) for folder in folders for f in folder.iterdir())
    return sha256(b"".join(content for _, content in files)).hexdigest()[:16]


@cache
def _environment() -> jinja2.Environment:
    """Return the templates; every text in them is escaped, and made visible."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("kgrag.serve"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: (
            visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    made.filters["without_folders"] = without_folders
    return made


def said(text: str, language: Language) -> str:
    """Return words of a page in a language; in English without a translation."""
    if language == "en":
        return _ENGLISH.get(text) or (text.replace("_", " ") if _NAME.fullmatch(text) else text)
    return str(catalogue("kgrag.serve").get(text, text))


def entity_url(name: str) -> str:
    """Return where an entity is shown."""
    return f"/graph?{urlencode({'entity': name})}"


def rendered(desk: Desk, request: Request, template: str, **values: object) -> str:
    """Return a template as HTML."""
    language = language_of(desk, request)

    def words(text: str, **inserted: object) -> str:
        return said(text, language).format(**inserted)

    return (
        _environment()
        .get_template(template)
        .render(
            desk=desk,
            language=language,
            _=words,
            in_language=partial(in_language, language=language),
            here=request.url.path,
            query=request.query_params,
            other_language=_with(request, lang="en" if language == "zh" else "zh"),
            place=partial(place_url, ""),
            entity=entity_url,
            facets=lambda: desk.known().facets,
            version=_version(),
            this_year=date.today().year,
            mark=lambda status: mark(status, language),
            with_=partial(_with, request),
            **values,
        )
    )


def _with(request: Request, **changed: str | Sequence[str]) -> str:
    """Return the address of this page with other fields of its query; empty ones are dropped."""
    fields = [(k, v) for k, v in request.query_params.multi_items() if k not in changed]
    return "?" + urlencode([*fields, *((k, v) for k, v in changed.items() if v)], doseq=True)


def instead(request: Request, exc: NotFoundError) -> list[tuple[str, str]]:
    """Return the nearest names, each with the address of this page for it."""
    fields = [k for k, v in request.query_params.items() if v.strip() == exc.name]
    if fields:
        return [(n, _with(request, **dict.fromkeys(fields, n))) for n in exc.nearest]
    return [(n, place_url("", n)) for n in exc.nearest]


def page(desk: Desk, request: Request, template: str, **values: object) -> Response:
    """Return a page; a chosen language is kept."""
    response = HTMLResponse(rendered(desk, request, template, **values))
    if (chosen := request.query_params.get("lang")) in ("zh", "en"):
        response.set_cookie("kgrag-lang", chosen, 31_536_000, samesite="lax")
    return response
