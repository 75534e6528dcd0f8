"""Commands that measure: eval retrieval, experiment, compare, answers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.eval_answers import answers
from kgrag.cli.options import EXISTING, json_option, kb_option, opened
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar
from kgrag.errors import EvaluationError

if TYPE_CHECKING:
    from kgrag.evaluation.queries import GoldQuery, QuerySet
    from kgrag.evaluation.runs import Run
    from kgrag.evaluation.scores import Report

_MEASURES = click.option(
    "--measures",
    metavar="NAMES",
    help="Such as R@5,nDCG@10,span@2000; a choice of them by default.",
)


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
    gold = _with_gold(queries, read_queries(queries))
    names = _names(systems)
    with opened(ctx, kb) as base, progress_bar("eval") as progress:
        reports = base.evaluate(
            gold.queries, systems=names, ks=cuts, top_k=top_k, progress=progress
        )
    _print_reports(reports, cuts, gold.n_without_gold, as_json)


@eval_.command()
@click.option(
    "--set",
    "sets",
    type=(str, str, EXISTING),
    multiple=True,
    required=True,
    metavar="NAME KB QUERIES",
    help="A name, a knowledge base, a .jsonl of questions with gold; once for each set.",
)
@click.option("--systems", default="bm25,vector,grim", show_default=True, help="Presets.")
@_MEASURES
@click.option("--top-k", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for report.md, report.html, report.json and the runs, SET.SYSTEM.jsonl.",
)
@click.option("--trec", is_flag=True, help="With --out: runs and gold in TREC's form, too.")
@json_option
@click.pass_context
def experiment(
    ctx: click.Context,
    sets: tuple[tuple[str, str, Path], ...],
    systems: str,
    measures: str | None,
    top_k: int,
    out: Path | None,
    trec: bool,
    as_json: bool,
) -> None:
    """Compare systems on sets of questions: measures with intervals, latency, context.

    Prints a table in Markdown for each set, with 95 % bootstrap intervals of the means.
    """
    from kgrag.evaluation.experiment import try_system
    from kgrag.evaluation.queries import read_queries
    from kgrag.evaluation.report import experiment_mapping, markdown, write_experiment
    from kgrag.evaluation.scores import MEASURES, cuts_of

    wanted = _names(measures) if measures else MEASURES
    cuts_of(wanted)
    if trec and out is None:
        raise click.UsageError("--trec needs --out")
    names = {name for name, _, _ in sets if Path(name).name == name}
    if len(names) < len(sets):
        raise click.UsageError("each --set needs a name of its own, one that a file may have")
    gold = {name: _queries_of(path, read_queries(path)) for name, _, path in sets}
    if out is not None:
        _make_folder(out)
    found = {}
    for name, kb, _ in sets:
        with opened(ctx, kb) as base, progress_bar(name) as progress:
            found[name] = [
                try_system(
                    system,
                    partial(base.search, system=system, top_k=top_k),
                    gold[name],
                    measures=wanted,
                    progress=partial(progress, system),
                )
                for system in _names(systems)
            ]
    if out is not None:
        write_experiment(out, found, measures=wanted, gold=gold if trec else {})
    if as_json:
        print_json(experiment_mapping(found))
    else:
        echo_text(markdown(found, measures=wanted))


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise EvaluationError(f"cannot write {out}: {exc}. Remedy: choose another place") from exc


@eval_.command()
@click.argument("run_a", type=EXISTING)
@click.argument("run_b", type=EXISTING)
@click.option("--queries", required=True, type=EXISTING, help=".jsonl of gold, or qrels (.qrels).")
@_MEASURES
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="Below this p a difference is significant.",
)
@json_option
@click.pass_context
def compare(
    ctx: click.Context,
    run_a: Path,
    run_b: Path,
    queries: Path,
    measures: str | None,
    alpha: float,
    as_json: bool,
) -> None:
    """Compare two runs question by question; exit 1 where RUN_B is significantly worse.

    Of each measure: both means, B - A with its 95 % bootstrap interval, p of a paired
    randomization test, and on how many questions B wins, ties and loses.
    """
    from dataclasses import asdict

    from kgrag.evaluation.experiment import compare as compared
    from kgrag.evaluation.queries import read_gold
    from kgrag.evaluation.report import comparison_table
    from kgrag.evaluation.scores import MEASURES

    gold = _queries_of(queries, read_gold(queries))
    a, b = (_run_of(path, queries, gold) for path in (run_a, run_b))
    found = compared(a, b, gold, measures=_names(measures) if measures else MEASURES)
    worse = [name for name, of in found.items() if of.p < alpha and of.difference < 0]
    if as_json:
        print_json({"measures": {name: asdict(of) for name, of in found.items()}, "worse": worse})
    else:
        echo_text(comparison_table(found))
    if worse:
        echo(f"{run_b} is significantly worse (p < {alpha}): {', '.join(worse)}", err=True)
        ctx.exit(1)


def _run_of(path: Path, queries: Path, gold: "Sequence[GoldQuery]") -> "Run":
    """Return a run; say what it lacks.

    Raises:
        EvaluationError: If it cannot be read, or has none of the questions.
    """
    from kgrag.evaluation.runs import read_run

    run = read_run(path)
    lacking = [query.query_id for query in gold if query.query_id not in run]
    if len(lacking) == len(gold):
        raise EvaluationError(
            f"{path}: has none of the {len(gold)} questions of {queries} ({lacking[0]}, …). "
            "Remedy: make it of the same file: kgrag search --batch"
        )
    if lacking:
        echo(f"note: {path} lacks {len(lacking)} of {len(gold)} questions (scored 0)", err=True)
    return run


def _with_gold(path: Path, gold: "QuerySet") -> "QuerySet":
    if not gold.queries:
        raise EvaluationError(
            f'{path}: no question has gold ("gold_docs": ["ID", …]); nothing can be measured'
        )
    return gold


def _queries_of(path: Path, gold: "QuerySet") -> "tuple[GoldQuery, ...]":
    """Return the questions; say how many have no gold."""
    if n := _with_gold(path, gold).n_without_gold:
        echo(f"note: {n} questions of {path} without gold are left out", err=True)
    return gold.queries


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise click.UsageError(f"names are wanted, with commas between, got {text!r}")
    return names


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
    measures = ["P", "R", "F1", *(f"{name}@{k}" for k in cuts for name in at)]
    measures += ["span@1000", "span@2000", "span@4000", "prec@2000", "MRR"]
    kinds = [group.kind for group in next(iter(reports.values())).groups]
    for kind in kinds:
        echo_text(text_table(reports, kind=kind, measures=measures))
        echo()
    for system, report in reports.items():
        if report.n_unanswered:
            echo(f"{system}: {report.n_unanswered} questions without results (scored 0)")
    if n_without_gold:
        echo(f"left out: {n_without_gold} questions without gold")


eval_.add_command(answers)

COMMANDS = (eval_,)
