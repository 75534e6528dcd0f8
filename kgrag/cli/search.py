"""Search commands: search for chunks, graph for facts around an entity."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import language as shown_language
from kgrag.cli.chinese import said, told
from kgrag.cli.opened import opened
from kgrag.cli.options import (
    EXISTING,
    FILE,
    JSON,
    KB,
    FilterOptions,
    argument,
    command,
    day,
    option,
)
from kgrag.cli.printing import echo, print_json, progress_bar, say
from kgrag.errors import EvaluationError, ModelError
from kgrag.files.whole_file import write_whole
from kgrag.results import ScoredChunk

if TYPE_CHECKING:
    from kgrag.answering.searching import Analysis
    from kgrag.api import KnowledgeBase
    from kgrag.types import Chunk, Evidence, Fact


@dataclass(frozen=True, kw_only=True)
class _SearchOptions:
    """Options of `search`."""

    question: str | None = argument(required=False)
    kb: str = KB
    system: str | None = option("Retrieval preset; grim by default.")
    top_k: int = option(type=click.IntRange(1, 1000), default=10)
    explain: bool = option("Say how each result came.")
    analyse: bool = option("Have a model read each question first, as for ask.")
    batch: Path | None = option("Questions as .jsonl of {id, question}.", type=EXISTING)
    out: Path | None = option("Run file that --batch writes.", type=FILE)
    only: FilterOptions
    as_of: str | None = day()

    @property
    def analysis(self) -> "Analysis":
        """Who analyses a question."""
        return "model" if self.analyse else "rules"


@command(served=True)
def search(ctx: click.Context, given: _SearchOptions, as_json: bool = JSON) -> int:
    """Show the chunks that a question is best answered from."""
    question, batch, out, within = given.question, given.batch, given.out, given.only.filter
    if (question is None) == (batch is None) or (batch is None) != (out is None):
        raise click.UsageError(told("give a question, or --batch with --out"))
    if batch and within:
        raise click.UsageError(told("--doc, --region, --kind and --year are for one question"))
    from kgrag.answering.notes import search_notes

    whole = True
    with opened(given.kb) as base:
        if batch is not None and out is not None:
            whole = _run_batch(base, batch, out, given, given.system or ctx.obj.search.system)
        elif question is not None:
            found = base.search(
                question,
                system=given.system,
                top_k=given.top_k,
                analysis=given.analysis,
                within=within,
                as_of=given.as_of,
            )
            _show(question, found, given.explain, as_json)
        about = base.store, base.config, base.sizes
        for note in search_notes(*about, within, given.as_of, question or ""):
            say("note: {note}", note=note, err=True)
    return int(not whole)


def _run_batch(
    base: "KnowledgeBase", batch: Path, out: Path, given: _SearchOptions, system: str
) -> bool:
    """Search for the questions of a file; return whether all could be read and analysed."""
    from kgrag.evaluation.queries import read_questions
    from kgrag.evaluation.runs import write_run

    refused: list[EvaluationError] = []
    unread: dict[str, ModelError] = {}
    questions = read_questions(batch, refused=refused.append)
    for error in refused:
        say("not searched: {error}", error=error, err=True)
    if not questions:
        raise EvaluationError(
            "{batch} holds no questions; it needs lines of {{id, question}}", batch=batch
        )
    with progress_bar("search") as progress:
        run = base.run(
            questions,
            system=system,
            top_k=given.top_k,
            analysis=given.analysis,
            as_of=given.as_of,
            unread=unread.__setitem__,
            progress=progress,
        )
    write_run(out, run)
    for query_id, question in questions.items():
        if question in unread:
            say(
                "{id}: searched by its own words: {error}",
                id=query_id,
                error=unread[question],
                err=True,
            )
    empty = sum(not results for results in run.values())
    say("{n} questions to {out}, {empty} without results", n=len(run), out=out, empty=empty)
    return not refused and not unread


def _show(question: str, results: list[ScoredChunk], explain: bool, as_json: bool) -> None:
    if as_json:
        print_json({"results": [result.to_dict() for result in results]})
        return
    if not results:
        echo(said("words", "nothing found"))
    from kgrag.answer.reasons import explained
    from kgrag.answering.copies import ALSO_IN
    from kgrag.status import mark
    from kgrag.text.words import question_language

    language = question_language(question)
    told = explained(question, results, shown_language()) if explain else []
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


@command(served=True)
def graph(
    entity: str = argument(),
    kb: str = KB,
    hops: int = option(type=click.IntRange(1, 3), default=1),
    limit: int = option(type=click.IntRange(1, 1000), default=50),
    html: Path | None = option("Write a page that draws the neighbourhood.", type=FILE),
) -> None:
    """Show the facts around an entity."""
    from kgrag.drawing.page import graph_page

    with opened(kb) as base:
        center, facts = base.graph(entity, hops=hops, limit=limit)
        titles = {card.doc_id: card.title for card in base.documents()}
    if html is not None:
        write_whole(html, [graph_page(center, facts, titles)])
        say("{n} facts around {name} in {file}", n=len(facts), name=center.name, file=html)
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
