"""The connection: one driver, reads that retry, writes that are whole or not at all."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from typing import Self, TypeVar

import neo4j
from neo4j.exceptions import (
    DriverError,
    ForbiddenOnReadOnlyDatabase,
    IncompleteCommit,
    Neo4jError,
    WriteServiceUnavailable,
)

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.neo4j.address import Address, credentials
from kgrag.store.neo4j.faults import FAULTS, store_error
from kgrag.store.neo4j.liveness import awaited, in_thread
from kgrag.store.neo4j.statements import is_of_base, statement

_T = TypeVar("_T")

Row = neo4j.Record
_OLDEST = (5, 26)  # version of the server
_DEFINED_MEANWHILE = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
_CONNECT_S = 10.0  # until a port that listens has to have answered, too
_RETRY_S = 120.0  # a cluster may take a while to choose a leader
_UNCERTAIN = 5  # tries of a transaction whose outcome is not known
_INDEXES_S = 600  # for indexes to catch up
_LONGEST_READ_S = 900.0  # that a server may take for a statement; more than for indexes
_FETCHED = 1000  # rows of a stream at a time
_CLOSING_S = 5.0  # connections that do not close by then are left to end with the process
_REFUSED = 5  # tries, about 15 s, where this server takes no writes, which may be for good


# What the driver has to say, its errors say, too, and ours say it in words: it is heard only by who
# listens to this log.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class Database:
    """A database on a server; any number of threads may use it.

    Attributes:
        address: Where it is.
    """

    def __init__(self, address: Address, driver: neo4j.Driver) -> None:
        self.address = address
        self._driver: neo4j.Driver | None = driver
        self._lock = threading.Lock()
        self._own = threading.local()  # the transaction of a thread within `whole`

    @classmethod
    def open(cls, address: Address) -> Self:
        """Connect.

        Raises:
            StoreUnavailableError: If the server cannot be reached, refuses us, or is too old.
        """
        try:
            driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=credentials(),
                user_agent="kgrag",
                connection_timeout=_CONNECT_S,
                connection_acquisition_timeout=_CONNECT_S,
                max_transaction_retry_time=_RETRY_S,
                notifications_min_severity="OFF",
            )
        except (ValueError, *FAULTS) as exc:
            raise store_error(address, exc) from exc
        try:
            version = _version(awaited(address, driver.get_server_info).agent)
        except (ValueError, *FAULTS) as exc:
            _close(driver)
            raise store_error(address, exc) from exc
        except BaseException:
            _close(driver)
            raise
        if version < _OLDEST:
            _close(driver)
            raise StoreUnavailableError(
                f"{address}: Neo4j {'.'.join(map(str, version))} is too old: use 5.26 or newer"
            )
        return cls(address, driver)

    def close(self) -> None:
        """Close all connections; twice is no error."""
        with self._lock:
            driver, self._driver = self._driver, None
        if driver is not None:
            _close(driver)

    def beside(self, base: str) -> "Database":
        """Return another knowledge base of this database, over this connection.

        Args:
            base: Its name; empty for the one without a name.
        """
        return Database(replace(self.address, base=base), self.driver)

    @property
    def driver(self) -> neo4j.Driver:
        """The driver.

        Raises:
            StoreError: If it is closed.
        """
        if self._driver is None:
            raise StoreError(f"{self.address} is closed: open it again")
        return self._driver

    def read(self, name: str, /, **parameters: object) -> list[Row]:
        """Return the rows of a statement that reads, from any member of a cluster.

        One round trip where all goes well; the driver's retries (a lost connection, a new
        leader) where it does not.
        """
        if own := self._current:
            return own.read(name, **parameters)
        driver = self.driver

        def again() -> neo4j.EagerResult:
            return driver.execute_query(
                statement(name, self.address.base),
                parameters,
                routing_=neo4j.RoutingControl.READ,
                database_=self.address.database,
            )

        def run() -> list[Row]:
            try:
                with self._session(neo4j.READ_ACCESS) as session:
                    return list(session.run(statement(name, self.address.base), parameters))
            except (Neo4jError, DriverError) as exc:
                if not exc.is_retryable():
                    raise
            return _certain(again).records

        with self._faults():
            return awaited(self.address, run, limit_s=_LONGEST_READ_S)

    def stream(self, name: str, /, **parameters: object) -> Iterator[Row]:
        """Yield the rows of a statement that reads, without holding all of them."""
        if own := self._current:
            yield from own.read(name, **parameters)
            return
        turn = threading.Lock()  # two threads on one connection take each other's answers

        def begun() -> Iterator[Row]:
            with turn:
                return iter(session.run(statement(name, self.address.base), parameters))

        def fetched() -> list[Row]:
            with turn:
                return list(islice(found, _FETCHED))

        with self._faults(), ExitStack() as ended:
            session = self._session(neo4j.READ_ACCESS)
            ended.callback(_close, session, turn)
            found = awaited(self.address, begun)
            while rows := awaited(self.address, fetched, limit_s=_LONGEST_READ_S):
                yield from rows

    def write(self, work: Callable[["Transaction"], _T]) -> _T:
        """Return what `work` does in one transaction, which other writers wait for.

        `work` may be called again: after a lost connection, a deadlock or a change of leader,
        and where it is not known whether the transaction was committed. It must leave the same
        when it is done twice.
        """
        if own := self._current:
            return work(own)
        last: list[_T] = []
        uncertain: list[_T] = []
        n_refused = 0
        given_up = threading.Event()  # the caller was told that it failed: it shall not be done yet

        def attempt(tx: neo4j.ManagedTransaction) -> _T:
            nonlocal n_refused
            try:
                last[:] = [work(Transaction(tx, tuple(uncertain), self.address.base, given_up))]
                if given_up.is_set():
                    raise StoreError(f"{self.address}: given up")
            except (ForbiddenOnReadOnlyDatabase, WriteServiceUnavailable) as exc:
                n_refused += 1
                if n_refused < _REFUSED:
                    raise
                raise store_error(self.address, exc) from exc
            return last[0]

        def run() -> _T:
            with self._session(neo4j.WRITE_ACCESS) as session:
                try:
                    return session.execute_write(attempt)
                except IncompleteCommit:
                    uncertain.append(last[0])
                    raise

        with self._faults():
            return awaited(self.address, lambda: _certain(run), given_up=given_up.set)

    def whole(self, work: Callable[[], _T]) -> Callable[["Transaction"], _T]:
        """Return what does `work` in a transaction: all that its thread reads and writes."""

        def within(tx: Transaction) -> _T:
            self._own.transaction = tx
            try:
                return work()
            finally:
                self._own.transaction = None

        return within

    @property
    def _current(self) -> "Transaction | None":
        return getattr(self._own, "transaction", None)

    def define(self, *names: str, **numbers: int) -> list[Row]:
        """Run statements that define or show indexes in one transaction, without other writes.

        Args:
            names: Of the statements.
            numbers: For their places <…>.

        Returns:
            The rows of the last.
        """
        texts = [statement(name, self.address.base, **numbers) for name in names]
        try:
            return self.write(lambda tx: [list(tx.driven.run(text)) for text in texts][-1])
        except StoreError as exc:
            if getattr(exc.__cause__, "code", None) == _DEFINED_MEANWHILE:
                return []  # by another process, between the look at what is there and now
            raise

    def await_indexes(self) -> None:
        """Wait until every index of this knowledge base has caught up."""
        base = self.address.base
        names = [
            row["name"]
            for row in self.read("index_states")
            if row["state"] != "ONLINE" and all(is_of_base(n, base) for n in row["labels"] or ("",))
        ]
        if names:
            self.read("await_indexes", names=names, seconds=_INDEXES_S)

    def _session(self, access: str) -> neo4j.Session:
        driver = self.driver
        return driver.session(
            database=self.address.database,
            default_access_mode=access,
            bookmark_manager=driver.execute_query_bookmark_manager,
        )

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except FAULTS as exc:
            self.driver  # noqa: B018  # closed meanwhile: that is what to say
            raise store_error(self.address, exc) from exc


class Transaction:
    """A transaction of a writer: statements by name.

    Attributes:
        earlier: What earlier tries returned of which it is not known whether they were committed.
        base: Name of the knowledge base.
    """

    def __init__(
        self,
        transaction: neo4j.ManagedTransaction,
        earlier: Sequence[object],
        base: str,
        given_up: threading.Event,
    ) -> None:
        self.earlier = earlier
        self.base = base
        self._transaction = transaction
        self._given_up = given_up

    def run(self, name: str, /, **parameters: object) -> list[Row]:
        """Return the rows of a statement."""
        return list(self.driven.run(statement(name, self.base), parameters))

    read = run

    def run_rows(
        self, name: str, rows: Sequence[object], /, *, size: int = 1000, **parameters: object
    ) -> list[Row]:
        """Return the rows of a statement over `$rows`, so many at a time; none without any."""
        text, found = statement(name, self.base), list[Row]()
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            found += self.driven.run(text, {**parameters, "rows": batch})
        return found

    @property
    def driven(self) -> neo4j.ManagedTransaction:
        """The driver's transaction.

        Raises:
            StoreError: If nobody waits for it any more.
        """
        if self._given_up.is_set():
            raise StoreError("given up: whoever waited for this transaction was interrupted")
        return self._transaction


def _close(
    connected: neo4j.Driver | neo4j.Session, turn: AbstractContextManager[object] | None = None
) -> None:
    """Close what is connected, but do not wait for a server that is silent.

    Args:
        connected: What a thread that was left behind may still be at work on.
        turn: Held by such a thread as long as it waits for an answer: it is closed after that.
    """

    def close() -> None:
        with turn or nullcontext():
            connected.close()

    closed = in_thread(close)
    with suppress(TimeoutError):
        closed.exception(timeout=_CLOSING_S)


def _certain(run: Callable[[], _T]) -> _T:
    """Return what a transaction returns; it is repeated while its outcome is not known."""
    for _ in range(_UNCERTAIN - 1):
        with suppress(IncompleteCommit):
            return run()
    return run()


def _version(agent: str) -> tuple[int, ...]:
    """Return the version in a server's name for itself.

    >>> _version("Neo4j/5.26.28")
    (5, 26, 28)
    """
    numbers = agent.partition("/")[2].partition("-")[0].split(".")
    return tuple(int(n) for n in numbers if n.isdecimal())
