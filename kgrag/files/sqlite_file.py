"""Shared set-up of SQLite files that several processes may open at once."""

import sqlite3
import time

_TURN_S = 0.01


def whose(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return (application id, version, number of tables), zeros for a new file.

    In one statement, as another process may be creating the tables: read separately, a new file
    could have tables without an id.
    """
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    return application, version, tables


def use_write_ahead_log(connection: sqlite3.Connection, *, wait_s: float) -> None:
    """Turn on WAL mode; SQLite itself does not wait for others that do so at the same moment.

    Args:
        connection: Outside a transaction.
        wait_s: Time-out in seconds.

    Raises:
        sqlite3.OperationalError: On time-out, or if the file cannot be written.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as exc:
            is_busy = exc.sqlite_errorname.startswith("SQLITE_BUSY")
            if not is_busy or time.monotonic() > deadline:
                raise
        time.sleep(_TURN_S)
