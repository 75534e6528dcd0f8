"""What a search computes from a query, on three short documents."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import document_of
from kgrag.retrieval.grim import PRESETS
from kgrag.retrieval.search import Reasons, Search

TEXTS = {
    "a": "云岭省节能规划\n一、总体要求\n根据《节能法》，制定本规划。\n二、目标\n"
    "到2025年，农村生活污水治理率达到45%。",
    "b": "青川市节能方案\n落实《云岭省节能规划》。\n推进污水处理收费，受益农户合理分担。\n"
    "由市工业和信息化局负责。",
    "c": "某委员会关于印发《节能法》的通知\n2021年1月1日发布。\n各地节能工作由主管部门负责。",
}
# Document, size, position and score of each result before questions were read by models.
BEFORE = {
    "云岭省农村污水治理目标": {
        "grim": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "grim-no-coverage": "a2048.0=13.5885 b2048.0=2.5291 c2048.0=0.0000",
        "grim-no-merge": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-summary": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "grim-no-figures": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "grim-no-sections": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "grim-no-parts": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "grim-no-official-terms": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "grim-no-plan": "a2048.0=19.5885 b2048.0=4.4728 c2048.0=0.0000",
        "bm25": "a512.0=6.4873 b512.0=1.3937",
        "vector": "a256.0=0.1591 b256.0=0.1458 c256.0=0.1346",
        "hybrid": "a256.0=21.2703 b256.0=5.0318 c256.0=0.0000",
        "recursive": "a256.0=0.3641 b256.0=0.1632 c256.0=0.0000",
        "kg-vector": "a256.0=0.7965 b256.0=0.3570 c256.0=0.0000",
    },
    "《云岭省节能规划》依据哪些文件？": {
        "grim": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "grim-no-coverage": "a2048.0=36.8249 b2048.0=29.9194 c2048.0=25.3018",
        "grim-no-merge": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-summary": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "grim-no-figures": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "grim-no-sections": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "grim-no-parts": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "grim-no-official-terms": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "grim-no-plan": "a2048.0=38.4490 b2048.0=31.5435 c2048.0=25.4423",
        "bm25": "a512.0=105.1789 b512.0=101.7246 c512.0=0.2975",
        "vector": "a256.0=0.1591 b256.0=0.1458 c256.0=0.1346",
        "hybrid": "a256.0=40.5405 b256.0=36.4147 c256.0=2.1354",
        "recursive": "a256.0=0.4722 b256.0=0.2865 c256.0=0.0889",
        "kg-vector": "a256.0=5.0329 b256.0=1.0268 c256.0=0.1944",
    },
}


def searched(kb, question):
    """Return the search for a question, as the knowledge base makes it."""
    return kb._knowledge.search(kb._knowledge.query(question))


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([folder / f"{name}.txt" for name in TEXTS])
        yield base


@pytest.fixture
def search(kb):
    """Return a function that makes a search with what a model would add."""

    def make(question, *, keywords=(), critical="", hypothetical="", queried=()):
        plain = searched(kb, question)
        return Search(
            replace(plain.query, keywords=keywords, critical=critical),
            store=kb.store,
            embed=HashEmbedder,
            settings=plain.settings,
            hypothetical=hypothetical,
            queried=queried,
        )

    return make


@pytest.mark.parametrize("question", BEFORE)
@pytest.mark.parametrize("system", PRESETS)
def test_without_a_model_results_are_what_they_were(kb, search, system, question):
    """Order and scores of every preset, to four digits."""
    names = {card.doc_id: Path(card.file).stem for card in kb.store.document_cards()}
    found = PRESETS[system].retrieve(search(question), top_k=5)
    assert BEFORE[question][system] == " ".join(
        f"{names[r.chunk.doc_id]}{r.chunk.size}.{r.chunk.position}={r.score:.4f}" for r in found
    )


def test_words_that_only_keywords_have_weigh_half(search):
    """The question's own keep their count, also where a keyword has them."""
    terms = search("节能与节能目标", keywords=("节能补贴", "污水处理")).terms
    assert (terms["节能"], terms["目标"]) == (2.0, 1.0)
    assert (terms["补贴"], terms["污水"]) == (0.5, 0.5)


def test_keywords_find_what_the_question_has_no_word_for(search):
    """`脏水` stands in no document; `污水` does."""
    assert PRESETS["bm25"].retrieve(search("脏水"), top_k=1) == []
    (found,) = PRESETS["bm25"].retrieve(search("脏水", keywords=("污水处理收费",)), top_k=1)
    assert "污水处理收费" in found.chunk.text


def test_keywords_alone_are_enough_to_search_with(search):
    """A question of function words only has none of its own."""
    assert PRESETS["grim"].retrieve(search("怎么"), top_k=1) == []
    assert PRESETS["grim"].retrieve(search("怎么", keywords=("节能",)), top_k=1) != []


def test_critical_information_is_encoded_after_the_question_once(search):
    """QCG-Rerank, eq. 2, with n = 1."""
    vector = search("脏水", critical="污水处理收费").vector
    assert vector.tolist() == HashEmbedder().embed(["脏水 污水处理收费"], "query")[0].tolist()


def test_a_hypothetical_passage_is_averaged_in(search):
    """HyDE, eq. 8: the vector lies between the two, at unit length, nearer to the question."""
    vector = search("脏水", hypothetical="污水处理收费").vector
    question, passage = HashEmbedder().embed(["脏水", "污水处理收费"], "query")
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0)
    assert float(passage @ question) == pytest.approx(0.0)
    assert float(vector @ passage) == pytest.approx(0.6 * float(vector @ question))
    assert float(vector @ question) > 0


def test_what_a_graph_query_found_joins_the_candidates(kb, search):
    """It says why it came, and counts as much as a weighty fact."""
    (b,) = (c for c in kb.store.document_cards() if c.title.startswith("青川"))
    leaf = f"{b.doc_id}:256:0"
    plain = {
        r.chunk.chunk_id: r
        for r in PRESETS["grim-no-merge"].retrieve(search("云岭省节能"), top_k=3)
    }
    asked = {
        r.chunk.chunk_id: r
        for r in PRESETS["grim-no-merge"].retrieve(
            search("云岭省节能", queried=(leaf, "d-gone:256:0")), top_k=3
        )
    }
    assert asked[leaf].score == pytest.approx(plain[leaf].score + 2.0)
    assert "graph query" in asked[leaf].via
    assert asked.keys() == plain.keys()


def test_reasons_are_put_into_words_when_asked():
    """Those of chunks that are not shown never are."""
    worded = []

    def word(score):
        worded.append(score)
        return f"{score:.2f}"

    reasons = Reasons({"a": 0.5, "b": 0.25}, word)

    assert (list(reasons), len(reasons), "c" in reasons) == (["a", "b"], 2, False)
    assert reasons.get("c", "") == ""
    assert worded == []
    assert (reasons["b"], worded) == ("0.25", [0.25])
    assert reasons == {"a": "0.50", "b": "0.25"}


def test_what_was_begun_is_taken_once(search):
    """A second question for the same is answered from it, one for another asks the store."""
    question = "云岭省农村污水治理目标"
    plain = search(question).nearest("chunk", top_k=9)
    asked = search(question)
    asked.begin("chunk", top_k=9)
    begun = asked._begun["chunk", 9]
    calls = []

    def counted():
        calls.append(1)
        return begun()

    asked._begun["chunk", 9] = counted

    assert asked.nearest("chunk", top_k=2) == dict(list(plain.items())[:2])
    assert [asked.nearest("chunk", top_k=9) for _ in range(2)] == [plain, plain]
    assert calls == [1]


def test_nearest_of_some_documents_are_no_others(kb, search):
    """The others' are not looked at, and what was found of all is not given for them."""
    asked = search("云岭省农村污水治理目标")
    every = asked.nearest("chunk", top_k=9)
    own = {d.doc_id for d in kb.documents() if d.title == "青川市节能方案"}
    assert len(own) == 1
    assert asked.nearest("chunk", top_k=9, doc_ids=own) == {
        c: score for c, score in every.items() if document_of(c) in own
    }
    assert asked.nearest("chunk", top_k=9) == every
