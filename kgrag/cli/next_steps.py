"""What to do next in a folder: where `kgrag` is called without a command."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kgrag.cli.chinese import said, width
from kgrag.cli.printing import echo
from kgrag.text.visible import visible_line

_FOLDERS = 500  # entries of a folder that are looked at


def print_next_steps(kb: str) -> None:
    """Print what to do next in the working folder: ingest, or ask and look.

    Args:
        kb: The knowledge base that commands take by default.
    """
    from kgrag.store.sqlite.connection import FILE_NAME

    if "://" in kb or (Path(kb) / FILE_NAME).is_file():
        steps = ('ask "…"', "overview", "problems")
        echo(said("next", "there is a knowledge base here: {}").format(kb))
    else:
        folder = next(_folders_of_documents(kb), "")
        steps = (f"ingest {shlex.quote(folder) if folder else 'FOLDER'}", 'ask "…"', "overview")
        echo(said("next", "there is no knowledge base here yet: {}").format(kb))
    for step in steps:
        called = visible_line(f"  kgrag {step}")
        gap = " " * max(32 - width(called), 2)
        echo(called + gap + said("next", _STEPS[step.partition(" ")[0]]))
    echo(said("next", "`kgrag --help` lists all commands"))


_STEPS = {
    "ingest": "take documents in",
    "ask": "answer a question",
    "overview": "what is held and what is missing",
    "problems": "what was read badly, with remedies",
}


def _folders_of_documents(kb: str) -> Iterator[str]:
    """Yield the folders here that have a file that can be read, in order."""
    from kgrag.ingestion.load.formats import MEDIA_TYPES

    known = tuple(suffix for suffix, kind in MEDIA_TYPES.items() if kind != "picture")
    with suppress(OSError):
        for folder in sorted(Path().iterdir())[:_FOLDERS]:
            if folder.is_dir() and not folder.name.startswith((".", "_")) and folder != Path(kb):
                with suppress(OSError), os.scandir(folder) as entries:
                    for _, entry in zip(range(_FOLDERS), entries, strict=False):
                        if entry.name.lower().endswith(known):
                            yield str(folder)
                            break
