"""What is counted as quoted."""

import sys

import pytest

from benchmarks import quoted
from kgrag.answer.citation import Citation


def cited(file, start, end):
    return Citation(1, "d", "题", f"/p/{file}.txt", (), None, start, end, "文", "c")


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ([], [0.0, 0.0, 0.0]),
        ([cited("a", 0, 10)], [0.5, 0.5, 10.0]),
        ([cited("a", 0, 10), cited("a", 5, 10)], [0.5, 0.5, 15.0]),  # what is twice counts once
        ([cited("a", 5, 15), cited("b", 0, 99)], [0.75, 1.0, 109.0]),
        ([cited("c", 0, 10)], [0.0, 0.0, 10.0]),  # a document that was not asked for
    ],
)
def test_shares_of_gold_text_and_documents(citations, expected):
    """Characters count, wherever they lie; each gold document counts the same."""
    gold = {"a": [[0, 10]], "b": [[0, 4], [6, 12]]}
    assert quoted.shares(gold, citations) == expected


def test_lists_are_held_against_the_texts(policies, tmp_path, monkeypatch, capsys):
    """Titles that are cited most, and whether any document is missing."""
    told = ["quoted.py", "--kb", str(policies.store._database.file.parent), "--citing", "2"]
    monkeypatch.setattr(sys, "argv", told)
    quoted.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "节约能源法: listed 2, in the texts 2, missing 0, beside them 0"
    assert lines[-1] == "complete: 2 of 2"
