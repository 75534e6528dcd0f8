"""Means by kind of question, refusals, tables and files of answers."""

import json

import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation.answer_report import (
    Abstention,
    AnswerReport,
    AnswerScores,
    answer_tables,
    write_answers,
)


def row(name, kind, *, answerable=True, refused=False, **scores):
    return AnswerScores(
        name, kind, "问？", answerable, refused, "答", (), {"refused": float(refused), **scores}
    )


@pytest.fixture
def report():
    return AnswerReport(
        "grim",
        (
            row("1", "number", EM=1.0, calls=3.0, seconds=0.5),
            row("2", "number", EM=0.0, refused=True, calls=1.0, seconds=1.5),
            row("3", "none", answerable=False, refused=True, calls=2.0, seconds=1.0),
            row("4", "none", answerable=False, calls=2.0, seconds=1.0, faith=0.5),
        ),
        compared={"correctness": {"grim": 2, "bm25": 1, "tie": 1}},
    )


def test_means_are_over_the_questions_that_have_a_measure(report):
    assert report.kinds == ["all", "number", "none"]
    assert report.means()["EM"] == 0.5
    assert report.means("number")["calls"] == 2
    assert "EM" not in report.means("none")


def test_refusals_are_right_or_wrong(report):
    told = report.abstention
    assert told == Abstention(unanswerable=2, refused=1, answerable=2, wrongly_refused=1)
    assert (told.precision, told.recall, told.wrongly_refused_share) == (0.5, 0.5, 0.5)
    never = Abstention(0, 0, 3, 0)
    assert (never.precision, never.recall, never.wrongly_refused_share) == (None, None, 0.0)


def test_tables_show_percent_costs_judged_measures_and_refusals(report):
    told = answer_tables(report).splitlines()
    assert told[0].split() == ["wording", "n", "EM"]
    assert told[1].split() == ["all", "4", "50.0"]
    assert told[3].split() == ["none", "2", "-"]
    assert told[5].split() == ["cost", "n", "refused", "calls", "seconds"]
    assert told[7].split() == ["number", "2", "50.0", "2.00", "1.00"]
    assert told[10].split() == ["judged", "n", "faith"]
    assert told[-2].startswith("refused: 1 of 2 unanswerable (recall 50.0 %, precision 50.0 %), 1")
    assert told[-1] == "correctness: grim 2, bm25 1, tie 1"


def test_files_hold_a_line_a_question_or_the_report(report, tmp_path):
    write_answers(tmp_path / "a.jsonl", report)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == ["1", "2", "3", "4"]
    assert lines[1]["refused"]
    assert lines[1]["scores"]["EM"] == 0
    write_answers(tmp_path / "a.json", report)
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == report.to_dict()
    with pytest.raises(EvaluationError, match="cannot write"):
        write_answers(tmp_path / "no" / "such" / "a.jsonl", report)
