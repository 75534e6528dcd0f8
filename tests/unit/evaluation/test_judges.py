"""What judges are shown, and what is made of their scores."""

import json

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import ModelOutputError
from kgrag.evaluation.judges import AnswerJudge
from kgrag.evaluation.queries import GoldQuery
from kgrag.testing import ScriptedChat

QUERY = GoldQuery("q1", "到2025年甲省创建绿色工厂多少家？", ("a",))
GRID = dict.fromkeys(("faithfulness", "context_recall", "answer_relevance"), 0.5)
GRID |= {"answer_accuracy": 0.25}
COV = dict.fromkeys(
    ("reference_correctness", "correctness", "citation_accuracy", "truthfulness", "conciseness"),
    0.75,
)
JUDGED = COV | {"bias": 0.5}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    (folder / "a.txt").write_text("甲省方案\n到2025年，甲省创建绿色工厂500家。\n", "utf-8")
    (folder / "b.txt").write_text("乙市规划\n推进节水灌溉，建设高标准农田。\n", "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest(sorted(folder.glob("*.txt")))
        yield made


def judged(base, question, *, evaluators=None):
    model = ScriptedChat([json.dumps(GRID), json.dumps({**JUDGED, "judgement": "false"})])
    answer = base.ask(question, writer="quotes")
    judge = AnswerJudge(base, model, evaluators=evaluators)
    query = GoldQuery("q1", question, ("a",))
    return judge(query, answer), model, answer


def test_scores_of_both_papers_are_told_apart(base):
    scores, model, answer = judged(base, QUERY.question)
    assert answer.found
    assert scores["grid:answer_accuracy"] == 0.25
    assert scores["cov:bias"] == 0.5
    assert scores["cov:true"] == 0
    assert not any(name.startswith("grim:") for name in scores)
    shown = model.requests[0].messages[-1].content
    assert "创建绿色工厂500家" in shown
    assert "[1]" in shown
    assert "[?]" not in shown  # what is cited is among the references


def test_evaluators_get_question_plain_answer_and_contexts(base):
    seen = []

    def evaluators(*given):
        seen.append(given)
        return {"Loy": 1.0}

    scores, _, _ = judged(base, QUERY.question, evaluators=evaluators)
    assert scores["grim:Loy"] == 1
    question, answer, contexts = seen[0]
    assert question == QUERY.question
    assert "[1]" not in answer
    assert any("500家" in text for text in contexts)


def test_an_answer_that_found_nothing_has_0_but_for_its_references(base):
    """Whatever a lenient judge says of a refusal."""
    scores, _, answer = judged(base, "红烧肉怎么做", evaluators=lambda *_: {"Resp-Qry": 1.0})
    assert not answer.found
    assert scores["grim:Resp-Qry"] == scores["grid:faithfulness"] == scores["cov:correctness"] == 0
    assert scores["cov:bias"] == 1
    assert scores["grid:context_recall"] == 0.5
    assert scores["cov:reference_correctness"] == 0.75


def test_a_judge_that_gives_no_scores_is_an_error(base):
    answer = base.ask(QUERY.question, writer="quotes")
    with pytest.raises(ModelOutputError):
        AnswerJudge(base, ScriptedChat(["maybe"] * 4))(QUERY, answer)
