"""Base class of the parts of the store: statements on one state of the database."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from itertools import starmap
from typing import Any, NoReturn, Self, TypeVar

from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.statements import run

T = TypeVar("T")
Row = tuple[Any, ...]
Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]


class Role:
    """A part of the store's methods.

    Each method reads the latest state of the database; within `snapshot`, all read the same one.
    """

    def __init__(self, database: Database, cache: CacheFolder) -> None:
        self._database = database
        self._cache = cache
        self._reading: Reading = database.read

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """Return the same methods on one state of the database, until the end of the block.

        Only searches answer from the latest state.
        """
        with self._reading() as connection, self._on(connection) as here:
            yield here

    @contextmanager
    def _on(self, connection: sqlite3.Connection) -> Iterator[Self]:
        """Return the same methods on a connection, in its transaction."""
        here = copy(self)
        here._reading = lambda: nullcontext(connection)
        try:
            yield here
        finally:
            here._reading = _ended  # the connection may have another user by now

    def _rows(self, name: str, *values: object) -> list[Row]:
        with self._reading() as connection:
            return run(connection, name, *values).fetchall()

    def _read(self, kind: Callable[..., T], name: str, *values: object) -> list[T]:
        """Call a function with the columns of each row of a statement."""
        with self._reading() as connection:
            return [kind(*row) for row in run(connection, name, *values)]

    def _each(self, kind: Callable[..., T], name: str, *values: object) -> Iterator[T]:
        """Yield the results of `_read` one by one, for large tables."""
        with self._reading() as connection:
            yield from starmap(kind, run(connection, name, *values))


def _ended() -> NoReturn:
    raise RuntimeError("the snapshot has ended: read within its block")
