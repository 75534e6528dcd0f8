"""Paths of documents as shown: from the folder that was ingested on, which an analyst knows."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.kb_meta import NOTE
from kgrag.text.visible import parted, place_shown, shown_path
from kgrag.types import Document

if TYPE_CHECKING:  # numpy takes long to import, and filters need none
    from kgrag.store.contents import SourceState

FOLDERS = f"{NOTE}folders"  # key of the note: [parts of a folder that are shown, folder, …]
ARCHIVES = f"{NOTE}archives"  # key of the note of folders that are archives: {folder: name}
_PART = re.compile(r"[/\\]+[^/\\]*")


def is_remote(path: Path | str) -> bool:
    """Return whether a path is the URL of a file in an object store."""
    return "://" in shown_path(path)


def absolute(path: Path | str) -> str:
    """Return the absolute path as displayed, without `..` where no link is in front of it.

    >>> absolute("/a/../b.txt"), absolute("/a/../b.jsonl#../c")
    ('/b.txt', '/b.jsonl#../c')
    """
    file, record = parted(str(path))
    if is_remote(file):
        return shown_path(f"{file}{record}")
    whole = Path(file).absolute()
    if ".." in whole.parts and "\0" not in file:  # which is in no name
        plain = os.path.abspath(whole)  # noqa: PTH100 - links stay
        whole = Path(plain) if os.path.realpath(plain) == os.path.realpath(whole) else whole
    return shown_path(f"{whole}{record}")


def with_folders(note: str | None, given: Iterable[str], sources: Iterable[str]) -> str:
    """Return the note with more folders; of nested folders the outermost counts.

    Args:
        note: The stored note.
        given: Absolute paths of ingested folders.
        sources: All sources of the knowledge base. Those outside the folders are shown with their
            own folder.

    >>> with_folders(None, ["/data/policies"], ["/data/policies/gd/a.docx", "/old/b.docx"])
    '[1, "/data/policies"]'
    >>> with_folders('[1, "/data/policies"]', ["/new/policies"], [])
    '[2, "/data/policies", "/new/policies"]'
    """
    folders = {folder.rstrip("/\\") for folder in (*_read(note)[1], *given)}
    outermost = sorted(f for f in folders if not folders.intersection(_parents(f)))
    known = frozenset(outermost)
    bases = {_base(source, known) for source in sources}.union(outermost)
    distinct = (n for n in count(1) if len({_tail(base, n) for base in bases}) == len(bases))
    return json.dumps([next(distinct), *outermost], ensure_ascii=False)


@lru_cache(maxsize=16)
def shown_from(note: str | None) -> Callable[[str], str]:
    """Return a function that shows a source, given the stored note.

    Different sources are shown differently. Without a note a source is shown as its
    absolute path.

    >>> shown_from('[1, "/data/policies"]')("/data/policies/gd/a.docx")
    'policies/gd/a.docx'
    >>> shown_from('[1, "/data/policies"]')("/old/me/b.docx")
    'me/b.docx'
    """
    n_parts, folders = _read(note)
    known = frozenset(folders)

    @cache
    def shown(source: str) -> str:
        base = _base(source, known)
        return _tail(base, n_parts) + source[len(base) :]

    return shown if n_parts else str


def archive_of(note: str | None, source: str) -> str:
    """Return the name of the archive that a source is in, given the note; empty for none.

    >>> archive_of('{"/data": "甲", "/data/gd": "乙"}', "/data/gd/a.docx")
    '乙'
    """
    folders = archives_in(note)
    around = reversed(_parents(parted(source)[0]))
    return next((folders[folder] for folder in around if folder in folders), "")


def archives_in(note: str | None) -> dict[str, str]:
    """Return the names of archives by folder, given the note; none of a damaged one.

    >>> archives_in('{"/data": "甲"}'), archives_in('{"/da')
    ({'/data': '甲'}, {})
    """
    try:
        return {str(folder): str(name) for folder, name in dict(json.loads(note or "{}")).items()}
    except (TypeError, ValueError):
        return {}


def without_folders(rows: list[dict[str, object]], note: str | None) -> list[dict[str, object]]:
    """Return rows of JSON values in which paths below an ingested folder are as shown.

    >>> without_folders([{"id": ["/data/gd/a.docx"]}], '[1, "/data/gd"]')
    [{'id': ['gd/a.docx']}]
    """
    n_parts, folders = _read(note)
    told = json.dumps(rows, ensure_ascii=False)
    for folder in folders:
        told = told.replace(json.dumps(folder, ensure_ascii=False)[1:-1], _tail(folder, n_parts))
    return list(json.loads(told)) if folders else rows


def originals(
    document: Document, sources: "Iterable[SourceState]", note: str | None
) -> Iterator[Path]:
    """Yield the files that a document was read from and that are still there, given the note.

    Of a record it is the `.jsonl`. Left out are files that have become links out of the folder that
    was ingested.
    """
    folders = frozenset(_read(note)[1])
    for state in sources:
        file, record = parted(state.source)
        expected = f"#{document.doc_id}" if document.media_type == "jsonl" else ""
        if state.doc_id != document.doc_id or record != expected:
            continue
        if is_remote(file):  # else it would be a path below the working directory
            continue
        path, folder = place_shown(file), place_shown(_base(file, folders) or os.sep)
        is_file = os.path.isfile(path)  # noqa: PTH113 - names may be none that a system has
        if is_file and path.resolve().is_relative_to(folder.resolve()):
            yield path


def _read(note: str | None) -> tuple[int, Sequence[str]]:
    """Return the number of parts and the folders of a note; of none or a damaged one 0."""
    try:
        n_parts, *folders = json.loads(note or "[0]")
        return int(n_parts), [str(folder) for folder in folders]
    except (TypeError, ValueError):
        return 0, []


def _base(source: str, folders: frozenset[str]) -> str:
    """Return the folder of `folders` that contains a source, else its own folder."""
    parents = _parents(parted(source)[0])
    return next((parent for parent in parents if parent in folders), parents[-1] if parents else "")


def _parents(path: str) -> list[str]:
    """Return the folders above a path, the outermost first.

    >>> _parents("/a/b/c.txt")
    ['', '/a', '/a/b']
    """
    return [path[: part.start()] for part in _PART.finditer(path)]


def _tail(folder: str, n_parts: int) -> str:
    """Return the last parts of a folder; its absolute path if it has fewer.

    >>> _tail("/data/policies", 1), _tail("/data/policies", 3)
    ('policies', '/data/policies')
    """
    parts = _PART.findall(folder)
    return "".join(parts[-n_parts:]).lstrip("/\\") if n_parts <= len(parts) else folder
