"""The command that measures answers: eval answers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.ask import chosen_writer
from kgrag.cli.options import EXISTING, FILE, json_option, kb_option, opened
from kgrag.cli.printing import echo, echo_text, print_json, progress_bar
from kgrag.errors import EvaluationError

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.evaluation.answer_report import AnswerReport
    from kgrag.evaluation.chat_models import RunModels
    from kgrag.evaluation.pairwise import ComparedAnswer
    from kgrag.evaluation.queries import GoldQuery

_Progress = Callable[[str, int, int], None]


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
@click.option("--judge", default="", help="Model that judges, at the endpoint of [llm.verify].")
@click.option("--against", help="Preset, or answers of --out (.jsonl), to compare with by --judge.")
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
    judge: str,
    against: str | None,
    without_gold: bool,
    record: Path | None,
    replay: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Score answers: wording, citations, numbers, refusals, cost.

    Of QUESTIONS each line has id and question; answers, gold_docs and gold_spans where there are.
    """
    from kgrag.evaluation.chat_models import Tape, run_models
    from kgrag.evaluation.queries import read_all_queries

    if against and not judge:
        raise click.UsageError("--against needs --judge: a model says which answer is better")
    queries = read_all_queries(questions)
    if not queries:
        raise EvaluationError(f"{questions}: holds no question. Remedy: one a line")
    tape = Tape(record=record, replay=replay)
    asked_by = chosen_writer(writer)
    with ExitStack() as stack:
        models = run_models(ctx.obj, kb, writer=asked_by, model=model, judge=judge, tape=tape)
        run = stack.enter_context(models)
        base = stack.enter_context(opened(ctx, kb, config=run.config, model=run.model))
        progress = stack.enter_context(progress_bar("eval"))
        measuring = _Measuring(base, queries, run, progress, without_gold=without_gold)
        reports = measuring.reports(system, against)
    _give(reports, out, as_json=as_json)


@dataclass(frozen=True)
class _Measuring:
    """Questions, and who is asked."""

    base: "KnowledgeBase"
    queries: "Sequence[GoldQuery]"
    run: "RunModels"
    progress: _Progress
    without_gold: bool

    def reports(self, system: str | None, against: str | None) -> "list[AnswerReport]":
        """Return the report of a system, and of another that it is compared with."""
        from kgrag.evaluation.pairwise import answers_of, read_answers

        report = self._of(system)
        if not against:
            return [report]
        if Path(against).is_file():
            return [self._compared(report, read_answers(Path(against)), Path(against).name)]
        other = self._of(against)
        return [self._compared(report, answers_of(other), other.system), other]

    def _of(self, system: str | None) -> "AnswerReport":
        from kgrag.evaluation.answers import Asking, measure_answers

        asking = Asking(
            system=system,
            writer=self.run.writer,
            without_gold=self.without_gold,
            model=self.run.model,
            tape=self.run.tape,
        )
        if self.run.judge and not self.without_gold:
            from kgrag.evaluation.judges import AnswerJudge
            from kgrag.integrations.llama_index_judges import GrimEvaluators

            evaluators = GrimEvaluators(self.run.judge)
            judge = AnswerJudge(self.base, self.run.judge, system=system, evaluators=evaluators)
            asking = replace(asking, judge=judge, judge_model=self.run.judge)
        return measure_answers(self.base, self.queries, asking, progress=self.progress)

    def _compared(
        self, report: "AnswerReport", others: "Mapping[str, ComparedAnswer]", other: str
    ) -> "AnswerReport":
        from kgrag.evaluation.answers import Gold
        from kgrag.evaluation.pairwise import compared

        assert self.run.judge is not None
        gold = Gold.of(self.queries, self.base.store)
        return compared(
            report,
            others,
            [(query, gold.references(query)) for query in self.queries],
            other=other,
            model=self.run.judge,
            tape=self.run.tape,
            progress=self.progress,
        )


def _give(reports: "list[AnswerReport]", out: Path | None, *, as_json: bool) -> None:
    """Print reports and write the file of the first."""
    from kgrag.evaluation.answer_report import answer_tables, write_answers

    report, *others = reports
    if out is not None:
        write_answers(out, report)
    if as_json:
        also = {"against": others[0].to_dict()} if others else {}
        print_json(report.to_dict() | also)
        return
    for one in reports:
        if others:
            echo(one.system)
        echo_text(answer_tables(one))
        for note in one.notes:
            echo(f"note: {note}", err=True)
        if one is not reports[-1]:
            echo()
