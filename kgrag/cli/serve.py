"""Commands that serve knowledge bases: pages in a browser and an HTTP API; to assistants by MCP."""

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click

from kgrag.cli.chinese import told
from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command, option
from kgrag.cli.printing import say
from kgrag.errors import needs_extra

_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_-]{0,63})=(?P<place>.+)", re.DOTALL)
_KEY = "KGRAG_TOKEN"
_EVERY = ("0.0.0.0", "::")


@command()
def serve(
    *,
    kb: str = KB,
    named: tuple[str, ...] = option(
        "A knowledge base by name, instead of --kb; several have pages below their names.",
        "--base",
        metavar="NAME=KB",
    ),
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
    a key is required; KGRAG_TOKEN_NAME, the name in capitals, is that of one of several bases.
    """
    with needs_extra("serve", "kgrag serve"):
        from kgrag.serve.app import application, listen, serve
        from kgrag.serve.desk import Desk
    places = dict(map(_named, named)) if named else {"kgrag": kb}
    keys = {name: [key for key in map(os.environ.get, _variables(name)) if key] for name in places}
    hosts = [*allow_host, *([] if host in _EVERY else [host])]
    has_keys = all(keys.values())
    if allow_host and not has_keys:
        raise click.UsageError(
            told("--allow-host needs KGRAG_TOKEN: others can reach it by that name")
        )
    folders = _folders(places, uploads, allow_ingest)
    with ExitStack() as stack:
        listening, address = stack.enter_context(listen(host, port, has_keys=has_keys))
        desks = []
        for name, place in places.items():
            base = stack.enter_context(opened(place))
            desks.append(Desk(base, name, lang, folders.get(name)))

        def ready() -> None:
            say("{address} (Ctrl-C ends it)", address=address, err=True)
            if open_ and click.launch(address):
                say("no browser of this machine opens it", err=True)

        app = application(desks, keys=keys, hosts=hosts, url=address)
        serve(app, listening, ready=ready)


def _named(text: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(text)
    if match is None:
        raise click.BadParameter(
            told("it is NAME=KB, the name of letters, digits, _ and -, got {text!r}", text=text),
            param_hint="--base",
        )
    return match["name"], match["place"]


def _folders(places: Mapping[str, str], uploads: Path | None, allowed: bool) -> dict[str, Path]:
    """Return where the files that readers add are kept, by name of a knowledge base."""
    if not allowed:
        if uploads:
            raise click.UsageError(told("--uploads goes with --allow-ingest"))
        return {}
    if uploads is None and any("://" in place for place in places.values()):
        raise click.UsageError(
            told("a knowledge base on a server has no folder: name one by --uploads")
        )
    if uploads is None:
        found = {name: Path(place) / "uploads" for name, place in places.items()}
    else:
        several = len(places) > 1
        found = {name: uploads / name if several else uploads for name in places}
    return {name: folder.absolute() for name, folder in found.items()}


def _variables(name: str) -> tuple[str, str]:
    return _KEY, f"{_KEY}_{name.upper().replace('-', '_')}"


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
