"""Reports are aligned for people and plain for programs."""

import json

from kgrag.evaluation.experiment import evaluate
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.report import as_mapping, text_table
from kgrag.evaluation.runs import RunResult

QUERIES = [GoldQuery("1", "?", ("a",), kind="k"), GoldQuery("2", "?", ("b",))]
REPORTS = {
    "bm25": evaluate({"1": [RunResult(doc_id="a")], "2": [RunResult(doc_id="b")]}, QUERIES),
    "图谱": evaluate({"1": [RunResult(doc_id="x"), RunResult(doc_id="a")]}, QUERIES),
}


def test_text_table_aligns_numbers_and_wide_names():
    """Percent with one decimal; a Chinese character takes two columns; absent measures go."""
    assert text_table(REPORTS, columns=("R@1", "R@2", "span@1000")) == (
        "system  n    R@1    R@2\nbm25    2  100.0  100.0\n图谱    2    0.0   50.0"
    )


def test_text_table_shows_a_dash_for_a_system_without_the_group():
    """A system that was not measured on a kind is shown as such, not as 0."""
    reports = {**REPORTS, "none": evaluate({}, [])}
    lines = text_table(reports, kind="k", columns=("R@1",)).splitlines()

    assert lines[1].split() == ["bm25", "1", "100.0"]
    assert lines[3].split() == ["none", "0", "-"]


def test_as_mapping_survives_json():
    """The mapping holds groups and every question, unrounded."""
    data = json.loads(json.dumps(as_mapping(REPORTS)))

    assert data["bm25"]["groups"]["all"]["scores"]["R@1"] == 1.0
    assert data["图谱"]["n_unanswered"] == 1
    assert data["图谱"]["queries"][0]["id"] == "1"
    assert data["图谱"]["queries"][0]["scores"]["MRR@10"] == 0.5
