"""Ingestion with a model survives kill -9: nothing is paid twice, the graph is the same."""

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import pytest

from kgrag.testing.reply import stand_in
from kgrag.testing.server import FakeServer
from tests.fixtures import extent
from tests.fixtures.kit import exported

KILLS = extent.of(5, 2)
CONCURRENCY = 4
INGEST = """
import sys
from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
kb, url, folder = sys.argv[1:]
config = Config(llm=ModelConfig(base_url=url, model="stand-in", concurrency=4))
with KnowledgeBase.open(kb, embedder=HashEmbedder(64), config=config) as base:
    report = base.ingest([folder])
    sys.exit(1 if report.failed else 0)
"""


class PaidServer(FakeServer):
    """A stand-in that remembers which answer belongs to which request."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.request_of: dict[str, str] = {}
        super().__init__(self._answer, latency_s=0.05)

    def _answer(self, body):
        request = json.dumps(body["messages"], ensure_ascii=False)
        reply = stand_in(body)
        self.asked[request] += 1
        assert self.request_of.setdefault(reply.text, request) == request, "answers must differ"
        return reply


def start(kb, url, folder):
    command = [sys.executable, "-c", INGEST, str(kb), url, str(folder)]
    return subprocess.Popen(command)


def run(kb, url, folder):
    assert start(kb, url, folder).wait() == 0


def kept_answers(kb):
    """Return the texts of the answers that a killed process has left."""
    if not (kb / "calls.db").is_file():
        return set()
    connection = sqlite3.connect(kb / "calls.db")
    try:
        return {text for (text,) in connection.execute("SELECT text FROM answers")}
    except sqlite3.OperationalError:  # killed before the tables were made
        return set()
    finally:
        connection.close()


@pytest.fixture
def folder(tmp_path):
    """Documents of some passages each, every sentence its own; too few for reading processes."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for i in range(8):
        lines = [f"第{i}号地区第{n}家企业减排二氧化碳{i * 1000 + n}吨。" for n in range(180)]
        (folder / f"{i}.txt").write_text(f"第{i}号地区减排方案\n" + "\n".join(lines), "utf-8")
    return folder


@pytest.mark.slow
def test_ingest_with_a_model_killed_pays_no_kept_answer_again(tmp_path, folder):
    """A request whose answer was kept is never sent again; in the end nothing is missing."""
    whole, kb = tmp_path / "whole", tmp_path / "killed"
    with PaidServer() as server:
        run(whole, server.base_url, folder)
        assert set(server.asked.values()) == {1}
        n_requests = len(server.asked)
        server.asked.clear()

        rng, least = random.Random(5), extent.of(1, CONCURRENCY + 1)
        for _ in range(KILLS):
            kept = {server.request_of[text] for text in kept_answers(kb)}
            before = Counter(server.asked)
            wanted = server.asked.total() + rng.randint(least, 2 * n_requests // 5)
            process = start(kb, server.base_url, folder)
            while process.poll() is None and server.asked.total() < wanted:
                time.sleep(0.005)
            process.kill()
            process.wait()
            assert not kept & (server.asked - before).keys(), "an answer was paid twice"
            exported(kb)
        assert 0 < len(kept_answers(kb)) < n_requests, "kills came too late, or too early"
        run(kb, server.base_url, folder)

        # Only calls that were under way at a kill may have been sent twice.
        assert len(server.asked) == n_requests
        assert server.asked.total() - n_requests <= KILLS * CONCURRENCY
        assert exported(kb) == exported(whole)
