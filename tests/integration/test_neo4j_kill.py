"""A server knowledge base survives kill -9 of either side, and several writers at once."""

import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from neo4j import Driver

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import StoreUnavailableError
from kgrag.store.neo4j.statements import statement
from kgrag.store.neo4j.store import Neo4jStore
from tests.faults.corpus import of_documents
from tests.fixtures import extent
from tests.fixtures.kit import few_samples, lines_of
from tests.neo4j_server.plugin import driver_of
from tests.neo4j_server.proxy import BoltProxy

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

RECORDS = extent.of(60, 10)
CLIENT_KILLS = extent.of(6, 2)
INGEST = """
import sys
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
with KnowledgeBase.open(sys.argv[1], embedder=HashEmbedder()) as base:
    print("open", flush=True)
    report = base.ingest(sys.argv[2:])
    sys.exit(1 if report.failed else 0)
"""
COMMAND = """
import sys
from kgrag.store.neo4j import connection
from kgrag.cli.main import main
connection._RETRY_S = 1.0
main(sys.argv[1:])
"""


def write_records(path: Path, numbers: range) -> Path:
    rows = [
        {
            "id": f"r{i}",
            "title": f"云岭省第{i}号方案",
            "text": f"一、目标\n到20{25 + i % 10}年，绿色工厂达到{i}家。\n"
            + "推动节能降碳。" * 150,
        }
        for i in numbers
    ]
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Sample documents and two files of records, of which some stand in both."""
    folder = tmp_path_factory.mktemp("corpus")
    middle = RECORDS // 2
    return [
        *few_samples(),
        write_records(folder / "first.jsonl", range(middle)),
        write_records(folder / "second.jsonl", range(middle, RECORDS)),
    ]


@pytest.fixture(scope="module")
def undisturbed(corpus, tmp_path_factory):
    """The export of the same documents taken into a folder, in one go."""
    kb = tmp_path_factory.mktemp("undisturbed") / "kb"
    with KnowledgeBase.open(kb, embedder=HashEmbedder()) as base:
        assert not base.ingest(corpus).failed
        return lines_of(base)


def check_whole(uri: str, undisturbed: list[str]) -> list[str]:
    """Check that nothing is half stored, and return what is."""
    with KnowledgeBase.open(uri, embedder=HashEmbedder()) as base:
        assert base.verify() == []
        lines = lines_of(base)
    assert of_documents(lines) <= set(undisturbed)
    return lines


class Ingest(threading.Thread):
    """An ingestion beside the test, which keeps its error."""

    def __init__(self, uri: str, paths: list[Path]) -> None:
        super().__init__()
        self.uri, self.paths = uri, paths
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        """Ingest, once."""
        try:
            with KnowledgeBase.open(self.uri, embedder=HashEmbedder()) as base:
                assert not base.ingest(self.paths).failed
        except Exception as exc:  # the test looks at it
            self.error = exc


def await_commits(proxy: BoltProxy, n: int) -> None:
    """Wait until so many more COMMIT have passed, the last of them just now."""
    wanted = proxy.seen["COMMIT"] + n
    deadline = time.monotonic() + 60
    while proxy.seen["COMMIT"] < wanted:
        assert time.monotonic() < deadline, "the ingestion does not go on"
        time.sleep(0.0005)


def test_ingest_is_whole_after_each_kill_of_the_server(new_neo4j_server, corpus, undisturbed):
    """The outage is told; what was committed before is there; the same again completes it."""
    rng = random.Random(5)
    server = new_neo4j_server()
    with BoltProxy(server.uri) as proxy:
        for commits in (rng.randint(2, 15), 12, 2)[: extent.of(3, 0)]:
            command = subprocess.Popen(
                [sys.executable, "-c", COMMAND, "ingest", "--kb", proxy.uri(), *map(str, corpus)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            await_commits(proxy, commits)
            server.kill()
            _, told = command.communicate()
            assert command.returncode == 1
            assert "kgrag: bolt://" in told
            assert "cannot be reached" in told
            assert "Traceback" not in told
            server.start()
            check_whole(server.uri, undisturbed)

        ingest = Ingest(proxy.uri(), corpus)  # of one that comes back soon nothing is heard
        await_commits(proxy, 3)
        server.kill()
        server.start()
        ingest.join()
        assert ingest.error is None
    assert check_whole(server.uri, undisturbed) == undisturbed


def start(uri: str, *paths: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", INGEST, uri, *map(str, paths)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_ingest_is_whole_after_each_kill_of_the_client(empty_neo4j, corpus, undisturbed):
    """The server rolls back what was not committed; the same again completes it."""
    rng = random.Random(20)
    killed = 0
    for _ in range(CLIENT_KILLS):
        with start(empty_neo4j, *corpus) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0, 2.0))
            killed += process.poll() is None
            process.kill()
        check_whole(empty_neo4j, undisturbed)
    assert killed >= CLIENT_KILLS // 2, "the runs ended before they could be killed"
    with start(empty_neo4j, *corpus) as process:
        process.communicate()
    assert process.returncode == 0
    assert check_whole(empty_neo4j, undisturbed) == undisturbed


def test_writers_at_once_leave_what_one_would(empty_neo4j, corpus, undisturbed):
    """They make the knowledge base at once, too; who reads meanwhile sees whole documents."""
    *samples, first, second = corpus
    texts = {
        record["doc_id"]: record["text"]
        for record in map(json.loads, undisturbed)
        if record["record"] == "document"
    }
    assert len(texts) == RECORDS + len(samples)
    writers = [
        start(empty_neo4j, first, *samples),
        start(empty_neo4j, *samples, first, second),
        start(empty_neo4j, second),
    ]
    n_reads = seen = 0
    store = None
    while any(process.poll() is None for process in writers):
        if store is None:
            store = opened(empty_neo4j)
            continue
        found = store.documents()
        assert {d.doc_id: d.text for d in found}.items() <= texts.items()
        assert len(found) >= seen
        n_reads, seen = n_reads + 1, len(found)
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    assert n_reads > 3
    assert store is not None
    store.close()
    assert check_whole(empty_neo4j, undisturbed) == undisturbed


def test_a_writer_killed_before_its_turn_leaves_nothing(empty_neo4j, corpus, undisturbed):
    """By then it has written what its document alone has; others go on, and the rest follows."""
    *samples, first, second = corpus
    with KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()) as base:
        base.ingest(samples)
    with (
        driver_of(empty_neo4j) as driver,
        driver.session() as session,
        session.begin_transaction() as turn,
        start(empty_neo4j, first) as victim,
    ):
        turn.run(statement("lock_base")).consume()
        await_waiting(driver)
        victim.kill()
    lines = check_whole(empty_neo4j, undisturbed)
    assert sum('"record": "document"' in line for line in lines) == len(samples)
    with start(empty_neo4j, second) as other, start(empty_neo4j, first) as again:
        assert [other.wait(), again.wait()] == [0, 0]
    assert check_whole(empty_neo4j, undisturbed) == undisturbed


def await_waiting(driver: Driver) -> None:
    """Wait until a writer waits for its turn."""
    deadline = time.monotonic() + 60
    waits = "SHOW TRANSACTIONS YIELD status, currentQuery WHERE status STARTS WITH 'Blocked'"
    while not any("k.mark" in row["currentQuery"] for row in driver.execute_query(waits).records):
        assert time.monotonic() < deadline, "no writer waits"
        time.sleep(0.05)


def opened(uri: str) -> Neo4jStore | None:
    try:
        return Neo4jStore.open(uri, create=False)
    except StoreUnavailableError:
        time.sleep(0.05)
        return None
