"""The command that serves a knowledge base to assistants by the Model Context Protocol."""

import os

import click

from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command, option
from kgrag.cli.printing import echo


@command()
def mcp(
    *,
    kb: str = KB,
    http: bool = option("Over HTTP instead of standard input and output."),
    host: str = option(
        "Address to listen at; any but this machine's own needs KGRAG_TOKEN.", default="127.0.0.1"
    ),
    port: int = option("Port to listen at.", type=click.IntRange(0, 65535), default=8765),
    allow_host: tuple[str, ...] = option(
        "Another name by which clients reach it; needs KGRAG_TOKEN.", metavar="NAME"
    ),
    url: str = option(
        "Where documents are shown; the beginning of all links.", default="http://127.0.0.1:8080/"
    ),
) -> None:
    """Serve a knowledge base to assistants: Model Context Protocol (MCP), read-only.

    An assistant starts it itself, over standard input and output; docs/mcp.md tells how.
    """
    from kgrag.serve.mcp_server import mcp_server, serve_http

    with opened(kb) as base:
        server = mcp_server(base, url=url)
        if http:
            serve_http(
                server,
                host=host,
                port=port,
                names=allow_host,
                token=os.environ.get("KGRAG_TOKEN", ""),
                ready=lambda address: echo(address, err=True),
            )
        else:
            server.run("stdio")


COMMANDS = (mcp,)
