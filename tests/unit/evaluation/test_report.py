"""Reports are aligned for people and plain for programs."""

import json

from kgrag.evaluation.experiment import Trial
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.report import (
    as_mapping,
    comparison_table,
    html_page,
    markdown,
    text_table,
)
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import GroupScores, QueryScores, Report, evaluate
from kgrag.evaluation.significance import Difference

QUERIES = [GoldQuery("1", "?", ("a",), kind="k"), GoldQuery("2", "?", ("b",))]
REPORTS = {
    "bm25": evaluate({"1": [RunResult(doc_id="a")], "2": [RunResult(doc_id="b")]}, QUERIES),
    "图谱": evaluate({"1": [RunResult(doc_id="x"), RunResult(doc_id="a")]}, QUERIES),
}


def test_text_table_aligns_numbers_and_wide_names():
    """Percent with one decimal; a Chinese character takes two columns; absent measures go."""
    assert text_table(REPORTS, measures=("R@1", "R@2", "span@1000")) == (
        "all   bm25  图谱\nn        2     2\nR@1  100.0   0.0\nR@2  100.0  50.0"
    )


def test_text_table_shows_a_dash_for_a_system_without_the_group():
    """A system that was not measured on a kind is shown as such, not as 0."""
    reports = {**REPORTS, "none": evaluate({}, [])}
    lines = text_table(reports, kind="k", measures=("R@1",)).splitlines()

    assert [line.split() for line in lines] == [
        ["k", "bm25", "图谱", "none"],
        ["n", "1", "1", "0"],
        ["R@1", "100.0", "0.0", "-"],
    ]


def test_as_mapping_survives_json():
    """The mapping holds groups and every question, unrounded."""
    data = json.loads(json.dumps(as_mapping(REPORTS)))

    assert data["bm25"]["groups"]["all"]["scores"]["R@1"] == 1.0
    assert data["图谱"]["n_unanswered"] == 1
    assert data["图谱"]["queries"][0]["id"] == "1"
    assert data["图谱"]["queries"][0]["scores"]["MRR@10"] == 0.5


def trial(system: str, means: dict[str, float]) -> Trial:
    """A trial of one question, which had one result of five characters in 10 ms."""
    report = Report((QueryScores("1", "", 1, means),), (GroupScores("all", 1, means),), 0)
    intervals = {name: (mean - 0.1, mean + 0.1) for name, mean in means.items()}
    return Trial(system, {"1": [RunResult("d", text="一二三四五")]}, report, intervals, (0.01,))


def test_an_experiment_in_markdown_has_a_table_a_set_with_intervals():
    """In percent; a measure that no question of a set has is left out; | is no border."""
    found = {"甲": [trial("a|b", {"R@5": 0.5})]}

    assert markdown(found, measures=["R@5", "span@2000"]) == (
        "## 甲\n\n"
        "| system | n | R@5 | ms p50 | ms p99 | characters |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| a\\|b | 1 | 50.0 [40.0, 60.0] | 10.0 | 10.0 | 5 |"
    )


def test_an_experiment_as_a_page_draws_a_line_for_each_system_with_gold_spans():
    """Names are escaped; a set without spans has a table alone."""
    spans = {"span@1000": 0.0, "span@2000": 0.5, "span@4000": 0.75, "span@8000": 1.0}
    page = html_page({"<甲>": [trial("a", spans), trial("b&c", spans)]}, measures=["span@2000"])

    assert "<h2>&lt;甲&gt;</h2>" in page
    assert page.count('<polyline points="90,210.0 140,110.0 240,60.0 440,10.0"') == 2
    assert "<td>b&amp;c<td>1<td>50.0 [40.0, 60.0]<td>10.0" in page
    assert "<svg" not in html_page({"乙": [trial("a", {"R@5": 0.5})]})


def test_a_comparison_shows_shares_in_percent_and_counts():
    """The difference with its sign."""
    found = {"R@5": Difference(8, 0.5, 0.25, -0.5, 0.125, 0.0312, 1, 4, 3)}

    assert comparison_table(found).splitlines()[1].split() == [
        *("R@5", "8", "50.0", "25.0", "-25.0", "[-50.0,", "+12.5]", "0.0312", "1", "4", "3"),
    ]
