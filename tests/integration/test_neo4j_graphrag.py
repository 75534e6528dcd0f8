"""kgrag inside neo4j-graphrag, and the library's own retrievers on kgrag's database."""

import json
import os
from pathlib import PurePath
from types import SimpleNamespace

import pytest

if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed")

import neo4j
from neo4j_graphrag.exceptions import SearchQueryParseError
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm.base import LLMInterfaceV2
from neo4j_graphrag.llm.types import LLMResponse
from neo4j_graphrag.retrievers import (
    HybridCypherRetriever,
    VectorCypherRetriever,
)

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from kgrag.integrations.neo4j_graphrag import (
    KgragEmbedder,
    cited_item,
    escape_lucene,
    hybrid_retrieval_query,
    vector_retrieval_query,
)

QUESTION = "《云岭省碳达峰实施方案》提出，到2025年全省非化石能源消费比重要达到多少？"
WIDE = 20  # times top_k candidates: an index of vectors is approximate, and this takes them all


class EchoLLM(LLMInterfaceV2):
    """Answers with what it is asked."""

    def __init__(self):
        super().__init__("echo")

    def invoke(self, input, *, response_format=None, **kwargs):
        """Return the messages."""
        return LLMResponse(content="\n".join(message["content"] for message in input))

    async def ainvoke(self, input, *, response_format=None, **kwargs):
        """Return the messages."""
        return self.invoke(input)


@pytest.fixture
def stock(empty_neo4j):
    """The library's retrievers on a server with the samples."""
    with (
        KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()) as kb,
        neo4j.GraphDatabase.driver(empty_neo4j) as driver,
    ):
        kb.ingest([sample_folder()])
        embedder = KgragEmbedder(kb.embedder)
        yield SimpleNamespace(
            kb=kb,
            embed=embedder.embed_query,
            vector=VectorCypherRetriever(
                driver, "kgrag_chunk_embedding", vector_retrieval_query(), embedder, cited_item
            ),
            hybrid=HybridCypherRetriever(
                driver,
                "kgrag_chunk_embedding",
                "kgrag_chunk_text",
                hybrid_retrieval_query(),
                embedder,
                cited_item,
            ),
        )


def check_parents(kb, items):
    """Check that items are parents of the knowledge base, best first, each once."""
    scores = [item.metadata["score"] for item in items]
    assert scores == sorted(scores, reverse=True)
    assert len({item.metadata["id"] for item in items}) == len(items)
    for item in items:
        (parent,) = kb.store.chunks([item.metadata["id"]])
        (document,) = kb.store.documents([parent.doc_id])
        assert parent.parent_id is None
        assert parent.text in item.content
        assert item.content.startswith(document.title)
        meta = item.metadata
        assert (meta["doc_id"], meta["start"], meta["end"]) == (
            document.doc_id, parent.start, parent.end,
        )  # fmt: skip
        assert meta["heading_path"] == list(parent.heading_path)
        assert meta["heading"] == (parent.heading_path or (document.title,))[-1]


def stated_in(kb, item):
    """Return the facts with evidence in a parent, in the order of the text, as lines."""
    (parent,) = kb.store.chunks([item.metadata["id"]])
    leaves = [c.chunk_id for c in kb.store.children([parent.chunk_id], size=kb.sizes.leaf)]
    place = {leaf: n for n, leaf in enumerate(leaves)}
    facts = kb.store.facts_of_chunks(leaves)
    facts.sort(key=lambda f: (min(place.get(e.chunk_id, 999) for e in f.evidence), f.fact_id))
    return [f"{f.subject.name} —{f.predicate}→ {f.object.name}" for f in facts]


@pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")
def test_stock_retrievers_search_our_indexes(stock):
    """Vectors, and vectors with full text, lead to parents with their facts."""
    nearest = stock.kb.store.search_vectors(
        stock.kb.embedder.embed([QUESTION], "query")[0], kind="chunk", top_k=5
    )
    parents = {c.chunk_id: c.parent_id for c in stock.kb.store.chunks([i for i, _ in nearest])}

    by_vector = stock.vector.search(query_text=QUESTION, top_k=5, effective_search_ratio=WIDE).items
    check_parents(stock.kb, by_vector)
    assert {i.metadata["id"] for i in by_vector} == set(parents.values())
    assert by_vector[0].metadata["id"] == parents[nearest[0][0]]
    # Neo4j moves a cosine to between 0 and 1
    assert by_vector[0].metadata["score"] == pytest.approx((1 + nearest[0][1]) / 2, abs=1e-4)

    by_both = stock.hybrid.search(
        query_text=escape_lucene(QUESTION), query_vector=stock.embed(QUESTION), top_k=5
    ).items
    check_parents(stock.kb, by_both)
    assert by_both[0].metadata["score"] == pytest.approx(1)

    # words lead to one document, the vector to another: each index brings its best
    apart = stock.hybrid.search(
        query_text="公交专用充电场站", query_vector=stock.embed("林业碳汇试点"), top_k=5
    ).items
    check_parents(stock.kb, apart)
    best = {i.metadata["file"] for i in apart if i.metadata["score"] == pytest.approx(1)}
    assert {PurePath(file).stem for file in best} == {
        "charging-action-plan",
        "shiqiao-forest-carbon-opinions",
    }

    for item in (*by_vector, *by_both):
        assert item.metadata["facts"] == stated_in(stock.kb, item)[:20]
    assert any(item.metadata["facts"] for item in by_vector)

    answer = GraphRAG(stock.vector, EchoLLM()).search(QUESTION, return_context=False).answer
    assert by_vector[0].content in answer


@pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")
def test_stock_hybrid_retriever_finds_parents_by_their_summary(stock, tmp_path):
    """A summary found by its words stands for every parent that it summarizes."""
    longest = max(stock.kb.store.documents(), key=lambda d: len(d.text))
    parents = stock.kb.store.chunks_of([longest.doc_id], size=stock.kb.sizes.parent)
    assert len(parents) > 1
    row = {"doc": longest.doc_id, "start": 0, "end": len(longest.text), "summary": "琥珀紫檀"}
    path = tmp_path / "summaries.jsonl"
    path.write_text(json.dumps(row), "utf-8")
    stock.kb.import_summaries(path)
    stock.kb.store.refresh()

    items = stock.hybrid.search(query_text="琥珀紫檀", query_vector=stock.embed(QUESTION)).items
    check_parents(stock.kb, items)
    best = {i.metadata["id"] for i in items if i.metadata["score"] == pytest.approx(1)}
    assert {p.chunk_id for p in parents} <= best


@pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")
def test_stock_retrievers_have_the_traps_that_the_manual_names(stock):
    """Raw questions fail in Lucene and escaped ones do not; fewer parents than top_k."""
    few = stock.vector.search(query_text=QUESTION, top_k=20).items
    assert len(few) < 20  # chunks of one parent are one row

    vector = stock.embed(QUESTION)
    with pytest.raises(SearchQueryParseError):
        stock.hybrid.search(query_text="节能(", query_vector=vector)
    with pytest.raises(neo4j.exceptions.ClientError):  # not even mapped by the library
        stock.hybrid.search(query_text="工业/能源", query_vector=vector)
    for hard in ("工业/能源（节能", "节能 OR", "a\\", '"', "节能" * 3000, "AND", "(*)", "[a TO"):
        items = stock.hybrid.search(query_text=escape_lucene(hard), query_vector=vector).items
        check_parents(stock.kb, items)
    wide = {"query_vector": vector, "top_k": 5, "effective_search_ratio": WIDE}
    blank = stock.hybrid.search(query_text=escape_lucene(" "), **wide)
    by_vector = stock.vector.search(**wide)
    assert [i.metadata["id"] for i in blank.items] == [i.metadata["id"] for i in by_vector.items]
