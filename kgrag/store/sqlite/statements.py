"""The named SQL statements of the folder `sql`."""

import functools
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Any

from kgrag.store.named_statements import read_folder


@functools.cache
def statements() -> Mapping[str, str]:
    """Return all statements by their `-- name:`."""
    folder = resources.files("kgrag.store.sqlite").joinpath("sql")
    return MappingProxyType(read_folder(folder, ".sql", comment="--"))


def run(connection: sqlite3.Connection, name: str, *values: object) -> sqlite3.Cursor:
    """Execute a statement by name with positional parameters.

    Raises:
        KeyError: If there is no such statement.
    """
    sql = statements()[name]
    return connection.execute(sql, _bound(sql, values))


def run_each(
    connection: sqlite3.Connection, name: str, rows: Iterable[Sequence[Any]]
) -> sqlite3.Cursor:
    """Execute a statement by name for each row of values."""
    sql = statements()[name]
    return connection.executemany(sql, (_bound(sql, row) for row in rows))


def _bound(sql: str, values: Sequence[Any]) -> Sequence[Any] | Mapping[str, Any]:
    """Return values as Python 3.14 requires: those of numbered parameters (?1) by number."""
    return {str(n): value for n, value in enumerate(values, 1)} if "?1" in sql else values


def json_list(ids: Iterable[object]) -> str:
    """Return ids as JSON for `json_each(?)`: any number in one parameter."""
    return json.dumps(list(ids))
