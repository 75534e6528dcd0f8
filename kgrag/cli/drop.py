"""The command that deletes a whole knowledge base from a server: drop."""

import sys

import click

from kgrag.cli.options import amount, kb_option
from kgrag.cli.printing import echo


@click.command()
@kb_option
@click.option("--yes", is_flag=True, help="Do not ask first.")
def drop(kb: str, yes: bool) -> None:
    """Delete a whole knowledge base from a server: documents, settings, indexes.

    Other knowledge bases of the same database, and what other programs have there, stay.
    """
    if "://" not in kb:
        raise click.UsageError(f"{kb} is a folder: delete it as any other")
    from kgrag.store.neo4j.drop import documents_held, drop

    held = f"{kb}: {amount(documents_held(kb), 'document')}"
    if not yes and not _is_wanted(held):
        echo("nothing was deleted")
        return
    drop(kb)
    echo(f"dropped {held}")


def _is_wanted(held: str) -> bool:
    """Ask whether all of a knowledge base may go.

    Raises:
        UsageError: If nobody is there to answer.
    """
    if not _at_a_terminal():
        raise click.UsageError("nobody is there to ask: --yes drops it")
    return click.confirm(f"{held}. Delete all of it?", err=True)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


COMMANDS = (drop,)
