"""Commands that answer questions: ask, chat for follow-up questions, report for many."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgrag.cli.chinese import amount, in_words, language, said, told
from kgrag.cli.opened import opened
from kgrag.cli.options import (
    EXISTING,
    FILE,
    JSON,
    KB,
    argument,
    command,
    option,
)
from kgrag.cli.printing import (
    echo,
    echo_draft,
    echo_text,
    on_terminal,
    print_json,
    progress_bar,
    say,
)
from kgrag.errors import GarbledTextError, OutOfRangeError
from kgrag.text.messages import in_language, message
from kgrag.text.visible import shortened
from kgrag.tools.ask import FORMS, Asked, Asking, answered

if TYPE_CHECKING:
    from kgrag.answer.answer import Answer, Verdict
    from kgrag.answer.citation import Citation
    from kgrag.answering.conversation import Reply

_MOST_BYTES = 1_000_000  # of a file of questions
_HEADING = 30  # characters of a heading shown: some are complete provisions
_EXPLAIN: Any = option("Show every step.")


def _warn_of_ignored(given: Asking) -> None:
    """Print a note for options without effect on the writer, a model or rules."""
    configured = click.get_current_context().obj.model_of("answer").is_configured
    by_model = given.writer == "model" or (not given.writer and configured)
    option = given.template or given.verify
    if option and not by_model:
        say("note: {option} is for models; clauses are quoted by rule", option=option, err=True)
    if given.max_chars and by_model:
        say("note: --max-chars is for answers by rule; a model writes this one", err=True)


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
    _warn_of_ignored(given)
    form = out and _form(out, FORMS)
    on_text = None if as_json or form else _stream(given.question)
    with opened(kb) as base:
        found = answered(base, given, on_text)
    answer = found.answer
    if as_json:
        print_json(found.to_dict())
    elif not form:
        print_answer(answer, explain=explain)
    if out and form:
        _write(out, form(_with_verdict(answer)), amount(len(answer.citations), "citation"))
        _print_notes(_with_verdict(answer))
    return int(not is_done(answer))


@command()
def chat(given: Asking, kb: str = KB, explain: bool = _EXPLAIN) -> int:
    """Answer questions that may lean on the ones before, a line each; /help tells how."""
    from kgrag.answering.conversation import Conversation

    all_done = True
    _warn_of_ignored(given)
    with opened(kb) as base:
        asking = partial(given.answer, base)
        talk = Conversation(lambda line, turns: asking(line, history=turns, on_text=_stream(line)))
        for line in _questions():
            try:
                reply = talk.reply(line)
            except (OutOfRangeError, GarbledTextError) as exc:  # the next one may be better
                echo(f"kgrag: {in_words(exc)}", err=True)
                all_done = False
                continue
            if reply.ends:
                break
            _print_reply(line, reply, explain=explain)
            all_done = all_done and (reply.answer is None or is_done(reply.answer))
    return int(not all_done)


_Form = TypeVar("_Form")


def _form(out: Path, forms: Mapping[str, _Form]) -> _Form:
    """Return what writes a file of this ending.

    Raises:
        UsageError: If nothing does.
    """
    if out.suffix.lower() not in forms:
        said = "--out must end in {forms}, got {out!r}"
        raise click.UsageError(told(said, forms=", ".join(forms), out=out.name))
    return forms[out.suffix.lower()]


def _write(out: Path, data: bytes, what: str) -> None:
    from kgrag.files.whole_file import written_whole

    with written_whole(out) as file:
        file.write(data)
    echo(f"{out}: {what}", err=True)


def _with_verdict(answer: "Answer") -> "Answer":
    """Return an answer whose notes tell its verification, which files have no other place for."""
    if answer.verdict is None:
        return answer
    return replace(answer, notes=(_verdict(answer.question, answer.verdict), *answer.notes))


@command()
def report(
    *,
    questions: Path = argument(type=EXISTING),
    out: Path = option(
        "A Word file, a page or a workbook: .docx, .html, .xlsx.", type=FILE, required=True
    ),
    given: Asking,
    kb: str = KB,
) -> int:
    """Answer questions, a line each, in one file with all their sources.

    Blank lines and those that begin with # are skipped.
    """
    from kgrag.answering.report import FORMS, Report, Section
    from kgrag.files.whole_file import written_whole

    form = _form(out, FORMS)
    lines = _read_questions(questions)
    if not lines:
        raise click.UsageError(told("there is no question in {questions}", questions=questions))
    _warn_of_ignored(given)
    sections: list[Section] = []
    with written_whole(out) as file, opened(kb) as base, progress_bar("report") as progress:
        asking = partial(given.answer, base)
        for line, number in lines.items():
            progress(line, len(sections), len(lines))
            try:
                sections.append(Section(line, _with_verdict(asking(line))))
            except (OutOfRangeError, GarbledTextError) as exc:
                say(
                    "kgrag: {file}, line {n}: {error}",
                    file=questions,
                    n=number,
                    error=exc,
                    err=True,
                )
                sections.append(Section(line, problem=in_words(exc)))
        file.write(form(Report(tuple(sections), as_of=given.day or ""), language()))
    echo(f"{out}: {amount(len(sections), 'question')}", err=True)
    return int(not all(s.answer is not None and is_done(s.answer) for s in sections))


def _read_questions(path: Path) -> dict[str, int]:
    """Return the questions of a file, each once, with the number of its line.

    Raises:
        OutOfRangeError: If it is too long to be one of questions.
        IngestionError: If it is not text.
    """
    from kgrag.files.encoding import decode

    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise OutOfRangeError(
            "{path}: has more than {n:,} bytes: split the questions", path=path, n=_MOST_BYTES
        )
    decoded = decode(data, name=str(path))
    for warning in decoded.warnings:
        echo(f"{path}: {in_words(warning)}", err=True)
    lines: dict[str, int] = {}
    for number, line in enumerate(decoded.text.splitlines(), start=1):
        question = line.strip()
        if question and not question.startswith("#"):
            lines.setdefault(question, number)
    return lines


def _print_reply(line: str, reply: "Reply", *, explain: bool) -> None:
    """Print the reply to a line; the interpretation of a question goes to stderr."""
    if reply.understood:
        told = _told_as_asked(line, "understood as: {told}", told=reply.understood)
        echo(told, err=True)
    if reply.answer is not None:
        print_answer(reply.answer, explain=explain)
    elif reply.text:
        echo_text(reply.text)
    echo()


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


def _stream(question: str) -> Callable[[str], None] | None:
    """Return a function that shows a draft as it is written, on a terminal."""
    if not on_terminal():
        return None
    begun: list[bool] = []

    def show(piece: str) -> None:
        if not begun:
            begun.append(True)
            template = "draft (numbers are not final):"
            echo_draft(_told_as_asked(question, template) + "\n")
        echo_draft(piece)

    return show


def _told_as_asked(question: str, template: str, **values: object) -> str:
    """Return a message of a template in the language of a question."""
    from kgrag.text.words import question_language

    return in_language(message(template, **values), question_language(question))


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
        echo(f"{_verdict(answer.question, answer.verdict)}")
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


def _verdict(question: str, verdict: "Verdict") -> str:
    """Return the result of verification; scores are among the steps."""
    from kgrag.verification.attempt import NOT_VERIFIED

    if verdict.status == "unverified":
        template = "not verified ({method}): {reason}"
        reason = verdict.reason.removeprefix(NOT_VERIFIED)
        return _told_as_asked(question, template, method=verdict.method, reason=reason)
    said = "verified ({method}): not passed, look at the quotes", "verified ({method}): passed"
    if verdict.method == "none":
        said = (
            "checked without a model: not passed, look at the quotes",
            "checked without a model: passed",
        )
    told = _told_as_asked(question, said[verdict.passed], method=verdict.method)
    if verdict.rounds > 1:
        told += _told_as_asked(question, "; {n} answers", n=verdict.rounds)
    return told if verdict.passed or not verdict.reason else f"{told}: {verdict.reason}"


def _print_steps(answer: "Answer") -> None:
    for step in answer.steps:
        calls = f" ({step.calls} calls)" if step.calls else ""
        echo(f"── {step.name}{calls}")
        for line in step.detail.splitlines():
            echo(f"   {line}")
    echo("──")


COMMANDS = (ask, chat, report)
