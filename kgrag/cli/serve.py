"""Commands that serve knowledge bases: pages in a browser and an HTTP API; to assistants by MCP."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from socket import socket
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import click

from kgrag.cli.chinese import told
from kgrag.cli.failures import ended_by_signals
from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command, option
from kgrag.cli.printing import log_to_stderr, say
from kgrag.errors import KgragError, needs_extra
from kgrag.text.messages import said_by

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.types import Language

_EVERY = ("0.0.0.0", "::")


@command()
def serve(
    *,
    kb: str = KB,
    host: str = option(
        "Address to listen at; for any but this machine's own KGRAG_TOKEN must be set.",
        default="127.0.0.1",
    ),
    port: int = option("Port to listen at.", type=click.IntRange(0, 65_535), default=8080),
    allow_host: tuple[str, ...] = option(
        "A name of this machine that browsers may ask for.", metavar="NAME"
    ),
    allow_ingest: bool = option("Readers may add, correct and delete documents, merge entities."),
    uploads: Path | None = option(
        "Where added files are kept; KB/uploads by default.",
        type=click.Path(path_type=Path),
        metavar="DIRECTORY",
    ),
    lang: Literal["zh", "en"] = option("Language of the pages.", default="zh"),
    open_: bool = option("Open the page in the browser.", "--open"),
    workers: int = option(
        "Processes that answer, each with its own memory; one that dies is replaced.",
        type=click.IntRange(1, 64),
        default=1,
    ),
) -> None:
    """Serve a knowledge base: a page to ask and check, an HTTP API, for one or many users.

    What is served can only be read, but with --allow-ingest. With KGRAG_TOKEN in the environment
    that key is required.
    """
    with needs_extra("serve", "kgrag serve"):
        from kgrag.serve.app import listen, supervise
    keys = [key for key in (os.environ.get("KGRAG_TOKEN"),) if key]
    hosts = [*allow_host, *([] if host in _EVERY else [host])]
    if allow_host and not keys:
        raise click.UsageError(
            told("--allow-host needs KGRAG_TOKEN: others can reach it by that name")
        )
    if uploads and not allow_ingest:
        raise click.UsageError(told("--uploads goes with --allow-ingest"))
    if allow_ingest and uploads is None:
        if "://" in kb:
            raise click.UsageError(
                told("a knowledge base on a server has no folder: name one by --uploads")
            )
        uploads = Path(kb) / "uploads"
    uploads = uploads and uploads.absolute()
    with listen(host, port, has_keys=bool(keys)) as (listening, url):

        def ready(_base: object = None) -> None:
            say("{address} (Ctrl-C ends it)", address=url, err=True)
            if open_ and click.launch(url):
                say("no browser of this machine opens it", err=True)

        config = click.get_current_context().obj
        served = partial(
            _serve,
            listening,
            kb,
            config,
            lang=lang,
            uploads=uploads,
            keys=keys,
            hosts=hosts,
            url=url,
        )
        if workers == 1:
            served(ready)
            return
        with opened(kb):  # what is wrong with it is said once
            ready()
        supervise(workers, partial(_work, served), _print_worker)


def _serve(
    listening: socket,
    kb: str,
    config: "Config",
    ready: "Callable[[KnowledgeBase], None]",
    *,
    lang: "Language",
    uploads: Path | None,
    keys: list[str],
    hosts: list[str],
    url: str,
) -> None:
    """Serve a knowledge base at a socket until this process is stopped."""
    from kgrag.serve.app import application, serve
    from kgrag.serve.desk import Desk

    with opened(kb, config=config) as base:
        app = application(
            Desk(base, language=lang, uploads=uploads), keys=keys, hosts=hosts, url=url
        )
        serve(app, listening, ready=partial(ready, base))


def _work(served: "Callable[[Callable[[KnowledgeBase], None]], None]", sending: Connection) -> None:
    """Serve in a process that another one started, and end with that one, however it ends."""

    def ready(base: "KnowledgeBase") -> None:
        with suppress(KgragError):  # whoever asks is told
            base.search("目标", top_k=1)  # loads the encoder and the indexes
        sending.send(_memory_mb())

    def end_with_parent() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    log_to_stderr(logging.WARNING)
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        with ended_by_signals():
            served(ready)
    except KeyboardInterrupt:
        pass
    except KgragError as exc:
        sending.send(said_by(exc))


def _memory_mb() -> int:
    """Return the resident memory of this process, in MB; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000
    except (OSError, AttributeError):  # no Linux
        return 0


def _print_worker(number: int, said: object) -> None:
    if isinstance(said, int):
        say("process {number} is ready: {mb} MB of memory", number=number, mb=said, err=True)
    elif said is None:
        say("process {number} ended: another one is started", number=number, err=True)
    else:
        say("process {number}: {error}", number=number, error=said, err=True)


def _proxy(of: Mapping[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(of)


ForkingPickler.register(MappingProxyType, lambda of: (_proxy, (dict(of),)))  # stands in settings


@command()
def mcp(
    *,
    kb: str = KB,
    url: str = option(
        "Where documents are shown; the beginning of all links.", default="http://127.0.0.1:8080/"
    ),
) -> None:
    """Serve a knowledge base to an assistant: Model Context Protocol (MCP), read-only.

    The assistant starts it itself, and talks to it over standard input and output; docs/mcp.md
    tells how. `kgrag serve` does the same over HTTP.
    """
    with needs_extra("mcp", "the MCP server"):
        from kgrag.serve.desk import Desk
        from kgrag.serve.mcp_server import mcp_server

    with opened(kb) as base:
        mcp_server(Desk(base), url=url).run("stdio")


COMMANDS = (serve, mcp)
