import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder


@pytest.fixture(scope="session")
def kb(tmp_path_factory):
    """A knowledge base of a file with pages and one without."""
    names = ("energy-saving-plan.pdf", "shiqiao-forest-carbon-opinions.md")
    with KnowledgeBase.open(tmp_path_factory.mktemp("kb"), embedder=HashEmbedder()) as base:
        base.ingest([sample_folder() / name for name in names])
        yield base
