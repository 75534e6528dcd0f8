"""Commands for the names in the graph: which there are, which are one, which stay apart."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.options import amount, json_option, kb_option, opened
from kgrag.cli.printing import echo, print_json

if TYPE_CHECKING:
    from kgrag.curating import Named
    from kgrag.store.decisions import Decision

_SHOWN = 40  # entities, or pairs, where nobody says how many


@click.group(invoke_without_command=True)
@kb_option
@click.option("--type", "type_", metavar="TYPE", help="Only of this type: agency, region, target.")
@click.option("--limit", default=_SHOWN, show_default=True, help="How many at most.")
@click.option("--duplicates", is_flag=True, help="Pairs that may be one, for you to decide.")
@click.option("--merged", is_flag=True, help="Only what is written otherwise somewhere, and how.")
@click.option("--decisions", is_flag=True, help="What people decided.")
@json_option
@click.pass_context
def entities(
    ctx: click.Context,
    kb: str,
    type_: str | None,
    limit: int,
    duplicates: bool,
    merged: bool,
    decisions: bool,
    as_json: bool,
) -> None:
    """List the entities of the graph, those with most facts first; merge them, keep them apart."""
    if ctx.invoked_subcommand:
        return
    if duplicates + merged + decisions > 1:
        raise click.UsageError("one of --duplicates, --merged, --decisions at a time")
    with opened(ctx, kb) as base:
        if duplicates:
            pairs = base.duplicates(limit=limit, type_=type_)
            for pair in pairs:
                if as_json:
                    print_json(pair.to_dict())
                else:
                    echo(f"{pair.likeness:.2f}  {pair.name}  =?  {pair.into}")
            if pairs and not as_json:
                echo("one? `kgrag entities merge NAME --into NAME`; not? `split NAME --from NAME`")
        elif decisions:
            for decision in base.store.decisions():
                _print_decision(decision, as_json=as_json)
        else:
            for named in base.entities(limit=limit, type_=type_, merged=merged):
                _print_named(named, as_json=as_json)


@entities.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--into", required=True, metavar="NAME", help="What they are called from now on.")
@kb_option
@click.pass_context
def merge(ctx: click.Context, names: tuple[str, ...], into: str, kb: str) -> None:
    """Have entities be one, in what is held and in what comes."""
    with opened(ctx, kb) as base:
        n = base.curator().merge(names, into)
    echo(f"{'、'.join(names)} is {into} from now on: {amount(n, 'document')} renewed")


@entities.command()
@click.argument("name", metavar="NAME")
@click.option("--from", "from_", required=True, metavar="NAME", help="What it is part of now.")
@kb_option
@click.pass_context
def split(ctx: click.Context, name: str, from_: str, kb: str) -> None:
    """Have a name be no longer an entity's: takes a merger back, or keeps names apart."""
    with opened(ctx, kb) as base:
        n = base.curator().split(name, from_)
    echo(f"{name} is not {from_}: {amount(n, 'document')} renewed")


def _print_named(named: "Named", *, as_json: bool) -> None:
    if as_json:
        print_json(named.to_dict())
        return
    counts = f"{amount(named.facts, 'fact')} in {amount(named.documents, 'document')}"
    written = "、".join(f"{name} ×{n}" for name, n in named.written.items())
    echo(f"{named.name}  ({named.type}; {counts})" + (f"  ← {written}" if written else ""))


def _print_decision(decision: "Decision", *, as_json: bool) -> None:
    if as_json:
        print_json(decision.to_dict())
    elif decision.kind == "merge":
        echo(f"{decision.name} is {decision.into}")
    else:
        echo(f"{decision.name} is not {decision.into}")


COMMANDS = (entities,)
