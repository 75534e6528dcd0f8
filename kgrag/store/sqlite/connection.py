"""The database file: opening, schema, one writer, and a pool of readers."""

import logging
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from kgrag.errors import NewerVersionError, StoreError, StoreUnavailableError
from kgrag.files.sqlite_file import use_write_ahead_log, whose
from kgrag.store.sqlite.faults import mapped
from kgrag.store.sqlite.opening import (
    APPLICATION_ID,
    CrashedLog,
    check_file,
    check_tables,
    foreign,
    log_of,
    uri_of,
)

logger = logging.getLogger(__name__)

FILE_NAME = "kgrag.db"
BUSY_TIMEOUT_S = 10.0
_READ_ONLY = "?mode=ro&immutable=1"
# A vector of 512 numbers takes 2 KB; of a page of 4 KB half would be unused.
_PAGE_BYTES = 8192
# Ids are hashes, so a document's rows are scattered over the file: the pages that it changes
# should fit in memory, and be checkpointed for several documents at once.
_CACHE_KIB = 64 * 1024
_CHECKPOINT_PAGES = 16_384
# All of a small file. For a large one (SQLite maps 2 GB at most) mapping is no faster than the
# cache, and the pages read count as memory of the process.
_MAPPED_BYTES = 512 * 1024 * 1024
VERSION = 8  # of the schema
# SQLite's errors for a folder that cannot be written, and for a disk without 32 KB for the
# shared-memory file beside the database.
_UNWRITABLE = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_FULL", "SQLITE_IOERR_SHM")


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a database's files before SQLite opened them."""

    identity: tuple[int, int]  # of the file: device and inode
    wrong_header: str = ""  # damage of its header, in words; empty for none
    lost: str = ""  # what a damaged log lost, in words; empty for nothing


class Database:
    """One SQLite file.

    Attributes:
        file: The database file.
        uri: Where connections connect to.
        seen: State of its files before opening.
    """

    def __init__(self, file: Path, *, uri: str, seen: Seen) -> None:
        self.file = file
        self.uri = uri
        self.seen = seen
        self._closed = False
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._write_lock = threading.Lock()
        self._own = threading.local()  # the connection of a thread within `whole`

    @classmethod
    def open(cls, folder: Path, *, create: bool = True) -> "Database":
        """Open the database of a folder.

        With `create`, a missing folder or file is created, and an empty file initialised.

        Raises:
            NoKnowledgeBaseError: If the file is missing or empty, without `create`.
            StoreUnavailableError: If it cannot be read, is locked, or is not a knowledge base.
            NewerVersionError: If a newer kgrag made it.
        """
        file = folder / FILE_NAME
        with _OPENING:
            wrong_header, log = _looked_at(file, create=create)
            with mapped(file):
                uri, lost = _prepare(file, log)
            if lost:
                logger.warning("%s", lost)
            opened = cls(file, uri=uri, seen=Seen(_identity(file), wrong_header, lost))
            _OPENED.add(opened)
        return opened

    @property
    def is_open(self) -> bool:
        """Whether it is not closed."""
        return not self._closed

    def check_open(self) -> None:
        """Raise StoreError after `close`."""
        if self._closed:
            raise StoreError(
                "the knowledge base {parent} is closed: open it again", parent=self.file.parent
            )

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Return a connection in a read transaction: a single state of the database."""
        if own := getattr(self._own, "connection", None):
            yield own
            return
        with mapped(self.file):
            connection = self._take()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Return the writing connection in a transaction."""
        if own := getattr(self._own, "connection", None):
            yield own
            return
        with self._write_lock, mapped(self.file):
            self.check_open()
            if self._writer is None:
                self._writer = connect(self.uri)
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let this thread read and write in one transaction, until the end of the block."""
        with self.write() as connection:
            self._own.connection = connection
            try:
                yield
            finally:
                self._own.connection = None

    def close(self) -> None:
        """Close all idle connections; others are closed when they are returned."""
        with self._write_lock, self._idle_lock:
            self._closed = True
            for connection in (*self._idle, self._writer):
                if connection is not None:
                    connection.close()
            self._idle.clear()
            self._writer = None

    def _take(self) -> sqlite3.Connection:
        with self._idle_lock:
            self.check_open()
            if self._idle:
                return self._idle.pop()
        return connect(self.uri)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._idle_lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()


# The open databases of this process, and a lock for opening another.
_OPENED: "weakref.WeakSet[Database]" = weakref.WeakSet()
_OPENING = threading.Lock()


def _looked_at(file: Path, *, create: bool) -> tuple[str, CrashedLog]:
    """Check the header of a file; return its damage, and the file's log.

    A file that this process already has open is not read: closing it again would release SQLite's
    locks on it, and another process would take the file and its log for its own.
    """
    try:
        if create:
            file.parent.mkdir(parents=True, exist_ok=True)
        identity = _identity(file) if file.exists() else None
        for other in _OPENED:
            if other.is_open and other.seen.identity == identity:
                return other.seen.wrong_header, CrashedLog(log_of(file))
        log = CrashedLog.of(file)
        with mapped(file):
            return check_file(file, create=create), log
    except OSError as exc:
        raise StoreUnavailableError(
            "{parent}: {error}: name another folder", parent=file.parent, error=exc
        ) from exc


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino


def connect(uri: str) -> sqlite3.Connection:
    """Return a configured connection; transactions are started explicitly."""
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        # The pool gives a connection to one thread at a time.
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
    except BaseException:  # of a damaged file
        connection.close()
        raise
    return connection


def renew(connection: sqlite3.Connection) -> None:
    """Move a connection from `Database.read` to the latest state of the database."""
    connection.execute("ROLLBACK")
    connection.execute("BEGIN")


def _prepare(file: Path, log: CrashedLog) -> tuple[str, str]:
    """Create the file where it is new; return the URI to connect to, and what its log lost."""
    uri = uri_of(file.absolute())
    try:
        with closing(connect(uri)) as connection:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a new file
            use_write_ahead_log(connection, wait_s=BUSY_TIMEOUT_S)
            lost = log.lost(connection)
            connection.execute("BEGIN")  # one state, while another process may make the schema
            is_new = _is_new(connection, file)
            if not is_new:
                check_tables(connection, file)
            connection.execute("COMMIT")
            if is_new:
                _create(connection, file)
            return uri, lost
    except sqlite3.OperationalError as exc:
        if not exc.sqlite_errorname.startswith(_UNWRITABLE):
            raise
        return _prepare_read_only(file, uri, exc), ""


def _prepare_read_only(file: Path, uri: str, cause: sqlite3.Error) -> str:
    """Return the URI of a file that cannot be written, on a read-only or full disk.

    SQLite needs a file beside the database for its write-ahead log unless it may assume that nobody
    writes, which holds if no log is left.
    """
    log = log_of(file)
    if not file.is_file() or (log.exists() and log.stat().st_size):
        raise cause
    uri += _READ_ONLY
    with closing(connect(uri)) as connection:
        if _is_new(connection, file):
            raise cause
    return uri


def _is_new(connection: sqlite3.Connection, file: Path) -> bool:
    """Return whether a file has no schema yet.

    Raises:
        StoreUnavailableError: If it is the database of another program, or an older kgrag made it.
        NewerVersionError: If a newer kgrag made it.
    """
    application, version, tables = whose(connection)
    if application != APPLICATION_ID and (version or tables):
        raise foreign(file)
    if version > VERSION:
        raise NewerVersionError(
            "{file} has schema version {version}, this kgrag knows {value}: install the newer "
            "kgrag that made it",
            file=file,
            version=version,
            value=VERSION,
        )
    if 0 < version < VERSION:
        raise StoreUnavailableError(
            "{file} has schema version {version}, this kgrag knows {value}: ingest the documents "
            "into another folder",
            file=file,
            version=version,
            value=VERSION,
        )
    return not version


def _create(connection: sqlite3.Connection, file: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have made it while we waited for the lock.
        if _is_new(connection, file):
            make_schema(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def make_schema(connection: sqlite3.Connection) -> None:
    """Make the schema in an empty database, within the transaction that is under way."""
    file = resources.files("kgrag.store.sqlite").joinpath("schema.sql")
    # Not executescript, which commits first: half a schema must not be seen.
    statement = ""
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
