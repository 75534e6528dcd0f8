"""Commands for data sets from documents: dataset generate, dataset export."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.chinese import amount
from kgrag.cli.opened import opened
from kgrag.cli.options import EXISTING, FILE, JSON, KB, command, option
from kgrag.cli.printing import echo, print_json, progress_bar
from kgrag.config import QuestionKind, SampleFormat

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.dataset.questions import Made

_SEED: Any = option("Another one draws others.", default=0)


@click.group()
def dataset() -> None:
    """Make questions with gold of the documents, and samples to train models on."""


@command(under=dataset)
def generate(
    kb: str = KB,
    out: Path = option("Write a line a question (.jsonl).", type=FILE, required=True),
    n: int = option("At most so many.", type=click.IntRange(1, 100_000), default=100),
    kinds: tuple[QuestionKind, ...] = option("Of questions by rule; all by default."),
    seed: int = _SEED,
    no_model: bool = option("By rule, even if a model is configured."),
    leave_out: tuple[str, ...] = option(
        "Ask figures of this document as unanswerable: for a base without it.", metavar="DOC"
    ),
    as_json: bool = JSON,
) -> None:
    """Make questions with gold: documents, spans of their text, answers.

    By the configured model, one of a parent chunk; by rule without one, of the statements that
    were read. What the documents answer differently, or not, is dropped and counted.
    """
    from kgrag.dataset.questions import write_questions

    with opened(kb) as base:
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
    base: "KnowledgeBase",
    n: int,
    kinds: tuple[QuestionKind, ...],
    seed: int,
    leave_out: tuple[str, ...],
) -> "Made":
    from kgrag.dataset.by_rules import KINDS, by_rules

    return by_rules(
        base.store,
        parent_size=base.sizes.parent,
        n=n,
        kinds=[kind for kind in KINDS if not kinds or kind in kinds],
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


@command(under=dataset)
def export(
    kb: str = KB,
    queries: Path = option(".jsonl of questions with gold.", type=EXISTING, required=True),
    form: SampleFormat = option(
        "Of an encoder or reranker, of a generator, of one that verifies, too.",
        "--format",
        required=True,
    ),
    out: Path = option("Write a line a sample (.jsonl).", type=FILE, required=True),
    system: str | None = option("Retrieval preset; grim by default."),
    ranks: tuple[int, int] = option(
        "Of pairs: first and last rank of the results from which negatives are drawn.",
        type=(click.IntRange(1, 1000), click.IntRange(1, 1000)),
        default=(3, 30),
        multiple=False,
        metavar="FIRST LAST",
    ),
    seed: int = _SEED,
) -> None:
    """Write samples to train on: pairs, instructions, verification."""
    from kgrag.dataset.export import Exporting, sample_line
    from kgrag.evaluation.lines import write_lines
    from kgrag.evaluation.queries import read_all_queries

    if ranks[0] > ranks[1]:
        raise click.BadParameter(f"{ranks[0]} is after {ranks[1]}", param_hint="--ranks")
    with opened(kb) as base:
        exporting = Exporting(
            base.store,
            read_all_queries(queries),
            lambda question: base.search(question, system=system, top_k=ranks[1]),
            size=(base.sizes.parent, *base.sizes.children)[-1],
            ranks=ranks,
            seed=seed,
        )
        lines = [sample_line(sample) for sample in getattr(exporting, form)()]
    write_lines(out, lines)
    echo(f"{out}: {amount(len(lines), 'sample')}")


COMMANDS = (dataset,)
