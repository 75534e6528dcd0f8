"""A scene of faults on a Neo4j server, made to be put up again and again."""

import time
from pathlib import Path

from tests.faults.commands import LIMIT_S
from tests.faults.corpus import exported
from tests.faults.scene import Case, Scene, must
from tests.faults.snapshot import Snapshot
from tests.neo4j_server.plugin import driver_of, wipe

_RECORDS = 6  # beside the sample documents: a server takes its time for each
_WITH_SCHEMA = 3  # every so often constraints and indexes go, too; every statement is planned anew
_OTHERS = (
    "SHOW TRANSACTIONS YIELD currentQuery WHERE NOT currentQuery STARTS WITH 'SHOW TRANSACTIONS' "
    "RETURN count(*)"
)


class ServerScene(Scene):
    """A scene on a Neo4j server."""

    def __init__(self, folder: Path, uri: str, *, program: tuple[str, ...]) -> None:
        super().__init__(folder, uri, program=program, n=_RECORDS)
        self.cases["drop"] = Case(("drop", "--yes"), shut=True)
        self._cleared = 0
        self._snapshot: Snapshot | None = None

    def clear(self) -> None:
        """Delete everything on the server; its schema, too, the first time and some times."""
        with driver_of(str(self.kb)) as driver, driver.session() as session:
            if self._cleared % _WITH_SCHEMA == 0:
                wipe(session)
            session.run("MATCH (n) DETACH DELETE n").consume()
        self._cleared += 1

    def fill(self) -> None:
        """Copy the knowledge base to the server, or put its nodes back.

        Raises:
            RuntimeError: If what is put back is not what was there.
        """
        if self._snapshot is None:
            self.clear()
            must(self.place.run("copy", "--from", self.out, "--to", self.kb))
        with driver_of(str(self.kb)) as driver, driver.session() as session:
            if self._snapshot is None:
                self._snapshot = Snapshot.of(session)
            self._snapshot.put_back(session)
        if exported(self.kb) != self.before:
            raise RuntimeError("the knowledge base was not put back as it was")

    def settle(self) -> None:
        """Wait until no transaction of a killed command is under way.

        Raises:
            RuntimeError: If one stays.
        """
        deadline = time.monotonic() + LIMIT_S
        with driver_of(str(self.kb)) as driver, driver.session() as session:
            while session.run(_OTHERS).single(strict=True).value():
                if time.monotonic() > deadline:
                    raise RuntimeError("a transaction of a killed command does not end")
                time.sleep(0.01)
