"""The embedded store: one SQLite file, and search caches beside it."""

from pathlib import Path

from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.staged import Staged
from kgrag.store.sqlite.whole import Whole
from kgrag.store.sqlite.write import Writing

CACHE_FOLDER = "cache"


class SQLiteStore(Writing, Whole):
    """A knowledge base in a folder; see `kgrag.store.store.Store` for what each method promises.

    Any number of threads and processes may read while one writes. Searches bring their caches
    up to date first.
    """

    @classmethod
    def open(cls, folder: Path, *, create: bool = True) -> "SQLiteStore":
        """Open the knowledge base of a folder.

        Args:
            folder: Holds `kgrag.db` and `cache/`.
            create: Make it where there is none.

        Raises:
            StoreUnavailableError: If it is missing, may not be read, or is none.
            StoreError: If a newer kgrag made it.
        """
        return cls(Database.open(folder, create=create), CacheFolder(folder / CACHE_FOLDER))

    @property
    def staged(self) -> Staged:
        """Return the vectors of another encoder that do not answer yet."""
        return Staged(self._database, self._cache)
