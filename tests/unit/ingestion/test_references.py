import pytest

from ingestion.anchor import evidence_for
from ingestion.references import document_name, references
from kgrag.types import Chunk, Document

TEXT = (
    "云岭省人民政府关于印发《云岭省节能规划》的通知\n"
    "根据《节能法》《国家规划（2021—2025年）》（国发〔2021〕1号）等要求，制定本规划。"
    "落实《国家\n规划（2021—2025年）》。废止《旧办法》。详见《名录》。\n"
)


def found():
    document = Document(
        "d", "云岭省人民政府关于印发《云岭省节能规划》的通知", TEXT, "d.txt", "txt", "00"
    )
    leaves = [Chunk("d:256:0", "d", 256, 0, 0, len(TEXT), TEXT)]
    return references(document, leaves)


def test_references_name_relation_and_title_of_each_citation():
    """The relation word before a list of titles holds for all of them."""
    facts, _ = found()
    assert {(f.subject.name, f.predicate, f.object.name) for f in facts} == {
        ("云岭省节能规划", "依据", "节能法"),
        ("云岭省节能规划", "依据", "国家规划（2021—2025年）"),
        ("云岭省节能规划", "落实", "国家规划（2021—2025年）"),
        ("云岭省节能规划", "废止", "旧办法"),
        ("云岭省节能规划", "引用", "名录"),
    }


def test_references_give_the_place_of_the_title_as_evidence():
    """The evidence is the title with its marks, broken lines included."""
    facts, _ = found()
    places = {(f.predicate, TEXT[e.start : e.end]) for f in facts for e in f.evidence}
    assert ("落实", "《国家\n规划（2021—2025年）》") in places
    assert all(place.startswith("《") and place.endswith("》") for _, place in places)


def test_references_mention_the_document_by_the_name_others_cite():
    """A citation in another document meets this one without matching at query time."""
    _, mentions = found()
    assert [(m.entity.name, m.entity.type) for m in mentions] == [("云岭省节能规划", "document")]
    assert (
        mentions[0].evidence
        == evidence_for(
            [Chunk("d:256:0", "d", 256, 0, 0, len(TEXT), TEXT)], 0, 23, extractor="rules"
        )[0]
    )


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("云岭省人民政府关于印发《节能规划》的通知", "节能规划"),
        ("中共中央 国务院关于加快绿色转型的意见", "关于加快绿色转型的意见"),
        ("节能规划", "节能规划"),
        ("关于做好工作的通知", "关于做好工作的通知"),
    ],
)
def test_document_name_is_what_stands_in_title_marks_elsewhere(title, name):
    """The inner title after 印发, or the title from 关于 on."""
    assert document_name(title) == name
