"""Commands that serve knowledge bases: pages in a browser and an HTTP API; to assistants by MCP."""

import os
from pathlib import Path
from typing import Literal

import click

from kgrag.cli.chinese import told
from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command, option
from kgrag.cli.printing import say
from kgrag.errors import needs_extra

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
) -> None:
    """Serve a knowledge base: a page to ask and check, an HTTP API, for one or many users.

    What is served can only be read, but with --allow-ingest. With KGRAG_TOKEN in the environment
    that key is required.
    """
    with needs_extra("serve", "kgrag serve"):
        from kgrag.serve.app import application, listen, serve
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
    with listen(host, port, has_keys=bool(keys)) as (listening, address), opened(kb) as base:

        def ready() -> None:
            say("{address} (Ctrl-C ends it)", address=address, err=True)
            if open_ and click.launch(address):
                say("no browser of this machine opens it", err=True)

        desk = Desk(base, language=lang, uploads=uploads and uploads.absolute())
        serve(application(desk, keys=keys, hosts=hosts, url=address), listening, ready=ready)


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
