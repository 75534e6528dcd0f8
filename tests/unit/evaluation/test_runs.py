"""Run files keep what a system returned."""

import json

import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation.runs import RunResult, from_ranking, read_run, run_line, write_run
from kgrag.results import ScoredChunk
from kgrag.types import Chunk

RESULT = RunResult(
    doc_id="d-1",
    chunk_id="d-1:256:0",
    file="甲.txt",
    start=0,
    end=4,
    score=0.5,
    text="绿色工厂",
    via=("vector 0.50",),
)


def test_run_line_has_the_keys_of_the_format():
    """Other programs read these keys; Chinese stays readable."""
    line = run_line("q1", [RESULT])

    assert "绿色工厂" in line
    assert json.loads(line) == {
        "id": "q1",
        "results": [
            {
                "chunk_id": "d-1:256:0",
                "doc_id": "d-1",
                "file": "甲.txt",
                "start": 0,
                "end": 4,
                "score": 0.5,
                "text": "绿色工厂",
                "via": ["vector 0.50"],
            }
        ],
    }


def test_read_run_gives_back_what_write_run_wrote(tmp_path):
    """Nothing is lost, also for a question without results; nothing else is left behind."""
    run = {"q2": [RESULT, RunResult(doc_id="d-2")], "q1": []}
    write_run(tmp_path / "run.jsonl", run)

    assert read_run(tmp_path / "run.jsonl") == run
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_from_ranking_keeps_order_and_files():
    """A ranking becomes results in the same order, with the file of the document."""
    chunk = Chunk("d-1:256:0", "d-1", 256, 0, 0, 4, "绿色工厂")

    assert from_ranking([ScoredChunk(chunk, 0.5, ("vector 0.50",), file="甲.txt")]) == [RESULT]


def test_read_run_takes_results_without_offsets(tmp_path):
    """A system that ranks whole documents may leave offsets out."""
    (tmp_path / "r.jsonl").write_text('{"id": "q", "results": [{"doc_id": "d", "start": null}]}')

    assert read_run(tmp_path / "r.jsonl") == {"q": [RunResult(doc_id="d")]}


@pytest.mark.parametrize(
    "bad",
    [
        '{"results": []}',
        '{"id": "q"}',
        '{"id": "q", "results": [3]}',
        '{"id": "q", "results": [{"chunk_id": "c"}]}',
        '{"id": "q", "results": [{"doc_id": "d", "start": 5, "end": 2}]}',
        '{"id": "q", "results": [{"doc_id": "d", "start": 5}]}',
        '{"id": "q", "results": [{"doc_id": "d", "score": "high"}]}',
        '{"id": "q", "results": [{"doc_id": "d", "file": 1}]}',
        '{"id": "first", "results": []}',
    ],
)
def test_read_run_names_file_and_line_when_one_is_malformed(tmp_path, bad):
    """A bad line is an error that says where."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "first", "results": []}\n' + bad, encoding="utf-8")

    with pytest.raises(EvaluationError, match=r"r\.jsonl:2: "):
        read_run(path)


def test_write_run_names_the_place_when_it_cannot_be_written(tmp_path):
    """The operating system's complaint arrives as an error of evaluation."""
    with pytest.raises(EvaluationError, match="nowhere"):
        write_run(tmp_path / "nowhere" / "r.jsonl", {})
