"""LlamaIndex's evaluators with a model of kgrag."""

import os

import pytest

if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from kgrag.errors import ModelError, ModelUnavailableError
from kgrag.integrations.llama_index_judges import GRIM_MEASURES, GrimEvaluators, KgragLLM
from kgrag.testing import ScriptedChat

QUESTION, ANSWER = "绿色工厂有多少家？", "共计500家。"
CONTEXTS = ["到2025年创建绿色工厂500家。", "推进节水灌溉。"]


def test_each_evaluator_asks_once_and_its_answer_is_read():
    """Yes or no for the first two, points of 2 and of 4 for the others."""
    model = ScriptedChat(["YES", "No, it is not.", "Good. [RESULT] 1", "Some. [RESULT] 3"])
    scores = GrimEvaluators(model)(QUESTION, ANSWER, CONTEXTS)
    assert scores == {"Resp-Ctxt-Qry": 1.0, "Loy": 0.0, "Resp-Qry": 0.5, "Ctxt-Qry": 0.75}
    assert tuple(scores) == GRIM_MEASURES
    prompts = [request.messages[-1].content for request in model.requests]
    assert all(request.stage == "verify" for request in model.requests)
    assert QUESTION in prompts[0]
    assert ANSWER in prompts[0]
    assert CONTEXTS[1] in prompts[0]
    assert QUESTION not in prompts[1]  # faithfulness is of answer and context alone
    assert CONTEXTS[0] not in prompts[2]
    assert ANSWER not in prompts[3]


def test_a_score_that_cannot_be_read_is_left_out_and_one_beyond_is_cut():
    model = ScriptedChat(["YES", "YES", "It is fine.", "All. [RESULT] 9"])
    scores = GrimEvaluators(model)(QUESTION, ANSWER, [])
    assert scores == {"Resp-Ctxt-Qry": 1.0, "Loy": 1.0, "Ctxt-Qry": 1.0}


def test_an_error_of_the_model_is_its_own():
    model = ScriptedChat([ModelUnavailableError("gone")])
    with pytest.raises(ModelUnavailableError, match="gone"):
        GrimEvaluators(model)(QUESTION, ANSWER, CONTEXTS)


def test_a_model_is_an_llm_for_prompts_and_streams():
    llm = KgragLLM(ScriptedChat(["甲", "乙"]))
    assert llm.complete("问").text == "甲"
    assert [piece.delta for piece in llm.stream_complete("问")] == ["乙"]
    assert llm.metadata.context_window == 32_000


def test_a_score_that_is_no_number_is_an_error_that_says_where():
    model = ScriptedChat(["YES", "YES", "Good. [RESULT] 1", "Some. [RESULT] 1.2.3"])
    with pytest.raises(ModelError, match=r"LlamaIndex could not judge Ctxt-Qry: .*1\.2\.3"):
        GrimEvaluators(model)(QUESTION, ANSWER, CONTEXTS)
