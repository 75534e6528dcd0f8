import pytest

from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.references import references
from kgrag.language.titles import document_name
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


def relation(text):
    """Return what the first title in a text is said to be."""
    document = Document("d", "甲规划", text, "d.txt", "txt", "00")
    facts, _ = references(document, [Chunk("d:256:0", "d", 256, 0, 0, len(text), text)])
    return facts[0].predicate


def test_a_text_may_begin_with_a_relation():
    """And go on for long."""
    assert relation("根据《节能法》，制定本规划。" + "其他。" * 300) == "依据"
    assert relation("其他。" * 300 + "根据《节能法》，制定本规划。") == "依据"


def test_a_relation_reaches_24_characters():
    """From its word to the title's mark."""
    assert relation("甲。根据" + "乙" * 22 + "《节能法》") == "依据"
    assert relation("甲。根据" + "乙" * 23 + "《节能法》") == "引用"


def test_a_relation_holds_for_a_list_of_titles_of_300_characters():
    """From its word to the title's first character; other titles are left out."""

    def last(length):
        listed = "、".join(["根据", *["《" + "法" * 20 + "》"] * 12])[:-1]
        listed += "法" * (length - len(listed) - 2) + "》《"
        assert len(listed) == length
        document = Document("d", "甲规划", f"。{listed}节能法》", "d.txt", "txt", "00")
        facts, _ = references(document, [Chunk("d:9:0", "d", 9, 0, 0, 999, "")])
        return facts[-1].predicate

    assert last(300) == "依据"
    assert last(301) == "引用"


@pytest.mark.parametrize(
    ("text", "place"),
    [(" \n第一句。第二句。", "第一句。"), ("前言。甲规划", "甲规划"), (" \n ", " \n ")],
)
def test_a_document_names_itself_in_its_title_or_else_its_first_sentence(text, place):
    """Or wherever it is, where it says nothing."""
    document = Document("d", "甲规划", text, "d.txt", "txt", "00")
    _, (mention,) = references(document, [Chunk("d:256:0", "d", 256, 0, 0, len(text), text)])
    at = mention.evidence
    assert text[at.start : at.end].strip() == place.strip()
    assert 0 <= at.start < at.end <= len(text)


def test_a_document_names_itself_where_its_title_stands_first():
    """Not where the text comes back to it."""
    text = "前言。甲规划\n本甲规划自发布之日起施行。"
    document = Document("d", "甲规划", text, "d.txt", "txt", "00")
    _, (mention,) = references(document, [Chunk("d:256:0", "d", 256, 0, 0, len(text), text)])
    assert mention.evidence.start == 3
