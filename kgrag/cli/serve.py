"""Commands that serve knowledge bases: pages in a browser and an HTTP API; to assistants by MCP."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from kgrag.cli.chinese import told
from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command, option
from kgrag.cli.printing import say
from kgrag.errors import KgragError, needs_extra

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase

_EVERY = ("0.0.0.0", "::")
_ENDED = "process {number} ended: another one is started"
_IS_LINUX = sys.platform == "linux"


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
        type=click.IntRange(1, 64 if os.name == "posix" else 1),  # which inherits sockets
        default=1,
    ),
) -> None:
    """Serve a knowledge base: a page to ask and check, an HTTP API, for one or many users.

    What is served can only be read, but with --allow-ingest. With KGRAG_TOKEN in the environment
    that key is required.
    """
    with needs_extra("serve", "kgrag serve"):
        from kgrag.serve.app import WORKER, application, listen, serve, supervise
        from kgrag.serve.desk import Desk
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
    with listen(host, port, has_keys=bool(keys)) as (listening, address):
        ready, is_worker = partial(_print_ready, address, open_), WORKER in os.environ
        if workers > 1 and not is_worker:
            with opened(kb):  # what is wrong with it is said once
                ready()
            supervise(workers, listening, ended=lambda n: say(_ENDED, number=n, err=True))
        with opened(kb) as base:
            desk = Desk(base, language=lang, uploads=uploads and uploads.absolute())
            app = application(desk, keys=keys, hosts=hosts, url=address)
            with _warm(base) if is_worker else nullcontext(ready) as told_ready:
                serve(app, listening, ready=told_ready)


def _print_ready(address: str, is_shown: bool) -> None:
    say("{address} (Ctrl-C ends it)", address=address, err=True)
    if is_shown and click.launch(address):
        say("no browser of this machine opens it", err=True)


@contextmanager
def _warm(base: "KnowledgeBase") -> Iterator[Callable[[], None]]:
    """Load encoder and indexes, and yield what says so; end with the process that started this."""

    def end() -> None:
        os.read(0, 1)  # standard input is a pipe, which the system closes
        os.kill(os.getpid(), signal.SIGTERM)

    def ready() -> None:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1]) if _IS_LINUX else 0
        mb = pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000
        say("process {number} is ready: {mb} MB of memory", number=os.getpid(), mb=mb, err=True)

    threading.Thread(target=end, daemon=True).start()
    with suppress(KgragError):  # whoever asks is told
        base.search("目标", top_k=1)
    with suppress(KeyboardInterrupt):  # the one that started this says so
        yield ready


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
