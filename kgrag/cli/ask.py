"""Commands that answer questions: ask, and chat for follow-up questions."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.chinese import amount, in_words, said, told
from kgrag.cli.opened import opened
from kgrag.cli.options import FILE, JSON, KB, command, option
from kgrag.cli.printing import echo, echo_draft, echo_text, on_terminal, print_json, say
from kgrag.errors import GarbledTextError, OutOfRangeError
from kgrag.text.messages import in_language, message
from kgrag.text.visible import shortened
from kgrag.tools.ask import FORMS, Asked, Asking, answered

if TYPE_CHECKING:
    from kgrag.answer.answer import Answer
    from kgrag.answer.citation import Citation

_HEADING = 30  # characters of a heading shown: some are complete provisions
_EXPLAIN: Any = option("Show every step.")


@command()
def ask(
    *,
    given: Asked,
    kb: str = KB,
    out: Path | None = option(
        "Write a Word file, a page or Markdown: .docx, .html, .md.", type=FILE
    ),
    explain: bool = _EXPLAIN,
    as_json: bool = JSON,
) -> int:
    """Answer a question; every sentence cites document, section and place."""
    if out and out.suffix.lower() not in FORMS:
        template = "--out must end in {forms}, got {out!r}"
        raise click.UsageError(told(template, forms=", ".join(FORMS), out=out.name))
    with opened(kb) as base:
        found = answered(base, given, None if as_json or out else _stream())
    answer = found.answer
    if as_json:
        print_json(found.to_dict())
    elif not out:
        print_answer(answer, explain=explain)
    if out:
        _write(out, answer)
    return int(not is_done(answer))


def _write(out: Path, answer: "Answer") -> None:
    """Write an answer to a file, whose notes tell its verification."""
    from kgrag.files.whole_file import written_whole

    if answer.verdict is not None:
        answer = replace(answer, notes=(_verdict(answer), *answer.notes))
    with written_whole(out) as file:
        file.write(FORMS[out.suffix.lower()](answer))
    echo(f"{out}: {amount(len(answer.citations), 'citation')}", err=True)
    _print_notes(answer)


@command()
def chat(given: Asking, kb: str = KB, explain: bool = _EXPLAIN) -> int:
    """Answer questions that may lean on the ones before, a line each; /help tells how."""
    from kgrag.answering.conversation import Conversation

    all_done = True
    with opened(kb) as base:
        asking = partial(given.answer, base)
        talk = Conversation(lambda line, turns: asking(line, history=turns, on_text=_stream()))
        for line in _questions():
            try:
                reply = talk.reply(line)
            except (OutOfRangeError, GarbledTextError) as exc:  # the next one may be better
                echo(f"kgrag: {in_words(exc)}", err=True)
                all_done = False
                continue
            if reply is None:
                break
            if isinstance(reply, str):
                echo_text(reply)
            else:
                if reply.question != line:  # it leaned on those before
                    say("understood as: {told}", told=reply.question, err=True)
                print_answer(reply, explain=explain)
                all_done = all_done and is_done(reply)
            echo()
    return int(not all_done)


def _questions() -> Iterator[str]:
    """Yield the lines typed or piped in."""
    if isinstance(sys.stdin, TextIOWrapper):  # accept lines in another encoding
        sys.stdin.reconfigure(errors="surrogateescape")
    if sys.stdin.isatty():
        with suppress(ImportError):  # as on Windows
            import readline  # noqa: F401 - makes the line editable

        invitation = "questions, a line each; /help tells what else, /quit ends"
        echo(said("words", invitation), err=True)
    while True:
        try:
            line = input("? " if sys.stdin.isatty() else "").strip().strip("\ufeff")
        except EOFError:
            return
        if line:
            yield line


def _stream() -> Callable[[str], None] | None:
    """Return a function that shows a draft as it is written, on a terminal."""
    if not on_terminal():
        return None
    head = [told("draft (numbers are not final):") + "\n"]

    def show(piece: str) -> None:
        echo_draft((head.pop() if head else "") + piece)

    return show


def is_done(answer: "Answer") -> bool:
    """Return whether the answering and verifying models answered."""
    verified = answer.verdict is None or answer.verdict.status != "unverified"
    return verified and not answer.fallback


def print_answer(answer: "Answer", *, explain: bool) -> None:
    """Print an answer, its citations and verdict; notes go to stderr."""
    if on_terminal() and answer.method != "extractive":
        echo(err=True)  # after the draft
        echo(err=True)
    if explain:
        _print_steps(answer)
    echo_text(answer.text)
    for citation in answer.citations:
        _print_citation(answer, citation)
    if answer.verdict is not None:
        echo()
        echo(_verdict(answer))
    _print_notes(answer)


def _print_notes(answer: "Answer") -> None:
    for note in answer.notes:
        say("note: {note}", note=note, err=True)


def _print_citation(answer: "Answer", citation: "Citation") -> None:
    from kgrag.answering.copies import ALSO_IN
    from kgrag.status import mark

    echo()
    language = answer.language
    echo(f"[{citation.number}] {citation.title}{mark(citation.status, language)}")
    if citation.heading_path:
        echo(f"    {' › '.join(shortened(h, _HEADING) for h in citation.heading_path)}")
    echo(f"    {citation.place(language)}")
    if citation.also_in:
        echo(f"    {ALSO_IN[language]}{', '.join(citation.also_in)}")
    if answer.method != "extractive":  # there the answer is the quote
        echo(f"    “{' '.join(citation.quote.split())}”")


def _verdict(answer: "Answer") -> str:
    """Return the result of verification in the answer's language; scores are among the steps."""
    from kgrag.verification.attempt import NOT_VERIFIED

    verdict = answer.verdict
    assert verdict is not None
    reason = verdict.reason.removeprefix(NOT_VERIFIED)
    if verdict.status == "unverified":
        unverified = message(
            "not verified ({method}): {reason}", method=verdict.method, reason=reason
        )
        return in_language(unverified, answer.language)
    said = "verified ({method}): not passed, look at the quotes", "verified ({method}): passed"
    if verdict.method == "none":
        said = (
            "checked without a model: not passed, look at the quotes",
            "checked without a model: passed",
        )
    told = in_language(message(said[verdict.passed], method=verdict.method), answer.language)
    if verdict.rounds > 1:
        told += in_language(message("; {n} answers", n=verdict.rounds), answer.language)
    return told if verdict.passed or not verdict.reason else f"{told}: {verdict.reason}"


def _print_steps(answer: "Answer") -> None:
    for step in answer.steps:
        calls = f" ({step.calls} calls)" if step.calls else ""
        echo(f"── {step.name}{calls}")
        for line in step.detail.splitlines():
            echo(f"   {line}")
    echo("──")


COMMANDS = (ask, chat)
