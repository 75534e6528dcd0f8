"""The command that measures answers: eval answers."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import EXISTING, FILE, json_option, kb_option, opened
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar
from kgrag.errors import EvaluationError

if TYPE_CHECKING:
    from kgrag.evaluation.answer_report import AnswerReport


@click.command()
@click.argument("questions", type=EXISTING)
@kb_option
@click.option("--system", help="Retrieval preset; grim by default.")
@click.option(
    "--writer",
    type=click.Choice(["model", "quotes"]),
    help="A model, or sentences quoted by rule; the model where one is configured or named.",
)
@click.option("--model", default="", help="Model that writes, at the configured endpoint.")
@click.option("--without-gold", is_flag=True, help="Leave out what answers; refusing is right.")
@click.option("--record", type=FILE, help="Keep what models answer in this new file.")
@click.option("--replay", type=EXISTING, help="Play what was recorded; no model is asked.")
@click.option("--out", type=FILE, help="Write a line a question (.jsonl), or the report (.json).")
@json_option
@click.pass_context
def answers(
    ctx: click.Context,
    questions: Path,
    kb: str,
    system: str | None,
    writer: str | None,
    model: str,
    without_gold: bool,
    record: Path | None,
    replay: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Score answers: wording, citations, numbers, refusals, cost.

    Of QUESTIONS each line has id and question; answers, gold_docs and gold_spans where there are.
    """
    from kgrag.cli.ask import chosen_writer
    from kgrag.evaluation.queries import read_all_queries
    from kgrag.measuring.answers import Asking, measure_answers
    from kgrag.measuring.metered import Tape
    from kgrag.measuring.run import run_models

    queries = read_all_queries(questions)
    if not queries:
        raise EvaluationError(f"{questions}: holds no question. Remedy: one a line")
    tape = Tape(record=record, replay=replay)
    with ExitStack() as stack:
        run = stack.enter_context(
            run_models(ctx.obj, kb, writer=chosen_writer(writer), model=model, tape=tape)
        )
        base = stack.enter_context(opened(ctx, kb, config=run.config, model=run.model))
        progress = stack.enter_context(progress_bar("eval"))
        asking = Asking(
            system=system,
            writer=run.writer,
            without_gold=without_gold,
            model=run.model,
            tape=tape,
        )
        report = measure_answers(base, queries, asking, progress=progress)
    _give(report, out, as_json=as_json)


def _give(report: "AnswerReport", out: Path | None, *, as_json: bool) -> None:
    """Print a report and write its file."""
    from kgrag.evaluation.answer_report import answer_tables, write_answers

    if out is not None:
        write_answers(out, report)
    if as_json:
        print_json(report.to_dict())
        return
    echo_text(answer_tables(report))
    for note in report.notes:
        echo(f"note: {note}", err=True)
