"""Keep a knowledge base in step with a folder: what was added, changed, renamed and withdrawn."""

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

from kgrag.errors import IngestionError, needs_extra
from kgrag.ingestion.change_detection import Seen
from kgrag.ingestion.connect import connect
from kgrag.ingestion.load import Discovery, Failure, discover
from kgrag.ingestion.load.source import SIDECARS
from kgrag.ingestion.pipeline import Progress
from kgrag.ingestion.report import IngestReport
from kgrag.json_ready import JsonReady
from kgrag.maintenance.intake import Intake, Use
from kgrag.statements.journal import Recorder
from kgrag.store.folders import ARCHIVES, absolute, archive_of, archives_in, is_remote
from kgrag.text.visible import parted, place_shown, shown_path
from kgrag.types import Document

_TICK_MS = 1000  # from which on changes are noticed, and the time is looked at

ChangeKind = Literal["added", "changed", "renamed", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Change(JsonReady):
    """One change of an archive.

    Attributes:
        kind: What happened; `changed` are also those whose metadata or settings are new.
        source: Absolute path, `#id` appended for a record.
        was: The former path of a renamed one; empty for others.
        doc_id: The stored document; empty for added ones.
        title: Of the stored document.
    """

    kind: ChangeKind
    source: str
    was: str = ""
    doc_id: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """How a folder differs from what is stored of it.

    Attributes:
        changes: Renamed, added, changed and withdrawn sources, each by path.
        held: Number of sources that are stored of the folder.
        failures: What could not be looked at: file and reason. What is below stays as it is.
        archive: Name that the archive is to have; empty if it has it.
    """

    changes: tuple[Change, ...]
    held: int
    failures: tuple[tuple[str, str], ...] = ()
    archive: str = ""

    @property
    def counts(self) -> dict[ChangeKind, int]:
        """Number of changes by kind, zeros left out."""
        return dict(Counter(change.kind for change in self.changes))

    @property
    def is_emptying(self) -> bool:
        """Whether more than half of what is stored would be withdrawn: a mount may be lost."""
        return 2 * self.counts.get("withdrawn", 0) > self.held

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as printed by `kgrag sync --json`."""
        return {
            "counts": self.counts,
            "held": self.held,
            "emptying": self.is_emptying,
            "archive": self.archive,
            "changes": [change.to_dict() for change in self.changes],
            "failures": [{"file": file, "detail": reason} for file, reason in self.failures],
        }


@dataclass(frozen=True)
class Sync:
    """A knowledge base and a folder that it follows.

    Attributes:
        intake: Of the knowledge base.
        folder: The folder; what is in it is an archive.
        exclude: Patterns (`*.tmp`, `drafts/*`) of files that are not looked at, matched with the
            path in the folder and with each name in it; what is stored of these stays.
        archive: Name of the archive, which its documents have; that which it has for an empty one.
        model: As for `Intake.ingest`.
        follow_links: As for `Intake.ingest`.
    """

    intake: Intake
    folder: Path
    exclude: Sequence[str] = ()
    archive: str = ""
    model: Use = "auto"
    follow_links: bool = False

    def plan(self, touched: Collection[str] | None = None) -> SyncPlan:
        """Compare the folder with what is stored.

        Args:
            touched: Absolute paths of files and folders that alone may have other content; None
                for all. What is new or gone is noticed anywhere.

        Raises:
            IngestionError: If there is no such folder, or it cannot be looked at.
        """
        found, is_ours = self._discovered(), self._is_ours()
        held = self._held(is_ours)
        files = {absolute(s.name): s for s in found.sources if is_ours(absolute(s.name))}
        looked = set(files)
        if touched is not None:
            known = {parted(source)[0] for source in held}
            looked = {file for file in files if file not in known or _is_in(file, touched)}
        chosen = replace(found, sources=tuple(files[file] for file in sorted(looked)))
        seen = self.intake.look(chosen, model=self.model)
        failures = (*found.failures, *(one for one in seen if isinstance(one, Failure)))
        unread = {absolute(failure.file) for failure in failures}
        is_gone = partial(_is_gone, files=files, looked=looked, unread=unread)
        changes = _changes([one for one in seen if isinstance(one, Seen)], held, is_gone)
        told = tuple((failure.file, failure.reason) for failure in failures)
        return SyncPlan(tuple(changes), len(held), told, self._new_name)

    def run(
        self, plan: SyncPlan, *, allow_emptying: bool = False, progress: Progress | None = None
    ) -> IngestReport:
        """Do what a plan says; what is done twice, or by halves, is right after the next time.

        Args:
            plan: Of this folder.
            allow_emptying: Withdraw documents though that is more than half of what is stored.
            progress: As for `Intake.ingest`.

        Raises:
            IngestionError: If more than half would be withdrawn, and that is not allowed; then
                nothing is done.
        """
        store, sources = self.intake.store, defaultdict[ChangeKind, list[str]](list)
        for change in plan.changes:
            sources[change.kind].append(change.source)
        if plan.is_emptying and not allow_emptying:
            raise IngestionError(
                "{folder}: {n} of the {held} documents stored of it are not there: is it mounted? "
                "nothing was done; --yes --allow-emptying withdraws them",
                folder=shown_path(self.folder),
                n=len(sources["withdrawn"]),
                held=plan.held,
            )
        if self.archive:
            store.set_meta({ARCHIVES: self._archives})
        recorder = Recorder(store)
        for change in plan.changes:
            if change.was:
                recorder.detach_source(change.was, to=change.source)
        withdrawn = sources.pop("withdrawn", [])
        read = {parted(source)[0] for several in sources.values() for source in several}
        report = self.intake.ingest(
            [self.folder],
            model=self.model,
            progress=progress,
            follow_links=self.follow_links,
            only=read | {absolute(file) for file, _ in plan.failures},
        )
        for source in withdrawn:
            recorder.detach_source(source)
        if withdrawn:
            connect(store)
            store.refresh(sizes=self.intake.sizes.searched)
        return report

    def _discovered(self) -> Discovery:
        found = discover([self.folder], follow_links=self.follow_links)
        name = shown_path(self.folder)
        if why := {failure.file: failure.reason for failure in found.failures}.get(name):
            raise IngestionError(f"{name}: {why}")
        return found

    def _held(self, is_ours: Callable[[str], bool]) -> dict[str, Document]:
        """Return the cards of documents by source, as far as the sources are ours."""
        store = self.intake.store
        cards = {card.doc_id: card for card in store.document_cards()}
        states = (s for s in store.sources() if is_ours(s.source) and s.doc_id in cards)
        return {state.source: cards[state.doc_id] for state in states}

    def _is_ours(self) -> Callable[[str], bool]:
        """Return whether a source is of this folder, not excluded, and of no archive inside."""
        root, archives = absolute(self.folder), self._archives
        ours = ("", archive_of(archives, f"{root}/"))

        def is_ours(source: str) -> bool:
            if not _is_in(source, (root,)) or archive_of(archives, source) not in ours:
                return False
            path = PurePosixPath(parted(source)[0][len(root) :].replace("\\", "/").lstrip("/"))
            names = {name for part in (path, *path.parents) for name in (str(part), part.name)}
            globs = (glob.rstrip("/") for glob in self.exclude)
            return not any(fnmatchcase(name, glob) for glob in globs for name in names)

        return is_ours

    @property
    def _new_name(self) -> str:
        """The name of the archive; empty if it has it already."""
        names = archives_in(self.intake.store.get_meta(ARCHIVES))
        return "" if names.get(absolute(self.folder)) == self.archive else self.archive

    @property
    def _archives(self) -> str:
        """The note of archives, with this one's name."""
        named = {absolute(self.folder): self.archive} if self.archive else {}
        return json.dumps(archives_in(self.intake.store.get_meta(ARCHIVES)) | named)


def watched(
    folder: Path, *, every_s: float, polling: bool = False
) -> Iterator[frozenset[str] | None]:
    """Yield the absolute paths that changed below a folder, as they do; None for any.

    None comes at first, and every so many seconds: events may be lost, and a mount come back.

    Args:
        folder: The folder; while there is none, None comes alone.
        every_s: Seconds.
        polling: Look for changes again and again; so it is where the system reports none.

    Raises:
        MissingDependencyError: If watchfiles is not installed.
    """
    with needs_extra("watch", "kgrag watch"):
        from watchfiles import watch
    while True:
        until = time.monotonic() + every_s
        try:
            batches = watch(
                folder, watch_filter=None, force_polling=polling or None, rust_timeout=_TICK_MS,
                yield_on_timeout=True, raise_interrupt=True, ignore_permission_denied=True,
            )  # fmt: skip
            for n, batch in enumerate(batches):
                paths = frozenset(absolute(path) for _, path in batch)
                if not n or any(Path(path).name.lower() in SIDECARS for path in paths):
                    yield None  # after the first batch, when changes are noticed already
                elif paths:
                    yield paths
                if time.monotonic() > until:
                    break
        except OSError:  # no such folder now, or the system watches no more files
            polling = polling or folder.exists()
            yield None
            time.sleep(min(every_s, _TICK_MS / 1000))


def _is_in(source: str, places: Collection[str]) -> bool:
    """Return whether a source is one of some files, in one of them, or below a folder."""
    return any(
        source == place
        or source.startswith((f"{place}/", f"{place}{os.sep}", f"{place}#", f"{place}!/"))
        for place in (place.rstrip("/\\") for place in places)
    )


def _is_gone(
    source: str, *, files: Collection[str], looked: Collection[str], unread: Collection[str]
) -> bool:
    """Return whether a source that was not seen is there no more.

    Args:
        source: It.
        files: Files that are there.
        looked: Those of them that were looked at.
        unread: Files, lines of files and folders that could not be read.
    """
    file = parted(source)[0]
    if any(_is_in(file, (place,)) or place.startswith(f"{file}:") for place in unread):
        return False
    if file in files:  # but the record is not
        return file in looked
    place = place_shown(file)
    is_folder = os.path.isdir(place)  # noqa: PTH112 - a broken drive is no error here
    return is_remote(file) or is_folder or not os.path.lexists(place)


def _changes(
    seen: Sequence[Seen], held: Mapping[str, Document], is_gone: Callable[[str], bool]
) -> Iterator[Change]:
    """Yield changes: a source that is gone and a new one of the same content are one, renamed.

    Of several with the same content those of the same name are.
    """
    by_content: defaultdict[str, list[str]] = defaultdict(list)
    for source in sorted(filter(is_gone, held.keys() - {one.source for one in seen})):
        by_content[held[source].content_hash].append(source)
    for one in sorted(seen, key=lambda s: s.source):
        card, was = held.get(one.source), by_content[one.content_hash]
        if card:
            if not one.is_current:
                yield Change("changed", one.source, "", card.doc_id, card.title)
        elif was:
            name = Path(one.source).name
            former = max(was, key=lambda source: Path(source).name == name)
            was.remove(former)
            yield Change("renamed", one.source, former, held[former].doc_id, held[former].title)
        else:
            yield Change("added", one.source)
    for source in sorted(source for several in by_content.values() for source in several):
        yield Change("withdrawn", source, "", held[source].doc_id, held[source].title)
