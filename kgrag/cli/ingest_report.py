"""Print what taking in did, or would do: files, what models gave, calls, tokens, cost."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kgrag.cli.options import amount, index_share
from kgrag.cli.printing import echo, print_json

if TYPE_CHECKING:
    from kgrag.ingestion.report import IngestReport, ModelReport, Outcome, Plan
    from kgrag.llm.counting import StageUsage


def print_plan(plan: "Plan", as_json: bool) -> None:
    """Print how many files would come out each way, and what models would take."""
    for outcome in plan.outcomes:
        if outcome.status in ("failed", "skipped"):
            echo(f"{outcome.status}: {outcome.source}: {outcome.detail}", err=True)
    _print_links(plan.outcomes)
    if as_json:
        print_json(plan.to_dict())
        return
    shown = _counted(plan.counts.items()) or "nothing"
    echo(f"would be: {shown}; at most {amount(plan.n_chunks, 'chunk')} to encode")
    if not plan.predictions:
        echo("no language model is called: 0 calls, 0 tokens, no cost")
        return
    if plan.sampled:
        echo(f"the sample took {_spent(plan.sample_total)}; {_money(plan.sample_cost)}")
    for stage, prediction in plan.predictions.items():
        calls = amount(prediction.calls, "call")
        echo(
            f"{stage}: {calls}, {prediction.cached_calls} more kept; "
            f"about {prediction.prompt_tokens:,} tokens in, {prediction.completion_tokens:,} out; "
            f"{_basis(prediction.basis)}"
        )
    echo(f"{amount(plan.passages, 'passage')} would be read; {_money(plan.cost)}")


def print_report(report: "IngestReport", as_json: bool) -> None:
    """Print what became of the files, and what models gave and took."""
    if as_json:
        print_json(report.to_dict())
        return
    for outcome in report.outcomes:
        _print_outcome(outcome)
    _print_links(report.outcomes)
    total = len(report.outcomes)
    rate = f", {total / report.seconds:.1f} a second" if report.seconds > 1 else ""
    share = index_share(report.index_seconds)
    counts = _counted(report.counts.items()) or "nothing to do"
    echo(f"{amount(total, 'file')} in {report.seconds:.1f} s{share}{rate}: {counts}")
    if report.model:
        _print_model(report.model)
    if report.waiting:
        echo(
            f"note: {amount(report.waiting, 'passage')} of unchanged documents could not be read "
            "in an earlier run: kgrag ingest --retry-failed",
            err=True,
        )


def _print_outcome(outcome: "Outcome") -> None:
    if outcome.status in ("failed", "skipped", "duplicate"):
        echo(f"{outcome.status}: {outcome.source}: {outcome.detail}", err=True)
    elif outcome.detail and outcome.status != "not followed":
        echo(f"in part: {outcome.source}: {outcome.detail}", err=True)
    for warning in outcome.warnings:
        echo(f"warning: {outcome.source}: {warning}", err=True)


def _print_links(outcomes: "Sequence[Outcome]") -> None:
    """Say in one line which links were not followed."""
    links = [outcome.source for outcome in outcomes if outcome.status == "not followed"]
    if links:
        echo(
            f"note: {amount(len(links), 'link')} out of the folder not followed, the first is "
            f"{links[0]}: --follow-links follows them",
            err=True,
        )


def _print_model(model: "ModelReport") -> None:
    """Print what models gave and took; nothing where there was nothing to read."""
    failed = sum(model.failed.values())
    if not model.passages and not failed:
        return
    echo(f"models: {_spent(model.total)}; {_money(model.cost)}")
    if model.passages:
        echo(_given(model))
    if model.unavailable:
        echo(f"the model could not be asked: {model.unavailable}", err=True)
    if failed:
        echo(
            f"{amount(failed, 'passage')} could not be read ({_counted(model.failed.items())}); "
            "what rules find there is stored, ask again with: kgrag ingest --retry-failed",
            err=True,
        )


def _given(model: "ModelReport") -> str:
    """Return what passages gave, and what was not taken of it."""
    facts, summaries = amount(model.facts, "fact"), amount(model.summaries, "summary", "summaries")
    given = f"{amount(model.passages, 'passage')} gave {facts} and {summaries}"
    if not model.dropped:
        return given
    return f"{given}; {sum(model.dropped.values())} dropped: {_counted(model.dropped.items())}"


def _basis(n_calls: int) -> str:
    """Return what a prediction rests on, and how to make it better."""
    if n_calls:
        return f"by what {amount(n_calls, 'call')} took before"
    return "by rule of thumb; --sample 30 asks the model itself"


def _spent(spent: "StageUsage") -> str:
    kept = f" ({spent.kept} more had been paid before)" if spent.kept else ""
    cached = f" ({spent.cached:,} of them cached)" if spent.cached else ""
    calls = f"{amount(spent.calls, 'call')}{kept}"
    return f"{calls}, {spent.prompt:,} tokens in{cached}, {spent.completion:,} out"


def _money(cost: Mapping[str, float]) -> str:
    """Return a cost in words, four digits: small runs cost less than a cent."""
    shown = " + ".join(f"{amount:.4f} {currency}" for currency, amount in sorted(cost.items()))
    return f"cost {shown}" if shown else "no price is known for the cost"


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(counts))
