"""The command for documents that are stored: their list, and what was read badly."""

from collections import Counter
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import amount, json_option, kb_option, opened
from kgrag.cli.printing import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgrag.problems import ReadingProblem
    from kgrag.types import Document


@click.group(invoke_without_command=True)
@kb_option
@click.option("--problems", is_flag=True, help="List what was read badly or not at all.")
@json_option
@click.pass_context
def docs(ctx: click.Context, kb: str, problems: bool, as_json: bool) -> None:
    """List the documents."""
    if ctx.invoked_subcommand is not None:
        return
    with opened(ctx, kb) as base:
        if problems:
            _print_problems(base.problems(), as_json)
        else:
            _print_cards(base.documents(), as_json)


def _print_cards(cards: "Sequence[Document]", as_json: bool) -> None:
    for card in cards:
        if as_json:
            print_json(card.card_dict())
        else:
            echo(f"{card.doc_id}  {card.title}  ({card.file})")


def _print_problems(problems: "Sequence[ReadingProblem]", as_json: bool) -> None:
    """Print a line for each, and how many there are of each kind."""
    for problem in problems:
        if as_json:
            print_json(problem.to_dict())
        else:
            echo(f"{problem.kind}: {problem.file}: {problem.detail}; {problem.remedy}")
    counts = Counter(problem.kind for problem in problems)
    shown = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    echo(
        f"{amount(len(problems), 'problem')}: {shown}" if problems else "all was read",
        err=as_json,
    )


COMMANDS = (docs,)
