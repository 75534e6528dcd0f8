"""The file that keeps every paid answer, and the ledger of all calls."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, cast

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.files.private import make_private
from kgrag.files.sqlite_file import use_write_ahead_log, whose
from kgrag.llm.chat import OK, Completion, Finish, Stage, Usage

CACHED = "cached"

_APPLICATION_ID = 0x6B67_6361  # "kgca": tells our files from other SQLite databases
_VERSION = 1
_BUSY_TIMEOUT_S = 30.0
_GROUPS = ("stage", "doc_id", "model")
_RECENT = 500  # past calls that predictions rest on: prompts and models change
_DELETE = "delete it: only answers that were paid for and the ledger are lost"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One line of the ledger.

    Attributes:
        stage: Who asked.
        doc_id: The document that it was about; may be empty.
        model: The model's name as configured.
        schema_name: Of the answer's schema; empty for plain text.
        usage: Tokens; zeros where nothing came back, and for a hit those that were paid once.
        material_chars: Characters of fenced documents in the request.
        estimated_prompt: Tokens of the request as `kgrag.llm.tokens` estimates them.
        seconds: From asking to the last piece of the answer.
        outcome: `ok`, `cached`, the kind of a ModelOutputError, or an error's class name.
        at: Unix time at the end of the call.
    """

    stage: Stage
    doc_id: str
    model: str
    schema_name: str
    usage: Usage
    material_chars: int
    estimated_prompt: int
    seconds: float
    outcome: str
    at: float


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What a stage, a document or a model took of one model.

    Attributes:
        group: The stage, document id or model.
        model: The model, since prices differ.
        sent: Calls sent, failed ones included.
        from_cache: Answers that were paid before.
        failed: Calls sent whose answer did not come or could not be used.
        usage: Tokens of the calls sent.
        seconds: Sum over the calls sent; longer than the clock's where calls ran side by side.
    """

    group: str
    model: str
    sent: int
    from_cache: int
    failed: int
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True)
class PastCall:
    """A paid call.

    Attributes:
        prompt: Tokens sent.
        completion: Tokens answered.
        cached: Those of `prompt` from the endpoint's own cache.
        estimated_prompt: What we thought that `prompt` would be.
        material_chars: Characters of documents in the request.
        used: Whether the answer could be used.
    """

    prompt: int
    completion: int
    cached: int
    estimated_prompt: int
    material_chars: int
    used: bool


class Calls:
    """One SQLite file, for any number of threads and processes.

    One connection behind a lock: a call of a model takes a second, keeping its answer 0.1 ms.
    """

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self._file = file
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path) -> "Calls":
        """Open the file, making it and its folder where they are missing; nobody else may read it.

        Args:
            path: The file, by convention `calls.db`.

        Raises:
            StoreUnavailableError: If it cannot be read and written, or is not such a file.
            StoreError: If it is damaged, or a newer kgrag made it.
        """
        file = Path(path)
        try:
            make_private(file)
        except OSError as exc:
            raise StoreUnavailableError(f"{file}: {exc.strerror}: name another file") from exc
        with _mapped(file):
            connection = _connect(file)
            try:
                connection.execute("PRAGMA synchronous = NORMAL")
                _prepare(connection, file)
            except BaseException:
                connection.close()
                raise
            return cls(file, connection)

    def close(self) -> None:
        """Close the file; further use raises StoreError."""
        with self._lock:
            self._connection.close()

    def answer(self, key: str) -> Completion | None:
        """Return a kept answer, with the tokens that it was paid with, or None."""
        sql = (
            "SELECT text, model, finish, prompt, completion, cached, estimated "
            "FROM answers WHERE key = ?"
        )
        row = next(iter(self._run(sql, key)), None)
        if row is None:
            return None
        text, model, finish, prompt, completion, cached, estimated = row
        usage = Usage(int(prompt), int(completion), int(cached), bool(estimated))
        return Completion(text, model, cast(Finish, finish), usage, from_cache=True)

    def has_answer(self, key: str) -> bool:
        """Return whether an answer is kept."""
        return bool(self._run("SELECT 1 FROM answers WHERE key = ?", key))

    def keep(self, key: str, completion: Completion) -> None:
        """Keep an answer, in place of an older one; once this returns, a kill cannot lose it."""
        usage = completion.usage
        self._run(
            "INSERT OR REPLACE INTO answers "
            "(key, text, model, finish, prompt, completion, cached, estimated, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            key,
            _storable(completion.text),
            completion.model,
            completion.finish,
            *(usage.prompt, usage.completion, usage.cached, usage.estimated),
            time.time(),
        )

    def record(self, call: CallRecord) -> int:
        """Add a line to the ledger and return its number."""
        usage = call.usage
        return self._insert(
            "INSERT INTO ledger (stage, doc_id, model, schema_name, prompt, completion, cached, "
            "estimated, material_chars, estimated_prompt, seconds, outcome, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(call.stage, call.doc_id, call.model, call.schema_name),
            *(usage.prompt, usage.completion, usage.cached, usage.estimated),
            *(call.material_chars, call.estimated_prompt, call.seconds, call.outcome, call.at),
        )

    def amend(self, number: int, outcome: str) -> None:
        """Say of a line of the ledger what came of its answer.

        Args:
            number: Of the line, as `record` gave it.
            outcome: As in `CallRecord`.
        """
        self._run("UPDATE ledger SET outcome = ? WHERE number = ?", outcome, number)

    def totals(
        self, by: Literal["stage", "doc_id", "model"], *, since: float = 0.0
    ) -> list[UsageTotal]:
        """Return sums of the ledger, by group and model, in alphabetical order.

        Args:
            by: What is summed up.
            since: Unix time; what was recorded before is left out.

        Raises:
            ValueError: If `by` is not one of the three.
        """
        if by not in _GROUPS:
            raise ValueError(f"totals by {by!r}: name one of {_GROUPS}")
        rows = self._run(
            f"SELECT {by}, model, sum(outcome <> '{CACHED}'), sum(outcome = '{CACHED}'), "
            f"sum(outcome NOT IN ('{OK}', '{CACHED}')), "
            + ", ".join(
                f"sum(CASE outcome WHEN '{CACHED}' THEN 0 ELSE {column} END)"
                for column in ("prompt", "completion", "cached", "estimated", "seconds")
            )
            + f" FROM ledger WHERE at >= ? GROUP BY {by}, model ORDER BY {by}, model",
            since,
        )
        return [
            UsageTotal(
                group, model, sent, hits, failed, Usage(p, out, c, bool(guessed)), float(seconds)
            )
            for group, model, sent, hits, failed, p, out, c, guessed, seconds in rows
        ]

    def past(self, model: str, stage: Stage, schema_name: str) -> list[PastCall]:
        """Return the latest 500 paid calls of a kind, newest first.

        Those whose answers could not be used are among them.
        """
        rows = self._run(
            "SELECT prompt, completion, cached, estimated_prompt, material_chars, outcome "
            f"FROM ledger WHERE model = ? AND stage = ? AND schema_name = ? AND prompt > 0 "
            # Calls that broke, which have a class's name, say nothing of those that do not.
            f"AND outcome <> '{CACHED}' AND outcome NOT GLOB '[A-Z]*' "
            f"ORDER BY number DESC LIMIT {_RECENT}",
            *(model, stage, schema_name),
        )
        return [
            PastCall(prompt, completion, cached, estimated, chars, outcome == OK)
            for prompt, completion, cached, estimated, chars, outcome in rows
        ]

    def _insert(self, sql: str, *values: object) -> int:
        with self._lock, _mapped(self._file):
            return self._connection.execute(sql, values).lastrowid or 0

    def _run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, _mapped(self._file):
            return self._connection.execute(sql, values).fetchall()


def _connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        file,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,  # each statement is a transaction of its own
        check_same_thread=False,  # the lock sees to that
    )


def _prepare(connection: sqlite3.Connection, file: Path) -> None:
    """Check whose file it is, and make the tables in a new one.

    Raises:
        StoreUnavailableError: If it is another program's database.
        StoreError: If a newer kgrag made it.
    """
    application, version, tables = whose(connection)
    if application != _APPLICATION_ID and (application or version or tables):
        raise StoreUnavailableError(
            f"{file} is a database of another program: name another file for [llm] calls"
        )
    if version > _VERSION:
        raise StoreError(f"{file} was made by a newer kgrag: install that one, or {_DELETE}")
    use_write_ahead_log(connection, wait_s=_BUSY_TIMEOUT_S)
    script = resources.files("kgrag.llm").joinpath("calls.sql").read_text(encoding="utf-8")
    marks = f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {marks} {script} COMMIT")


@contextmanager
def _mapped(file: Path) -> Iterator[None]:
    """Raise StoreError or StoreUnavailableError for what SQLite reports inside."""
    try:
        yield
    except sqlite3.Error as exc:
        name = getattr(exc, "sqlite_errorname", "")
        for start, (kind, remedy) in _REMEDIES.items():
            if name.startswith(start):
                raise kind(f"{file}: {exc}: {remedy}") from exc
        raise StoreError(f"{file}: {exc}: open it again; if that does not help, {_DELETE}") from exc


_REMEDIES: dict[str, tuple[type[StoreError], str]] = {
    "SQLITE_BUSY": (StoreUnavailableError, "another process holds it: wait for it, and try again"),
    "SQLITE_CANTOPEN": (StoreUnavailableError, "name a file that you may read and write"),
    "SQLITE_READONLY": (StoreUnavailableError, "name a file that you may read and write"),
    "SQLITE_PERM": (StoreUnavailableError, "name a file that you may read and write"),
    "SQLITE_FULL": (StoreError, "free space on the disk and try again; kept answers are safe"),
    "SQLITE_IOERR": (StoreError, "check the disk and its free space, then try again"),
    "SQLITE_NOTADB": (StoreError, f"it is damaged; {_DELETE}"),
    "SQLITE_CORRUPT": (StoreError, f"it is damaged; {_DELETE}"),
}


def _storable(text: str) -> str:
    """Return text with half characters, which no file can hold, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
