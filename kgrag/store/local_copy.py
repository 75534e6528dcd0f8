"""A copy, on this machine, of a knowledge base on a server: questions are answered from it.

It is a cache: it carries the mark that the server's knowledge base had, and is caught up with,
document by document, when that is another. What a person corrected or decided is left out: whoever
ingests asks the server, and documents have what came of it.
"""

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from kgrag.errors import NotFoundError, StoreError
from kgrag.files.whole_file import write_whole
from kgrag.ids import digest
from kgrag.store.contents import DocumentBundle, SourceState
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.whole import CopiedStore, ServerState

logger = logging.getLogger(__name__)

_FORMAT = 1
_ROUNDS = 5  # of catching up with others who go on writing
_AT_ONCE = 4  # documents read from the server side by side
_BATCH = 16  # documents held in memory
_NOTED = 256  # documents after which what is copied is noted: none of it again after Ctrl-C
_MANY = 20  # documents that take a while: whoever waits is told
_LOCK_TIMEOUT_S = 600.0  # another process may be copying everything


@dataclass(frozen=True, slots=True)
class _Note:
    """The note stored with a copy.

    Attributes:
        mark: The one of the server that it is like; empty for none.
        revisions: Of the documents copied.
        counter: The folder's own change counter at least: with less, a power cut took what was
            copied last.
    """

    mark: str = ""
    revisions: Mapping[str, str] = field(default_factory=dict)
    counter: int = 0


class LocalCopy:
    """A folder that is made like the knowledge base of a server before each question.

    Any number of processes may share it: one copies, the others wait.
    """

    def __init__(
        self,
        server: CopiedStore,
        folder: Path,
        *,
        noted: int = _NOTED,
        after_noting: Callable[[SQLiteStore], None] = lambda store: None,
        told_as: int = logging.WARNING,
    ) -> None:
        """Keep where the copy is.

        Args:
            server: What is copied.
            folder: Of this server's copies: each set of settings (encoder, sizes of chunks) has
                its own. It may not exist yet, and may be deleted while nobody asks.
            noted: Documents after which what is copied is noted.
            after_noting: Is called then; what it raises ends the copying, and what is noted stays.
            told_as: Level at which it is logged that much is copied.
        """
        self._server = server
        self._folder = folder
        self._noted = noted
        self._after_noting = after_noting
        self._told_as = told_as
        self._stores: dict[Path, SQLiteStore] = {}
        self._marks: dict[Path, str] = {}
        self._lock = threading.Lock()

    def current(self) -> SQLiteStore | None:
        """Return the copy, like the server's knowledge base as it is now.

        It costs one round trip where nothing changed. None where there can be no copy just now:
        while another encoder takes over, while others write faster than can be copied, or where
        this machine has no place for it, which is logged. Ask the server then.

        Raises:
            StoreError: If the server cannot be asked.
        """
        state = self._server.state()
        try:
            return self.like(state)
        except (OSError, StoreError, Timeout) as exc:
            logger.warning(
                "%s: no copy of the knowledge base (%s): the server is asked. Delete the "
                "folder where that goes on",
                self._folder,
                exc,
            )
            return None

    def at_hand(self, state: ServerState) -> SQLiteStore | None:
        """Return the copy if it is like the server was in that state; nothing is copied."""
        if not state.can_be_copied:
            return None
        with self._lock:
            folder = self._folder_of(state)
            return self._stores[folder] if self._marks.get(folder) == state.mark else None

    def like(self, state: ServerState) -> SQLiteStore | None:
        """Return the copy, made like the server was in that state, or later.

        None while another encoder takes over, or while others write faster than can be copied.

        Raises:
            StoreError: If the server cannot be asked, or the copy cannot be written.
            OSError, filelock.Timeout: If there is no place for it here.
        """
        if not state.can_be_copied:
            return None
        with self._lock:
            return self._like(state)

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            stores, self._stores = list(self._stores.values()), {}
            self._marks.clear()
        for store in stores:
            store.close()

    def _like(self, state: ServerState) -> SQLiteStore | None:
        folder = self._folder_of(state)
        if folder not in self._stores:
            for made in (self._folder, folder):  # closed to other users
                made.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._stores[folder] = SQLiteStore.open(folder)
        store = self._stores[folder]
        if self._marks.get(folder) != state.mark:
            with FileLock(folder / "copy.lock", timeout=_LOCK_TIMEOUT_S):
                if not self._caught_up(folder, store, state):
                    return None
            self._marks[folder] = state.mark
        return store

    def _folder_of(self, state: ServerState) -> Path:
        return self._folder / digest("copy", *(f"{k}={v}" for k, v in state.settings.items()))

    def _caught_up(self, folder: Path, store: SQLiteStore, state: ServerState) -> bool:
        """Make the folder like the server; return whether that could be done."""
        note = _read(folder)
        if note.counter > store.change_counter():
            note = _Note()
        if note.mark == state.mark and _held(store, note.revisions) == note.revisions:
            return True  # another process was faster
        if store.all_meta() != state.settings:
            store.set_meta(state.settings)
        for _ in range(_ROUNDS):
            wanted = self._server.revisions()
            note = _Note("", _held(store, note.revisions), store.change_counter())
            stale = sorted(d for d, revision in wanted.items() if note.revisions.get(d) != revision)
            gone = sorted({card.doc_id for card in store.document_cards()} - wanted.keys())
            sources = self._server.sources()
            if not stale and not gone and not _moved(store, sources, wanted):
                _write(folder, _Note(state.mark, wanted, store.change_counter()))
                return True
            _write(folder, note)  # what stands there from now on is like no mark
            for doc_id in gone:
                store.delete_document(doc_id)
            self._say(len(stale))
            for start in range(0, len(stale), self._noted):
                some = stale[start : start + self._noted]
                self._copy(store, some, sources)
                revisions = {**note.revisions, **{d: wanted[d] for d in some}}
                note = _Note("", revisions, store.change_counter())
                _write(folder, note)
                self._after_noting(store)
            _attach(store, _moved(store, sources, wanted))
        return False

    def _copy(
        self, store: SQLiteStore, doc_ids: Sequence[str], sources: Sequence[SourceState]
    ) -> None:
        """Put documents into the folder as the server has them; some may be gone there."""
        first = {s.doc_id: s.source for s in sorted(sources, key=lambda s: s.source, reverse=True)}
        for bundle in self._bundles([d for d in doc_ids if d in first]):
            store.upsert_document(bundle, source=first[bundle.document.doc_id])

    def _say(self, n: int) -> None:
        if n >= _MANY:
            told = "%d documents are copied to %s, from where questions are answered"
            logger.log(self._told_as, told, n, self._folder)

    def _bundles(self, doc_ids: Sequence[str]) -> Iterator[DocumentBundle]:
        with ThreadPoolExecutor(_AT_ONCE, "kgrag-copy") as threads:
            for start in range(0, len(doc_ids), _BATCH):
                for bundle in threads.map(self._server.bundle, doc_ids[start : start + _BATCH]):
                    if bundle is not None:
                        yield bundle


def _attach(store: SQLiteStore, sources: Sequence[SourceState]) -> None:
    for source in sources:
        with suppress(NotFoundError):  # it lost its last source to another: copied again
            store.attach_source(source.source, source.doc_id)


def _held(store: SQLiteStore, revisions: Mapping[str, str]) -> dict[str, str]:
    """Return the revisions of documents that are really there."""
    here = {card.doc_id for card in store.document_cards()}
    return {doc_id: revision for doc_id, revision in revisions.items() if doc_id in here}


def _moved(
    store: SQLiteStore, sources: Sequence[SourceState], doc_ids: Collection[str]
) -> list[SourceState]:
    """Return the sources that another document has here, of documents that are here."""
    known = {state.source: state.doc_id for state in store.sources()}
    here = {card.doc_id for card in store.document_cards()}.intersection(doc_ids)
    return [s for s in sources if s.doc_id in here and known.get(s.source) != s.doc_id]


def _read(folder: Path) -> _Note:
    """Return what is noted of a copy; nothing where that cannot be read."""
    try:
        note = json.loads((folder / "copy.json").read_text(encoding="utf-8"))
        if note["format"] != _FORMAT:
            return _Note()
        revisions = {str(d): str(revision) for d, revision in note["revisions"].items()}
        return _Note(str(note["mark"]), revisions, int(note["counter"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _Note()


def _write(folder: Path, note: _Note) -> None:
    content = {"format": _FORMAT, **asdict(note)}
    write_whole(folder / "copy.json", [json.dumps(content)])
