"""Entities that were read lately: questions about one field meet the same ones again."""

import sqlite3
import threading
from collections.abc import Collection

from kgrag.store.bundles import nameless
from kgrag.store.sqlite.changes import Mark, current_mark
from kgrag.store.sqlite.statements import json_list, run
from kgrag.types import Entity

_MOST = 50_000  # entities, some 10 MB


class Named(dict[str, Entity]):
    """Entities by id, of which none that facts or mentions name may be missing."""

    def __missing__(self, entity_id: str) -> Entity:
        """Raise StoreError: what names it is damaged."""
        raise nameless(entity_id)


class KnownEntities:
    """Entities by id as of one commit; after another they are read again."""

    def __init__(self) -> None:
        """Know none."""
        self._mark = Mark()
        self._known = Named()
        self._lock = threading.Lock()

    def of(self, connection: sqlite3.Connection, entity_ids: Collection[str]) -> Named:
        """Return entities by id, and maybe others; to ask for one that is not held raises."""
        mark = current_mark(connection)
        with self._lock:
            if self._mark != mark or len(self._known) > _MOST:
                self._mark, self._known = mark, Named()
            known = self._known
        missing = [entity_id for entity_id in entity_ids if entity_id not in known]
        if missing:
            rows = run(connection, "entities", json_list(missing))
            known.update((row[0], Entity(*row)) for row in rows)
        return known
