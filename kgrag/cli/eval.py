"""Evaluation commands: eval experiment, compare, answers."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.opened import opened
from kgrag.cli.options import EXISTING, FILE, JSON, KB, argument, command, option
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar
from kgrag.config import Writer
from kgrag.errors import EvaluationError

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.evaluation.answers import Asking
    from kgrag.evaluation.chat_models import RunModels
    from kgrag.evaluation.queries import GoldQuery, QuerySet
    from kgrag.evaluation.runs import Run

_SYSTEMS: Any = option("Presets.", default="bm25,vector,grim")
_TOP_K: Any = option(type=click.IntRange(1, 1000), default=20)
_MEASURES: Any = option(
    "Such as R@5,nDCG@10,span@2000; a choice of them by default.", metavar="NAMES"
)


@click.group("eval")
def eval_() -> None:
    """Measure retrieval, and answers, on questions with gold."""


@command(under=eval_)
def experiment(
    sets: tuple[tuple[str, str, Path], ...] = option(
        "A name, a knowledge base, a .jsonl of questions with gold; once for each set.",
        "--set",
        type=(str, str, EXISTING),
        required=True,
        metavar="NAME KB QUERIES",
    ),
    systems: str = _SYSTEMS,
    measures: str | None = _MEASURES,
    top_k: int = _TOP_K,
    out: Path | None = option(
        "Folder for report.md, report.json and the runs, SET.SYSTEM.jsonl.",
        type=click.Path(file_okay=False, path_type=Path),
    ),
    as_json: bool = JSON,
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
    names = {name for name, _, _ in sets if Path(name).name == name}
    if len(names) < len(sets):
        raise click.UsageError("each --set needs a name of its own, one that a file may have")
    gold = {name: _queries_of(path, read_queries(path)) for name, _, path in sets}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, kb, _ in sets:
        with opened(kb) as base, progress_bar(name) as progress:
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
        write_experiment(out, found, measures=wanted)
    if as_json:
        print_json(experiment_mapping(found))
    else:
        echo_text(markdown(found, measures=wanted))


@command(under=eval_)
def compare(
    run_a: Path = argument(type=EXISTING),
    run_b: Path = argument(type=EXISTING),
    queries: Path = option("A .jsonl of questions with gold.", type=EXISTING, required=True),
    measures: str | None = _MEASURES,
    alpha: float = option(
        "Below this p a difference is significant.",
        type=click.FloatRange(0, 1, min_open=True),
        default=0.05,
    ),
    as_json: bool = JSON,
) -> int:
    """Compare two runs question by question; exit 1 where RUN_B is significantly worse.

    Of each measure: both means, B - A with its 95 % bootstrap interval, p of a paired
    randomization test, and on how many questions B wins, ties and loses.
    """
    from dataclasses import asdict

    from kgrag.evaluation.experiment import compare as compared
    from kgrag.evaluation.queries import read_queries
    from kgrag.evaluation.report import comparison_table
    from kgrag.evaluation.scores import MEASURES

    gold = _queries_of(queries, read_queries(queries))
    a, b = (_run_of(path, queries, gold) for path in (run_a, run_b))
    found = compared(a, b, gold, measures=_names(measures) if measures else MEASURES)
    worse = [name for name, of in found.items() if of.p < alpha and of.difference < 0]
    if as_json:
        print_json({"measures": {name: asdict(of) for name, of in found.items()}, "worse": worse})
    else:
        echo_text(comparison_table(found))
    if worse:
        echo(f"{run_b} is significantly worse (p < {alpha}): {', '.join(worse)}", err=True)
    return int(bool(worse))


def _run_of(path: Path, queries: Path, gold: "Sequence[GoldQuery]") -> "Run":
    """Return a run, with a note on missing questions.

    Raises:
        EvaluationError: If it cannot be read, or has none of the questions.
    """
    from kgrag.evaluation.runs import read_run

    run = read_run(path)
    lacking = [query.query_id for query in gold if query.query_id not in run]
    if len(lacking) == len(gold):
        raise EvaluationError(
            f"{path}: has none of the {len(gold)} questions of {queries} ({lacking[0]}, …). "
            "Remedy: make it of the same file: kgrag eval experiment --out"
        )
    if lacking:
        echo(f"note: {path} lacks {len(lacking)} of {len(gold)} questions (scored 0)", err=True)
    return run


def _queries_of(path: Path, gold: "QuerySet") -> "tuple[GoldQuery, ...]":
    """Return the questions, with a note on those without gold.

    Raises:
        EvaluationError: If none has gold.
    """
    if not gold.queries:
        raise EvaluationError(
            f'{path}: no question has gold ("gold_docs": ["ID", …]); nothing can be measured'
        )
    if n := gold.n_without_gold:
        echo(f"note: {n} questions of {path} without gold are left out", err=True)
    return gold.queries


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise click.UsageError(f"names are wanted, with commas between, got {text!r}")
    return names


@dataclass(frozen=True, kw_only=True)
class _AnswersOptions:
    """Options of `eval answers`."""

    questions: Path = argument(type=EXISTING)
    kb: str = KB
    system: str | None = option("Retrieval preset; grim by default.")
    writer: Writer | None = option(
        "A model, or clauses quoted by rule; the model where one is configured or named."
    )
    model: str = option("Model that writes, at the configured endpoint.")
    judge: str = option("Model that judges, at the endpoint of [llm.verify].")
    without_gold: bool = option("Leave out what answers; refusing is right.")
    record: Path | None = option("Keep what models answer in this new file.", type=FILE)
    replay: Path | None = option("Play what was recorded; no model is asked.", type=EXISTING)
    out: Path | None = option("Write a line a question (.jsonl), or the report (.json).", type=FILE)


@command(under=eval_)
def answers(ctx: click.Context, given: _AnswersOptions, as_json: bool = JSON) -> None:
    """Score answers: wording, citations, checks, refusals, cost.

    Of QUESTIONS each line has id and question; answers, gold_docs and gold_spans where there are.
    """
    from kgrag.evaluation.answer_report import answer_tables, write_answers
    from kgrag.evaluation.answers import measure_answers
    from kgrag.evaluation.chat_models import Tape, run_models
    from kgrag.evaluation.queries import read_all_queries

    queries = read_all_queries(given.questions)
    if not queries:
        raise EvaluationError(f"{given.questions}: holds no question. Remedy: one a line")
    tape = Tape(record=given.record, replay=given.replay)
    with ExitStack() as stack:
        run = stack.enter_context(
            run_models(
                ctx.obj,
                given.kb,
                writer=given.writer,
                model=given.model,
                judge=given.judge,
                tape=tape,
            )
        )
        base = stack.enter_context(opened(given.kb, config=run.config, model=run.model))
        progress = stack.enter_context(progress_bar("eval"))
        asking = _asking(base, run, given)
        report = measure_answers(base, queries, asking, progress=progress)
    if given.out is not None:
        write_answers(given.out, report)
    if as_json:
        print_json(report.to_dict())
        return
    echo_text(answer_tables(report))
    for note in report.notes:
        echo(f"note: {note}", err=True)


def _asking(base: "KnowledgeBase", run: "RunModels", given: _AnswersOptions) -> "Asking":
    """Return how questions are asked and answers judged."""
    from kgrag.evaluation.answers import Asking

    asking = Asking(
        system=given.system,
        writer=run.writer,
        without_gold=given.without_gold,
        model=run.model,
        tape=run.tape,
    )
    if not run.judge or given.without_gold:
        return asking
    from kgrag.evaluation.judges import AnswerJudge
    from kgrag.integrations.llama_index_judges import GrimEvaluators

    evaluators = GrimEvaluators(run.judge)
    judge = AnswerJudge(base, run.judge, system=given.system, evaluators=evaluators)
    return replace(asking, judge=judge, judge_model=run.judge)


COMMANDS = (eval_,)
