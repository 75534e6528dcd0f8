"""The labels are whole: fields as their README tells, no document or sentence in two halves."""

import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest

from kgrag.qualifiers import Comparator, Standing

LABELS = Path(__file__).parents[3] / "benchmarks" / "labels"
SENTENCES = {"targets": {"tune": 100, "hold": 100, "more": 60, "fresh": 80, "last": 100}}
SENTENCES["targets"] |= {
    "prose": 110,
    "fifth": 110,
    "sixth": 110,
    "seventh": 120,
    "eighth": 95,
    "ninth": 130,
}
SENTENCES["duties"] = {"tune": 50, "hold": 50, "more": 40, "fresh": 50, "last": 60}
OF_ALL = ("last", "prose", "fifth", "sixth", "seventh", "eighth", "ninth")
"""Halves drawn from all documents, also from those of the others."""


def rows(kind: str) -> list[dict[str, Any]]:
    """Return the labels of one kind."""
    files = sorted(LABELS.glob(f"{kind}*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("kind", SENTENCES)
def test_no_document_is_in_two_halves(kind):
    """What rules were tuned on tells nothing of what they are scored on, but in `OF_ALL`."""
    count: dict[str, int] = defaultdict(int)
    halves: dict[str, set[str]] = defaultdict(set)
    for row in rows(kind):
        count[row["half"]] += 1
        if row["half"] not in OF_ALL:
            halves[row["doc"]].add(row["half"])
        assert 0 <= row["start"] < row["end"]
    assert dict(count) == SENTENCES[kind]
    assert all(len(of_one) == 1 for of_one in halves.values())


@pytest.mark.parametrize("kind", SENTENCES)
def test_no_sentence_is_in_two_halves(kind):
    """Halves of `OF_ALL` share documents with the others, but no sentence."""
    spans: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for row in rows(kind):
        spans[row["doc"]].append((row["start"], row["end"], row["half"]))
    assert not [
        (row["doc"], row["start"])
        for row in rows(kind)
        if row["half"] in OF_ALL
        for start, end, half in spans[row["doc"]]
        if half != row["half"] and start < row["end"] and row["start"] < end
    ]


def test_targets_have_numbers_and_spans():
    """Values are numbers, the value stands in its sentence, and required ones have an indicator."""
    for row in rows("targets"):
        for target in row["targets"]:
            start, end = target["span"]
            assert row["start"] <= start < row["end"]
            assert start < end
            assert Decimal(target["value"]) >= 0
            assert Decimal(target.get("value_to", target["value"])) >= Decimal(target["value"])
            assert target["comparator"] in get_args(Comparator)
            assert target["standing"] in get_args(Standing)
            assert not target["year"] or len(target["year"]) == 4
            assert target["indicator"] or target["optional"]
            assert all(a < b for a, b in target["indicator"])


def test_duties_have_tasks_and_organs_in_the_clause():
    """Each organ has a role; the task lies in its item."""
    roles = {"牵头", "负责", "配合"}
    for row in rows("duties"):
        for duty in row["duties"]:
            assert duty["item"][0] <= duty["task"][0] < duty["task"][1] <= duty["item"][1]
            assert duty["organs"]
            for organ in duty["organs"]:
                assert row["start"] <= organ["span"][0] < organ["span"][1] <= row["end"]
                assert {organ["role"], *organ.get("role_or", ())} <= roles


def test_each_organ_of_a_document_is_named_once():
    """A name has one meaning in a document; regions are told from the outermost in."""
    known = [(row["doc"], row["name"]) for row in rows("organs")]
    assert len(known) == len(set(known)) >= 150
    assert all(isinstance(row["is"], str) and len(row["regions"]) <= 3 for row in rows("organs"))
