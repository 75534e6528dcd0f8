"""Commands that measure: eval retrieval, and eval answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.eval_answers import answers
from kgrag.cli.options import EXISTING, json_option, kb_option, opened
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar
from kgrag.errors import EvaluationError

if TYPE_CHECKING:
    from kgrag.evaluation.experiment import Report


@click.group("eval")
def eval_() -> None:
    """Measure retrieval, and answers, on questions with gold."""


@eval_.command()
@click.option("--queries", required=True, type=EXISTING, help=".jsonl of questions with gold.")
@click.option("--systems", default="bm25,vector,grim", show_default=True, help="Presets.")
@click.option("--k", "ks", default="1,2,5,10", show_default=True, help="Ranks to cut at.")
@click.option("--top-k", type=click.IntRange(1, 1000), default=20, show_default=True)
@kb_option
@json_option
@click.pass_context
def retrieval(
    ctx: click.Context, queries: Path, systems: str, ks: str, top_k: int, kb: str, as_json: bool
) -> None:
    """Score retrieval: documents at k, and the share of gold text within N characters."""
    from kgrag.evaluation.queries import read_queries

    cuts = _numbers(ks)
    gold = read_queries(queries)
    if not gold.queries:
        raise EvaluationError(
            f'{queries}: no question has gold ("gold_docs": ["ID", …]); nothing can be measured'
        )
    names = [name.strip() for name in systems.split(",") if name.strip()]
    with opened(ctx, kb) as base, progress_bar("eval") as progress:
        reports = base.evaluate(
            gold.queries, systems=names, ks=cuts, top_k=top_k, progress=progress
        )
    _print_reports(reports, cuts, gold.n_without_gold, as_json)


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise click.BadParameter(f"must be numbers like 2,5,10, got {text!r}", param_hint="--k")
    return numbers


def _print_reports(
    reports: "dict[str, Report]", cuts: list[int], n_without_gold: int, as_json: bool
) -> None:
    from kgrag.evaluation.report import as_mapping, text_table

    if as_json:
        print_json({"systems": as_mapping(reports), "n_without_gold": n_without_gold})
        return
    at = ("P", "R", "F1", "hit", "all", "nDCG", "MRR", "both", "source-only", "target-only")
    columns = ["P", "R", "F1", *(f"{name}@{k}" for k in cuts for name in at)]
    columns += ["span@1000", "span@2000", "span@4000", "prec@2000", "MRR"]
    kinds = [group.kind for group in next(iter(reports.values())).groups]
    for kind in kinds:
        echo(kind)
        echo_text(text_table(reports, kind=kind, columns=columns))
        echo()
    for system, report in reports.items():
        if report.n_unanswered:
            echo(f"{system}: {report.n_unanswered} questions without results (scored 0)")
    if n_without_gold:
        echo(f"left out: {n_without_gold} questions without gold")


eval_.add_command(answers)

COMMANDS = (eval_,)
