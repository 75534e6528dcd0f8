"""Open the store at a place: a folder."""

from pathlib import Path

from kgrag.errors import StoreUnavailableError
from kgrag.store.store import Store


def open_store(location: str | Path, *, create: bool) -> Store:
    """Return the store at a place.

    Args:
        location: A folder, which holds an SQLite database.
        create: Make it where there is none.

    Raises:
        StoreUnavailableError: If it cannot be opened, or names a kind of store that is not
            supported.
    """
    if "://" in str(location):
        raise StoreUnavailableError(
            f"{location}: only folders are supported as knowledge bases; give --kb a folder"
        )
    from kgrag.store.sqlite.store import SQLiteStore

    return SQLiteStore.open(Path(location), create=create)
