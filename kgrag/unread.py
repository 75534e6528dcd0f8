"""The sources that could not be read, as a knowledge base remembers them."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.json_ready import JsonReady
from kgrag.kb_meta import NOTE
from kgrag.text.visible import place_shown

UNREAD = f"{NOTE}unread"  # key of the note that holds them
MOST_UNREAD = 1000
_LONGEST = 500  # characters of a reason
_LINE = re.compile(r":\d+$")


@dataclass(frozen=True, slots=True)
class Unread(JsonReady):
    """A source that could not be read.

    Attributes:
        source: Absolute path as shown; `:line` or `#id` appended for a part of a file.
        reason: What is wrong, with the remedy.
        skipped: Whether it was only met in a folder and no loader reads such files.
    """

    source: str
    reason: str
    skipped: bool = False


def unread_from(text: str | None) -> list[Unread]:
    """Return the sources that a note holds, oldest first; none of a note that is none.

    >>> unread_from('[["/a/b.pdf", "is locked", false]]')
    [Unread(source='/a/b.pdf', reason='is locked', skipped=False)]
    """
    try:
        rows = json.loads(text or "[]")
        return [Unread(str(source), str(reason), bool(skipped)) for source, reason, skipped in rows]
    except (ValueError, TypeError):
        return []


def unread_text(unread: Iterable[Unread]) -> str:
    """Return the note that holds sources."""
    rows = [[one.source, one.reason, one.skipped] for one in unread]
    text = json.dumps(rows, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half characters as JSON escapes them


def renewed_unread(
    known: Iterable[Unread], found: Iterable[Unread], *, looked_at: Sequence[Path]
) -> list[Unread]:
    """Return what is unread after a run, oldest first.

    What was known of files at or below the paths of the run is left out: they were looked at
    again. So is what is not there any more. There are `MOST_UNREAD` at most, the newest; files
    that no loader reads make way first.

    Args:
        known: Before the run.
        found: In the run.
        looked_at: Files and folders of the run.
    """
    roots = {Path(os.path.abspath(path)) for path in looked_at}  # noqa: PTH100 - links stay
    kept = [one for one in known if not roots & _around(one)]
    now = {
        one.source: Unread(one.source, one.reason[:_LONGEST], one.skipped)
        for one in (*kept, *found)
        if os.path.exists(_file(one))  # noqa: PTH110 - names may be none that a system has
    }
    return sorted(now.values(), key=lambda one: not one.skipped)[-MOST_UNREAD:]


def _around(one: Unread) -> set[Path]:
    path = Path(os.path.abspath(_file(one)))  # noqa: PTH100 - links stay
    return {path, *path.parents}


def _file(one: Unread) -> Path:
    """Return the file of a source, or of the part of one."""
    whole = place_shown(one.source)
    if os.path.exists(whole):  # noqa: PTH110 - as above
        return whole
    part = _LINE.sub("", one.source)
    return place_shown(part if part != one.source else one.source.rpartition("#")[0] or one.source)
