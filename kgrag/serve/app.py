"""The server: knowledge bases as one ASGI application."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from kgrag.errors import ConfigError
from kgrag.serve import api, compatible, pages
from kgrag.serve.desk import Desk
from kgrag.serve.guard import LOOPBACK, Guard
from kgrag.serve.rendering import page

_GRACE_S = 10
_BACKLOG = 100


def application(
    desks: Sequence[Desk], *, keys: Mapping[str, Sequence[str]], hosts: Sequence[str] = ()
) -> ASGIApp:
    """Return the application for one knowledge base, or several below their names.

    Args:
        desks: At least one.
        keys: By name of a knowledge base those that open it; none is needed where there is none.
        hosts: Names of this server besides those of the loopback interface.
    """
    if len(desks) == 1:
        return _guarded(desks[0], keys, hosts)
    mounts = [Mount(f"/{desk.name}", _guarded(desk, keys, hosts)) for desk in desks]

    async def index(request: Request) -> Response:
        return page(desks[0], request, "index.html", names=[desk.name for desk in desks])

    return Guard(Starlette(routes=[Route("/", index), *mounts]), hosts=hosts)


def _guarded(desk: Desk, keys: Mapping[str, Sequence[str]], hosts: Sequence[str]) -> ASGIApp:
    routes = [*api.routes(desk), *compatible.routes(desk), *pages.routes(desk)]
    return Guard(Starlette(routes=routes), hosts=hosts, keys=keys.get(desk.name, ()))


def serve(
    app: ASGIApp, *, host: str, port: int, has_keys: bool, ready: Callable[[str], None]
) -> None:
    """Serve an application until it is stopped; requests under way are finished.

    Args:
        app: It.
        host: Address to listen at.
        port: 0 for a free one.
        has_keys: Whether keys are required.
        ready: Called with the address of the first page, once it can be asked.

    Raises:
        ConfigError: If others could reach it without a key, or the address cannot be used.
    """
    if host not in LOOPBACK and not has_keys:
        raise ConfigError(
            f"{host} can be reached by others: set KGRAG_TOKEN to a key that they have to give, or "
            "serve at 127.0.0.1"
        )
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="off",
    )
    with listening(host, port) as (socket, address):
        _Server(config, lambda: ready(address)).run(sockets=[socket])


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._ready()


@contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket, str]]:
    """Yield a socket that listens, and the address of the server in a browser.

    Raises:
        ConfigError: If the address cannot be used.
    """
    family = AF_INET6 if ":" in host else AF_INET
    made = socket(family, SOCK_STREAM)
    try:
        made.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        try:
            made.bind((host, port))
            made.listen(_BACKLOG)
        except (OSError, OverflowError) as exc:
            raise ConfigError(
                f"cannot listen at {host}, port {port}: {exc}; name another --host or --port"
            ) from exc
        shown = f"[{host}]" if family == AF_INET6 else host
        yield made, f"http://{shown}:{made.getsockname()[1]}/"
    finally:
        made.close()
