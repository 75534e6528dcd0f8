"""Slides: the order of places, titles, tables and notes."""

import io

import pptx
import pytest
from pptx.util import Cm

from kgrag.errors import IngestionError
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.slides import read_slides
from tests.fixtures.sheets import edited
from tests.fixtures.slides import deck


def read(data: bytes) -> Parsed:
    """Read a presentation as if it came from a file."""
    return read_slides(data, name="a.pptx", stem="stem")


def test_read_slides_in_the_order_of_places():
    """Titles are headings wherever they stand; boxes go from the top, and from the left."""
    parsed = read(deck())
    assert parsed.title == "云岭省节能工作汇报"
    assert [(s.number, s.level, parsed.text[s.start : s.end]) for s in parsed.segments] == [
        (1, 1, "云岭省节能工作汇报"),
        (1, 0, "省发展改革委"),
        (2, 1, "主要指标"),
        (2, 0, "左上"),
        (2, 0, "右上"),
        (2, 0, "组内一"),
        (2, 0, "组内二"),
        (2, 0, "| 指标 | 目标 2025年 | 目标 2030年 |"),
        (2, 0, "| --- | --- | --- |"),
        (2, 0, "| 森林覆盖率 | 45.2% | 46% |"),
        (2, 0, "备注：数据来自省林业局。"),
        (2, 0, "以公报为准。"),
    ]
    assert {s.kind for s in parsed.segments} == {"slide"}
    assert parsed.warnings == ("slides without a text: 3",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04", "no presentation"),
        (b"text", "no presentation"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"),
         "is locked with a password"),
        (edited(deck(), {"ppt/slides/slide1.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}),
         "replaced by an XML entity"),
        (edited(deck(), {"ppt/slides/slide9.xml": b"<a>" + b"<b/>" * 3_100_000 + b"</a>"}),
         "tags and attributes"),
        (edited(deck(), {"ppt/slides/slide2.xml": b"<a/>"}), "no presentation"),
    ],
)  # fmt: skip
def test_read_slides_when_the_file_is_none(data, said):
    """What is no presentation, locked or a bomb is refused with the remedy."""
    with pytest.raises(IngestionError, match=said):
        read(data)


def test_read_slides_when_there_are_none():
    """An empty presentation has no text."""
    buffer = io.BytesIO()
    empty = pptx.Presentation()
    empty.slide_width = Cm(20)
    empty.save(buffer)
    assert read(buffer.getvalue()).text == ""
