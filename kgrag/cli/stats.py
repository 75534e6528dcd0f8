"""The command that counts: what is stored, and what models took."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.chinese import padded, said
from kgrag.cli.options import json_option, kb_option, opened, print_foreign
from kgrag.cli.printing import echo, echo_text, print_json
from kgrag.cli.query import table

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.llm.ledger import UsageTotal
    from kgrag.llm.providers import Price

_MOST_DOCUMENTS = 20  # shown; JSON has all
_NONE = "no model was asked for this knowledge base"


@click.command()
@kb_option
@click.option("--cost", is_flag=True, help="What models took: calls, tokens and money.")
@json_option
@click.pass_context
def stats(ctx: click.Context, kb: str, cost: bool, as_json: bool) -> None:
    """Count what is stored, or with --cost what models took, by stage and document."""
    if cost:
        _print_costs(ctx, kb, as_json)
        return
    with opened(ctx, kb) as base:
        _print_counts(base, as_json)


def _print_counts(base: "KnowledgeBase", as_json: bool) -> None:
    counts: dict[str, Any] = base.counts().to_dict()
    counts["embedder"] = base.store.get_meta("embedder")
    foreign = base.store.count_foreign()
    if foreign:
        counts["foreign"] = foreign
    if as_json:
        print_json(counts)
        return
    counts.pop("foreign", None)
    for name, value in counts.items():
        if name == "chunks":
            value = ", ".join(said("words", "{} of {}").format(n, k) for k, n in value.items())
        echo(f"{padded(said('words', name), 11)} {value}")
    print_foreign(foreign)


def _print_costs(ctx: click.Context, kb: str, as_json: bool) -> None:
    """Print what the ledger says; it may be there before the knowledge base is: --sample."""
    from kgrag.errors import NoKnowledgeBaseError
    from kgrag.llm.ledger import Calls
    from kgrag.llm.models import calls_file

    files = {}
    ledger = calls_file(kb, ctx.obj)
    try:
        with opened(ctx, kb) as base:
            files = {card.doc_id: card.file for card in base.documents()}
    except NoKnowledgeBaseError:
        if not ledger.exists():
            raise
    stages: list[UsageTotal] = []
    documents: list[UsageTotal] = []
    if ledger.exists():
        with closing(Calls.open(ledger)) as calls:
            stages, documents = calls.totals("stage"), calls.totals("doc_id")
    prices = _prices(ctx.obj)
    by_stage = [_row("stage", total, total.group, prices) for total in stages]
    by_document = [
        _row("document", total, files.get(total.group, total.group or "(questions)"), prices)
        for total in documents
    ]
    if as_json:
        print_json({"stages": by_stage, "documents": by_document})
        return
    if not by_stage:
        echo(_NONE)
        return
    echo_text(table(_named(by_stage)))
    by_document.sort(key=lambda row: -int(str(row["in"])) - int(str(row["out"])))
    echo()
    echo_text(table(_named(by_document[:_MOST_DOCUMENTS])))
    if len(by_document) > _MOST_DOCUMENTS:
        echo(f"and {len(by_document) - _MOST_DOCUMENTS} more; --json has all")
    _print_sums(stages, prices)


def _prices(config: "Config") -> "dict[str, Price]":
    """Return prices by model: the providers', and before them what settings say.

    The ledger knows models by name only. Where a configured endpoint serves a name and says no
    price, that name has none; two endpoints with one name must have one price.
    """
    from kgrag.config import STAGES
    from kgrag.llm.providers import PROVIDERS, settings_for

    prices = {name: price for p in PROVIDERS.values() for name, price in p.prices.items()}
    unknown: set[str] = set()
    for configured in filter(lambda c: c.is_configured, map(config.model_of, STAGES)):
        endpoint = settings_for(configured)
        if endpoint.price is None:
            unknown.add(endpoint.place.model)
        else:
            prices[endpoint.place.model] = endpoint.price
    return {name: price for name, price in prices.items() if name not in unknown}


def _row(
    kind: str, total: "UsageTotal", name: str, prices: "dict[str, Price]"
) -> dict[str, object]:
    spent = _money(total, prices)
    return {
        kind: name,
        "model": total.model,
        "calls": total.sent,
        "kept": total.from_cache,
        "failed": total.failed,
        "in": total.usage.prompt,
        "cached": total.usage.cached,
        "out": total.usage.completion,
        "seconds": round(total.seconds, 1),
        "cost": None if spent is None else round(spent[0], 4),
        "currency": spent[1] if spent else "",
    }


def _named(rows: "Sequence[dict[str, object]]") -> list[dict[str, object]]:
    """Return rows under names in the user's language."""
    return [{said("words", name): value for name, value in row.items()} for row in rows]


def _money(total: "UsageTotal", prices: "dict[str, Price]") -> tuple[float, str] | None:
    """Return (amount, currency); None where the model's price is not known."""
    price = prices.get(total.model)
    return None if price is None else (price.of(total.usage), price.currency)


def _print_sums(totals: "Sequence[UsageTotal]", prices: "dict[str, Price]") -> None:
    amounts: dict[str, float] = {}
    for total in totals:
        amount, currency = _money(total, prices) or (0.0, "")
        if currency:
            amounts[currency] = amounts.get(currency, 0.0) + amount
    unknown = sorted({total.model for total in totals if total.model not in prices})
    sent, kept = sum(t.sent for t in totals), sum(t.from_cache for t in totals)
    shown = " + ".join(f"{amount:.4f} {currency}" for currency, amount in amounts.items())
    echo()
    echo(f"{sent} calls sent, {kept} answered from what was kept; cost {shown or 'unknown'}")
    if any(total.usage.estimated for total in totals):
        echo("note: an endpoint did not count tokens; some figures are estimates", err=True)
    if unknown:
        echo(
            f"note: no price is known for {', '.join(unknown)}: set price_in, price_cached, "
            "price_out and currency in [llm]",
            err=True,
        )


COMMANDS = (stats,)
