"""The file of paid answers and the ledger of all calls, and predictions of further calls."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from importlib import resources
from operator import add
from pathlib import Path
from typing import Any, NamedTuple, cast

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.files.cache_folder import make_private
from kgrag.files.sqlite_file import use_write_ahead_log, whose
from kgrag.ids import digest
from kgrag.llm.chat import OK, Completion, Finish, Request, Stage, Usage
from kgrag.llm.tokens import estimate_request, estimate_tokens, material
from kgrag.llm.tools import ToolCall

CACHED = "cached"  # outcome of a request answered from the cache

_APPLICATION_ID = 0x6B67_6361  # "kgca": distinguishes our files from other SQLite databases
_VERSION = 1
_BUSY_TIMEOUT_S = 30.0
_RECENT = 500  # past calls used for predictions: prompts and models change
_DELETE = "delete it: only answers that were paid for and the ledger are lost"
_OTHER = (StoreUnavailableError, "name a file that you may read and write")
_REMEDIES: dict[str, tuple[type[StoreError], str]] = {
    "SQLITE_BUSY": (StoreUnavailableError, "another process holds it: wait for it, and try again"),
    "SQLITE_CANTOPEN": _OTHER,
    "SQLITE_READONLY": _OTHER,
    "SQLITE_PERM": _OTHER,
    "SQLITE_FULL": (StoreError, "free space on the disk and try again; kept answers are safe"),
    "SQLITE_IOERR": (StoreError, "check the disk and its free space, then try again"),
    "SQLITE_NOTADB": (StoreError, f"it is damaged; {_DELETE}"),
    "SQLITE_CORRUPT": (StoreError, f"it is damaged; {_DELETE}"),
    "": (StoreError, f"open it again; if that does not help, {_DELETE}"),
}


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """Usage of one model by a stage; per model, since prices differ."""

    stage: str
    model: str
    sent: int  # calls, failed ones included
    from_cache: int  # answers paid before
    failed: int  # calls sent without a usable answer
    usage: Usage  # of the calls sent
    seconds: float  # of the calls sent, concurrent ones added


class PastCall(NamedTuple):
    """A paid call: its tokens and characters, and whether its answer was usable."""

    prompt: int
    completion: int
    cached: int
    estimated_prompt: int
    material_chars: int
    used: bool


class Calls:
    """One SQLite file, for any number of threads and processes.

    There is one connection with a lock: a call of a model takes a second, storing its answer 0.1
    ms.
    """

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self._file = file
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path) -> "Calls":
        """Open or create the file, readable by its owner only.

        Raises:
            StoreUnavailableError: If it cannot be read and written, or is another kind of file.
            StoreError: If it is damaged, or a newer kgrag made it.
        """
        file = Path(path)
        try:
            make_private(file)
        except OSError as exc:
            raise StoreUnavailableError(f"{file}: {exc.strerror}: name another file") from exc
        with _mapped(file):
            connection = sqlite3.connect(
                file,
                timeout=_BUSY_TIMEOUT_S,
                isolation_level=None,  # each statement is a transaction
                check_same_thread=False,  # guarded by the lock
            )
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
        """Return a cached answer, with the tokens paid for it, or None."""
        sql = (
            "SELECT text, model, finish, prompt, completion, cached, estimated "
            "FROM answers WHERE key = ?"
        )
        for text, model, finish, prompt, completion, cached, estimated in self._run(sql, key):
            usage = Usage(prompt, completion, cached, bool(estimated))
            calls = _calls_in(text) if finish == "calls" else ()
            said = "" if calls else text
            return Completion(
                said, model, cast(Finish, finish), usage, from_cache=True, calls=calls
            )
        return None

    def has_answer(self, key: str) -> bool:
        """Return whether an answer is cached."""
        return bool(self._run("SELECT 1 FROM answers WHERE key = ?", key))

    def keep(self, key: str, completion: Completion) -> None:
        """Store an answer, replacing an older one; durable when this returns."""
        usage, text = completion.usage, completion.text
        if completion.calls:
            text = json.dumps([[c.call_id, c.name, c.arguments] for c in completion.calls])
        self._run(
            "INSERT OR REPLACE INTO answers "
            "(key, text, model, finish, prompt, completion, cached, estimated, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            key,
            # Lone surrogates become question marks.
            text.encode("utf-8", "replace").decode("utf-8"),
            completion.model,
            completion.finish,
            *(usage.prompt, usage.completion, usage.cached, usage.estimated),
            time.time(),
        )

    def record(
        self, request: Request, model: str, *, usage: Usage, seconds: float, outcome: str
    ) -> int:
        """Add a finished call to the ledger and return its line number.

        Tokens are zeros if nothing came back, and for a cached answer those paid before. The
        outcome is `OK`, `CACHED`, the kind of a ModelOutputError, or an error's class name.
        """
        with self._lock, _mapped(self._file):
            added = self._connection.execute(
                "INSERT INTO ledger (stage, doc_id, model, schema_name, prompt, completion, cached,"
                " estimated, material_chars, estimated_prompt, seconds, outcome, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(request.stage, request.doc_id, model, request.schema_name),
                    *(usage.prompt, usage.completion, usage.cached, usage.estimated),
                    *(sum(map(len, material(request))), estimate_request(request)),
                    *(seconds, outcome, time.time()),
                ),
            )
            return added.lastrowid or 0

    def amend(self, number: int, outcome: str) -> None:
        """Change the outcome of a line of the ledger."""
        self._run("UPDATE ledger SET outcome = ? WHERE number = ?", outcome, number)

    def totals(self) -> list[UsageTotal]:
        """Return sums of the ledger, by stage and model, in alphabetical order."""
        rows = self._run(
            f"SELECT stage, model, sum(outcome <> '{CACHED}'), sum(outcome = '{CACHED}'), "
            f"sum(outcome NOT IN ('{OK}', '{CACHED}')), "
            + ", ".join(
                f"sum(CASE outcome WHEN '{CACHED}' THEN 0 ELSE {column} END)"
                for column in ("prompt", "completion", "cached", "estimated", "seconds")
            )
            + " FROM ledger GROUP BY stage, model ORDER BY stage, model"
        )
        return [
            UsageTotal(stage, model, sent, hits, failed, Usage(p, out, c, bool(guessed)), seconds)
            for stage, model, sent, hits, failed, p, out, c, guessed, seconds in rows
        ]

    def past(self, model: str, stage: Stage, schema_name: str) -> list[PastCall]:
        """Return the latest 500 paid calls of a kind, unusable ones included, newest first."""
        rows = self._run(
            "SELECT prompt, completion, cached, estimated_prompt, material_chars, "
            f"outcome = '{OK}' "
            f"FROM ledger WHERE model = ? AND stage = ? AND schema_name = ? AND prompt > 0 "
            # Without failed calls, whose outcome is a class name.
            f"AND outcome <> '{CACHED}' AND outcome NOT GLOB '[A-Z]*' "
            f"ORDER BY number DESC LIMIT {_RECENT}",
            *(model, stage, schema_name),
        )
        return [PastCall(*row) for row in rows]

    def _run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, _mapped(self._file):
            return self._connection.execute(sql, values).fetchall()


def _prepare(connection: sqlite3.Connection, file: Path) -> None:
    """Check the file's application and version, and create its tables."""
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
    """Raise StoreError or StoreUnavailableError for SQLite's errors."""
    try:
        yield
    except sqlite3.Error as exc:
        name = getattr(exc, "sqlite_errorname", "")
        kind, remedy = next(of for start, of in _REMEDIES.items() if name.startswith(start))
        raise kind(f"{file}: {exc}: {remedy}") from exc


def request_key(request: Request, *, model: str, parameters: Mapping[str, str]) -> str:
    """Return the key of a request's answer: a hash of everything that determines it.

    Parameters are further inputs, e.g. endpoint and temperature. Stage and document are left out,
    so that equal text is paid once; so are messages added after a bad answer (`Request.added`), so
    that the corrected answer is found for the question itself.
    """
    schema = json.dumps(request.schema, ensure_ascii=False, sort_keys=True)
    settings = [part for name in sorted(parameters) for part in (name, parameters[name])]
    asked = request.messages[: len(request.messages) - request.added]
    messages = [part for message in asked for part in message.parts]
    tools = [json.dumps(request.tools, ensure_ascii=False, sort_keys=True)] if request.tools else []
    return digest(
        "answer",
        model,
        *(str(len(settings)), *settings),
        *tools,
        *(schema, request.schema_name, str(request.max_tokens)),
        *messages,
        length=32,
    )


def _calls_in(kept: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(*call) for call in json.loads(kept))


def cut_key(key: str, request: Request, limit: str = "") -> str:
    """Return the key of an answer that was truncated or repeats itself.

    A good answer after a correction is cached for the question; a bad one for the correction, and
    for the limit that truncated it where the provider sets it.
    """
    return digest("cut", key, str(request.added), *filter(None, [limit]), length=32)


class Rates(NamedTuple):
    """Average usage of an answered request, unusable answers included.

    The answer's tokens are in proportion to the material's characters, or where there are no past
    calls to its tokens: languages differ in characters. Without material they are a constant.
    """

    calls: int  # sample size
    attempts: float  # paid calls per answer, at least 1
    prompt: float  # tokens sent per estimated token
    cached: float  # share of the tokens sent in the endpoint's cache, in [0, 1]
    per_call: float
    per_char: float
    per_token: float = 0.0

    def completion(self, chars: int, tokens: int = 0) -> float:
        """Return the tokens answered for that much material."""
        return self.per_call + self.per_char * chars + self.per_token * tokens


# Without history, by name of the schema: tokens of the answer per call and per token of material.
# 106 passages of 36 policies, with the facts that a model gave of them less those that it is told:
# 1.02 of each token of the text with summaries, 0.78 without; two passages that another read: 1.05
# and 0.84. Other models may take half as much, or twice, which a sample shows.
_DEFAULTS = {
    "facts_missing": (20.0, 0.8),
    "summaries": (20.0, 0.3),
    "page": (50.0, 1.1),  # of the recognised text, written again with the marks of tables
    "page_alone": (900.0, 0.0),  # without it: a full page of Chinese
    "knowledge_missing": (30.0, 1.03),
}
_DEFAULT = (250.0, 0.0)  # questions, verdicts, answers: short for any material


def rates_of(calls: Sequence[PastCall]) -> Rates | None:
    """Return the rates of past calls of one kind; None without a usable answer."""
    used = [call for call in calls if call.used]
    estimated = sum(call.estimated_prompt for call in used)
    if not estimated:
        return None
    prompt, answered = (sum(column) for column in zip(*(call[:2] for call in calls), strict=True))
    chars = sum(call.material_chars for call in used)
    return Rates(
        calls=len(calls),
        attempts=len(calls) / len(used),
        prompt=prompt / estimated,
        cached=sum(call.cached for call in calls) / prompt,
        per_call=0.0 if chars else answered / len(used),
        per_char=answered / chars if chars else 0.0,
    )


@dataclass(frozen=True, slots=True)
class Prediction:
    """The expected usage of requests.

    `basis` is the smallest number of past calls of any kind of request; 0 where a kind has no
    history and the defaults are used.
    """

    calls: int  # to be paid, repeated ones included
    cached_calls: int  # requests whose answer is cached
    prompt_tokens: int
    cached_tokens: int  # part of them in the endpoint's own cache
    completion_tokens: int
    basis: int

    def __add__(self, other: "Prediction") -> "Prediction":
        """Return the sum, on the smaller basis."""
        added = Prediction(*map(add, astuple(self), astuple(other)))
        return replace(added, basis=min(self.basis, other.basis))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with the names of `--json`."""
        return {
            "calls": self.calls,
            "kept": self.cached_calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "basis": self.basis,
        }

    @property
    def usage(self) -> Usage:
        """Return the tokens, for pricing."""
        return Usage(self.prompt_tokens, self.completion_tokens, self.cached_tokens, estimated=True)


def predict(
    requests: Iterable[Request], *, model: str, parameters: Mapping[str, str], calls: Calls
) -> Prediction:
    """Return the expected usage of requests by one model.

    It follows past requests of the same stage and schema (`rates_of`): the prompt in proportion to
    its estimated tokens, the answer to the material's characters, or without history to its tokens.
    Equal requests are sent once; those with a cached answer not at all.
    Parameters are those of `request_key`.
    """
    seen: set[str] = set()
    history: dict[tuple[Stage, str], Rates | None] = {}
    kept = 0
    n = prompt = cached = completion = 0.0
    for request in requests:
        key = request_key(request, model=model, parameters=parameters)
        if key in seen:
            continue
        seen.add(key)
        if calls.has_answer(key):
            kept += 1
            continue
        kind = (request.stage, request.schema_name)
        if kind not in history:
            history[kind] = rates_of(calls.past(model, *kind))
        per_call, per_token = _DEFAULTS.get(request.schema_name, _DEFAULT)
        rates = history[kind] or Rates(0, 1.0, 1.0, 0.0, per_call, 0.0, per_token)
        sent = estimate_request(request) * rates.prompt
        n += rates.attempts
        prompt += sent
        cached += sent * rates.cached
        texts = material(request)
        completion += rates.completion(sum(map(len, texts)), sum(map(estimate_tokens, texts)))
    basis = min((rates.calls if rates else 0 for rates in history.values()), default=0)
    return Prediction(round(n), kept, round(prompt), round(cached), round(completion), basis)
