"""End what the server still does of a statement that nobody waits for any more."""

import time

from kgrag.errors import StoreError
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.liveness import in_thread

_ENDING_S = 5.0  # for the server to end what it was told to
_LOOK_S = 0.2  # between two looks at whether it has
_GRACE_S = 1.0  # for the looks themselves


def end(database: Database, mark: str) -> str:
    """End a statement's transactions, and report those that continue.

    Args:
        database: Where it runs.
        mark: That its transactions were given.

    Returns:
        Words for it; empty where nothing does.
    """

    def left() -> str:
        until = time.monotonic() + _ENDING_S
        while ids := [row["id"] for row in database.read("under_way", mark=mark)]:
            if time.monotonic() > until:
                return f"the server computes on ({', '.join(ids)}), though it was told to end"
            database.read("terminate", ids=ids)
            time.sleep(_LOOK_S)
        return ""

    try:
        return in_thread(left).result(timeout=_ENDING_S + _GRACE_S)
    except (TimeoutError, StoreError):
        return "nobody knows whether the server computes on"
