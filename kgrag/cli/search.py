"""Commands that look for something: search for chunks, graph for facts around an entity."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import said
from kgrag.cli.options import (
    AS_OF_QUESTION,
    EXISTING,
    FILE,
    as_of_option,
    filter_options,
    json_option,
    kb_option,
    opened,
)
from kgrag.cli.printing import echo, print_json, progress_bar
from kgrag.errors import EvaluationError, ModelError
from kgrag.files.whole_file import write_whole

if TYPE_CHECKING:
    from kgrag.answering.searching import Analysis
    from kgrag.api import KnowledgeBase
    from kgrag.results import ScoredChunk
    from kgrag.retrieval.filter import Filter
    from kgrag.types import Chunk, Evidence, Fact


@click.command()
@click.argument("question", required=False)
@kb_option
@click.option("--system", help="Retrieval preset; grim by default.")
@click.option("--top-k", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option("--explain", is_flag=True, help="Say how each result came.")
@click.option("--analyse", is_flag=True, help="Have a model read each question first, as for ask.")
@click.option("--batch", type=EXISTING, help="Questions as .jsonl of {id, question}.")
@click.option("--out", type=FILE, help="Run file that --batch writes.")
@filter_options
@as_of_option(AS_OF_QUESTION)
@json_option
@click.pass_context
def search(
    ctx: click.Context,
    question: str | None,
    kb: str,
    system: str | None,
    top_k: int,
    explain: bool,
    analyse: bool,
    batch: Path | None,
    out: Path | None,
    within: "Filter | None",
    as_of: str | None,
    as_json: bool,
) -> None:
    """Show the chunks that a question is best answered from."""
    if (question is None) == (batch is None) or (batch is None) != (out is None):
        raise click.UsageError("give a question, or --batch with --out")
    if batch and within:
        raise click.UsageError("--doc, --region, --kind and --year are for one question")
    from kgrag.answering.notes import search_notes

    analysis: Analysis = "model" if analyse else "rules"
    whole = True
    with opened(ctx, kb) as base:
        if batch is not None and out is not None:
            system = system or ctx.obj.search.system
            whole = _run_batch(
                base, batch, out, system=system, top_k=top_k, analysis=analysis, as_of=as_of
            )
        elif question is not None:
            found = base.search(
                question, system=system, top_k=top_k, analysis=analysis, within=within, as_of=as_of
            )
            _show(question, found, explain, as_json)
        about = base.store, base.config, base.sizes
        for note in search_notes(*about, within, as_of, question or ""):
            echo(f"note: {note}", err=True)
    if not whole:
        ctx.exit(1)


def _run_batch(
    base: "KnowledgeBase",
    batch: Path,
    out: Path,
    *,
    system: str,
    top_k: int,
    analysis: "Analysis",
    as_of: str | None,
) -> bool:
    """Search for the questions of a file; return whether all were read, line and question."""
    from kgrag.evaluation.queries import read_questions
    from kgrag.evaluation.runs import write_run

    refused: list[EvaluationError] = []
    unread: dict[str, ModelError] = {}
    questions = read_questions(batch, refused=refused.append)
    for error in refused:
        echo(f"not searched: {error}", err=True)
    if not questions:
        raise EvaluationError(f"{batch} holds no questions; it needs lines of {{id, question}}")
    with progress_bar("search") as progress:
        run = base.run(
            questions,
            system=system,
            top_k=top_k,
            analysis=analysis,
            as_of=as_of,
            unread=unread.__setitem__,
            progress=progress,
        )
    write_run(out, run)
    for query_id, question in questions.items():
        if question in unread:
            echo(f"{query_id}: searched by its own words: {unread[question]}", err=True)
    empty = sum(not results for results in run.values())
    echo(f"{len(run)} questions to {out}, {empty} without results")
    return not refused and not unread


def _show(question: str, results: "list[ScoredChunk]", explain: bool, as_json: bool) -> None:
    if as_json:
        print_json({"results": [result.to_dict() for result in results]})
        return
    if not results:
        echo(said("words", "nothing found"))
    from kgrag.answering.copies import ALSO_IN
    from kgrag.cli.explained import explained
    from kgrag.status import mark
    from kgrag.text.words import question_language

    language = question_language(question)
    told = explained(question, results) if explain else []
    for number, result in enumerate(results, 1):
        chunk = result.chunk
        where = " › ".join(chunk.heading_path)
        title = result.title + mark(result.status, language)
        echo(f"{number}. {title}" + (f" › {where}" if where else ""))
        echo(f"   {result.score:.3f}  {result.file}, {_span(chunk)}")
        if result.also_in:
            echo(f"   {ALSO_IN[language]}{', '.join(result.also_in)}")
        if explain:
            echo(f"   {told[number - 1]}")
        echo(f"   {' '.join(chunk.text.split())[:160]}")


@click.command()
@click.argument("entity")
@kb_option
@click.option("--hops", type=click.IntRange(1, 3), default=1, show_default=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--html", type=FILE, help="Write a page that draws the neighbourhood.")
@click.pass_context
def graph(
    ctx: click.Context, entity: str, kb: str, hops: int, limit: int, html: Path | None
) -> None:
    """Show the facts around an entity."""
    from kgrag.drawing.page import graph_page

    with opened(ctx, kb) as base:
        center, facts = base.graph(entity, hops=hops, limit=limit)
        titles = {card.doc_id: card.title for card in base.documents()}
    if html is not None:
        write_whole(html, [graph_page(center, facts, titles)])
        echo(f"{len(facts)} facts around {center.name} in {html}")
        return
    echo(said("words", "{}: {} facts").format(center.name, len(facts)))
    for fact in facts:
        _print_fact(fact, titles)


def _print_fact(fact: "Fact", titles: dict[str, str]) -> None:
    first = fact.evidence[0]
    others = len(fact.evidence) - 1
    more = said("words", " and {} more").format(others) if others else ""
    echo(f"{fact.subject.name} —{fact.predicate}→ {fact.object.name}")
    echo(f"    {titles[first.doc_id]}, {_span(first)}{more}")


def _span(place: "Chunk | Evidence") -> str:
    return said("words", "characters {}-{}").format(place.start, place.end)


COMMANDS = (search, graph)
