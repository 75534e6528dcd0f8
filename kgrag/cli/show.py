"""The command that shows a place of a document, and the citations of the last answer."""

import json
import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.answer.address import Address
from kgrag.cli.chinese import language, told
from kgrag.cli.opened import opened
from kgrag.cli.options import JSON, KB, argument, command, option
from kgrag.cli.printing import echo, echo_text, print_json
from kgrag.errors import KgragError, NotFoundError, OutOfRangeError
from kgrag.text.messages import message

if TYPE_CHECKING:
    from kgrag.answer.answer import Answer
    from kgrag.answer.excerpt import Excerpt
    from kgrag.api import KnowledgeBase

_NUMBER = re.compile(r"\[(\d{1,4})\]|(\d{1,4})")
_QUOTE = "〖{}〗"  # around the quote; also in the character sets of Chinese terminals


@command(served=True)
def show(
    *,
    place: str = argument(required=False),
    kb: str = KB,
    context: int = option("Paragraphs before and behind.", type=click.IntRange(0, 100), default=1),
    cite: bool = option("Only how it is cited: 《title》（文号）第X条."),
    open_: bool = option("Open the file, too.", "--open"),
    as_json: bool = JSON,
) -> None:
    """Show a place in its document: [n] of the last answer, or DOCUMENT:START-END.

    Without either, the citations of the last answer, as officials write them.
    """
    numbered = _NUMBER.fullmatch(place or "")
    spans: dict[int, Address] = {}
    if place and not numbered:
        try:
            spans[0] = Address.parse(place)
        except OutOfRangeError:
            raise click.UsageError(told("a place is n, [n] or DOCUMENT:START-END")) from None
    with opened(kb) as base:
        if not spans:
            spans = _of_last_answer(kb)
            if numbered:
                chosen = int(numbered[1] or numbered[2])
                spans = {n: span for n, span in spans.items() if n == chosen}
        if not spans:
            raise NotFoundError(f"the last answer has no citation {place or ''}".rstrip())
        for number, at in spans.items():
            found = base.excerpt(at.document, at.start, at.end, paragraphs=context)
            if as_json:
                cited = replace(found.citation, number=number)
                print_json(replace(found, citation=cited).to_dict())
            elif cite or not place:
                echo((f"[{number}] " if number and not cite else "") + found.reference)
            else:
                _print(found, number)
            if open_:
                _open(base, found)


def _print(found: "Excerpt", number: int) -> None:
    from kgrag.status import mark

    shown, cited = language(), found.citation
    head = found.reference + mark(cited.status, shown)
    echo(f"[{number}] {head}" if number else head)
    if cited.heading_path:
        echo(f"    {' › '.join(cited.heading_path)}")
    echo(f"    {cited.place(shown)}")
    echo()
    echo_text(f"{found.before}{_QUOTE.format(cited.quote)}{found.after}".strip("\n"))


def _open(base: "KnowledgeBase", found: "Excerpt") -> None:
    """Open the file of a document with the program for it.

    Raises:
        NotFoundError: If it is not there any more, or on another machine.
    """
    from kgrag.store.folders import FOLDERS, originals

    store, card = base.store, base.find_document(found.citation.doc_id)
    file = next(originals(card, store.sources(), store.get_meta(FOLDERS)), None)
    if file is None:
        raise NotFoundError("{file} is not on this machine, or was moved", file=found.citation.file)
    if click.launch(str(file)):
        raise NotFoundError("no program of this machine opens {file}", file=file)


def remember(kb: str, answer: "Answer") -> None:
    """Keep where the citations of an answer are, for `kgrag show`; nothing is told if it fails.

    Kept are documents and offsets, no text, in the user's cache folder.
    """
    from kgrag.files.cache_folder import make_private

    spans = {c.number: (c.doc_id, c.start, c.end) for c in answer.citations}
    with suppress(OSError, KgragError):
        file = _last_answer()
        make_private(file)
        file.write_text(json.dumps({"kb": _called(kb), "citations": spans}), "utf-8")


def _of_last_answer(kb: str) -> dict[int, Address]:
    """Return the citations of the last answer from this knowledge base, by number.

    Raises:
        NotFoundError: If there is none, or it came from another knowledge base.
    """
    try:
        kept = json.loads(_last_answer().read_text("utf-8"))
        spans = {
            int(n): Address(str(doc_id), int(start), int(end))
            for n, (doc_id, start, end) in kept["citations"].items()
        }
        asked = str(kept["kb"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise NotFoundError(message("there is no last answer; `kgrag ask` gives one")) from None
    if asked != _called(kb):
        raise NotFoundError(
            "the last answer came from another knowledge base: --kb {asked}", asked=asked
        )
    return spans


def _last_answer() -> Path:
    from kgrag.files.cache_folder import cache_folder

    return cache_folder() / "last_answer.json"


def _called(kb: str) -> str:
    return kb if "://" in kb else os.path.realpath(kb)


COMMANDS = (show,)
