"""A knowledge base that stays open while others change it."""

import subprocess
import sys

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NotFoundError
from kgrag.retrieval.filter import Filter

QUESTION = "创建绿色工厂多少家？"
CHANGE = """
import sys
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder

with KnowledgeBase.open(sys.argv[1], create=False, embedder=HashEmbedder(32)) as base:
    assert base.reembed().changed
"""


@pytest.fixture
def place(tmp_path):
    """A knowledge base of two documents with vectors of 64."""
    for name, number in (("甲方案", 500), ("乙方案", 300)):
        text = f"{name}\n一、目标\n到2025年，创建绿色工厂{number}家。\n"
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        assert not base.ingest(sorted(tmp_path.glob("*.txt"))).failed
    return tmp_path / "kb"


def found(base, system="vector"):
    return [(r.chunk.chunk_id, r.score) for r in base.search(QUESTION, system=system)]


def test_an_open_knowledge_base_sees_the_encoder_that_another_process_chose(place):
    """The next question is encoded by it, and finds what one opened afterwards finds."""
    with KnowledgeBase.open(place, create=False) as base:
        answer = base.ask(QUESTION)
        assert base.embedder.name == "hash-64"
        subprocess.run([sys.executable, "-c", CHANGE, str(place)], check=True)

        after, answer_after = found(base), base.ask(QUESTION)
        assert base.embedder.name == "hash-32"
        with KnowledgeBase.open(place, create=False) as later:
            assert after == found(later)
            assert answer_after.text == later.ask(QUESTION).text
    assert answer_after.found is answer.found is True


def test_an_open_knowledge_base_sees_documents_come_and_go(place, tmp_path):
    """Through another connection; words, vectors and cards."""
    with KnowledgeBase.open(place, create=False) as base, KnowledgeBase.open(place) as other:
        assert len(found(base)) == len(found(base, "bm25")) == 2
        other.delete("乙方案")
        assert len(found(base)) == len(found(base, "bm25")) == len(base.documents()) == 1
        with pytest.raises(NotFoundError):
            base.search(QUESTION, within=Filter(documents=("乙方案",)))
        other.ingest([tmp_path / "乙方案.txt"])
        assert len(found(base)) == len(found(base, "bm25")) == len(base.documents()) == 2
        assert len(base.search(QUESTION, within=Filter(documents=("乙方案",)))) == 1


def test_the_encoder_is_kept_while_the_knowledge_base_stays(place):
    """It is loaded once."""
    with KnowledgeBase.open(place, create=False) as base:
        assert base.embedder is base.embedder
