"""Which files are to be read: folders walked in a fixed order, every path accounted for."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgrag.ingestion.load.formats import media_type_of, plugin_reader, suffixes
from kgrag.ingestion.load.ocr.engine import NOT_INSTALLED
from kgrag.text.visible import shown_path

_REMEDIES = {
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
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"), NOT_INSTALLED),
}

SIDECARS = ("metadata.csv", "metadata.jsonl")  # tell of the files beside them
_A_SIDECAR = "tells of the files beside it; take in its folder, or rename it if it is a document"
_NOT_REGULAR = "not a regular file"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read.

    Attributes:
        path: As given, or as found below the folder that was given.
        record: The `id` of the one record wanted of a `.jsonl`; None is the whole file.
        within: Real path of the folder that the file must still lie in when it is opened; None
            for a file that was named itself, or where links are followed.
    """

    path: Path
    record: str | None = None
    within: Path | None = None

    @property
    def media_type(self) -> str | None:
        """`txt`, `md`, `html`, `pdf`, `docx` or `jsonl`; None if no loader reads the file.

        Of a file that a plugin reads, its suffix without the dot.
        """
        return media_type_of(self.path.suffix.lower())

    @property
    def name(self) -> str:
        """What the user sees: the path, and `#id` for a record."""
        return shown_path(self.path) + ("" if self.record is None else f"#{self.record}")


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
    """What a list of paths comes to; together the five account for every file.

    Attributes:
        sources: To be read, each file once, in the order of the paths given and sorted by name
            within a folder.
        skipped: Files inside folders that no loader reads.
        failures: Paths given that do not exist or that no loader reads, and whatever could not
            be looked at.
        links: Links inside folders that lead out of them and were not followed.
        sidecars: Files inside folders that tell of the files beside them.
    """

    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failures: tuple[Failure, ...] = ()
    links: tuple[Path, ...] = ()
    sidecars: tuple[Source, ...] = ()


def unsupported_reason(path: Path) -> str:
    """Return why no loader reads a file, with the remedy."""
    suffix = path.suffix.lower()
    remedy = _REMEDIES.get(suffix, "supported are " + " ".join(suffixes()))
    kind = f"{suffix} files" if suffix else "files without an ending"
    return f"no loader for {kind}; {remedy}"


def discover(paths: Sequence[Path], *, follow_links: bool = False) -> Discovery:
    """Return what is to be read among files and folders; nothing is opened.

    Folders are walked to the bottom. Inside folders hidden files and Word's lock files (`~$...`)
    are passed over; given explicitly, a hidden file is read. A link inside a folder is followed,
    once, where it leads to a place in that folder: one that leads out of it may lead anywhere,
    and what is read can be asked for. A path that is itself a link is followed.

    Args:
        paths: Files and folders.
        follow_links: Follow links out of folders as well.

    Raises:
        PluginError: If the plugin that is to read a file cannot be used: before any is read.
    """
    walk = _Walk(follow_links=follow_links)
    for path in paths:
        walk.begin(path)
    for media_type in {source.media_type or "" for source in walk.sources}:
        plugin_reader(media_type)
    return Discovery(
        tuple(walk.sources),
        tuple(walk.skipped),
        tuple(walk.failures),
        tuple(walk.links),
        tuple(walk.sidecars),
    )


@dataclass(slots=True)
class _Walk:
    follow_links: bool
    sources: list[Source] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    sidecars: list[Source] = field(default_factory=list)
    # Real paths: a file that is reached twice is read once, a folder that links back ends there.
    seen: set[Path] = field(default_factory=set)
    named: set[str] = field(default_factory=set)

    def begin(self, path: Path) -> None:
        """Enter a file or folder that was given."""
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            self._fail(path, "no such file or folder; check the path")
        except (OSError, ValueError) as exc:
            self._fail(path, f"cannot be looked at: {_said(exc)}")
        else:
            if stat.S_ISDIR(mode):
                self._enter(path)
            elif not stat.S_ISREG(mode):
                self._fail(path, _NOT_REGULAR)
            elif _is_sidecar(path):
                self._fail(path, _A_SIDECAR)
            elif Source(path).media_type is None:
                self._fail(path, unsupported_reason(path))
            else:
                self._add(Source(path), _real(path))

    def _enter(self, folder: Path) -> None:
        root = _real(folder)
        stack = [folder]
        while stack:
            current = stack.pop()
            real = _real(current)
            if real in self.seen:
                continue
            self.seen.add(real)
            try:
                children = sorted(_visible(current))
            except OSError as exc:
                self._fail(current, f"cannot be listed: {_said(exc)}")
                continue
            # Files first, then folders in order: the stack gives back the last one pushed.
            folders = [child for child in children if self._consider(child, root)]
            stack.extend(reversed(folders))

    def _consider(self, path: Path, root: Path) -> bool:
        """Enter a file found in a folder; return whether it is a folder to be walked."""
        real = _real(path)  # and not is_symlink: junctions of Windows lead out, too
        if not self.follow_links and not real.is_relative_to(root):
            self.links.append(path)
            return False
        within = None if self.follow_links else root
        try:
            mode = path.stat().st_mode
        except OSError as exc:
            if isinstance(exc, PermissionError):
                self._fail(path, f"cannot be looked at: {_said(exc)}")
            else:
                self.skipped.append(Skipped(path, "the link leads nowhere"))
            return False
        if stat.S_ISDIR(mode):
            return True
        if not stat.S_ISREG(mode):
            self.skipped.append(Skipped(path, _NOT_REGULAR))
        elif _is_sidecar(path):
            self.sidecars.append(Source(path, within=within))
        elif Source(path).media_type is None:
            self.skipped.append(Skipped(path, unsupported_reason(path)))
        else:
            self._add(Source(path, within=within), real)
        return False

    def _add(self, source: Source, real: Path) -> None:
        if real in self.seen:
            return
        self.seen.add(real)
        if source.name in self.named:  # one name in UTF-8, and the same in GBK
            self._fail(source.path, "another file here has this name in other bytes; rename one")
            return
        self.named.add(source.name)
        self.sources.append(source)

    def _fail(self, path: Path, reason: str) -> None:
        self.failures.append(Failure(shown_path(path), reason))


def _is_sidecar(path: Path) -> bool:
    return path.name.lower() in SIDECARS


def _visible(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith((".", "~$")):
                yield folder / entry.name


def _real(path: Path) -> Path:
    """Return a path without links; of links in a circle, as far as it goes."""
    return Path(os.path.realpath(path))


def _said(exc: Exception) -> str:
    return getattr(exc, "strerror", None) or str(exc)
