"""Commands for data sets of one's own documents: dataset generate, dataset export."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from kgrag.choices import QuestionKind, SampleFormat
from kgrag.cli.options import EXISTING, FILE, amount, json_option, kb_option, opened
from kgrag.cli.printing import echo, print_json, progress_bar

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.dataset.questions import Made

_SEED = click.option("--seed", default=0, show_default=True, help="Another one draws others.")


@click.group()
def dataset() -> None:
    """Make questions with gold of the documents, and samples to train models on."""


@dataset.command()
@kb_option
@click.option("--out", required=True, type=FILE, help="Write a line a question (.jsonl).")
@click.option(
    "--n", type=click.IntRange(1, 100_000), default=100, show_default=True, help="At most so many."
)
@click.option(
    "--kinds",
    metavar="NAMES",
    help="Of questions by rule: number,responsible,reference,list,compare,time,several,"
    "unanswerable; all by default.",
)
@_SEED
@click.option("--no-model", is_flag=True, help="By rule, even if a model is configured.")
@click.option(
    "--leave-out",
    multiple=True,
    metavar="DOC",
    help="Ask figures of this document as unanswerable: for a base without it.",
)
@json_option
@click.pass_context
def generate(
    ctx: click.Context,
    kb: str,
    out: Path,
    n: int,
    kinds: str | None,
    seed: int,
    no_model: bool,
    leave_out: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make questions with gold: documents, spans of their text, answers.

    By the configured model, one of a parent chunk; by rule without one, of the statements that
    were read. What the documents answer differently, or not, is dropped and counted.
    """
    from kgrag.dataset.questions import write_questions

    with opened(ctx, kb) as base:
        if no_model or kinds or leave_out or not base.chat.has("answer"):
            made = _by_rules(base, n, kinds, seed, leave_out)
        else:
            made = _by_model(base, n, seed)
    write_questions(out, made.questions)
    if as_json:
        print_json({"kinds": made.kinds, "dropped": dict(made.dropped)})
        return
    echo(f"{out}: {amount(len(made.questions), 'question')}")
    for kind, count in made.kinds.items():
        echo(f"  {kind}: {count}")
    for reason, count in sorted(made.dropped.items()):
        echo(f"dropped, {reason}: {count}")


def _by_rules(
    base: "KnowledgeBase", n: int, kinds: str | None, seed: int, leave_out: tuple[str, ...]
) -> "Made":
    from kgrag.dataset.by_rules import KINDS, by_rules

    wanted = tuple(kinds.split(",")) if kinds else KINDS
    unknown = [kind for kind in wanted if kind not in get_args(QuestionKind)]
    if unknown:
        raise click.BadParameter(f"no kind is called {unknown[0]!r}", param_hint="--kinds")
    return by_rules(
        base.store,
        parent_size=base.sizes.parent,
        n=n,
        kinds=[kind for kind in KINDS if kind in wanted],
        seed=seed,
        left_out=[base.find_document(name).doc_id for name in leave_out],
    )


def _by_model(base: "KnowledgeBase", n: int, seed: int) -> "Made":
    from kgrag.dataset.by_model import FOUND_WITHIN, by_model

    models = base.models
    writer = models.of("answer")
    checker = models.of("verify") if base.chat.has("verify") else writer
    with progress_bar("dataset") as progress:
        return by_model(
            base.store,
            parent_size=base.sizes.parent,
            n=n,
            writer=writer,
            checker=checker,
            search=lambda question: base.search(question, top_k=FOUND_WITHIN),
            seed=seed,
            progress=lambda done, of: progress("dataset", done, of),
        )


@dataset.command()
@kb_option
@click.option("--queries", required=True, type=EXISTING, help=".jsonl of questions with gold.")
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice(get_args(SampleFormat)),
    help="Of an encoder or reranker, of a generator, of one that verifies, too.",
)
@click.option("--out", required=True, type=FILE, help="Write a line a sample (.jsonl).")
@click.option("--system", help="Retrieval preset; grim by default.")
@click.option(
    "--ranks",
    default="3-30",
    show_default=True,
    metavar="FIRST-LAST",
    help="Of pairs: ranks of the results from which negatives are drawn.",
)
@_SEED
@click.pass_context
def export(
    ctx: click.Context,
    kb: str,
    queries: Path,
    form: SampleFormat,
    out: Path,
    system: str | None,
    ranks: str,
    seed: int,
) -> None:
    """Write samples to train on: pairs, instructions, verification."""
    from kgrag.dataset.export import Exporting, sample_line
    from kgrag.evaluation.lines import write_lines
    from kgrag.evaluation.queries import read_all_queries

    first, last = _ranks(ranks)
    with opened(ctx, kb) as base:
        exporting = Exporting(
            base.store,
            read_all_queries(queries),
            lambda question: base.search(question, system=system, top_k=last),
            size=(base.sizes.parent, *base.sizes.children)[-1],
            ranks=(first, last),
            seed=seed,
        )
        lines = [sample_line(sample) for sample in getattr(exporting, form)()]
    write_lines(out, lines)
    echo(f"{out}: {amount(len(lines), 'sample')}")


def _ranks(text: str) -> tuple[int, int]:
    """Return the first and the last rank.

    Raises:
        click.BadParameter: If they are none.
    """
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= 1000):
        raise click.BadParameter(
            f"must be like 3-30, up to 1000, got {text!r}", param_hint="--ranks"
        )
    return int(first), int(last)


COMMANDS = (dataset,)
