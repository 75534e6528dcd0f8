"""What every command shares: options, opening the knowledge base, amounts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from kgrag.cli_print import echo

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase

_F = TypeVar("_F", bound=Callable[..., object])

EXISTING = click.Path(exists=True, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def kb_option(command: _F) -> _F:
    """Add `--kb` to a command."""
    return click.option(
        "--kb",
        default="kb",
        envvar="KGRAG_KB",
        show_default=True,
        show_envvar=True,
        help="Folder of the knowledge base, or its address: bolt://HOST:7687[#NAME], neo4j://….",
    )(command)


def json_option(command: _F) -> _F:
    """Add `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


@contextmanager
def opened(ctx: click.Context, kb: str, *, create: bool = False) -> Iterator["KnowledgeBase"]:
    """Open the knowledge base of a command and close it after."""
    from kgrag.api import KnowledgeBase

    with KnowledgeBase.open(kb, create=create, config=ctx.obj) as knowledge_base:
        if create and not knowledge_base.store.all_meta():  # it is new
            print_foreign(knowledge_base.store.count_foreign())
        yield knowledge_base


def print_foreign(n: int) -> None:
    """Say that nodes of other programs stand beside ours in a database, where there are any."""
    if n:
        echo(
            f"note: {amount(n, 'node')} of other programs under the same labels "
            f"{'is' if n == 1 else 'are'} left alone",
            err=True,
        )


def index_share(seconds: float) -> str:
    """Return what the search indexes took of a time, in brackets; nothing for less than a second.

    >>> index_share(405.2), index_share(0.3)
    (' (405 s of it for the search indexes)', '')
    """
    return f" ({seconds:.0f} s of it for the search indexes)" if seconds >= 1 else ""


def amount(n: int, one: str, more: str = "") -> str:
    """Return a number of things in words; `more` is the plural where an s does not make it.

    >>> amount(1, "file"), amount(0, "file"), amount(2, "summary", "summaries")
    ('1 file', '0 files', '2 summaries')
    """
    return f"{n} {one if n == 1 else more or one + 's'}"
