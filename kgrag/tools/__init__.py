"""What can be asked of a knowledge base: each tool is written once, and every door is made of it.

The command line, `/api/NAME`, the MCP server, the functions of a chat model, the forms of pages and
`TOOLS["compare"](base, indicator="…")` take the same arguments. A module here that declares a tool
is all that a new one needs.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from kgrag.tools.tool import TOOLS

__all__ = ["TOOLS", "schemas"]

# Of tools; the other modules are families of them.
_PARTS = ("arguments", "for_models", "results", "tool")
for _module in iter_modules(__path__):
    if _module.name not in _PARTS:
        import_module(f"{__name__}.{_module.name}")


def schemas() -> list[dict[str, Any]]:
    """Return the tools that only read as functions for a chat model, as OpenAI's API has them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.summary,
                "parameters": tool.schema(),
            },
        }
        for tool in TOOLS.values()
        if not tool.curates
    ]
