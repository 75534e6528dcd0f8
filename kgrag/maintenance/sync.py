"""Keep a knowledge base in step with a folder: what was added, changed, renamed and withdrawn."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from kgrag.errors import IngestionError, NotFoundError, needs_extra
from kgrag.ingestion.change_detection import Seen
from kgrag.ingestion.connect import connect
from kgrag.ingestion.load import Discovery, Failure, discover
from kgrag.ingestion.load.source import SIDECARS
from kgrag.ingestion.pipeline import Progress
from kgrag.ingestion.report import IngestReport
from kgrag.json_ready import JsonReady
from kgrag.maintenance.intake import Intake, Use
from kgrag.statements.journal import record
from kgrag.store.folders import (
    ARCHIVE,
    ARCHIVES,
    ARCHIVES_BETWEEN,
    absolute,
    archive_of,
    is_remote,
    with_archive,
)
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
        only: Files to read.
        failures: What could not be looked at: file and reason. What is below stays as it is.
        is_lost: Whether there is no such folder.
    """

    changes: tuple[Change, ...]
    held: int
    only: frozenset[str]
    failures: tuple[tuple[str, str], ...] = ()
    is_lost: bool = False

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
            "changes": [change.to_dict() for change in self.changes],
            "failures": [{"file": file, "detail": reason} for file, reason in self.failures],
        }

    def of(self, kind: ChangeKind) -> list[Change]:
        """Return the changes of a kind."""
        return [change for change in self.changes if change.kind == kind]


@dataclass(frozen=True, slots=True)
class _Look:
    """What was looked at of a folder.

    Attributes:
        there: Files that are there.
        looked: Those of them that were looked at.
        failures: What could not be found.
    """

    there: Collection[str]
    looked: set[str]
    failures: Sequence[Failure]

    def lacks(self, source: str, unread: Collection[str]) -> bool:
        """Return whether a stored source that was not seen is there no more.

        Args:
            source: It.
            unread: Files, lines of files and folders that could not be read.
        """
        file = parted(source)[0]
        if any(_is_in(file, (place,)) or place.startswith(f"{file}:") for place in unread):
            return False
        if file in self.there:  # but the record is not
            return file in self.looked
        return "://" in file or not os.path.lexists(place_shown(file))


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
            IngestionError: If there is no such folder, and nothing is stored of it.
        """
        found = discover([self.folder], follow_links=self.follow_links)
        held = {s.source: s.doc_id for s in self.intake.store.sources() if self._is_ours(s.source)}
        is_lost = self._is_lost(found, is_held=bool(held))
        files = {absolute(s.name): s for s in found.sources if self._is_ours(absolute(s.name))}
        looked = set(files)
        if touched is not None:
            known = {parted(source)[0] for source in held}
            looked = {file for file in files if file not in known or _is_in(file, touched)}
        chosen = replace(found, sources=tuple(files[file] for file in sorted(looked)))
        with self.intake.look(chosen, model=self.model, archives=self._archives) as seeing:
            seen = [*seeing]
        failures = () if is_lost else found.failures
        return self._planned(seen, held, _Look(files, looked, failures), is_lost)

    def _planned(
        self,
        seen: Sequence[Seen],
        held: Mapping[str, str],
        look: "_Look",
        is_lost: bool,
    ) -> SyncPlan:
        failures = (*look.failures, *(one.failure for one in seen if one.failure))
        unread = {absolute(failure.file) for failure in failures}
        seen = [one for one in seen if not one.failure]
        here = {one.source for one in seen}
        gone = {source for source in held.keys() - here if look.lacks(source, unread)}
        cards = self.intake.store.document_cards(sorted({*held.values()}))
        changes = _changes(seen, held, gone, {card.doc_id: card for card in cards})
        wanted = {parted(c.source)[0] for c in changes if c.kind != "withdrawn"}
        return SyncPlan(
            changes,
            len(held),
            frozenset(wanted | (look.looked - {parted(source)[0] for source in here})),
            tuple((failure.file, failure.reason) for failure in failures),
            is_lost,
        )

    def _is_lost(self, found: Discovery, *, is_held: bool) -> bool:
        """Return whether there is no such folder.

        Raises:
            IngestionError: If so, and nothing is stored of it; or if it cannot be looked at.
        """
        failed = [f for f in found.failures if f.file == shown_path(self.folder)]
        is_there = is_remote(self.folder) or os.path.lexists(self.folder)  # or does not answer
        if failed and (not is_held or is_there):
            raise IngestionError(f"{failed[0].file}: {failed[0].reason}")
        return bool(failed)

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
        store, withdrawn = self.intake.store, plan.of("withdrawn")
        if plan.is_emptying and not allow_emptying:
            raise IngestionError(
                "{folder}: {n} of the {held} documents stored of it are not there: is it mounted? "
                "nothing was done; --yes --allow-emptying withdraws them",
                folder=shown_path(self.folder),
                n=len(withdrawn),
                held=plan.held,
            )
        record(store)
        if self._archives:
            store.set_meta({ARCHIVES: self._archives})
        for change in plan.of("renamed"):
            with suppress(NotFoundError):  # deleted by another process meanwhile
                store.attach_source(change.source, change.doc_id)
                store.detach_source(change.was)
        report = IngestReport((), 0.0)
        if not plan.is_lost:
            report = self._ingest([self.folder], plan.only, progress)
        for change in withdrawn:
            store.detach_source(change.source)
        if withdrawn:
            connect(store)
            record(store)
            store.refresh(sizes=self.intake.sizes.searched)
            self._reread_copies({change.doc_id for change in withdrawn})
        return report

    def _ingest(
        self, paths: Sequence[Path], only: Collection[str] | None, progress: Progress | None
    ) -> IngestReport:
        return self.intake.ingest(
            paths, model=self.model, progress=progress, follow_links=self.follow_links, only=only
        )

    def _reread_copies(self, doc_ids: Collection[str]) -> None:
        """Take in what another archive has of documents again: they are of this one no more."""
        store = self.intake.store
        several = {
            card.doc_id
            for card in store.document_cards(sorted(doc_ids))
            if ARCHIVES_BETWEEN in card.properties.get(ARCHIVE, "")
        }
        if files := {parted(s.source)[0] for s in store.sources() if s.doc_id in several}:
            self._ingest([place_shown(file) for file in sorted(files)], None, None)

    def _is_ours(self, source: str) -> bool:
        """Return whether a source is of this folder, not excluded, and of no archive inside."""
        root = absolute(self.folder)
        if not _is_in(source, (root,)):
            return False
        path = parted(source)[0][len(root) :].strip("/\\").replace("\\", "/")
        parts = path.split("/")
        names = {path, *parts, *("/".join(parts[:n]) for n in range(1, len(parts)))}
        if any(fnmatchcase(name, glob.rstrip("/")) for name in names for glob in self.exclude):
            return False
        own = archive_of(self._archives, f"{root}/")
        return archive_of(self._archives, source) in (own, "")

    @property
    def _archives(self) -> str | None:
        """The note of archives, with this one's name."""
        note = self.intake.store.get_meta(ARCHIVES)
        return with_archive(note, absolute(self.folder), self.archive) if self.archive else note


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
                is_any = any(Path(path).name.lower() in SIDECARS for path in paths)
                if not n or is_any:
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
    """Return whether a source is one of some files, a record of one, or below a folder."""
    return any(
        source == place or source.startswith((f"{place}/", f"{place}{os.sep}", f"{place}#"))
        for place in (place.rstrip("/\\") for place in places)
    )


def _changes(
    seen: Sequence[Seen],
    held: Mapping[str, str],
    gone: Collection[str],
    cards: Mapping[str, Document],
) -> tuple[Change, ...]:
    """Return changes: a source that is gone and a new one of the same content are one, renamed.

    Of several with the same content those of the same name are.
    """
    by_content: defaultdict[str, list[str]] = defaultdict(list)
    for source in sorted(gone):
        if card := cards.get(held[source]):
            by_content[card.content_hash].append(source)
    found: list[Change] = []
    for one in sorted(seen, key=lambda s: s.source):
        was = by_content[one.content_hash]
        if one.source in held:
            card = cards.get(held[one.source])
            if not one.is_current:
                told = (held[one.source], card.title if card else "")
                found.append(Change("changed", one.source, "", *told))
        elif was:
            name = Path(one.source).name
            former = max(was, key=lambda source: Path(source).name == name)
            was.remove(former)
            card = cards[held[former]]
            found.append(Change("renamed", one.source, former, card.doc_id, card.title))
        else:
            found.append(Change("added", one.source))
    left = sorted(source for several in by_content.values() for source in several)
    ends = (Change("withdrawn", s, "", held[s], cards[held[s]].title) for s in left)
    return (*found, *ends)
