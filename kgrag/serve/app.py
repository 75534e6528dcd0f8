"""The server: knowledge bases as one ASGI application."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import partial
from importlib.util import find_spec
from socket import AF_INET, AF_INET6, create_server, socket
from typing import Any, NoReturn

import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message

from kgrag.errors import ConfigError, KgragError
from kgrag.serve import api, compatible, pages, writing
from kgrag.serve.desk import Desk
from kgrag.serve.guard import LOOPBACK, Guard
from kgrag.serve.inputs import body_of

_GRACE_S = 2  # for requests under way at the end
WORKER = "KGRAG_SOCKET"  # of a process that `supervise` started: the socket's number
_QUEUE = 2048  # connections that wait to be accepted
_AGAIN_S = 1  # before a process that ended is replaced
_ENDED_S = 15  # until one that does not end is killed: it may be storing a document
_Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]


def application(
    desk: Desk,
    *,
    keys: Sequence[str] = (),
    hosts: Sequence[str] = (),
    url: str = "http://127.0.0.1:8080/",
) -> ASGIApp:
    """Return the application for a knowledge base.

    Args:
        desk: It.
        keys: Any of them opens it; none is needed where there is none.
        hosts: Names of this server besides those of the loopback interface.
        url: Of the application, for links in what assistants are told.
    """
    endpoints = [*api.ENDPOINTS, *compatible.ENDPOINTS, *pages.ENDPOINTS]
    routes: list[BaseRoute] = [pages.STATIC]
    if desk.writable:
        endpoints += writing.ENDPOINTS
    else:
        routes += [
            Route(end.path, writing.refused, methods=[end.method]) for end in writing.ENDPOINTS
        ]
    lifespans: list[_Lifespan] = []
    if find_spec("mcp"):  # the extra of that name is installed
        lifespans = [_add_mcp(desk, url, routes)]

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for lifespan in lifespans:
                await stack.enter_async_context(lifespan(app))
            yield
            await anyio.to_thread.run_sync(desk.ingesting.end)

    failed = partial(pages.failed, desk)
    app = Starlette(
        routes=[*(end.route(desk) for end in endpoints), *routes],
        lifespan=running,
        exception_handlers={KgragError: failed, ValueError: failed, 404: failed},
    )
    app.state.endpoints = endpoints
    return GZipMiddleware(Guard(app, hosts=hosts, keys=keys))


def _add_mcp(desk: Desk, url: str, routes: list[BaseRoute]) -> _Lifespan:
    """Add the routes of the MCP server; return what runs beside them."""
    from mcp.server.transport_security import TransportSecuritySettings

    from kgrag.serve.mcp_server import mcp_server

    app = mcp_server(desk, url=url).streamable_http_app(
        stateless_http=True,
        json_response=True,
        # `Guard` looks at host and origin.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    async def posted(_desk: Desk, request: Request, _given: None) -> Any:
        parts: list[Message] = [{"type": "http.request", "body": await body_of(request)}]

        async def received() -> Message:
            return parts.pop() if parts else await request.receive()

        return lambda scope, _receive, send: app(scope, received, send)

    async def no_stream(_request: Request) -> Response:
        return Response(status_code=405, headers={"allow": "POST"})

    routes += [
        api.Endpoint("/mcp", None, posted, "POST").route(desk),
        # The protocol permits it (2025-06-18, Streamable HTTP); a stream would never end.
        Route("/mcp", no_stream, methods=["GET", "DELETE"]),
    ]
    return app.router.lifespan_context


def serve(app: ASGIApp, listening: socket, *, ready: Callable[[], None]) -> None:
    """Serve an application until it is stopped; requests under way are finished.

    Args:
        app: It.
        listening: From `listen`.
        ready: Called once it can be asked.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        # Accepted one by one: a process that is woken would else take all that wait, of others too.
        backlog=1,
        timeout_graceful_shutdown=_GRACE_S,
        ws="none",
    )
    _Server(config, ready).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_QUEUE)
        self._ready()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End; what is not finished after `_GRACE_S` is cut off, which is no error to be logged."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def supervise(n: int, listening: socket, *, ended: Callable[[int], None]) -> NoReturn:
    """Run this command as so many processes that serve at a socket, until this one is stopped.

    Args:
        n: Their number; one that ends is replaced. They end with this process, however it ends.
        listening: From `listen`, which returns it there, too.
        ended: Called with the number of one.
    """
    processes: list[subprocess.Popen[bytes]] = []
    try:
        while True:
            for process in [one for one in processes if one.poll() is not None]:
                processes.remove(process)
                ended(process.pid)
            processes += [
                subprocess.Popen(
                    [sys.executable, *sys.orig_argv[1:]],
                    env={**os.environ, WORKER: str(listening.fileno())},
                    pass_fds=[listening.fileno()],
                    stdin=subprocess.PIPE,  # closed by the system when this process has ended
                    start_new_session=True,  # Ctrl-C is for this one
                )
                for _ in range(n - len(processes))
            ]
            time.sleep(_AGAIN_S)
    finally:
        for process in processes:
            process.terminate()
        until = time.monotonic() + _ENDED_S
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0, until - time.monotonic()))
            process.kill()


@contextmanager
def listen(host: str, port: int, *, has_keys: bool) -> Iterator[tuple[socket, str]]:
    """Yield a socket that listens, and the address of the server in a browser.

    Args:
        host: Address to listen at.
        port: 0 for a free one.
        has_keys: Whether keys are required.

    Raises:
        ConfigError: If others could reach it without a key, or the address cannot be used.
    """
    if host not in LOOPBACK and not has_keys:
        raise ConfigError(
            "{host} can be reached from other machines: set the environment variable "
            "KGRAG_TOKEN to a key that they have to give, or serve at 127.0.0.1",
            host=host,
        )
    try:
        family, held = AF_INET6 if ":" in host else AF_INET, os.environ.get(WORKER)
        made = socket(fileno=int(held)) if held else create_server((host, port), family=family)
    except (OSError, OverflowError) as exc:
        raise ConfigError(
            "cannot listen at {host}, port {port}: {error}; name another --host or --port",
            host=host,
            port=port,
            error=exc,
        ) from exc
    with made:
        shown = f"[{host}]" if ":" in host else host
        yield made, f"http://{shown}:{made.getsockname()[1]}/"
