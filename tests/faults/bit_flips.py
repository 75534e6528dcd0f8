"""Single bits flipped in every file of a knowledge base: seen by `verify`, made good by `repair`.

A flip that `verify` does not see must change nothing: no record, no vector, no answer. `repair`
names what it cannot make again: of no other document may anything be lost.
"""

import json
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import KgragError
from kgrag.maintenance.repairing import repair
from tests.faults.corpus import exported, write_corpus, write_facts, write_summaries
from tests.faults.tally import Tally, main

SMALL, FULL = 24, 200
_CONFIG = Config(embedding=EmbeddingConfig(model="hash"))
_QUESTIONS = ("绿色工厂达到多少家？", "推动第3批第7项节能降碳", "第9号方案推动什么？")
_LIMIT_S = 120  # of one flip
_OF_DATABASE = 0.7  # share of the flips
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base, and what it says.

    Attributes:
        kb: Its folder.
        records: Its export.
        answers: What it finds for the questions.
    """

    kb: Path
    records: list[str]
    answers: list[object]


def run(n: int, seed: int, folder: Path) -> Tally:
    """Flip n bits, one at a time."""
    tally, chance = Tally("bit_flips"), random.Random(seed)
    base = _made(folder)
    counts = {"noticed": 0, "harmless": 0, "repaired": 0, "told": 0}
    for _ in range(n):
        copy = folder / "flipped"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(base.kb, copy)
        where = _flip(copy, chance)
        tally.runs += 1
        try:
            with _limited():
                _look(tally, base, copy, where, counts)
        except TimeoutError:
            tally.add("hangs", where)
        except Exception as exc:  # what a command would end in
            tally.add("tracebacks", f"{where}: {type(exc).__name__}: {exc}")
        tally.say(where)
    print("bit_flips:", ", ".join(f"{name} {count}" for name, count in counts.items()))
    return tally


def _made(folder: Path) -> Base:
    files = write_corpus(folder / "corpus", n=12)
    kb = folder / "kb"
    with KnowledgeBase.open(kb, config=_CONFIG) as base:
        base.ingest(files)
        base.import_facts(write_facts(folder / "f.jsonl", n=12))
        base.import_summaries(write_summaries(folder / "s.jsonl", n=12))
        base.search(_QUESTIONS[0])
        base.store.refresh(sizes=base.sizes.searched)
    with closing(sqlite3.connect(kb / "kgrag.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Base(kb, exported(kb), _answers(kb))


def _flip(kb: Path, chance: random.Random) -> str:
    files = sorted(p for p in kb.rglob("*") if p.is_file() and p.stat().st_size)
    file = kb / "kgrag.db" if chance.random() < _OF_DATABASE else chance.choice(files)
    data = bytearray(file.read_bytes())
    at, bit = chance.randrange(len(data)), chance.randrange(8)
    data[at] ^= 1 << bit
    file.write_bytes(data)
    return f"{file.relative_to(kb)} byte {at} bit {bit}"


def _look(tally: Tally, base: Base, kb: Path, where: str, counts: dict[str, int]) -> None:
    noticed = bool(_told(lambda: _problems(kb), ["refused"]))
    found = _told(lambda: _answers(kb), None)  # whatever it says, it says it in words
    if not noticed:
        same = _told(lambda: exported(kb), None) == base.records and found == base.answers
        tally.expect("unnoticed", where, holds=same)
        counts["harmless"] += same
        return
    counts["noticed"] += 1
    report = _told(lambda: repair(kb, config=_CONFIG), None)
    if report is None or report.left:
        counts["told"] += 1
        why = "refused" if report is None else "; ".join(report.left)
        tally.skipped.append(f"{where}: {why}")
        if report is not None and report.kept:
            lost = _lost(base.records, exported(kb), named=why)
            whole = not _problems(kb) and not lost
            tally.expect("lost", f"{where}: {why}, not {lost[:1]}", holds=whole)
        return
    whole = not _problems(kb) and exported(kb) == base.records and _answers(kb) == base.answers
    tally.expect("lost", f"{where}: {report.done}", holds=whole)
    counts["repaired"] += whole


def _lost(before: list[str], after: list[str], *, named: str) -> list[str]:
    """Return records of documents that are gone, but for those of documents that are named."""
    gone = [json.loads(line) for line in sorted({*before} - {*after})]
    return [str(r) for r in gone if "doc_id" in r and r["doc_id"] not in named]


def _problems(kb: Path) -> list[str]:
    with KnowledgeBase.open(kb, create=False, config=_CONFIG) as base:
        return [f"{p.invariant}: {p.subject}" for p in base.verify()]


def _answers(kb: Path) -> list[object]:
    with KnowledgeBase.open(kb, create=False, config=_CONFIG) as base:
        return [
            [(r.chunk, r.score) for r in base.search(question, system=system)]
            for question in _QUESTIONS
            for system in ("grim", "bm25")
        ]


def _told(do: Callable[[], _T], otherwise: _T) -> _T:
    """Return what comes of it; something else where it is refused in words."""
    try:
        return do()
    except KgragError:
        return otherwise


@contextmanager
def _limited() -> Iterator[None]:
    def over(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(_LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    main(run, full=FULL)
