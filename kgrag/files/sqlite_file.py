"""Opening SQLite files that several processes may open at the same time."""

import sqlite3
import time

_TURN_S = 0.01


def whose(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return (application id, version, number of tables), 0 for a new file.

    In one statement, as another process may be creating the tables.
    """
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    return application, version, tables


def use_write_ahead_log(connection: sqlite3.Connection, *, wait_s: float) -> None:
    """Turn on the write-ahead log; SQLite itself does not wait for others that do so.

    Args:
        connection: In no transaction.
        wait_s: Seconds to wait for others.

    Raises:
        sqlite3.OperationalError: If they take longer, or the file cannot be written.
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
