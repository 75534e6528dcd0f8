"""Check a database's files before SQLite opens them: ownership and damage."""

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from kgrag.errors import NoKnowledgeBaseError, StoreUnavailableError
from kgrag.text.messages import Message

APPLICATION_ID = 0x6B67_7261  # "kgra": distinguishes our files from other SQLite databases
TABLES = frozenset(
    (
        *("meta", "state", "commits", "changes", "documents", "sources", "headings", "chunks"),
        *("summaries", "entities", "entity_names", "entity_search", "facts", "evidence"),
        *("mentions", "embeddings", "node_vectors", "staged_embeddings", "staged_documents"),
        *("staged_nodes", "seals", "corrections", "decisions"),
    )
)

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100  # sqlite.org/fileformat2.html, section 1.3
_FRACTIONS = bytes((64, 32, 32))
_APPLICATION = slice(68, 72)
_BUSY_TIMEOUT_S = 10.0  # another process may be creating it
_SEEN = 16  # first bytes shown in messages
# sqlite.org/walformat.html
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_FRAME_BYTES = _FRAME_HEADER_BYTES + 8192
_LOCKS = Path("/proc/locks")  # man 5 proc: the third from the end of a line is MAJOR:MINOR:INODE


def log_of(file: Path) -> Path:
    """Return the path of a database file's write-ahead log."""
    return file.with_name(file.name + "-wal")


@dataclass(frozen=True, slots=True)
class CrashedLog:
    """A write-ahead log that a crash left, before SQLite reads it.

    SQLite reads it up to the first frame with a wrong checksum, which is right for the torn end
    after a crash. But later commits, which had been reported as stored, are lost silently if a bit
    flipped, or the power failed before everything was on disk.
    """

    file: Path  # the log
    header: bytes = b""  # its first bytes
    last_commit: int = 0  # number of the last frame that ends a commit, from 1; 0 for none

    @classmethod
    def of(cls, database: Path) -> "CrashedLog":
        """Return the log of a database; an empty one where a process has it open."""
        log = log_of(database)
        with suppress(OSError):  # SQLite will report it
            if log.stat().st_size > _LOG_HEADER_BYTES and not _in_use(database):
                return cls(log, *_commits(log))
        return cls(log)

    def lost(self, connection: sqlite3.Connection) -> str:
        """Return in words what SQLite skipped in the log; empty for nothing.

        `connection` is the first one to the database.
        """
        if not self.last_commit:
            return ""
        _, n_read, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        with suppress(OSError), self.file.open("rb") as opened:
            is_begun_anew = opened.read(_LOG_HEADER_BYTES) != self.header  # by another process
            if not is_begun_anew and 0 <= n_read < self.last_commit:
                at = _LOG_HEADER_BYTES + n_read * _FRAME_BYTES if n_read else 0
                return (
                    f"{self.file} is damaged behind byte {at}: what was stored behind that is lost "
                    "(the power failed, or a bit flipped): run again what ran last, `kgrag ingest` "
                    "with the same files, and then `kgrag verify`"
                )
        return ""


def _commits(log: Path) -> tuple[bytes, int]:
    """Return the header of a log, and the number of its last frame that ends a commit.

    Frames of an earlier round, with other salts, may follow. Salts that differ in one bit are
    damaged ones of this round.
    """
    last = 0
    with log.open("rb", buffering=0) as opened:
        header = opened.read(_LOG_HEADER_BYTES)
        salts = int.from_bytes(header[16:24])
        for number in range(1, (log.stat().st_size - _LOG_HEADER_BYTES) // _FRAME_BYTES + 1):
            opened.seek(_LOG_HEADER_BYTES + (number - 1) * _FRAME_BYTES)
            frame = opened.read(_FRAME_HEADER_BYTES)
            is_ours = (int.from_bytes(frame[8:16]) ^ salts).bit_count() <= 1
            if is_ours and any(frame[4:8]):
                last = number
    return header, last


def _in_use(file: Path) -> bool:
    """Return whether a process has the database open, so that its log is not read again.

    A lock to find out would release this process's other locks.
    """
    try:
        held = {line.split()[-3].rpartition(":")[2] for line in _LOCKS.read_text().splitlines()}
    except (OSError, IndexError):  # not Linux
        return False
    return any(
        str(beside.stat().st_ino) in held
        for beside in (file, file.with_name(file.name + "-shm"))
        if beside.exists()
    )


def check_file(file: Path, *, create: bool) -> str:
    """Check the first bytes of a database file; return its damage in words, empty for none.

    Some bytes of a header only decide whether the file may be written; their damage does not
    prevent reading. With `create`, a missing or empty file (as after a crash) is allowed. This
    process must not have the file open: closing it would release all of SQLite's locks on it
    (sqlite.org/howtocorrupt.html, section 2.2).

    Raises:
        NoKnowledgeBaseError: If it is missing or empty, without `create`.
        StoreUnavailableError: If it is a folder, of another program, truncated, or missing beside
            its log.
    """
    if file.is_dir():
        raise StoreUnavailableError(
            "{file} is a folder, where a knowledge base has a file: move it away, or name "
            "another folder",
            file=file,
        )
    n_bytes = file.stat().st_size if file.exists() else 0
    if not n_bytes:
        _check_lost(file)
        if create:
            return ""
        said = "{name} is empty" if file.exists() else "{name} is missing"
        what = Message(said, {"name": file.name})
        raise NoKnowledgeBaseError(
            "no knowledge base in {parent} ({what}): name another folder, or ingest documents "
            "into this one",
            parent=file.parent,
            what=what,
        )
    with file.open("rb") as opened:
        header = opened.read(_HEADER_BYTES)
    _check_header(file, header)
    if int.from_bytes(header[_APPLICATION]) != APPLICATION_ID:
        _check_unmarked(file, header, create=create)
    return _wrong(header)


def _wrong(header: bytes) -> str:
    seen = (header[18], header[19], header[20], header[21:24], int.from_bytes(header[56:60]))
    if seen not in ((2, 2, 0, _FRACTIONS, 1), (1, 1, 0, _FRACTIONS, 1)):
        return f"the header is damaged ({seen})"
    return ""


def mend_header(file: Path) -> None:
    """Restore the constant fields of the header in a writable copy."""
    fixed = {
        0: _MAGIC,
        16: (8192).to_bytes(2),  # bytes of a page
        18: bytes((2, 2, 0)) + _FRACTIONS,
        52: bytes(4),  # no vacuum by itself
        56: (1).to_bytes(4),  # UTF-8
        64: bytes(4),
        68: APPLICATION_ID.to_bytes(4),
        72: bytes(20),
    }
    with file.open("r+b") as opened:
        for at, right in fixed.items():
            opened.seek(at)
            opened.write(right)


def check_tables(connection: sqlite3.Connection, file: Path) -> None:
    """Raise StoreUnavailableError if a table is missing."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    missing = sorted(TABLES - names)
    if missing:
        raise StoreUnavailableError(
            "{file} is damaged: the table {value} is missing: run `kgrag repair`, or restore "
            "the folder from a backup",
            file=file,
            value=missing[0],
        )


def foreign(file: Path) -> StoreUnavailableError:
    """Return the error for the database of another program."""
    return StoreUnavailableError(
        f"{file} is a database of another program: name another folder, or move it away"
    )


def _check_lost(file: Path) -> None:
    """Refuse a log without its database: SQLite would delete it."""
    log = log_of(file)
    if log.is_file() and log.stat().st_size:
        raise StoreUnavailableError(
            "{file} is missing or empty, but its log {log} is there: put the database back "
            "beside it, or move the log away",
            file=file,
            log=log.name,
        )


def _check_header(file: Path, header: bytes) -> None:
    if not header.startswith(_MAGIC[: len(header)]):
        raise StoreUnavailableError(
            "{file} is not a knowledge base (it begins with {value}): name another folder, or "
            "move the file away; if it was one, run `kgrag repair`",
            file=file,
            value=repr(header[:_SEEN]),
        )
    if len(header) < _HEADER_BYTES:
        raise StoreUnavailableError(
            "{file} is cut short ({n} bytes): restore the folder from a backup, or move the "
            "file away and ingest the documents again",
            file=file,
            n=len(header),
        )


def uri_of(file: PurePath) -> str:
    """Return the URI by which SQLite opens a file, given its absolute path.

    SQLite does not take the server of a Windows share as authority, but in the path.

    >>> from pathlib import PureWindowsPath
    >>> uri_of(PureWindowsPath("//server/share/kb/kgrag.db"))
    'file:////server/share/kb/kgrag.db'
    """
    uri = file.as_uri()
    return uri if uri.startswith("file:///") else uri.replace("file://", "file:////", 1)


def _check_unmarked(file: Path, header: bytes, *, create: bool) -> None:
    """Accept only what a crash leaves of a new file: no table yet, or all still in the log.

    Neither the file nor its log is written: they may be another program's, for which
    StoreUnavailableError is raised; NoKnowledgeBaseError for an empty one without `create`.
    """
    if any(header[_APPLICATION]):
        raise foreign(file)
    # Without a log there is nothing to wait for, and no file needs to be created beside it.
    log = log_of(file)
    has_log = log.is_file() and log.stat().st_size > 0
    uri = uri_of(file.absolute()) + ("?mode=ro" if has_log else "?mode=ro&immutable=1")
    with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S)) as connection:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == APPLICATION_ID:
        return
    if tables:
        raise foreign(file)
    if not create:
        raise NoKnowledgeBaseError(
            "no knowledge base in {parent} ({file} has no tables): name another folder, or "
            "ingest documents into this one",
            parent=file.parent,
            file=file.name,
        )
