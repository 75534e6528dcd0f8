"""Look at a database's files before SQLite opens them: whose they are, and what is damaged."""

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from kgrag.errors import NoKnowledgeBaseError, StoreUnavailableError

APPLICATION_ID = 0x6B67_7261  # "kgra": tells our files from other SQLite databases
# The tables that every schema version has; the newest schema is compared by `verify`.
TABLES = frozenset(
    (
        *("meta", "state", "commits", "changes", "documents", "sources", "headings", "chunks"),
        *("summaries", "entities", "entity_names", "entity_search", "facts", "evidence"),
        *("mentions", "embeddings", "node_vectors"),
    )
)

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100  # sqlite.org/fileformat2.html, section 1.3
_FRACTIONS = bytes((64, 32, 32))
_APPLICATION = slice(68, 72)
_BUSY_TIMEOUT_S = 10.0  # another process may be making it
_SEEN = 16  # bytes of a file's beginning that a message shows
# sqlite.org/walformat.html: of a frame's header, pages after the commit that it ends or 0; salts
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_FRAME_BYTES = _FRAME_HEADER_BYTES + 8192
_LOCKS = Path("/proc/locks")  # man 5 proc: the third from the end of a line is MAJOR:MINOR:INODE


def log_of(file: Path) -> Path:
    """Return the write-ahead log beside a database file."""
    return file.with_name(file.name + "-wal")


@dataclass(frozen=True, slots=True)
class CrashedLog:
    """A write-ahead log that a crash left, as it was before SQLite read it.

    SQLite takes it up to the first frame whose checksum is wrong, which is right for the torn end
    that a crash leaves. Commits behind such a frame were reported as stored, and are lost in
    silence: a bit flipped, or the power failed before the disk had written all.

    Attributes:
        file: The log.
        header: Its first bytes.
        last_commit: Number of the last frame that ends a commit, from 1; 0 for none.
    """

    file: Path
    header: bytes = b""
    last_commit: int = 0

    @classmethod
    def of(cls, database: Path) -> "CrashedLog":
        """Return the log of a database; as an empty one where a process has it open."""
        log = log_of(database)
        with suppress(OSError):  # SQLite will say it
            if log.stat().st_size > _LOG_HEADER_BYTES and not _in_use(database):
                return cls(log, *_commits(log))
        return cls(log)

    def lost(self, connection: sqlite3.Connection) -> str:
        """Return what SQLite left out when it read the log, in words; empty for nothing.

        Args:
            connection: The first one to the database.
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
    """Return the header of a log, and the number of the last frame of it that ends a commit.

    Frames of an earlier round may follow, with other salts. Salts that differ in one bit are the
    same, damaged.
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
    """Return whether a process has the database open, so that its log is not read anew.

    Asking by a lock of our own would let go of those that this process may have.
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
    """Refuse a file that cannot be a knowledge base; only its first bytes are read.

    Args:
        file: The database file. This process must not have it open: closing it here would let go
            of all locks that SQLite holds on it (sqlite.org/howtocorrupt.html, section 2.2).
        create: A file that is missing or empty (as a crash leaves one that had just been made)
            is to become one.

    Returns:
        What is wrong in the header of a file that can be opened; empty for nothing. Some of its
        bytes decide whether it may be written, and are of no use to who only reads.

    Raises:
        NoKnowledgeBaseError: If it is missing or empty, and not to be made.
        StoreUnavailableError: If it is a folder, of another program, cut short, or missing
            beside its log.
    """
    if file.is_dir():
        raise StoreUnavailableError(
            f"{file} is a folder, where a knowledge base has a file: move it away, or name "
            "another folder"
        )
    n_bytes = file.stat().st_size if file.exists() else 0
    if not n_bytes:
        _check_lost(file)
        if create:
            return ""
        what = f"{file.name} is empty" if file.exists() else f"{file.name} is missing"
        raise NoKnowledgeBaseError(
            f"no knowledge base in {file.parent} ({what}): "
            "name another folder, or ingest documents into this one"
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
    """Set right what is the same in every file of ours.

    Args:
        file: A copy that may be written.
    """
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
    """Refuse a knowledge base that has lost a table.

    Raises:
        StoreUnavailableError: If one is missing.
    """
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    missing = sorted(TABLES - names)
    if missing:
        raise StoreUnavailableError(
            f"{file} is damaged: the table {missing[0]} is missing: run `kgrag repair`, or "
            "restore the folder from a backup"
        )


def foreign(file: Path) -> StoreUnavailableError:
    """Return the error for the database of another program."""
    return StoreUnavailableError(
        f"{file} is a database of another program: name another folder, or move it away"
    )


def _check_lost(file: Path) -> None:
    """Refuse a log without its database: SQLite would delete it, and what it holds."""
    log = log_of(file)
    if log.is_file() and log.stat().st_size:
        raise StoreUnavailableError(
            f"{file} is missing or empty, but its log {log.name} is there: put the database back "
            "beside it, or move the log away"
        )


def _check_header(file: Path, header: bytes) -> None:
    if not header.startswith(_MAGIC[: len(header)]):
        raise StoreUnavailableError(
            f"{file} is not a knowledge base (it begins with {header[:_SEEN]!r}): name another "
            "folder, or move the file away; if it was one, run `kgrag repair`"
        )
    if len(header) < _HEADER_BYTES:
        raise StoreUnavailableError(
            f"{file} is cut short ({len(header)} bytes): restore the folder from a backup, or "
            "move the file away and ingest the documents again"
        )


def uri_of(file: PurePath) -> str:
    """Return the URI by which SQLite opens a file, given by its absolute path.

    The server of a Windows share, as an authority, is not what SQLite takes: it stands in the path.

    >>> from pathlib import PureWindowsPath
    >>> uri_of(PureWindowsPath("//server/share/kb/kgrag.db"))
    'file:////server/share/kb/kgrag.db'
    """
    uri = file.as_uri()
    return uri if uri.startswith("file:///") else uri.replace("file://", "file:////", 1)


def _check_unmarked(file: Path, header: bytes, *, create: bool) -> None:
    """Let pass only what a crash leaves of a new file: no table yet, or all still in the log.

    Nothing is written, neither to the file nor to its log: it may be another program's.

    Raises:
        StoreUnavailableError: If it is another program's.
        NoKnowledgeBaseError: If nothing is in it, and it is not to be made.
    """
    if any(header[_APPLICATION]):
        raise foreign(file)
    # Without a log there is nothing to wait for, and no file need be made beside it.
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
            f"no knowledge base in {file.parent} ({file.name} has no tables): "
            "name another folder, or ingest documents into this one"
        )
