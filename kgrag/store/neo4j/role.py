"""What every role of the store has: the database on which it runs its statements."""

from kgrag.store.neo4j import write
from kgrag.store.neo4j.base import read_base
from kgrag.store.neo4j.connection import Database


class Role:
    """Some of the methods of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def _check_open(self) -> None:
        """Refuse to answer without the server what cannot be asked of it any more."""
        self._database.driver  # noqa: B018  # raises when closed

    def _finish_deletions(self) -> None:
        """Delete what is left of large documents, some at a time."""
        while read_base(self._database)["deleting"]:
            self._database.write(write.delete_remains)
