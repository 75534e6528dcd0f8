"""Files that hang, eat memory or crash a library fail alone; no process outlives its parent."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kgrag.config import IngestConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.load import Failure, Source
from kgrag.ingestion.pipeline import survey
from kgrag.ingestion.report import Outcome
from kgrag.ingestion.target import IngestTarget
from kgrag.ingestion.workers.pool import Pool, is_small
from kgrag.ingestion.workers.task import Setting, Task
from kgrag.ingestion.workers.worker import n_workers
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.types import Document
from tests.fixtures.packages import put_package
from tests.fixtures.processes import descendants, is_alive
from tests.fixtures.readable import SIZES

LIMITS = IngestConfig(workers=2, parse_seconds=2, parse_memory_mb=256)
READER = """
import os, re, subprocess, sys, time
from kgrag.extending import Parsed, line_segments
from kgrag.ingestion.load.context import page_done

def read(data, *, name, stem):
    word, _, argument = data.decode().partition(" ")
    if word == "sleep":
        time.sleep(float(argument))
    if word == "hold":  # Python's lock, too: no thread of this process has a turn
        re.match(r"(a+)+$", "a" * 40 + "b")
    if word == "start":
        subprocess.run(["sleep", argument])
    if word == "eat":
        held = [bytearray(1 << 20) for _ in range(int(argument))]
    if word == "crash":
        os.kill(os.getpid(), 11)
    if word == "leave":
        os._exit(3)
    if word == "raise":
        raise RecursionError("deep")
    if word == "pages":
        for _ in range(int(argument)):
            time.sleep(1)
            page_done()
    if word == "print":
        print("to stdout"); os.write(1, b"and below"); sys.stdin.read()
    return Parsed(data.decode(), stem, line_segments(data.decode()))
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A package that reads .odd files, each of which says how it misbehaves."""
    folder = tmp_path / "site"
    folder.mkdir()
    put_package(
        folder, "plug-odd", {"plug_odd.py": READER}, {"kgrag.loaders": {"odd": "plug_odd:read"}}
    )
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("plug_odd", None)


def written(folder: Path, *contents):
    """Write files of these contents; return them in order."""
    folder.mkdir(exist_ok=True)
    files = [folder / f"{number:02}.odd" for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_text(content, "utf-8")
    return files


def target(store):
    return IngestTarget(store, HashEmbedder(8), SIZES)


def taken(tmp_path, folder, limits):
    """Return what becomes of the files of a folder: {name: (status, detail)}."""
    store = SQLiteStore.open(tmp_path / "kb")
    try:
        items = list(survey([folder], target(store), limits=limits))
    finally:
        store.close()
    outcomes = [item if isinstance(item, Outcome) else item.outcome for item in items]
    return {Path(o.source).stem: (o.status, o.detail) for o in outcomes}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_files_that_misbehave_fail_alone_and_name_the_setting(site, tmp_path):
    """Whatever a library does with one file, those before and after it are read."""
    odd = (
        "甲 方案",
        "sleep 60",
        "eat 2000",
        "crash",
        "乙 方案",
        "leave",
        "raise",
        "start 60",
        "丙 方案",
    )
    written(tmp_path / "in", *odd)

    began = time.monotonic()
    met = taken(tmp_path, tmp_path / "in", LIMITS)

    assert time.monotonic() - began < 30
    assert [met[name][0] for name in ("00", "04", "08")] == ["added"] * 3
    assert met["01"] == ("failed", "took more than 2 s; raise ingest.parse_seconds, or split it")
    assert met["07"] == met["01"]
    assert met["02"][1] == (
        "needs more than 256 MB of memory to be read; raise ingest.parse_memory_mb, or split it"
    )
    assert "signal 11" in met["03"][1]
    assert "exit code 3" in met["05"][1]
    assert "RecursionError: deep" in met["06"][1]


def test_the_result_is_the_same_for_any_number_of_processes(site, tmp_path):
    """Bundles, order and what becomes of copies, of records that stand twice, of what is read."""
    folder = tmp_path / "in"
    for place in ("", "a", "b"):
        written(
            folder / place,
            *(f"关于{n % 5}的通知\n一、目标\n到2025年达到{n}万吨。" for n in range(12)),
        )
    lines = [{"id": str(n % 9), "text": f"第{n}条 应当。"} for n in range(12)]
    (folder / "r.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    found = []
    for n in (1, 3):
        store = SQLiteStore.open(tmp_path / f"kb{n}")
        limits = IngestConfig(workers=n)
        found.append(list(survey([folder], target(store), limits=limits)))
        store.close()

    assert len(found[0]) == 48
    assert found[0] == found[1]


def test_pages_that_are_done_prolong_the_time(site, tmp_path):
    """The limit is for one step: five seconds of pages pass a limit of two."""
    written(tmp_path / "in", "pages 4")

    assert taken(tmp_path, tmp_path / "in", LIMITS)["00"][0] == "added"


def test_what_a_library_prints_or_reads_disturbs_nothing(site, tmp_path):
    """The pipes are kgrag's own."""
    written(tmp_path / "in", "print", "甲 方案")

    assert {status for status, _ in taken(tmp_path, tmp_path / "in", LIMITS).values()} == {"added"}


def test_a_process_reads_many_files(site, tmp_path):
    """One that ended is replaced; the others go on."""
    files = written(tmp_path / "in", "甲", "crash", "乙", "丙")
    pool = Pool(Setting(max_bytes=1000), IngestConfig(workers=1))
    try:
        made = [pool.submit(Task(path)).result() for path in files]
        assert isinstance(made[1], Failure)
        assert [d.text for d in made if isinstance(d, Document)] == ["甲", "乙", "丙"]
        assert len(pool._workers) == 1
    finally:
        pool.close()


def test_few_plain_files_need_no_process(tmp_path):
    """A process takes longer to start than a short text to be read."""
    for name, content in (("a.txt", "甲"), ("b.md", "乙"), ("c.txt", "丙" * 50_000)):
        (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "d.docx").write_bytes(b"x")
    a, b, c, d = (Source(tmp_path / name) for name in ("a.txt", "b.md", "c.txt", "d.docx"))

    assert is_small([a, b, Source(tmp_path / "gone.txt")])
    assert not is_small([a, c])
    assert not is_small([d])


def test_as_many_as_there_are_processors(monkeypatch):
    """By default."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)

    assert n_workers(IngestConfig()) == 3
    assert n_workers(IngestConfig(workers=7)) == 7


KEPT_BUSY = """
import sys
from pathlib import Path
from kgrag.config import IngestConfig
from kgrag.ingestion.workers.pool import Pool
from kgrag.ingestion.workers.task import Setting, Task
pool = Pool(Setting(max_bytes=1000), IngestConfig(workers=2, parse_seconds=300))
for path in sys.argv[1:]:
    pool.submit(Task(Path(path)))
import time
while len(pool._workers) < 2:
    time.sleep(0.05)
print("ready", flush=True)
time.sleep(1)
print("busy", flush=True)
time.sleep(300)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_no_process_outlives_one_that_was_killed(site, tmp_path):
    """Nor what it has started, nor where a library holds Python's lock."""
    files = written(tmp_path / "in", "hold", "start 299")
    environment = {**os.environ, "PYTHONPATH": str(site)}
    process = subprocess.Popen(
        [sys.executable, "-c", KEPT_BUSY, *map(str, files)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert process.stdout
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "busy\n"]
    until = time.monotonic() + 30
    while len(born := descendants(process.pid)) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(born) == 3  # two that read, and `sleep`
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()

    until = time.monotonic() + 5
    while time.monotonic() < until and any(map(is_alive, born)):
        time.sleep(0.05)
    assert not list(filter(is_alive, born))
