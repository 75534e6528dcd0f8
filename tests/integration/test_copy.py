"""A knowledge base of the samples copied on the command line, to every kind of store."""

import hashlib
import json
import random
import subprocess
import sys
import time

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from tests.fixtures import extent
from tests.fixtures.kit import kgrag

KILLS = extent.of(6, 2)
RECORDS = 60
COPY = """
import sys
from kgrag.maintenance.copying import copy
from kgrag.store.store import open_store
source, target = open_store(sys.argv[1], create=False), open_store(sys.argv[2], create=True)
copy(source, target, progress=lambda *call: print(*call, flush=True))
"""


@pytest.fixture(params=["sqlite", "neo4j"])
def place(request, tmp_path):
    """Where an empty knowledge base can be made, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "copy")
    return request.getfixturevalue("empty_neo4j")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The samples and some records, with imported facts, mentions and summaries."""
    folder = tmp_path_factory.mktemp("original")
    rows = [
        {"id": f"r{i}", "title": f"云岭省第{i}号方案", "text": "推动节能降碳。" * (20 + i)}
        for i in range(RECORDS)
    ]
    write(folder / "more.jsonl", rows)
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        assert not base.ingest([sample_folder(), folder / "more.jsonl"]).failed
        spans = [
            {"doc": card.doc_id, "start": 0, "end": 12, **extra}
            for card in base.documents()
            for extra in (
                {"triples": [["ＰＵＥ", "低于", "1.3"], ["节 能", "即", "节能"]]},
                {"triples": [["pue", "低 于", "1.3"], ["节能", "即", "节 能"]]},
            )
        ]  # fmt: skip
        write(folder / "facts.jsonl", spans)
        summaries = [
            {"doc": card.doc_id, "start": 0, "end": 12, "summary": f"{card.title}的开头"}
            for card in base.documents()
        ]
        write(folder / "summaries.jsonl", summaries)
        assert not base.import_facts(folder / "facts.jsonl").errors
        assert not base.import_summaries(folder / "summaries.jsonl").errors
        assert base.verify() == []
    return str(folder / "kb")


def write(path, rows):
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")


def whole(location):
    """Return the export and sources of a knowledge base, which is sound."""
    with KnowledgeBase.open(location, create=False, embedder=HashEmbedder()) as base:
        assert base.verify() == []
        lines = [json.dumps(r, ensure_ascii=False, sort_keys=True) for r in base.export()]
        return lines, base.store.sources()


def test_copy_to_any_store_and_back_is_identical(original, place, tmp_path):
    """Record by record, as --check says with the hash of the export."""
    back = tmp_path / "back"
    there = kgrag("copy", "--from", original, "--to", place, "--check")
    again = kgrag("copy", "--from", place, "--to", back, "--check")

    assert (there.exit_code, again.exit_code) == (0, 0), there.output + again.output
    assert f"{RECORDS + 10} copied, 0 unchanged" in there.stdout
    exported = kgrag("export", "--kb", original).stdout
    assert f"sha256 {hashlib.sha256(exported.encode()).hexdigest()}" in there.stdout
    assert whole(back) == whole(place) == whole(original)
    repeated = kgrag("copy", "--from", original, "--to", place)
    assert f"0 copied, {RECORDS + 10} unchanged" in repeated.stdout


@pytest.mark.slow
def test_copy_killed_at_random_points_ends_as_if_undisturbed(original, place):
    """After each kill what is there is sound; the last run completes it."""
    rng = random.Random(7)
    command = [sys.executable, "-c", COPY, original, place]
    for _ in range(KILLS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(rng.randrange(1, RECORDS // 2)):
                assert process.stdout
                process.stdout.readline()
            time.sleep(rng.uniform(0, 0.02))
            process.kill()
            assert process.stdout
            process.stdout.close()
    lines, _ = whole(place)
    done = kgrag("copy", "--from", original, "--to", place, "--check")

    assert any('"record": "document"' in line for line in lines)
    assert done.exit_code == 0, done.output
    assert "identical" in done.stdout
    assert whole(place) == whole(original)


def test_copy_from_where_there_is_nothing_exits_1(tmp_path):
    done = kgrag("copy", "--from", tmp_path / "a", "--to", tmp_path / "b")
    assert done.exit_code == 1
    assert "no knowledge base" in done.stderr
    assert not list(tmp_path.iterdir())
