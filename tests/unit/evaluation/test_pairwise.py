"""Two answers compared by a model that is asked twice."""

import json

import pytest

from kgrag.errors import EvaluationError, ModelUnavailableError
from kgrag.evaluation.answer_report import AnswerReport, AnswerScores
from kgrag.evaluation.chat_models import Metered, Tape
from kgrag.evaluation.pairwise import CRITERIA, ComparedAnswer, compared, prefer, read_answers
from kgrag.evaluation.queries import GoldQuery
from kgrag.testing import ScriptedChat

QUERY = GoldQuery("q1", "绿色工厂多少家？", ("a",), answers=("500家",))
MINE, OTHER = (
    ComparedAnswer("500家[1]。", "[1] 《甲》500家"),
    ComparedAnswer("600家[1]。", "[1] 《乙》600家"),
)


def said(*choices):
    return json.dumps(dict(zip(CRITERIA, choices, strict=True)))


def test_a_choice_that_stays_when_the_order_turns_counts_and_any_other_is_a_tie():
    """The second time the answers stand in the other order."""
    model = ScriptedChat([said("1", "2", "1", "tie"), said("2", "1", "1", "2")])
    told = prefer(QUERY, ["500家"], MINE, OTHER, model=model)
    assert told == {
        "correctness": "mine",
        "citation": "other",
        "truthfulness": "tie",  # what stood first was favoured both times
        "conciseness": "tie",
    }
    one, two = (request.messages[-1].content for request in model.requests)
    assert one.index("500家[1]") < one.index("600家[1]")
    assert two.index("600家[1]") < two.index("500家[1]")


def test_a_choice_of_another_form_is_asked_for_once_more():
    model = ScriptedChat(['{"correctness": "first"}', *[said("1", "1", "1", "1")] * 2])
    assert prefer(QUERY, [], MINE, OTHER, model=model)["correctness"] == "tie"
    assert len(model.requests) == 3


def report():
    citation = {"number": 1, "title": "甲", "quote": "500家"}
    row = AnswerScores("q1", "", QUERY.question, True, False, "500家[1]。", (citation,), {})
    return AnswerReport("grim", (row,))


def test_a_report_counts_choices_by_system():
    model = Metered(ScriptedChat([said("1", "1", "2", "1"), said("2", "2", "1", "1")]))
    found = compared(
        report(), {"q1": OTHER}, [(QUERY, ["500家"])], other="bm25", model=model, tape=Tape()
    )
    assert found.compared["correctness"] == {"grim": 1, "bm25": 0, "tie": 0}
    assert found.compared["truthfulness"] == {"grim": 0, "bm25": 1, "tie": 0}
    assert found.compared["conciseness"] == {"grim": 0, "bm25": 0, "tie": 1}
    assert found.rows[0].preferred["citation"] == "grim"
    assert found.rows[0].to_dict()["preferred"] == found.rows[0].preferred
    assert found.notes[0].startswith("comparing took 2 calls and ")


def test_what_could_not_be_judged_is_told():
    model = Metered(ScriptedChat([ModelUnavailableError("gone")]))
    found = compared(report(), {"q1": OTHER}, [(QUERY, [])], other="x", model=model, tape=Tape())
    assert found.notes[1] == "1 pairs could not be judged: question q1: gone"
    assert found.compared["correctness"] == {"grim": 0, "x": 0, "tie": 0}


def test_answers_to_other_questions_cannot_be_compared():
    with pytest.raises(EvaluationError, match="question q1: x has no answer to it"):
        compared(
            report(), {}, [(QUERY, [])], other="x", model=Metered(ScriptedChat([])), tape=Tape()
        )


def test_answers_are_read_from_a_file_or_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(report().rows[0].to_dict()), "utf-8")
    assert read_answers(path) == {"q1": MINE}
    path.write_text('{"id": "q1", "results": []}', "utf-8")
    with pytest.raises(EvaluationError, match=r"a\.jsonl:1: 'answer' must be a text"):
        read_answers(path)
