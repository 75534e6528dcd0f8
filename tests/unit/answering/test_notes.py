"""What the user is told of how questions are answered."""

import pytest

from kgrag.answering.notes import answer_notes, search_notes
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.retrieval.filter import Filter


@pytest.fixture
def kb(tmp_path):
    """One document without a year; leaves and facts carry vectors."""
    (tmp_path / "a.txt").write_text("甲方案\n加强管理。\n", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(8)) as base:
        base.ingest([tmp_path / "a.txt"])
        yield base


def of_search(kb, within=None, **settings):
    config = Config(embedding=EmbeddingConfig(**settings))
    return search_notes(kb.store, config, kb.sizes, within)


def test_search_notes_tell_of_settings_that_the_vectors_are_not_of(kb):
    """They are searched as they are; nothing is said of settings that agree."""
    assert of_search(kb) == of_search(kb, sizes=(256,)) == []
    (sizes,) = of_search(kb, sizes=(512,))
    assert "embedding.sizes is 512, but this knowledge base has vectors of chunks of 256" in sizes
    (facts,) = of_search(kb, facts=False)
    assert "embedding.facts is off" in facts


def test_search_notes_tell_of_documents_that_a_filter_cannot_judge(kb):
    """One that does not say when it was issued."""
    (left_out,) = of_search(kb, Filter(years=(2022, 2022)))
    assert left_out.startswith("1 of 1 documents")


def test_answer_notes_tell_of_the_stand_in_first(kb):
    """An answer rests on the encoder, too."""
    config = Config(embedding=EmbeddingConfig(sizes=(512,)))
    found = answer_notes(kb.store, config, kb.sizes, HashEmbedder(8), None)
    assert [note.split()[0] for note in found] == ["no", "embedding.sizes"]
