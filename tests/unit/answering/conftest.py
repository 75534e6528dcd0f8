import pytest

from kgrag.answering.options import AskOptions
from kgrag.api import KnowledgeBase
from kgrag.config import Config
from kgrag.embedding.hashing import HashEmbedder

TEXTS = {
    "A省": (
        "A省绿色工厂实施方案\n一、目标\n到2025年，A省创建绿色工厂500家。\n"
        "二、责任\n由省工业和信息化厅牵头。\n"
    ),
    "B省": (
        "B省绿色工厂实施方案\n一、目标\n到2025年，B省创建绿色工厂300家。\n"
        "二、责任\n由省发展改革委牵头。\n"
    ),
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    """Two documents with the stand-in encoder; no model is configured."""
    folder = tmp_path_factory.mktemp("asking")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([folder / f"{name}.txt" for name in TEXTS])
        yield base


@pytest.fixture
def knowledge(kb):
    return kb._knowledge


@pytest.fixture
def options():
    """Return a function that makes options as settings do, with some things said."""

    def make(**said):
        return AskOptions.from_config(
            said.pop("config", Config()), writer="quotes", top_k=10, **said
        )

    return make
