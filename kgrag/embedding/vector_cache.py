"""A cache of vectors by text, shared by a user's knowledge bases, so that each is paid once."""

import json
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path

import numpy as np

from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.endpoint import EndpointEmbedder
from kgrag.files.cache_folder import make_private
from kgrag.files.sqlite_file import whose
from kgrag.ids import embedding_key

_log = logging.getLogger(__name__)
FILE_NAME = "vectors.db"

_APPLICATION_ID = 0x6B67_7665  # "kgve": distinguishes our files from other SQLite databases
_BUSY_TIMEOUT_S = 30.0
_PAGE_BYTES = 32_768  # seven vectors of 1024 numbers; with pages of 4096 a vector takes two
_STORED = np.dtype("<f4")
_MOST_BYTES = 2_000_000_000  # some 450,000 vectors of 1024 numbers
_LEAVE_OUT = 10  # one in so many is deleted when the file is full
_ROUNDING = 1e-3  # tolerance of a vector's length
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class CachedEmbedder:
    """An encoder with a cache file.

    Vectors are cached request by request: a killed run pays again only for requests in progress.
    Any number of processes share the file; where it cannot be used, this is logged and everything
    is encoded. Attributes are those of the encoder.
    """

    answered = None

    def __init__(
        self, embedder: EndpointEmbedder, file: Path, *, most_bytes: int = _MOST_BYTES
    ) -> None:
        """Wrap an encoder; neither file nor encoder is used yet.

        The oldest tenth of vectors is deleted when the file reaches `most_bytes`.
        """
        self.is_stand_in = embedder.is_stand_in
        self.languages = embedder.languages
        self.settings: Mapping[str, str] = embedder.settings
        self._embedder = embedder
        self._cache = VectorCache(file, most_bytes=most_bytes)

    def __repr__(self) -> str:
        return f"CachedEmbedder({self._embedder!r})"

    @cached_property
    def name(self) -> str:
        """Return the encoder's name, which may take a request."""
        return self._embedder.name

    @cached_property
    def dimension(self) -> int:
        """Return the length of a vector, which may take a request."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Raises:
            ModelError: As the encoder does; vectors received before are cached.
        """
        keys = {text: embedding_key(self.name, f"{task}\n{text}") for text in texts if text.strip()}
        by_key = self._cache.find(list(keys.values()), dimension=self.dimension)
        missing = [text for text, key in keys.items() if key not in by_key]
        for places, vectors in self._embedder.embed_batches(missing, task):
            new = {keys[missing[at]]: row for at, row in zip(places, vectors, strict=True)}
            self._cache.keep(new)
            by_key.update(new)
        table = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if text in keys:
                table[row] = by_key[keys[text]]
        return table


class VectorCache:
    """One SQLite file of vectors by key; errors are logged and never raised.

    It is opened for each use, which takes some milliseconds, so that nothing has to be closed or
    shared between threads.
    """

    def __init__(self, file: Path, *, most_bytes: int = _MOST_BYTES) -> None:
        """Set the file, which is created when the first vector is stored."""
        self._file = file
        self._most_bytes = most_bytes
        self._is_usable = True

    def find(self, keys: Sequence[str], *, dimension: int) -> dict[str, Vectors]:
        """Return the cached vectors, except damaged ones and those of another dimension."""
        if not self._is_usable or not keys or not self._file.exists():
            return {}
        try:
            with closing(self._connection()) as connection:
                rows = connection.execute(
                    "SELECT v.key, v.vector FROM json_each(?) j"
                    " CROSS JOIN vectors v ON v.key = j.value",
                    (json.dumps(list(keys)),),
                ).fetchall()
        except sqlite3.Error as exc:
            self._went_wrong(exc)
            return {}
        n_bytes = dimension * _STORED.itemsize
        whole = [(k, b) for k, b in rows if isinstance(b, bytes) and len(b) == n_bytes]
        matrix = np.frombuffer(b"".join(blob for _, blob in whole), _STORED)
        matrix = matrix.reshape(len(whole), dimension)
        with np.errstate(all="ignore"):  # damaged numbers
            is_unit = np.abs(np.linalg.norm(matrix, axis=1) - 1) < _ROUNDING
        return {key: row for (key, _), row, is_good in zip(whole, matrix, is_unit, strict=True)
                if is_good}  # fmt: skip

    def keep(self, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors by key, replacing older ones; durable when this returns."""
        if not self._is_usable or not vectors:
            return
        rows = [(key, np.asarray(row, _STORED).tobytes()) for key, row in vectors.items()]
        try:
            make_private(self._file)
            self._write(rows)
        except (sqlite3.Error, OSError) as exc:
            if self._went_wrong(exc):
                self.keep(vectors)

    def _write(self, rows: Sequence[tuple[str, bytes]]) -> None:
        with closing(self._connection()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows
            )
            if _used_bytes(connection) > self._most_bytes:
                connection.execute(
                    "DELETE FROM vectors WHERE number <= (SELECT min(number) +"
                    f" (max(number) - min(number)) / {_LEAVE_OUT} FROM vectors)"
                )
            connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        """Return a connection, creating the table."""
        connection = sqlite3.connect(self._file, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            application, _, tables = whose(connection)
            if application != _APPLICATION_ID:
                if tables:
                    raise sqlite3.OperationalError("it is a database of another program")
                connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                connection.executescript(
                    "BEGIN IMMEDIATE;"
                    "CREATE TABLE IF NOT EXISTS vectors"
                    " (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL);"
                    f"PRAGMA application_id = {_APPLICATION_ID}; COMMIT"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _went_wrong(self, exc: Exception) -> bool:
        """Log an error; return whether to try again."""
        if str(getattr(exc, "sqlite_errorname", "")).startswith(_DAMAGED) and self._set_aside(exc):
            return True
        self._is_usable = False
        text = (
            "%s: %s: vectors that are paid for are not kept there now; see to the file, or set"
            " KGRAG_CACHE to a folder that may be written"
        )
        _log.warning(text, self._file, exc)
        return False

    def _set_aside(self, exc: Exception) -> bool:
        """Move a damaged file away; return whether that was possible."""
        aside = self._file.with_name(f"{self._file.name}.damaged")
        try:
            # A leftover journal would be applied to the next file.
            self._file.with_name(f"{self._file.name}-journal").unlink(missing_ok=True)
            self._file.replace(aside)
        except OSError:
            return False
        text = "%s: %s: set aside as %s; its vectors are encoded again when they are needed"
        _log.warning(text, self._file, exc, aside.name)
        return True


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
