"""The command that prints what a model is sent."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.options import EXISTING, json_option
from kgrag.cli.printing import echo, echo_text, print_json
from kgrag.errors import NotFoundError

if TYPE_CHECKING:
    from kgrag.config import Config
    from kgrag.llm.chat import Request
    from kgrag.llm.prompts import Prompt


@click.command()
@click.argument("names", nargs=-1)
@click.option("--language", type=click.Choice(["zh", "en"]), help="Only in this language.")
@click.option("--of", "file", type=EXISTING, help="What `ingest` would send for this file, whole.")
@json_option
@click.pass_context
def prompts(
    ctx: click.Context,
    names: tuple[str, ...],
    language: str | None,
    file: Path | None,
    as_json: bool,
) -> None:
    """Print the prompts, with $places, or with --of what would be sent for a file."""
    if file is not None:
        _print_requests(ctx.obj, file, as_json)
        return
    for prompt in _chosen(names, language):
        _print_prompt(prompt, as_json)


def _chosen(names: tuple[str, ...], language: str | None) -> "list[Prompt]":
    from kgrag.llm.prompts import LANGUAGES, prompt, prompt_names

    known = prompt_names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotFoundError(f"no prompt is called {unknown[0]!r}; there are {', '.join(known)}")
    return [
        prompt(name, tongue)
        for name in names or known
        for tongue in LANGUAGES
        if language in (None, tongue)
    ]


def _print_prompt(prompt: "Prompt", as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(asdict(prompt))
        return
    echo(f"═══ {prompt.name} ({prompt.language})")
    for line in prompt.about.splitlines():
        echo(f"# {line}")
    for role in ("system", "user"):
        echo(f"── {role}")
        echo_text(getattr(prompt, role))
    echo()


def _print_requests(config: "Config", file: Path, as_json: bool) -> None:
    from kgrag.intake import requests_of

    for number, request in enumerate(requests_of(file, config), 1):
        if as_json:
            messages = [{"role": m.role, "content": m.content} for m in request.messages]
            print_json({"stage": request.stage, "messages": messages, "schema": request.schema})
        else:
            _print_request(number, request)


def _print_request(number: int, request: "Request") -> None:
    echo(f"═══ call {number} ({request.stage})")
    for message in request.messages:
        echo(f"── {message.role}")
        echo_text(message.content)
    if request.schema is not None:
        echo(f"── JSON schema {request.schema_name}")
        print_json(request.schema)
    echo()


COMMANDS = (prompts,)
