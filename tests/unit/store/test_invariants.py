"""Chunks, headings and pages of one document, broken one by one."""

from dataclasses import replace

import pytest

from kgrag.store.checks import check_chunks, check_places
from kgrag.types import Heading, Segment

TEXT = "工信部印发节能办法，绿色工厂达到五百家，由省工信厅负责。"  # two parents, four leaves


def whole(make):
    bundle = make.bundle("a", TEXT, headings=["工信部"])
    assert [c.chunk_id for c in bundle.chunks] == [
        "d-a:24:0", "d-a:24:1", "d-a:8:0", "d-a:8:1", "d-a:8:2", "d-a:8:3",
    ]  # fmt: skip
    return bundle


def broken(bundle, chunks):
    return [(p.invariant, p.subject) for p in check_chunks(bundle.document, chunks)]


def test_whole_documents_have_no_problems(make):
    """Nor has an empty one without chunks."""
    bundle, empty = whole(make), make.bundle("b", "")
    assert broken(bundle, bundle.chunks) == []
    assert list(check_places(bundle.document, bundle.headings)) == []
    assert broken(empty, []) == []


@pytest.mark.parametrize(
    ("number", "change", "expected"),
    [
        (2, {"text": "其他"}, [("chunk-text", "d-a:8:0")]),
        (2, {"start": -1}, [("chunk-text", "d-a:8:0"), ("child-inside-parent", "d-a:8:0"),
                            ("children-cover-parent", "d-a:24:0")]),
        (3, {"position": 7}, [("chunk-positions", "d-a")]),
        (2, {"parent_id": "d-a:24:9"}, [("child-has-parent", "d-a:8:0"),
                                        ("children-cover-parent", "d-a:24:0")]),
        (3, {"parent_id": "d-a:8:0"}, [("child-has-parent", "d-a:8:1"),
                                       ("children-cover-parent", "d-a:24:0")]),
        (2, {"parent_id": "d-a:24:1"}, [("child-inside-parent", "d-a:8:0"),
                                        ("children-cover-parent", "d-a:24:0")]),
        (3, {"start": 9, "text": TEXT[9:16]}, [("children-cover-parent", "d-a:24:0")]),
        (3, {"start": 7, "text": TEXT[7:16]}, [("children-cover-parent", "d-a:24:0")]),
        (1, {"start": 23, "text": TEXT[23:]}, [("parents-cover-document", "d-a"),
                                               ("children-cover-parent", "d-a:24:1")]),
    ],
)  # fmt: skip
def test_a_chunk_that_is_wrong_is_named(make, number, change, expected):
    """By what does not hold, once for each."""
    bundle = whole(make)
    chunks = list(bundle.chunks)
    chunks[number] = replace(chunks[number], **change)
    assert broken(bundle, chunks) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, [("parents-cover-document", "d-a"), ("child-has-parent", "d-a:8:3")]),
        (0, [("chunk-positions", "d-a"), ("parents-cover-document", "d-a")]),
        (5, [("children-cover-parent", "d-a:24:1")]),
    ],
)
def test_a_chunk_that_is_missing_leaves_a_gap(make, number, expected):
    """At the end, at the beginning, or of all children of a parent."""
    bundle = whole(make)
    chunks = [c for n, c in enumerate(bundle.chunks) if n != number]
    found = [p for p in broken(bundle, chunks) if not p[1].startswith("d-a:8:") or number == 1]
    assert found == expected


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, len(TEXT) + 1)])
def test_places_outside_the_text_are_named(make, start, end):
    """Headings and pages alike, with what was seen and the remedy."""
    bundle = whole(make)
    heading = Heading(start, end, 1, "一")
    (problem,) = check_places(bundle.document, [heading])
    assert (problem.invariant, problem.subject) == ("document-places", "d-a")
    assert f"{start}..{end}" in problem.detail
    assert "ingest" in problem.detail
    paged = replace(bundle.document, segments=(Segment(start, end, "page", 1),))
    assert [p.invariant for p in check_places(paged, [])] == ["document-places"]
