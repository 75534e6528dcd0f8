"""Ingestion survives kill -9 at any point: run again, it ends as if it had never been disturbed."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingestion.samples import sample_folder
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder

KILLS = 12
INGEST = """
import sys
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
with KnowledgeBase.open(sys.argv[1], embedder=HashEmbedder()) as base:
    print("open", flush=True)
    report = base.ingest(sys.argv[2:])
    sys.exit(1 if report.failed else 0)
"""


def start(kb: Path, *paths: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", INGEST, str(kb), *map(str, paths)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run(kb: Path, *paths: Path) -> None:
    with start(kb, *paths) as process:
        process.communicate()
    assert process.returncode == 0


def exported(kb: Path) -> list[str]:
    with KnowledgeBase.open(kb, create=False, embedder=HashEmbedder()) as base:
        assert base.verify() == []
        return [json.dumps(record, sort_keys=True) for record in base.export()]


def whole_documents(lines: list[str]) -> set[str]:
    """Records that depend on one document only; a shared name may be spelt by the most."""
    return {line for line in lines if json.loads(line)["record"] not in ("entity", "fact")}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The sample documents and 240 records without a clause twice, for a run of some seconds."""
    path = tmp_path_factory.mktemp("corpus") / "more.jsonl"
    rows = [
        {
            "id": f"r{i}",
            "title": f"云岭省第{i}号方案",
            "text": f"一、目标\n到20{25 + i % 10}年，绿色工厂达到{i}家。\n"
            + "".join(f"推动第{i}批第{j}项节能降碳。" for j in range(100)),
        }
        for i in range(240)
    ]
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return [sample_folder(), path]


@pytest.mark.slow
def test_ingest_killed_at_random_points_ends_as_if_undisturbed(tmp_path, corpus):
    """After each kill every invariant holds; the last run completes the same graph."""
    whole = tmp_path / "whole"
    began = time.monotonic()
    run(whole, *corpus)
    duration = time.monotonic() - began
    undisturbed = exported(whole)

    rng = random.Random(20)
    kb = tmp_path / "killed"
    killed = 0
    for _ in range(KILLS):
        process = start(kb, *corpus)
        assert process.stdout is not None
        process.stdout.readline()  # the database is open: from here on anything may happen
        time.sleep(rng.uniform(0, duration / 3))
        killed += process.poll() is None
        process.kill()
        process.wait()
        process.stdout.close()
        partial = exported(kb)
        assert whole_documents(partial) <= set(undisturbed)
    assert killed >= KILLS // 2, "the runs ended before they could be killed"
    run(kb, *corpus)
    assert exported(kb) == undisturbed
