"""Commands that answer: ask, and chat for questions that lean on the ones before."""

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from kgrag.cli_shared import json_option, kb_option, opened, print_json

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.asking.options import Writer
    from kgrag.generation.follow_up import Turn
    from kgrag.types import Answer, Verdict

_FALLEN_BACK = "fall back"  # name of the step that says so
_UNVERIFIED = "not verified: "  # begins the reason of a verdict that no model could give
_END = ("/quit", "/exit", "退出")
_NEW = ("/new", "重新开始")


def _answer_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add what ask and chat share."""
    for option in reversed(
        (
            click.option("--system", help="Retrieval preset; grim by default."),
            click.option(
                "--writer",
                type=click.Choice(["model", "quotes"]),
                help="A model, or sentences quoted by rule; the model where one is configured.",
            ),
            click.option(
                "--template",
                type=click.Choice(["normal", "focused", "markdown", "steps"]),
                help="Form of a model's answer; normal by default.",
            ),
            click.option(
                "--verify",
                type=click.Choice(["cov", "cov-two-stage", "chats-grid", "none"]),
                help="How a model's answer is verified; cov by default.",
            ),
            click.option("--explain", is_flag=True, help="Show every step."),
        )
    ):
        command = option(command)
    return command


@click.command()
@click.argument("question")
@kb_option
@_answer_options
@click.option("--top-k", type=click.IntRange(1, 200), help="Chunks that the answer may draw from.")
@json_option
@click.pass_context
def ask(
    ctx: click.Context,
    question: str,
    kb: str,
    system: str | None,
    writer: str | None,
    template: str | None,
    verify: str | None,
    explain: bool,
    top_k: int | None,
    as_json: bool,
) -> None:
    """Answer a question; every sentence cites document, section and place."""
    with opened(ctx, kb) as base:
        answer = base.ask(
            question,
            system=system,
            top_k=top_k,
            writer=_writer(writer),
            template=template,
            verify=verify,
            on_text=None if as_json else _stream(),
        )
    if as_json:
        print_json(_answer_json(answer))
    else:
        _print_answer(answer, explain=explain)
    if not _is_done(answer):
        ctx.exit(1)


@click.command()
@kb_option
@_answer_options
@click.pass_context
def chat(
    ctx: click.Context,
    kb: str,
    system: str | None,
    writer: str | None,
    template: str | None,
    verify: str | None,
    explain: bool,
) -> None:
    """Answer questions that may lean on the ones before, a line each; /new forgets, /quit ends."""
    done = True
    with opened(ctx, kb) as base:
        turns: list[Turn] = []
        for question in _questions():
            if question in _NEW:
                turns = []
                continue
            answer = _answered(base, question, turns, system, writer, template, verify)
            if turns and answer.question != question:
                click.echo(f"understood as: {answer.question}", err=True)
            _print_answer(answer, explain=explain)
            click.echo()
            turns.append(_turn(answer))
            done = done and _is_done(answer)
    if not done:
        ctx.exit(1)


def _answered(
    base: "KnowledgeBase",
    question: str,
    turns: "list[Turn]",
    system: str | None,
    writer: str | None,
    template: str | None,
    verify: str | None,
) -> "Answer":
    return base.ask(
        question,
        system=system,
        writer=_writer(writer),
        template=template,
        verify=verify,
        history=turns,
        on_text=_stream(),
    )


def _turn(answer: "Answer") -> "Turn":
    from kgrag.generation.follow_up import Turn

    return Turn(answer.question, answer.text)


def _questions() -> Iterator[str]:
    """Yield the lines that are typed, or piped in, until the end."""
    if sys.stdin.isatty():
        import readline  # noqa: F401 - lets the line be edited

        click.echo("questions, a line each; /new forgets what was said, /quit ends", err=True)
    while True:
        try:
            line = input("? " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return
        if line in _END:
            return
        if line:
            yield line


def _writer(name: str | None) -> "Writer | None":
    return "model" if name == "model" else "quotes" if name == "quotes" else None


def _stream() -> Callable[[str], None] | None:
    """Return what shows a draft as it is written, on a terminal; its numbers are not final."""
    if not sys.stderr.isatty():
        return None
    return lambda piece: click.secho(piece, nl=False, dim=True, err=True)


def _is_done(answer: "Answer") -> bool:
    """Say whether the model that was to answer and the one that was to verify did."""
    verified = answer.verdict is None or not answer.verdict.reason.startswith(_UNVERIFIED)
    return verified and all(step.name != _FALLEN_BACK for step in answer.steps)


def _answer_json(answer: "Answer") -> dict[str, object]:
    from dataclasses import asdict, replace

    verdict = answer.verdict
    if verdict is not None:
        answer = replace(answer, verdict=replace(verdict, scores=dict(verdict.scores)))
    return asdict(answer)


def _print_answer(answer: "Answer", *, explain: bool) -> None:
    if sys.stderr.isatty() and answer.method != "extractive":
        click.echo("\n", err=True)  # behind the draft
    if explain:
        _print_steps(answer)
    click.echo(answer.text)
    for citation in answer.citations:
        where = " › ".join(citation.heading_path)
        page = f", page {citation.page}" if citation.page else ""
        click.echo(f"\n[{citation.number}] {citation.title}")
        if where:
            click.echo(f"    {where}")
        click.echo(f"    {citation.file}{page}, characters {citation.start}-{citation.end}")
        if answer.method != "extractive":  # there the answer is the quote
            click.echo(f"    “{' '.join(citation.quote.split())}”")
    if answer.verdict is not None:
        click.echo(f"\n{_verdict(answer.verdict)}")
    for note in answer.notes:
        click.echo(f"note: {note}", err=True)


def _verdict(verdict: "Verdict") -> str:
    if verdict.reason.startswith(_UNVERIFIED):
        return f"not verified ({verdict.method}): {verdict.reason.removeprefix(_UNVERIFIED)}"
    from kgrag.verification.scores import in_words

    scores = in_words(verdict.scores)
    passed = "passed" if verdict.passed else "not passed"
    rounds = f"{verdict.rounds} answers" if verdict.rounds > 1 else "1 answer"
    parts = filter(None, (scores, verdict.reason))
    return f"verified ({verdict.method}, {rounds}): {passed}; {'; '.join(parts)}".rstrip("; ")


def _print_steps(answer: "Answer") -> None:
    for step in answer.steps:
        calls = f" ({step.calls} calls)" if step.calls else ""
        click.echo(f"── {step.name}{calls}")
        for line in step.detail.splitlines():
            click.echo(f"   {line}")
    click.echo("──")


COMMANDS = (ask, chat)
