"""Where a damaged knowledge base is repaired: beside it, so that it stays as it is until then."""

import secrets
import shutil
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from kgrag.errors import StoreError
from kgrag.store.contents import DocumentBundle
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import Mark, record_change
from kgrag.store.sqlite.connection import FILE_NAME, Database, connect
from kgrag.store.sqlite.faults import mapped
from kgrag.store.sqlite.mend import mend_decided, mend_settings, mend_sources, mend_vectors
from kgrag.store.sqlite.opening import log_of
from kgrag.store.sqlite.salvage import keep_damaged, latest_mark, put_in_place, salvage
from kgrag.store.sqlite.seals import (
    PARTS,
    Part,
    broken_seals,
    broken_settings,
    broken_vectors,
    seal_documents,
    seal_settings,
    sealed,
)
from kgrag.store.sqlite.staged import empty_staged
from kgrag.store.sqlite.statements import run, run_each
from kgrag.store.sqlite.store import SQLiteStore


@dataclass(frozen=True, slots=True)
class Workshop:
    """A copy of a damaged knowledge base, with all that could be read of it.

    Attributes:
        store: The copy.
        database: Of the copy.
        file: The damaged database.
        damaged: A copy of that, as it was.
        read: Another, in which the header was set right.
        as_of: Its latest commit.
    """

    store: SQLiteStore
    database: Database
    file: Path
    damaged: Path
    read: Path
    as_of: Mark | None

    def mend(self) -> list[str]:
        """Undo what can be undone from what is there; return in words what was."""
        done: list[str] = []
        with self.database.write() as connection:
            settings = mend_settings(connection, self.read)
            done += [f"the setting {key} was set right" for key in settings]
            done += mend_decided(connection, self.read)
            vectors = mend_vectors(connection)
            done += [f"the vector {key} was set right" for key in vectors]
            stating = _stating(connection, vectors)
            record_change(connection, stating, ["vectors"])
            seal_documents(connection, stating, ["log"])
            if broken_vectors(connection, "staged_embeddings"):
                empty_staged(connection)
                done.append("vectors of a `kgrag reembed` that was stopped were dropped")
            done += self._mend_documents(connection)
            done += self._derive(connection)
        return done

    def broken(self) -> dict[str, set[str]]:
        """Return what of each document is damaged: parts, and `encoded` for lost vectors.

        Vectors that are damaged are gone after this.
        """
        parts: defaultdict[str, set[str]] = defaultdict(set)
        with self.database.write() as connection:
            for broken in broken_seals(connection):
                parts[broken.subject].add(broken.part)
            keys = broken_vectors(connection)
            for doc_id in _stating(connection, keys):
                parts[doc_id].add("encoded")
            for name in ("delete_nodes_of_vector", "delete_vector"):
                run_each(connection, name, [(key,) for key in keys])
        return dict(parts)

    def settings_left(self) -> list[str]:
        """Return settings that are still not as they were stored."""
        with self.database.read() as connection:
            return [broken.part for broken in broken_settings(connection, "meta")]

    def restore_settings(self, values: Mapping[str, str]) -> None:
        """Record settings that were found in another way, and let go of those that are left."""
        with self.database.write() as connection:
            left = [broken.part for broken in broken_settings(connection, "meta")]
            run_each(connection, "delete_setting", [(key,) for key in left])
            run_each(connection, "put_setting", values.items())
            seal_settings(connection)

    def whole_settings(self) -> dict[str, str]:
        """Return settings that are as they were stored."""
        with self.database.read() as connection:
            broken = {b.part for b in broken_settings(connection, "meta")}
            rows = run(connection, "settings_as_they_are").fetchall()
        return {key: value for key, value in rows if key not in broken}

    def embedded(self) -> set[str]:
        """Return what has vectors: chunks by their size, other nodes by their kind."""
        with self.database.read() as connection:
            return {str(kind) for (kind,) in run(connection, "embedded")}

    def doc_ids(self) -> list[str]:
        """Return the documents with vectors."""
        with self.database.read() as connection:
            return [doc_id for (doc_id,) in run(connection, "embedded_documents")]

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return a document; its encoder is not known where the setting of it is damaged."""
        return self.store.bundle(doc_id, embedder="")

    def extractors_of(self, doc_id: str) -> set[str]:
        """Return who gave a document's facts and mentions; `summary` where it has summaries."""
        with self.database.read() as connection:
            return {str(name) for (name,) in run(connection, "extractors_in_document", doc_id)}

    def keep_sources(self, doc_id: str, names: Sequence[str]) -> None:
        """Let these be the files of a document; with none, its list is left as it is."""
        if not names:
            return
        with self.database.write() as connection:
            run(connection, "delete_sources", doc_id)
            run_each(connection, "add_source", [(name, doc_id) for name in names])
            seal_documents(connection, [doc_id], ["sources"])

    def seals_of(self, doc_id: str) -> dict[str, bytes | None]:
        """Return the seals of a document's parts."""
        with self.database.read() as connection:
            return {part: sealed(connection, doc_id, part) for part in PARTS}

    def take_place(self) -> Path:
        """Let the copy take the place of the damaged one; return where that is kept.

        Raises:
            StoreError: If it was changed meanwhile.
        """
        self.store.close()
        stamp = time.strftime("%Y%m%d-%H%M%S")
        kept = self.file.with_name(f"{FILE_NAME}.damaged-{stamp}")
        shutil.move(self.damaged, kept)
        if log_of(self.damaged).is_file():
            shutil.move(log_of(self.damaged), log_of(kept))
        with mapped(self.file):
            put_in_place(self.database.file, self.file, as_of=self.as_of)
        return kept

    def _mend_documents(self, connection: sqlite3.Connection) -> list[str]:
        done = []
        for broken in list(broken_seals(connection)):
            doc_id, part = broken.subject, broken.part
            if run(connection, "is_held", doc_id).fetchone() is None:
                continue
            if broken.only_seal:
                seal_documents(connection, [doc_id], [cast("Part", part)])
                done.append(f"{doc_id}: the checksum of its {part} was made anew")
            elif part == "log":
                record_change(connection, [doc_id])
                seal_documents(connection, [doc_id], ["log"])
                done.append(f"{doc_id}: it was entered into the log of changes")
            elif part == "sources" and mend_sources(connection, self.read, doc_id):
                seal_documents(connection, [doc_id], ["sources"])
                done.append(f"{doc_id}: the name of its file was set right")
        return done

    @staticmethod
    def _derive(connection: sqlite3.Connection) -> list[str]:
        """Make anew what the store notes for itself, and the log of changes where it has gaps."""
        done = []
        if any(True for _ in broken_settings(connection, "state")):
            run(connection, "delete_notes")
            run(connection, "most_frequent_dimension")
            if any(b.part == "staged_meta" for b in broken_settings(connection, "state")):
                empty_staged(connection)
                run(connection, "delete_note", "staged_meta")
            for broken in list(broken_settings(connection, "state")):
                run(connection, "delete_seal_of_note", broken.part)
            meta = list(broken_settings(connection, "meta"))
            if not meta:
                seal_settings(connection)
            done.append("the dimension of vectors was found anew")
        gaps = run(connection, "unlogged_documents").fetchall()
        if gaps:
            doc_ids = [doc_id for (doc_id,) in gaps]
            record_change(connection, doc_ids)
            seal_documents(connection, doc_ids, ["log"])
            done.append("the log of changes was made anew")
        return done


@contextmanager
def workshop(folder: Path) -> Iterator[Workshop]:
    """Give the copy of a damaged knowledge base in which to repair it, and remove it after.

    Raises:
        StoreError: If nothing of it can be read, or another process is writing to it.
    """
    file = folder / FILE_NAME
    place = folder / f"repair-{secrets.token_hex(4)}"
    place.mkdir()
    damaged, read = place / "damaged.db", place / "read.db"
    try:
        with mapped(file):
            as_of = latest_mark(file)
            keep_damaged(file, damaged)
            for copy, original in ((read, damaged), (log_of(read), log_of(damaged))):
                if original.is_file():
                    shutil.copyfile(original, copy)
            with closing(Database.open(place)) as database:
                _fill(database, read, file)
                store = SQLiteStore(database, CacheFolder(place / "cache"))
                yield Workshop(store, database, file, damaged, read, as_of)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _fill(database: Database, read: Path, file: Path) -> None:
    with closing(connect(database.uri)) as connection:
        salvage(read, connection)
        if not run(connection, "any_commit").fetchone():
            raise StoreError(
                f"{file}: nothing of a knowledge base can be read in it: restore the folder from a "
                "backup, or move the file away and ingest the documents again"
            )


def _stating(connection: sqlite3.Connection, keys: list[str]) -> list[str]:
    """Return the documents with nodes that have one of some vectors."""
    found: set[str] = set()
    for key in keys:
        found.update(doc_id for (doc_id,) in run(connection, "documents_with_vector", key))
    return sorted(found)
