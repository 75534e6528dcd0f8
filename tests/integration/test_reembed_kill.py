"""A change of the encoder survives kill -9 at any point: whole before, whole after."""

import json
import random
import shutil
import subprocess
import sys
import time

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from tests.fixtures import extent
from tests.fixtures.kit import exported

KILLS = extent.of(5, 2)
REEMBED = """
import sys, time
import kgrag.ingestion.reembed
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder

most = int(sys.argv[2])

embed = HashEmbedder.embed
batches = 0

def counted(self, texts, task):
    global batches
    batches += 1
    if batches > most:
        time.sleep(60)  # to be killed, however slow who kills is
    print(len(texts), flush=True)
    return embed(self, texts, task)

HashEmbedder.embed = counted
kgrag.ingestion.reembed._BATCH_TEXTS = 4
with KnowledgeBase.open(sys.argv[1], create=False, embedder=HashEmbedder(128)) as base:
    base.reembed()
    print("done", flush=True)
"""


def start(kb, most=1000):
    """Begin; after so many batches it stands still."""
    command = [sys.executable, "-c", REEMBED, str(kb), str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run(kb):
    """Run to the end; return how many texts were encoded in each batch."""
    with start(kb) as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    *encoded, done = out.split()
    assert done == "done"
    return [int(n) for n in encoded]


def ingest(kb, dimension, *paths):
    with KnowledgeBase.open(kb, embedder=HashEmbedder(dimension)) as base:
        assert not base.ingest(paths).failed


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Records of which each has a text of its own."""
    folder = tmp_path_factory.mktemp("corpus")
    path = folder / "more.jsonl"
    rows = [
        {"id": f"r{i}", "title": f"第{i}号方案", "text": f"到20{25 + i % 10}年达到{i}家。" * 40}
        for i in range(40)
    ]
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return [path]


@pytest.fixture(scope="module")
def built(tmp_path_factory, corpus):
    """A knowledge base of it; tests work on copies."""
    folder = tmp_path_factory.mktemp("built") / "kb"
    ingest(folder, 64, *corpus)
    return folder


@pytest.fixture
def two(tmp_path, built):
    """Two copies: one to be disturbed, and one not."""
    return [shutil.copytree(built, tmp_path / name) for name in ("killed", "whole")]


@pytest.mark.slow
def test_reembed_killed_at_random_points_ends_as_if_undisturbed(two, corpus):
    """Until the last moment all is as before; what was encoded is not encoded again."""
    kb, whole = two
    before = exported(kb)
    batches = run(whole)
    after = exported(whole)

    rng = random.Random(7)
    killed = n_encoded = 0
    for _ in range(KILLS):
        wanted = rng.randint(2, len(batches) // KILLS - 3)
        with start(kb, wanted + 2) as process:
            assert process.stdout is not None
            for _ in range(wanted):
                n_encoded += int(process.stdout.readline())
            time.sleep(rng.uniform(0, 0.02))
            killed += process.poll() is None
            process.kill()
            n_encoded += sum(map(int, process.stdout.read().split()))
        assert exported(kb) == before
    assert killed == KILLS, "a run ended before it could be killed"
    with KnowledgeBase.open(kb, create=False) as base:
        assert base.store.staged.doc_ids(), "kills came too early"
    n_encoded += sum(run(kb))

    assert exported(kb) == after
    # A kill loses no more than the batch that was under way.
    assert sum(batches) <= n_encoded <= sum(batches) + KILLS * max(batches)
    ingest(kb, 128, *corpus)
    assert exported(kb) == after


SWITCH = """
import os, signal
from kgrag.store.sqlite import staged

take_over = staged._take_over

def traced(connection):
    def kill_at(statement):
        if statement.startswith(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)

    connection.set_trace_callback(kill_at)
    take_over(connection)

staged._take_over = traced
"""

# Statements of a switch, in order.
SWITCHING = (
    "DROP TABLE node_vectors",
    "ALTER TABLE staged_embeddings",
    "INSERT INTO node_vectors",
    "CREATE INDEX node_vectors_key",
    "DELETE FROM embeddings",
    "CREATE TABLE staged_nodes",
    "INSERT INTO commits",
    "COMMIT",
)


@pytest.mark.slow
def test_a_switch_that_is_killed_is_undone_or_complete(two):
    """It is one transaction: killed within, wherever that is, the old vectors are all there."""
    kb, whole = two
    before = exported(kb)
    run(whole)
    after = exported(whole)
    dying = REEMBED.replace("most = ", SWITCH + "most = ")
    for statement in extent.among(SWITCHING, 3):
        done = subprocess.run(
            [sys.executable, "-c", dying, str(kb), "1000", statement],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == -9, statement + done.stderr
        assert exported(kb) == before, statement
    with KnowledgeBase.open(kb, create=False, embedder=HashEmbedder(64)) as base:
        assert base.search("绿色工厂", system="vector", top_k=3)
    assert run(kb) == []  # all had been encoded

    assert exported(kb) == after
    with KnowledgeBase.open(kb, create=False) as base:
        assert base.store.get_meta("embedder") == "hash-128"
        assert base.search("绿色工厂", system="vector", top_k=3)


@pytest.mark.slow
def test_a_switch_that_was_complete_survives_a_kill(two):
    """What is in the log only is found by the next who opens it."""
    kb, whole = two
    run(whole)
    dying = REEMBED.replace('print("done", flush=True)', "import os; os.kill(os.getpid(), 9)")
    done = subprocess.run([sys.executable, "-c", dying, str(kb), "1000"], check=False)

    assert done.returncode == -9
    assert exported(kb) == exported(whole)
