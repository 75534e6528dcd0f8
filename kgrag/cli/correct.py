"""Commands that correct what was read: of documents, and which entities are one."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import amount, said, told
from kgrag.cli.opened import opened
from kgrag.cli.options import JSON, KB, argument, command, group, option
from kgrag.cli.printing import echo, print_json, say

if TYPE_CHECKING:
    from kgrag.maintenance.corrections import Named
    from kgrag.store.decisions import Decision


@dataclass(frozen=True, kw_only=True)
class _Corrections:
    """Corrections of a document's metadata."""

    title: str | None = option("Title of the body.", metavar="TITLE")
    issuer: str | None = option(
        "Organs that issued it, divided by 、; '' for none.", metavar="NAMES"
    )
    number: str | None = option("文号; '' for none.", metavar="NUMBER")
    date: str | None = option("Of issue: 2022-03-05; '' for none.", metavar="DATE")
    written: str | None = option("When it was signed; '' for none.", metavar="DATE")
    effective: str | None = option("From when it is in force; '' for none.", metavar="DATE")
    expires: str | None = option("Until when; '' for none.", metavar="DATE")
    region: str | None = option(
        "That it governs: 四川省、成都市; 全国; '' for none.", metavar="PLACES"
    )
    level: str | None = option("国家, 部门, 省, 市, 县; '' for none.", metavar="LEVEL")
    kind: str | None = option("文种: 通知, 实施方案; '' for none.", metavar="WORD")
    status: str | None = option("试行, 征求意见稿, 废止; '' for none.", metavar="WORDS")
    recipients: str | None = option("To whom it is addressed; '' for none.", metavar="NAMES")


@command()
def correct(
    *,
    document: str = argument(),
    corrections: _Corrections,
    reset: bool = option("Take corrections back: all, or those of --field."),
    fields: tuple[str, ...] = option("What --reset is held to.", "--field", metavar="NAME"),
    kb: str = KB,
    as_json: bool = JSON,
) -> None:
    """Correct what was read of a document (id, file, file name or title).

    Corrections hold at once, outlive a new ingest and a deletion, and win over metadata.csv.
    """
    values = {name: value for name, value in asdict(corrections).items() if value is not None}
    if reset == bool(values) or (fields and not reset):
        raise click.UsageError(told("give fields to correct, or --reset to take corrections back"))
    with opened(kb) as base:
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


@group()
def entities(
    ctx: click.Context,
    kb: str = KB,
    type_: str | None = option(
        "Only of this type: agency, region, target.", "--type", metavar="TYPE"
    ),
    limit: int = option("How many at most.", default=40),
    duplicates: bool = option("Pairs that may be one, for you to decide."),
    merged: bool = option("Only what is written otherwise somewhere, and how."),
    decisions: bool = option("What people decided."),
    as_json: bool = JSON,
) -> None:
    """List the entities of the graph, those with most facts first; merge them, keep them apart."""
    if ctx.invoked_subcommand:
        return
    if duplicates + merged + decisions > 1:
        raise click.UsageError(told("one of --duplicates, --merged, --decisions at a time"))
    with opened(kb) as base:
        if duplicates:
            pairs = base.duplicates(limit=limit, type_=type_)
            for pair in pairs:
                if as_json:
                    print_json(pair.to_dict())
                else:
                    echo(f"{pair.likeness:.2f}  {pair.name}  =?  {pair.into}")
            if pairs and not as_json:
                say("one? `kgrag entities merge NAME --into NAME`; not? `split NAME --from NAME`")
        elif decisions:
            for decision in base.store.decisions():
                _print_decision(decision, as_json=as_json)
        else:
            for named in base.entities(limit=limit, type_=type_, merged=merged):
                _print_named(named, as_json=as_json)


@command(under=entities)
def merge(
    names: tuple[str, ...] = argument(required=True, metavar="NAME..."),
    into: str = option("What they are called from now on.", required=True, metavar="NAME"),
    kb: str = KB,
) -> None:
    """Have entities be one, in what is held and in what comes."""
    with opened(kb) as base:
        n = base.curator().merge(names, into)
    say(
        "{names} is {into} from now on: {n} renewed",
        names="、".join(names),
        into=into,
        n=amount(n, "document"),
    )


@command(under=entities)
def split(
    name: str = argument(metavar="NAME"),
    from_: str = option("What it is part of now.", "--from", required=True, metavar="NAME"),
    kb: str = KB,
) -> None:
    """Have a name be no longer an entity's: takes a merger back, or keeps names apart."""
    with opened(kb) as base:
        n = base.curator().split(name, from_)
    say("{name} is not {other}: {n} renewed", name=name, other=from_, n=amount(n, "document"))


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
        say("{name} is {into}", name=decision.name, into=decision.into)
    else:
        say("{name} is not {into}", name=decision.name, into=decision.into)


COMMANDS = (correct, entities)
