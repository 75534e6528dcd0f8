"""Who may send a request: names of the host, origins, keys; and headers of every response."""

import hashlib
import hmac
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "kgrag-session"
LOGIN = "/login"
_STATIC = "/static/"
_OPEN = (LOGIN, _STATIC)  # what is served without a key
ALIVE, READY = "/healthz", "/readyz"  # asked without a key, by any name; they tell nothing else
_WRONG_S = 0.5  # until a wrong key is answered, one after the other
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEADERS = {
    # Nothing is loaded from elsewhere or framed, and no script or style stands in a page.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer browsers send a form with the origin `null`, which is refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}


class Guard:
    """ASGI middleware that refuses requests of other sites and of those without a key.

    A page of another site can have a browser send requests to a server on this machine, under its
    own name (cross-site request forgery) or under a name that it has point here (DNS rebinding).
    So the `Host` must be one of ours, and requests that another site caused are refused, but for
    links to a page.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str], keys: Sequence[str] = ()) -> None:
        """Initialise.

        Args:
            app: The application.
            hosts: Names and addresses of this server, besides those of the loopback interface.
            keys: Any of them is required; none are if it is empty.
        """
        self._app = app
        self._hosts = frozenset((*LOOPBACK, *(host.strip("[]").lower() for host in hosts)))
        self._keys = tuple(keys)
        self._sessions = {key: _session(key) for key in keys}
        self._guesses: anyio.Lock | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})["session_of"] = self.session_of
        refused = await self._refusal(scope)
        await (refused or self._app)(scope, receive, _with_headers(scope, send))

    async def session_of(self, key: str) -> str:
        """Return the value of the cookie for a key; empty, after a while, if it is not ours."""
        given = key.encode("utf-8", "replace")
        if any(hmac.compare_digest(given, own.encode()) for own in self._keys):
            return self._sessions[key]
        self._guesses = self._guesses or anyio.Lock()
        async with self._guesses:
            await anyio.sleep(_WRONG_S)
        return ""

    async def _refusal(self, scope: Scope) -> Response | None:
        if scope["path"] in (ALIVE, READY):
            return None
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return PlainTextResponse(
                "this server is not called so; start it with --allow-host NAME", 421
            )
        if _comes_from_elsewhere(scope, headers, host):
            return PlainTextResponse("requests of other sites are refused", 403)
        path = scope["path"]
        if not self._keys:
            return None
        scheme, _, key = headers.get("authorization", "").partition(" ")
        bearer = key.strip() if scheme.lower() == "bearer" else ""
        if path.startswith(_OPEN):
            return None
        if await self.session_of(bearer) if bearer else self._has_session(headers):
            return None
        return self._without_key(scope, headers, path)

    def _has_session(self, headers: Headers) -> bool:
        session = _cookie(headers, COOKIE).encode()
        return any(hmac.compare_digest(session, s.encode()) for s in self._sessions.values())

    @staticmethod
    def _without_key(scope: Scope, headers: Headers, path: str) -> Response:
        if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            query = scope["query_string"].decode("latin-1")
            asked = quote(f"{scope['path']}?{query}".rstrip("?"), safe="")
            return RedirectResponse(f"{LOGIN}?next={asked}", 303)
        said = "a key is needed: Authorization: Bearer KEY"
        told: dict[str, object] = {"error": {"type": "unauthorized", "message": said}}
        if path == "/retrieval":  # Dify's codes for a header of another form, and for a wrong key
            has_form = headers.get("authorization", "").lower().startswith("bearer ")
            told |= {"error_code": 1002 if has_form else 1001, "error_msg": said}
        return JSONResponse(told, 401, {"www-authenticate": "Bearer"})


def _session(key: str) -> str:
    """Return a key's cookie: in every process the same; slow (RFC 7914), so that none guesses."""
    return hashlib.scrypt(
        key.encode("utf-8", "replace"), salt=b"kgrag-session", n=1 << 14, r=8, p=1, dklen=32
    ).hex()


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _comes_from_elsewhere(scope: Scope, headers: Headers, host: str) -> bool:
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        return True
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    followed = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
    return not followed


def _cookie(headers: Headers, name: str) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _with_headers(scope: Scope, send: Send) -> Send:
    # A static file whose address has a version never changes.
    path = scope["path"]
    has_version = path.startswith(_STATIC) and scope["query_string"]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            is_static = has_version and message["status"] == 200
            for name, value in (_HEADERS | (_FOR_EVER if is_static else {})).items():
                headers.setdefault(name, value)
        await send(message)

    return sending
