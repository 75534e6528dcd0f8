"""Open the store at a place: a folder, or the address of a server."""

from pathlib import Path

from kgrag.store.store import Store


def open_store(location: str | Path, *, create: bool) -> Store:
    """Return the store at a place.

    Args:
        location: A folder with an SQLite database, or the address of a Neo4j server
            (`bolt://HOST:7687`, `neo4j://HOST:7687`, `/DATABASE` after it for another than
            `neo4j`).
        create: Make a knowledge base where there is none.

    Raises:
        StoreUnavailableError: If it cannot be opened.
    """
    if "://" in str(location):
        from kgrag.store.neo4j.store import Neo4jStore

        return Neo4jStore.open(str(location), create=create)
    from kgrag.store.sqlite.store import SQLiteStore

    return SQLiteStore.open(Path(location), create=create)
