"""Hostile files of new formats: what is wrong is said, and the rest of the batch goes on."""

import re
import time

import pytest

from kgrag import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import IngestionError
from kgrag.ingestion.load import discover, load
from tests.fixtures.hostile_files import HOSTILE, READ

_SECONDS = 20  # the slowest takes 5 on two cores that others use


def test_there_are_sixty():
    """As many as were promised."""
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_read_or_refused_with_a_reason(tmp_path, name):
    """In bounded time, by an error of this package, and without anything beside it."""
    make, said = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(make())
    began = time.monotonic()
    told = discover([path])
    reasons = [str(f.reason) for f in told.failures] + [str(s.reason) for s in told.skipped]
    for source in told.sources:
        try:
            assert load(source).text.strip()
        except IngestionError as exc:
            reasons.append(str(exc))
    assert time.monotonic() - began < _SECONDS
    assert list(tmp_path.iterdir()) == [path]
    if said == READ:
        assert not reasons
    else:
        assert re.search(said, "\n".join(reasons))


@pytest.mark.slow
def test_a_batch_of_hostile_files_leaves_a_clean_knowledge_base(tmp_path):
    """Every file is accounted for, what can be read is read, and nothing is inconsistent."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name, (make, _) in HOSTILE.items():
        (folder / name).write_bytes(make())
    (folder / "good.txt").write_text("节能方案\n第一条 到2025年下降10%。", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as kb:
        report = kb.ingest([folder])
        told = {
            outcome.source.removeprefix(f"{folder}/").partition("!/")[0]: outcome
            for outcome in report.outcomes
        }
        assert told.keys() >= {*HOSTILE, "good.txt"}
        assert told["good.txt"].status == "added"
        for name, (_, said) in HOSTILE.items():
            if said == READ:
                assert told[name].status in ("added", "duplicate"), told[name]
            else:
                assert told[name].detail or told[name].status == "added", told[name]
        assert kb.verify() == []
