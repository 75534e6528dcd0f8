"""As of a day, a knowledge base on a server answers as one in a folder does."""

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from tests.unit.test_as_of import QUESTION, TEXTS


def test_a_server_is_asked_as_of_a_day_as_a_folder_is(empty_neo4j, tmp_path):
    """The same results in the same order, with the same marks; so are the documents listed."""
    files = [tmp_path / name for name in TEXTS]
    for file in files:
        file.write_text(TEXTS[file.name], "utf-8")
    told = []
    for place in (empty_neo4j, tmp_path / "kb"):
        with KnowledgeBase.open(place, embedder=HashEmbedder()) as base:
            assert not base.ingest(files).failed
            told.append(
                [
                    [(hit.chunk.chunk_id, hit.status) for hit in base.search(QUESTION, as_of=day)]
                    for day in (None, "2020", "2022")
                ]
                + [base.statuses("2022"), base.ask(QUESTION, as_of="2022").notes]
            )
    assert told[0] == told[1]
    assert [len(hits) for hits in told[0][:3]] == [3, 1, 3]
