"""The command that serves a knowledge base to assistants by the Model Context Protocol."""

from kgrag.cli.opened import opened
from kgrag.cli.options import KB, command, option
from kgrag.errors import needs_extra


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


COMMANDS = (mcp,)
