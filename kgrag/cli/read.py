"""The command that reads documents, places of them, and the citations of the last answer."""

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.answer.address import Address
from kgrag.cli.chinese import language
from kgrag.cli.opened import opened
from kgrag.cli.options import JSON, KB, command, option
from kgrag.cli.printing import echo, echo_text, print_json
from kgrag.errors import KgragError, NotFoundError
from kgrag.text.messages import message
from kgrag.tools import TOOLS
from kgrag.tools.arguments import argument
from kgrag.tools.reading import Read

if TYPE_CHECKING:
    from kgrag.answer.answer import Answer
    from kgrag.api import KnowledgeBase
    from kgrag.tools.results import Reading

_NUMBER = re.compile(r"\[(\d{1,4})\]|(\d{1,4})")
_QUOTE = "〖{}〗"  # around the quote; also in the character sets of Chinese terminals


@dataclass(frozen=True, kw_only=True)
class _Place(Read):
    """What is read; without it the citations of the last answer."""

    document: str = argument("", "", default="", positional=True)


@command()
def read(
    *,
    given: _Place,
    kb: str = KB,
    cite: bool = option("Only how it is cited: 《title》（文号）第X条."),
    open_: bool = option("Open the file, too.", "--open"),
    as_json: bool = JSON,
) -> None:
    """Read a document with its outline, or a place in it with the text around it.

    DOCUMENT is an id, file, number or title, a place DOCUMENT:START-END, or [n] of the last answer;
    without it the citations of the last answer are listed, as officials write them.
    """
    with opened(kb) as base:
        for number, place in _places(kb, given.document).items():
            found = TOOLS["read"].run(base, replace(given, document=place))
            if as_json:
                print_json({"number": number} | found.to_dict())
            elif cite or not given.document:
                echo((f"[{number}] " if number and not cite else "") + found.reference)
            else:
                _print(found, number)
            if open_:
                _open(base, found)


def _places(kb: str, name: str) -> dict[int, str]:
    """Return what is read by its number in the last answer; 0 for what is no citation of it.

    Raises:
        NotFoundError: If there is no last answer, or it has no such citation.
    """
    numbered = _NUMBER.fullmatch(name)
    if name and not numbered:
        return {0: name}
    chosen = int(numbered[1] or numbered[2]) if numbered else 0
    cited = {n: str(at) for n, at in _of_last_answer(kb).items() if chosen in (0, n)}
    if not cited:
        raise NotFoundError(f"the last answer has no citation {name}".rstrip())
    return cited


def _print(found: "Reading", number: int) -> None:
    shown, excerpt = language(), found.excerpt
    echo(f"[{number}] {found.title}" if number else found.title)
    if excerpt is None:
        return
    cited = excerpt.citation
    if cited.heading_path:
        echo(f"    {' › '.join(cited.heading_path)}")
    echo(f"    {cited.place(shown)}")
    echo()
    for heading in found.headings if found.is_whole else ():
        at = Address(cited.doc_id, heading.start, heading.end)
        echo(f"{'  ' * (heading.level - 1)}{heading.text}  {at}")
    quote = cited.quote if found.is_whole else _QUOTE.format(cited.quote)
    echo_text(f"{excerpt.before}{quote}{excerpt.after}".strip("\n"))
    if found.next:
        echo(f"→ {found.next}", err=True)


def _open(base: "KnowledgeBase", found: "Reading") -> None:
    """Open the file of a document with the program for it.

    Raises:
        NotFoundError: If it is not there any more, or on another machine.
    """
    from kgrag.store.folders import FOLDERS, originals

    store, card = base.store, found.card
    file = next(originals(card, store.sources(), store.get_meta(FOLDERS)), None)
    if file is None:
        raise NotFoundError("{file} is not on this machine, or was moved", file=card.file)
    if click.launch(str(file)):
        raise NotFoundError("no program of this machine opens {file}", file=file)


def remember(kb: str, answer: "Answer") -> None:
    """Keep where the citations of an answer are, for `kgrag read`; nothing is told if it fails.

    Kept are documents and offsets, of a clause those of its marked sentence, in the user's cache
    folder; no text.
    """
    from kgrag.files.cache_folder import make_private

    spans = {c.number: (c.doc_id, *(c.marked or (c.start, c.end))) for c in answer.citations}
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


COMMANDS = (read,)
