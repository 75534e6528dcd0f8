"""How fast `kgrag serve` answers many clients while documents are taken in beside it.

    python benchmarks/serve_load.py KB QUESTIONS.jsonl FOLDER [--seconds 180] [--clients 1 8 20]

KB is copied first. FOLDER has documents that are ingested into the copy meanwhile, again and again,
each time as new ones. For each number of clients prints the 50th and 99th percentile of searches
and answers in milliseconds, how many were refused as busy, the server's memory at the beginning and
the end, and how many quotes were compared with their documents: every citation of every answer is
read again from the knowledge base.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx

from kgrag.answer.address import Address
from kgrag.api import KnowledgeBase

_COMMAND = (sys.executable, "-c", "from kgrag.cli.main import run; run()")


@dataclass
class Told:
    """What clients were told.

    Attributes:
        search: Milliseconds of each search.
        ask: Milliseconds of each answer.
        busy: How often a request was refused for lack of room.
        failed: Other failures, in words.
        quotes: Address and text of each citation.
    """

    search: list[float] = field(default_factory=list)
    ask: list[float] = field(default_factory=list)
    busy: int = 0
    failed: list[str] = field(default_factory=list)
    quotes: dict[tuple[str, str], None] = field(default_factory=dict)


@contextmanager
def server(kb: Path) -> Iterator[tuple[str, int]]:
    """Start `kgrag serve`, and yield its address and process."""
    words = [*_COMMAND, "serve", "--kb", str(kb), "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        yield process.stderr.readline().split()[0], process.pid
        process.terminate()


def memory_mb(pid: int) -> float:
    """Return the memory of a process in MB, without files that it maps."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    match = re.search(r"RssAnon:\s+(\d+)", status)
    return int(match[1]) / 1024 if match else 0.0


def client(address: str, questions: Sequence[str], until: float, told: Told, seed: int) -> None:
    """Search and ask in turn, beginning at another question than other clients."""
    with httpx.Client(base_url=address, timeout=60) as http:
        n = seed * 7
        while time.monotonic() < until:
            question = questions[n % len(questions)]
            begun = time.perf_counter()
            try:
                if n % 2:
                    done = http.get("/api/search", params={"question": question})
                else:
                    done = http.post("/api/ask", json={"question": question})
            except httpx.HTTPError as exc:
                told.failed.append(repr(exc))
                continue
            passed = 1000 * (time.perf_counter() - begun)
            n += 1
            if done.status_code == 503:
                told.busy += 1
                time.sleep(float(done.headers.get("retry-after", 1)))
            elif done.status_code != 200:
                told.failed.append(f"{done.status_code} {done.text[:200]}")
            elif "results" in done.text[:12]:
                told.search.append(passed)
            else:
                told.ask.append(passed)
                for cited in done.json()["citations"]:
                    told.quotes[cited["address"], cited["quote"]] = None


def load(address: str, questions: Sequence[str], clients: int, seconds: float) -> Told:
    """Return what so many clients were told in so many seconds; they run in another process."""
    with multiprocessing.Pool(1) as pool:
        return pool.apply(_load, (address, questions, clients, seconds))


def _load(address: str, questions: Sequence[str], clients: int, seconds: float) -> Told:
    told, until = Told(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=client, args=(address, questions, until, told, n))
        for n in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def ingest_for_ever(kb: Path, folder: Path, work: Path, ended: threading.Event) -> None:
    """Take a folder's documents in again and again, each time changed by a line."""
    n = 0
    while not ended.is_set():
        n += 1
        for file in sorted(folder.glob("*.txt"))[:20]:
            text = file.read_text("utf-8")
            (work / file.name).write_text(f"{text}\n第{n}次\n", "utf-8")
        subprocess.run([*_COMMAND, "ingest", "--kb", str(kb), str(work)], check=False,
                       capture_output=True)  # fmt: skip
    print(f"ingested {n} times beside it")


def percentiles(values: Sequence[float]) -> str:
    """Return the number of values, and their 50th and 99th percentile."""
    if len(values) < 2:
        return f"{len(values):6}"
    cut = statistics.quantiles(values, n=100)
    return f"{len(values):6} {cut[49]:8.0f} {cut[98]:8.0f}"


def wrong(kb: Path, quotes: Sequence[tuple[str, str]], changing: frozenset[str]) -> list[str]:
    """Return the addresses whose quote is not in the document, but for documents that changed."""
    with KnowledgeBase.open(kb, create=False) as base:
        held = {d.doc_id: d.text for d in base.store.documents()}
    found = []
    for address, quote in quotes:
        at = Address.parse(address)
        if at.document in changing or at.document not in held:
            continue
        if held[at.document][at.start : at.end] != quote:
            found.append(address)
    return found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 20])
    given = parser.parse_args()
    lines = given.questions.read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines if line.strip()]
    with tempfile.TemporaryDirectory() as made:
        kb, work = Path(made) / "kb", Path(made) / "work"
        shutil.copytree(given.kb, kb)
        work.mkdir()
        with KnowledgeBase.open(kb, create=False) as base:
            before = {card.doc_id for card in base.documents()}
        ended = threading.Event()
        beside = threading.Thread(target=ingest_for_ever, args=(kb, given.folder, work, ended))
        with server(kb) as (address, pid):
            load(address, questions, 1, 5)  # the encoder and the indexes are loaded
            beside.start()
            print(f"{os.cpu_count()} processors; searches and answers: number, p50, p99 in ms")
            for clients in given.clients:
                first = memory_mb(pid)
                told = load(address, questions, clients, given.seconds)
                changing = frozenset()
                with KnowledgeBase.open(kb, create=False) as base:
                    changing = frozenset(c.doc_id for c in base.documents()) - before
                bad = wrong(kb, list(told.quotes), changing)
                print(
                    f"{clients:3} clients  search {percentiles(told.search)}  "
                    f"ask {percentiles(told.ask)}  busy {told.busy}  failed {len(told.failed)}  "
                    f"memory {first:.0f} to {memory_mb(pid):.0f} MB  "
                    f"quotes {len(told.quotes)}, wrong {len(bad)}"
                )
                for problem in (*told.failed[:3], *bad[:3]):
                    print(f"    {problem}")
            ended.set()
            beside.join()


if __name__ == "__main__":
    main()
