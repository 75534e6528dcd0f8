"""The command for documents that are stored: their list, and what was read badly."""

from collections import Counter
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import said
from kgrag.cli.options import amount, as_of_option, json_option, kb_option, opened
from kgrag.cli.printing import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kgrag.problems import ReadingProblem
    from kgrag.status import Status
    from kgrag.types import Document


_FIELDS = (
    ("title", "TITLE", "Title of the body"),
    ("issuer", "NAMES", "Organs that issued it, divided by 、"),
    ("number", "NUMBER", "文号"),
    ("date", "DATE", "Of issue: 2022-03-05"),
    ("written", "DATE", "When it was signed"),
    ("effective", "DATE", "From when it is in force"),
    ("expires", "DATE", "Until when"),
    ("region", "PLACES", "That it governs: 四川省、成都市; 全国"),
    ("level", "LEVEL", "国家, 部门, 省, 市, 县"),
    ("kind", "WORD", "文种: 通知, 实施方案"),
    ("status", "WORDS", "试行, 征求意见稿, 废止"),
    ("recipients", "NAMES", "To whom it is addressed"),
)


@click.group(invoke_without_command=True)
@kb_option
@click.option("--problems", is_flag=True, help="List what was read badly or not at all.")
@as_of_option(
    "Say what was in force in 2022, 2022-03 or on 2022-03-05 (of a year or month its last day); "
    "today by default."
)
@json_option
@click.pass_context
def docs(ctx: click.Context, kb: str, problems: bool, as_of: str | None, as_json: bool) -> None:
    """List the documents, with a mark where one is not in force, or is amended."""
    if ctx.invoked_subcommand is not None:
        return
    with opened(ctx, kb) as base:
        if problems:
            _print_problems(base.problems(), as_json)
        else:
            _print_cards(base.documents(), base.statuses(as_of), as_json)


def _print_cards(
    cards: "Sequence[Document]", statuses: "Mapping[str, Status]", as_json: bool
) -> None:
    from kgrag.status import mark
    from kgrag.tables.naming import day_of_issue

    for card in cards:
        status = statuses[card.doc_id]
        if as_json:
            print_json(card.card_dict() | {"status": status.to_dict()})
        else:
            day = day_of_issue(card) or "?"
            echo(f"{card.doc_id}  {day}  {card.title}{mark(status)}  ({card.file})")


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


def _field_options(command: "Callable[..., object]") -> "Callable[..., object]":
    for name, metavar, told in reversed(_FIELDS):
        none = "" if name == "title" else "; '' for none"
        command = click.option(f"--{name}", metavar=metavar, help=f"{told}{none}.")(command)
    return command


@docs.command("set")
@click.argument("document")
@_field_options
@click.option("--reset", is_flag=True, help="Take corrections back: all, or those of --field.")
@click.option("--field", "fields", multiple=True, metavar="NAME", help="What --reset is held to.")
@kb_option
@json_option
@click.pass_context
def set_(
    ctx: click.Context,
    /,
    document: str,
    reset: bool,
    fields: tuple[str, ...],
    kb: str,
    as_json: bool,
    **told: str | None,
) -> None:
    """Correct what was read of a document (id, file, file name or title).

    Corrections hold at once, outlive a new ingest and a deletion, and win over metadata.csv.
    """
    values = {name: value for name, value in told.items() if value is not None}
    if reset == bool(values) or (fields and not reset):
        raise click.UsageError("give fields to correct, or --reset to take corrections back")
    with opened(ctx, kb) as base:
        curator = base.curator()
        card = curator.reset(document, fields) if reset else curator.correct(document, values)
    if as_json:
        print_json(card.card_dict())
        return
    echo(f"{card.doc_id}  {card.title}")
    for name, value in card.metadata.to_record().items():
        guessed = "（推断）" if name in card.metadata.inferred else ""
        shown = "、".join(value) if isinstance(value, list) else value
        echo(f"  {said('words', name)}: {shown}{guessed}")


COMMANDS = (docs,)
