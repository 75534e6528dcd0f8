from typing import Any

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote
from kgrag.answer.citation import Citation
from kgrag.answering.attempts import with_more
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.types import Chunk
from kgrag.verification.attempt import Attempt


class Families:
    """Gives the leaves of 100 characters of one document, whatever parents are asked for."""

    def __init__(self):
        self.asked = []

    def families(self, parents):
        """Return leaves and a parent."""
        self.asked.append(parents)
        leaves = [leaf(n).chunk for n in range(6)]
        return [*leaves, Chunk("d:2048:0", "d", 2048, 0, 0, 600, "")]


def leaf(n, doc_id="d"):
    start = 100 * n
    chunk = Chunk(f"{doc_id}:100:{n}", doc_id, 100, n, start, start + 100, "", f"{doc_id}:2048:0")
    return ScoredChunk(chunk, 1.0)


def passage(number, start, end, doc_id="d"):
    return Passage(number, doc_id, "规划", (), start, end, "", f"{doc_id}:100:{start // 100}")


def attempt(*, results, passages, cited=()):
    citations = tuple(
        Citation(n, "d", "规划", "d.txt", (), None, start, start + 9, "", "d:100:0")
        for n, start in enumerate(cited, 1)
    )
    answer = Answer("问", tuple(map(Quote, citations)), "m")
    return Attempt("问", answer, Context(tuple(passages)), tuple(results))


def ids(results):
    return [result.chunk.chunk_id for result in results]


def test_what_is_cited_comes_first_then_gaps_then_what_is_new():
    """No chunk twice; the gap between characters 100 and 300 is two leaves."""
    store: Any = Families()
    last = attempt(
        results=[leaf(0), leaf(3), leaf(4, "e")],
        passages=[passage(1, 0, 100), passage(2, 300, 400)],
        cited=[310],
    )
    found = with_more(last, [leaf(7, "f"), leaf(0), leaf(8, "f")], store, leaf=100)
    assert ids(found) == [
        "d:100:3", "d:100:1", "d:100:2", "f:100:7", "d:100:0", "f:100:8", "e:100:4"
    ]  # fmt: skip
    assert store.asked == [["d:2048:0"]]
    assert found[1].via == ("fills a gap between passages",)


@pytest.mark.parametrize(
    "second", [passage(2, 500, 600), passage(2, 300, 400, "e"), passage(2, 100, 200)]
)
def test_what_lies_far_apart_or_in_another_document_has_no_gap(second):
    """Nor do passages that touch."""
    last = attempt(results=[leaf(0)], passages=[passage(1, 0, 100), second])
    store: Any = Families()
    assert ids(with_more(last, [], store, leaf=100)) == ["d:100:0"]
