"""References lead to held documents after one run, however each document spells their titles."""

import pytest

from kgrag import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.connect import connect

PLAN = "云岭省节能、节水规划\n云政发〔2022〕3号\n到2025年，绿色工厂达到50家。\n云岭省人民政府\n"
SPELLINGS = ("云岭省节能、节水规划", "云岭省节能节水规划", "云岭省节能，节水规划")


@pytest.fixture
def kb(tmp_path):
    """A knowledge base of policies that cite another, each in its own spelling."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for i, title in enumerate(SPELLINGS * 2):
        text = f"云岭省节能措施之{i}\n为落实《{title}》，制定本措施。\n云岭省人民政府\n"
        (docs / f"{i}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as kb:
        kb.ingest(docs)
        (docs / "plan.txt").write_text(PLAN, "utf-8")
        kb.ingest(docs)
        yield kb


def test_one_run_connects_every_spelling(kb):
    """A node is renamed while others leave it; its last citation is connected all the same."""
    plan = kb.find_document("plan.txt").doc_id
    cited = [c for c in kb.store.statements("reference") if c.doc_id != plan]
    assert [bool(c.qualifiers.match) for c in cited] == [True] * len(SPELLINGS * 2)
    assert len({c.fact.object.entity_id for c in cited}) == 1
    assert connect(kb.store) == 0
