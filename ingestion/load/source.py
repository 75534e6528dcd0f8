"""Which files are to be read: folders walked in a fixed order, every path accounted for."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_REMEDIES = {
    ".doc": "save it as .docx",
    ".wps": "save it as .docx",
    ".docm": "save it as .docx",
    ".rtf": "save it as .docx",
    ".odt": "save it as .docx",
    ".ofd": "export it as PDF",
    ".caj": "export it as PDF",
    ".xls": "save the sheet as .docx or .txt",
    ".xlsx": "save the sheet as .docx or .txt",
    ".csv": "save it as .txt",
    ".json": "save it as .jsonl of {id, title, text}",
    ".mht": "save the page as .html",
    ".mhtml": "save the page as .html",
    ".zip": "unpack it first",
    ".rar": "unpack it first",
    ".7z": "unpack it first",
    ".png": "scanned pages cannot be read yet",
    ".jpg": "scanned pages cannot be read yet",
    ".jpeg": "scanned pages cannot be read yet",
    ".tif": "scanned pages cannot be read yet",
    ".tiff": "scanned pages cannot be read yet",
}

MEDIA_TYPES = {
    ".txt": "txt",
    ".text": "txt",
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".shtml": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".jsonl": "jsonl",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read.

    Attributes:
        path: As given, or as found below the folder that was given.
        record: The `id` of the one record wanted of a `.jsonl`; None is the whole file.
    """

    path: Path
    record: str | None = None

    @property
    def media_type(self) -> str | None:
        """`txt`, `md`, `html`, `pdf`, `docx` or `jsonl`; None if no loader reads the file."""
        return MEDIA_TYPES.get(self.path.suffix.lower())

    @property
    def name(self) -> str:
        """What the user sees: the path, and `#id` for a record."""
        return str(self.path) if self.record is None else f"{self.path}#{self.record}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file inside a folder that is left out, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or record that was asked for and cannot be had.

    Attributes:
        file: As shown to the user: a path, `corpus.jsonl#id` or `corpus.jsonl:line`.
        reason: What is wrong and the remedy.
    """

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a list of paths comes to; together the three account for every file.

    Attributes:
        sources: To be read, each file once, in the order of the paths given and sorted by name
            within a folder.
        skipped: Files inside folders that no loader reads.
        failures: Paths given that do not exist or that no loader reads.
    """

    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(slots=True)
class _Walk:
    sources: list[Source] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    # Real paths: a file that is reached twice is read once, a folder that links back ends there.
    seen: set[Path] = field(default_factory=set)


def unsupported_reason(path: Path) -> str:
    """Return why no loader reads a file, with the remedy."""
    suffix = path.suffix.lower()
    remedy = _REMEDIES.get(suffix, "supported are " + " ".join(sorted(MEDIA_TYPES)))
    kind = f"{suffix} files" if suffix else "files without an ending"
    return f"no loader for {kind}; {remedy}"


def discover(paths: Sequence[Path]) -> Discovery:
    """Return what is to be read among files and folders; nothing is opened.

    Folders are walked to the bottom, symbolic links followed once. Inside folders hidden files
    and Word's lock files (`~$...`) are passed over; given explicitly, a hidden file is read.

    Args:
        paths: Files and folders.
    """
    walk = _Walk()
    for path in paths:
        if path.is_dir():
            _enter(path, walk)
        elif not path.exists():
            walk.failures.append(Failure(str(path), "no such file or folder; check the path"))
        elif Source(path).media_type is None:
            walk.failures.append(Failure(str(path), unsupported_reason(path)))
        else:
            _add(path, walk)
    return Discovery(tuple(walk.sources), tuple(walk.skipped), tuple(walk.failures))


def _enter(folder: Path, walk: _Walk) -> None:
    stack = [folder]
    while stack:
        current = stack.pop()
        real = current.resolve()
        if real in walk.seen:
            continue
        walk.seen.add(real)
        try:
            children = sorted(_visible(current))
        except OSError as exc:
            walk.skipped.append(Skipped(current, f"cannot be listed: {exc.strerror}"))
            continue
        # Files first, then folders in order: the stack gives back the last one pushed.
        stack.extend(child for child in reversed(children) if child.is_dir())
        for child in children:
            if not child.is_dir():
                _consider(child, walk)


def _visible(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith((".", "~$")):
                yield folder / entry.name


def _consider(path: Path, walk: _Walk) -> None:
    if not path.exists():
        walk.skipped.append(Skipped(path, "the link leads nowhere"))
    elif not path.is_file():
        walk.skipped.append(Skipped(path, "not a regular file"))
    elif Source(path).media_type is None:
        walk.skipped.append(Skipped(path, unsupported_reason(path)))
    else:
        _add(path, walk)


def _add(path: Path, walk: _Walk) -> None:
    real = path.resolve()
    if real not in walk.seen:
        walk.seen.add(real)
        walk.sources.append(Source(path))
