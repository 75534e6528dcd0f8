"""Mutated settings of a knowledge base: every command says what is wrong and what to do.

Half of them are changed behind the store's back, where a checksum tells; the others are written
by it, as a defect or another version would, so that what is written is looked at, too.
"""

import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from click.testing import CliRunner

from kgrag.cli.main import main as kgrag
from kgrag.store.sqlite.seals import seal_settings
from tests.faults.commands import Place
from tests.faults.corpus import write_corpus
from tests.faults.tally import Tally, main

SMALL, FULL = 40, 600
_KEYS = (
    *("chunk_sizes", "embedder", "embedder_settings"),
    *("languages", "stand_in"),
)
_NUMBERS = ("0", "-1", "1e9", "9" * 400, "2147483648", "256.5", "NaN", "inf", "٢٥٦", "")
_Value = str | bytes | int | float | None
_VALUES: Mapping[str, Callable[[random.Random, str], _Value]] = {
    "gone": lambda chance, value: None,
    "empty": lambda chance, value: "",
    "number": lambda chance, value: chance.choice((0, -1, 2**62, 1.5e300)),
    "bytes": lambda chance, value: chance.randbytes(12),
    "text of a number": lambda chance, value: chance.choice(_NUMBERS),
    "list of numbers": lambda chance, value: ",".join(chance.choices(_NUMBERS, k=3)),
    "one size": lambda chance, value: str(chance.randrange(1, 5000)),
    "wrong order": lambda chance, value: ",".join(reversed(value.split(","))),
    "cut": lambda chance, value: value[: chance.randrange(len(value) + 1)],
    "twice": lambda chance, value: value + value,
    "another word": lambda chance, value: chance.choice(("ja", "true", "None", "maybe")),
    "another model": lambda chance, value: chance.choice(("hash-16", "no-model@7", "hash-0")),
    "control characters": lambda chance, value: "\x1b[2J\n\x00" + value,
    "long": lambda chance, value: value + "x" * 200_000,
    "broken JSON": lambda chance, value: chance.choice(("{", "[" * 50_000, '{"a":', "null")),
    "other JSON": lambda chance, value: chance.choice(('{"dimension": []}', "[1]", '"x"', "{}")),
}


def run(n: int, seed: int, folder: Path) -> Tally:
    """Mutate n settings, and give each to every command."""
    tally, chance = Tally("settings"), random.Random(seed)
    files = write_corpus(folder / "corpus", n=4)
    settings, kb = Place(folder / "place").settings(), folder / "kb"
    call = partial(_call, settings)
    call("ingest", *map(str, files), "--kb", str(kb))
    for number in range(n):
        copy = folder / "mutated"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(kb, copy)
        what = _mutate(copy, chance, sealed=bool(number % 2))
        tally.runs += 1
        for words in _commands(copy, files, chance):
            _look(tally, call(*words), f"{what}: kgrag {' '.join(words[:2])}")
    return tally


def _mutate(kb: Path, chance: random.Random, *, sealed: bool) -> str:
    key, kind = chance.choice(_KEYS), chance.choice(list(_VALUES))
    with closing(sqlite3.connect(kb / "kgrag.db")) as connection:
        (before,) = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        value = _VALUES[kind](chance, before)
        if value is None:
            connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
        sealed = sealed and not isinstance(value, bytes)  # of these no checksum can be made
        if sealed:
            seal_settings(connection)
        connection.commit()
    return f"{key}, {kind}{', sealed' if sealed else ''}"


def _commands(kb: Path, files: list[Path], chance: random.Random) -> list[list[str]]:
    """Return what reads, and some of what writes."""
    at = ["--kb", str(kb)]
    reading = [
        ["search", "绿色工厂", *at],
        ["search", "绿色工厂", "--system", "bm25", *at],
        ["ask", "绿色工厂达到多少家？", *at],
        *([name, *at] for name in ("verify", "stats", "documents", "export")),
    ]
    writing = [
        ["ingest", *map(str, files), *at],
        ["reembed", "--dry-run", *at],
        ["reembed", *at],
        ["delete", "r1", *at],
        ["repair", *at],
    ]
    return [*reading, *chance.sample(writing, 2)]


def _call(settings: Path, *words: str) -> tuple[int, str, BaseException | None]:
    done = CliRunner().invoke(kgrag, ["--config", str(settings), *words])
    return done.exit_code, done.output, done.exception


def _look(tally: Tally, done: tuple[int, str, BaseException | None], what: str) -> None:
    """Count what ended in an exception of Python's, or failed without a remedy."""
    code, output, error = done
    if error is not None and not isinstance(error, SystemExit):
        tally.add("tracebacks", f"{what}: {type(error).__name__}: {error}")
    elif code and not any(word in output for word in ("kgrag ", "install", "ingest", "choose")):
        tally.add("unnoticed", f"{what}: no remedy in {output[-200:]!r}")


if __name__ == "__main__":
    main(run, full=FULL)
