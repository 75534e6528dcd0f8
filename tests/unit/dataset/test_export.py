"""Samples to train on: what is positive, what is negative, what the labels say."""

import json
import re

import pytest

from kgrag.dataset.by_rules import by_rules
from kgrag.dataset.export import Exporting, sample_line
from kgrag.evaluation.queries import GoldQuery
from kgrag.llm.chat import Message
from kgrag.verification.cov import _read_cov  # what reads a verification back


@pytest.fixture(scope="module")
def queries(samples):
    made = by_rules(samples.store, parent_size=2048, n=60)
    return [question.gold for question in made.questions]


def exporting(samples, queries, **more):
    return Exporting(
        samples.store,
        queries,
        lambda question: samples.search(question, system="hybrid", top_k=30),
        size=256,
        **more,
    )


def test_pairs_have_the_gold_chunk_and_no_other_that_answers(samples, queries):
    """QCG-Rerank, section 3.1: query, pos, neg; negatives are of the ranks that are given."""
    pairs = list(exporting(samples, queries, ranks=(2, 20)).pairs())
    assert len(pairs) >= 10
    for pair in pairs:
        (query,) = [q for q in queries if q.question == pair["query"]]
        assert pair["pos"]
        assert not set(pair["pos"]) & set(pair["neg"])
        assert len(pair["neg"]) == len(pair["neg_ranks"]) <= 7
        assert all(2 <= rank <= 20 for rank in pair["neg_ranks"])
        assert query.gold_spans


def test_pairs_read_as_an_encoder_does(samples, queries):
    """Title, headings, text."""
    pair = next(exporting(samples, queries).pairs())
    titles = {document.title for document in samples.documents()}
    assert all(text.split("\n")[0] in titles for text in [*pair["pos"], *pair["neg"]])


def test_questions_without_spans_make_no_pairs(samples):
    query = GoldQuery("q", "森林覆盖率是多少？", (samples.documents()[0].doc_id,))
    assert list(exporting(samples, [query]).pairs()) == []


def test_instructions_answer_without_passages(samples):
    """What GRIM's LoRA baseline learns; what nothing answers is refused."""
    known = GoldQuery("a", "森林覆盖率是多少？", ("d",), {}, "number", ("24%",))
    unknown = GoldQuery("b", "湿地保护率是多少？", ())
    one, other = exporting(samples, [known, unknown]).instructions()
    assert (one["input"], one["output"]) == ("森林覆盖率是多少？", "24%")
    assert set(one) == {"instruction", "input", "output"}
    assert "未找到" in other["output"]


def test_verification_has_true_and_false_answers_with_their_scores(samples, queries):
    """The output is what `--verify cov-paper` reads of a model."""
    found = list(exporting(samples, queries).verification())
    labels = {sample["label"] for sample in found if sample["task"] == "verification"}
    assert labels >= {"true", "wrong answer", "wrong citation", "not answered"}
    for sample in found:
        if sample["task"] != "verification":
            continue
        read = _read_cov(json.loads(sample["output"]))
        assert (read.judgement == "true") == (sample["label"] == "true")
        assert bool(read.revised_question) == (sample["label"] != "true")
        assert Message("user", sample["input"]).content.startswith("问题：")


def test_answering_cites_the_gold_reference(samples, queries):
    """CoV-RAG, Table 6: at most five references, the answer cites one of them."""
    found = [s for s in exporting(samples, queries).verification() if s["task"] == "qa"]
    assert found
    for sample in found:
        assert sample["instruction"] == "#Question-Answering-in-Context-Task#"
        assert 1 <= sample["input"].count("Reference [") <= 5
        assert "\\Question: " in sample["input"]


def test_an_answer_of_two_documents_cites_both(base):
    """A comparison is backed by both of its passages."""
    made = by_rules(base.store, parent_size=2048, n=1, kinds=["compare"])
    search = base.search
    exported = Exporting(base.store, [q.gold for q in made.questions], search, size=256)
    answer = next(exported.verification())
    assert len(set(re.findall(r"\[\d\]", str(answer["output"])))) == 2


def test_the_same_seed_gives_the_same_samples(samples, queries):
    lines = [
        [sample_line(s) for s in exporting(samples, queries, seed=seed).pairs()] for seed in (0, 0)
    ]
    assert lines[0] == lines[1]
