"""Which files are to be read: folders walked in a fixed order, every path accounted for."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from kgrag.errors import IngestionError
from kgrag.ingestion.load.archive import MOST_BYTES, archive_of_member, members, open_member
from kgrag.ingestion.load.formats import media_type_of, plugin_reader, suffixes
from kgrag.ingestion.load.ocr.engine import NOT_INSTALLED
from kgrag.ingestion.load.remote import delete_old_copies, files_below, open_remote
from kgrag.store.folders import is_remote
from kgrag.text.messages import message, without_start
from kgrag.text.visible import parted, shown_path

_REMEDIES = {
    **dict.fromkeys((".ceb", ".caj"), message("export it as PDF")),
    ".xlsb": message("save it as .xlsx"),
    **dict.fromkeys((".ppt", ".dps"), message("save it as .pptx")),
    ".json": message("save it as .jsonl of {{id, title, text}}"),
    **dict.fromkeys((".zip", ".rar", ".7z"), message("unpack it first")),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"), NOT_INSTALLED),
}

SIDECARS = ("metadata.csv", "metadata.jsonl")  # metadata of the files beside them
_A_SIDECAR = message(
    "tells of the files beside it; take in its folder, or rename it if it is a document"
)
_NOT_REGULAR = message("not a regular file")
# A pipe that took the file's place since it was found must not be waited for.
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read.

    Attributes:
        path: As given, or as found below the folder that was given.
        within: Real path of the folder that must still contain the file when it is opened; None
            for a file that was given itself, or where links are followed.
    """

    path: Path
    within: Path | None = None

    @property
    def media_type(self) -> str | None:
        """`txt`, `docx` or the like, of a plugin's file its suffix; None if no loader reads it."""
        return media_type_of(self.path.suffix.lower())

    @property
    def name(self) -> str:
        """The path as shown."""
        return shown_path(self.path)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file in a folder that is not read, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or record that cannot be read.

    Attributes:
        file: As shown to the user: a path, `corpus.jsonl#id` or `corpus.jsonl:line`.
        reason: What is wrong and the remedy.
    """

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files among given paths; every file is in one of the five.

    Attributes:
        sources: To be read, each once, in the order of the paths, by name within a folder.
        skipped: Files in folders that no loader reads.
        failures: Given paths that do not exist or that no loader reads, and what is not accessible.
        links: Links in folders that lead out of them and were not followed.
        sidecars: Files in folders with metadata of the files beside them.
    """

    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failures: tuple[Failure, ...] = ()
    links: tuple[Path, ...] = ()
    sidecars: tuple[Source, ...] = ()


def unsupported_reason(path: Path) -> str:
    """Return why no loader reads a file, with the remedy."""
    suffix = path.suffix.lower()
    remedy = _REMEDIES.get(suffix) or message("supported are {names}", names=" ".join(suffixes()))
    if not suffix:
        return message("no loader for files without an ending; {remedy}", remedy=remedy)
    return message("no loader for {suffix} files; {remedy}", suffix=suffix, remedy=remedy)


def discover(paths: Sequence[Path], *, follow_links: bool = False) -> Discovery:
    """Return what is to be read among files and folders; only archives are opened.

    Folders are walked recursively, without hidden files and Word's lock files (`~$...`). A link in
    a folder is followed, once, if its target is in that folder; a given path may be a link.

    Args:
        paths: Files, folders, and URLs of both (`s3://bucket/prefix`).
        follow_links: Follow links out of folders as well.

    Raises:
        PluginError: If the plugin for a file cannot be used.
    """
    walk = _Walk(follow_links=follow_links)
    for path in paths:
        walk.begin(path)
    for media_type in {source.media_type or "" for source in walk.sources}:
        plugin_reader(media_type)
    return Discovery(
        sources=tuple(walk.sources),
        skipped=tuple(walk.skipped),
        failures=tuple(walk.failures),
        links=tuple(walk.links),
        sidecars=tuple(walk.sidecars),
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
        """Add a file or folder that was given."""
        if is_remote(path):
            self._begin_remote(path)
            return
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            self._fail(path, message("no such file or folder; check the path"))
        except (OSError, ValueError) as exc:
            self._fail(path, message("cannot be looked at: {error}", error=_said(exc)))
        else:
            if stat.S_ISDIR(mode):
                self._enter(path)
            elif stat.S_ISREG(mode) and _is_sidecar(path):
                self._fail(path, _A_SIDECAR)
            elif reason := self._add(Source(path), mode, _real(path)):
                self._fail(path, reason)

    def _begin_remote(self, url: Path) -> None:
        """Add the file of a URL, or the files below it."""
        delete_old_copies()
        try:
            for path, why in files_below(url):
                if why or (path == url and _is_sidecar(path)):
                    self._fail(path, why or _A_SIDECAR)
                elif _is_sidecar(path):
                    self.sidecars.append(Source(path))
                elif reason := self._add(Source(path), stat.S_IFREG, _real(path)):
                    if path == url:
                        self._fail(path, reason)
                    else:
                        self.skipped.append(Skipped(path, reason))
        except IngestionError as exc:
            self._fail(url, without_start(exc, shown_path(url)))

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
                self._fail(current, message("cannot be listed: {error}", error=_said(exc)))
                continue
            # Files first, then folders in order: the stack gives back the last one pushed.
            folders = [child for child in children if self._consider(child, root)]
            stack.extend(reversed(folders))

    def _consider(self, path: Path, root: Path) -> bool:
        """Add a file found in a folder; return whether it is a folder to be walked."""
        real = _real(path)  # and not is_symlink: junctions of Windows lead out, too
        if not self.follow_links and not real.is_relative_to(root):
            self.links.append(path)
            return False
        within = None if self.follow_links else root
        try:
            mode = path.stat().st_mode
        except OSError as exc:
            if isinstance(exc, PermissionError):
                self._fail(path, message("cannot be looked at: {error}", error=_said(exc)))
            else:
                self.skipped.append(Skipped(path, message("the link leads nowhere")))
            return False
        if stat.S_ISDIR(mode):
            return True
        source = Source(path, within=within)
        if stat.S_ISREG(mode) and _is_sidecar(path):
            self.sidecars.append(source)
        elif reason := self._add(source, mode, real):
            self.skipped.append(Skipped(path, reason))
        return False

    def _add(self, source: Source, mode: int, real: Path) -> str:
        """Add a file to be read; return why it is none."""
        if not stat.S_ISREG(mode):
            return _NOT_REGULAR
        if archive_of_member(source.path)[1]:
            return message("reads like a member of an archive (.zip!/); rename the file or folder")
        if source.path.suffix.lower() == ".zip":
            return self._unpack(source, real)
        if source.media_type is None:
            return unsupported_reason(source.path)
        if parted(str(source.path.absolute()))[1]:
            return message("reads like a record (.jsonl#); rename the file or its folder")
        if real in self.seen:
            return ""
        self.seen.add(real)
        if source.name in self.named:  # one name in UTF-8, and the same in GBK
            self._fail(
                source.path, message("another file here has this name in other bytes; rename one")
            )
        else:
            self.named.add(source.name)
            self.sources.append(source)
        return ""

    def _unpack(self, source: Source, real: Path) -> str:
        """Add the members of an archive; return why it cannot be read."""
        if real in self.seen:
            return ""
        self.seen.add(real)
        try:
            with open_regular(source.path, within=source.within, max_bytes=MOST_BYTES) as file:
                for member, why in members(file, source.name):
                    inside = Source(Path(f"{source.path}!/{member}"), source.within)
                    if why:
                        self._fail(inside.path, why)
                    elif inside.media_type is None or _is_sidecar(inside.path):
                        reason = unsupported_reason(inside.path)
                        self.skipped.append(Skipped(inside.path, reason))
                    else:
                        self.sources.append(inside)
        except IngestionError as exc:
            self._fail(source.path, without_start(exc, source.name))
        except OSError as exc:
            self._fail(source.path, message("cannot be looked at: {error}", error=_said(exc)))
        return ""

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
    """Return a path without links; of circular links, as far as they resolve."""
    return Path(os.path.realpath(path))


def _said(exc: Exception) -> str:
    return getattr(exc, "strerror", None) or str(exc)


def open_regular(
    path: Path, *, within: Path | None = None, max_bytes: int | None = None
) -> BufferedReader:
    """Return an open file after checks on the open file itself, which may have been replaced.

    Args:
        path: The file.
        within: Real path of the folder that must contain it; None for any place.
        max_bytes: The largest remote file that is copied to this machine; None for any.

    Raises:
        IngestionError: If it is no regular file, or a link now leads out of the folder.
        OSError: If it cannot be opened.
    """
    archive, member = archive_of_member(path)
    if member:
        with open_regular(archive, within=within) as outer:
            return open_member(outer, path, max_bytes)
    if is_remote(path):
        return open_remote(path, max_bytes)
    file = open(os.open(path, _FLAGS), "rb")  # noqa: PTH123, SIM115 - opened with flags
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise IngestionError("{path}: is not a regular file", path=shown_path(path))
        if within is not None and not _place_of(file, path).is_relative_to(within):
            raise IngestionError(
                "{path}: is a link out of the folder by now; --follow-links reads such files",
                path=shown_path(path),
            )
    except BaseException:
        file.close()
        raise
    return file


def _place_of(file: BufferedReader, path: Path) -> Path:
    """Return the real path of an open file, as far as the system tells."""
    try:
        return Path(os.readlink(f"/proc/self/fd/{file.fileno()}"))  # noqa: PTH115 - no real path
    except OSError:  # not Linux
        real = Path(os.path.realpath(path))
        is_same = os.path.samestat(os.fstat(file.fileno()), real.lstat())
        return real if is_same else Path()
