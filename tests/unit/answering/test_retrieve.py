"""What an answer that lacks something draws from."""

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote
from kgrag.answer.citation import Citation
from kgrag.answering.attempts import cited_first
from kgrag.results import Context, ScoredChunk
from kgrag.types import Chunk
from kgrag.verification.attempt import Attempt


def leaf(n, doc_id="d"):
    start = 100 * n
    chunk = Chunk(f"{doc_id}:100:{n}", doc_id, 100, n, start, start + 100, "", f"{doc_id}:2048:0")
    return ScoredChunk(chunk, 1.0)


def attempt(*, results, cited):
    citations = tuple(
        Citation(n, "d", "规划", "d.txt", (), None, start, start + 9, "文", f"d:100:{start // 100}")
        for n, start in enumerate(cited, 1)
    )
    answer = Answer("问", tuple(map(Quote, citations)), "m")
    return Attempt("问", answer, Context((), ()), tuple(results))


def ids(results):
    return [result.chunk.chunk_id for result in results]


def test_what_is_cited_comes_first_then_what_is_new():
    """No chunk twice."""
    last = attempt(results=[leaf(0), leaf(3), leaf(4, "e")], cited=[310])
    found = cited_first(last, [leaf(7, "f"), leaf(0), leaf(8, "f")])
    assert ids(found) == ["d:100:3", "f:100:7", "d:100:0", "f:100:8", "e:100:4"]
