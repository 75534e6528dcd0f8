"""The questions over laws of other fields: ids, kinds, and gold spans inside the 40 texts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
LABELS = ROOT / "benchmarks" / "labels"
DATA = ROOT.parent / "shared" / "data"
KINDS = {
    "compare": 9,
    "condition": 10,
    "deadline": 8,
    "definition": 5,
    "list": 10,
    "lookup": 9,
    "multi": 6,
    "number": 11,
    "penalty": 8,
    "responsible": 9,
    "unanswerable": 15,
}


def questions() -> list[dict[str, Any]]:
    """Return the questions in the order of the file."""
    lines = (LABELS / "fields_questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def paths() -> dict[str, str]:
    """Return the path of each text below the data folder by its document id."""
    lines = (LABELS / "fields_texts.txt").read_text("utf-8").splitlines()
    return {Path(line).stem: line for line in lines}


def test_the_file_is_well_formed():
    rows = questions()
    assert [row["id"] for row in rows] == [f"f{number:03d}" for number in range(1, 101)]
    assert len({row["question"] for row in rows}) == 100
    assert all(row["question"].strip() and row["answer"].strip() for row in rows)
    assert dict(Counter(row["kind"] for row in rows)) == KINDS


def test_gold_names_the_forty_texts():
    rows = questions()
    assert len(paths()) == 40
    assert {doc for row in rows for doc in row["gold_docs"]} == set(paths())
    for row in rows:
        assert [*row["gold_spans"]] == row["gold_docs"]
        assert bool(row["gold_spans"]) == (row["kind"] != "unanswerable"), row["id"]


@pytest.mark.skipif(not (DATA / "fields").is_dir(), reason="needs ../shared/data/fields")
def test_spans_are_whole_passages_of_the_texts():
    texts = {doc: (DATA / path).read_text("utf-8") for doc, path in paths().items()}
    for row in questions():
        spans = [(doc, *span) for doc, of in row["gold_spans"].items() for span in of]
        assert len(set(spans)) == len(spans), row["id"]
        for doc, start, end in spans:
            assert 0 <= start < end <= len(texts[doc]), row["id"]
            passage = texts[doc][start:end]
            assert passage == passage.strip(), row["id"]
            assert "\n" not in passage, row["id"]
            assert passage.endswith(tuple("。；：:")), row["id"]
