import pytest

from kgrag.store.contents import DocumentBundle
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.types import Chunk, Document


def chunks_of(doc_id, parents):
    """Parents of 40 characters, each with four children of 10."""
    text = "".join(f"第{i:03d}段内容甲乙丙" for i in range(parents * 4))
    assert len(text) == parents * 40
    out = [
        Chunk(f"{doc_id}:40:{i}", doc_id, 40, i, 40 * i, 40 * i + 40, text[40 * i : 40 * i + 40])
        for i in range(parents)
    ]
    out += [
        Chunk(
            f"{doc_id}:10:{i}",
            doc_id,
            10,
            i,
            10 * i,
            10 * i + 10,
            text[10 * i : 10 * i + 10],
            f"{doc_id}:40:{i // 4}",
        )
        for i in range(parents * 4)
    ]
    return text, out


@pytest.fixture
def store(tmp_path):
    """Documents a and b of three parents each."""
    store = SQLiteStore.open(tmp_path)
    for doc_id in ("a", "b"):
        text, chunks = chunks_of(doc_id, 3)
        document = Document(doc_id, f"文件{doc_id}", text, f"{doc_id}.txt", "txt", "00")
        store.upsert_document(DocumentBundle(document, "f", chunks=chunks), source=f"/{doc_id}.txt")
    yield store
    store.close()


@pytest.fixture
def hit(store):
    """Return a function that makes a scored chunk from the store."""
    from kgrag.results import ScoredChunk

    def make(chunk_id, score, *via):
        return ScoredChunk(store.chunks([chunk_id])[0], score, via)

    return make
