"""Heading levels of Word paragraphs."""

import pytest
from lxml import etree

from kgrag.ingestion.load.word.headings import read_styles
from tests.fixtures.word_files import NS

STYLES = """
<w:style w:type="paragraph" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="x2"><w:name w:val="标题 2"/></w:style>
<w:style w:type="paragraph" w:styleId="b"><w:name w:val="我的三级"/>
  <w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="c"><w:name w:val="由三级"/><w:basedOn w:val="b"/></w:style>
<w:style w:type="paragraph" w:styleId="d"><w:name w:val="正文样"/><w:basedOn w:val="1"/>
  <w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="o1"><w:name w:val="绕圈"/><w:basedOn w:val="o2"/></w:style>
<w:style w:type="paragraph" w:styleId="o2"><w:name w:val="绕回"/><w:basedOn w:val="o1"/></w:style>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
"""


def element(xml: str):
    """Return an element of Word."""
    return etree.fromstring(f"<w:x {NS}>{xml}</w:x>")


@pytest.mark.parametrize(
    ("properties", "level"),
    [
        ("", 0),
        ('<w:pStyle w:val="a"/>', 0),
        ('<w:pStyle w:val="1"/>', 1),
        ('<w:pStyle w:val="x2"/>', 2),
        ('<w:pStyle w:val="b"/>', 3),
        ('<w:pStyle w:val="c"/>', 3),
        ('<w:pStyle w:val="d"/>', 0),
        ('<w:pStyle w:val="o1"/>', 0),
        ('<w:pStyle w:val="T"/>', 0),
        ('<w:pStyle w:val="Heading4"/>', 4),
        ('<w:outlineLvl w:val="1"/>', 2),
        ('<w:pStyle w:val="1"/><w:outlineLvl w:val="9"/>', 0),
        ('<w:pStyle w:val="1"/><w:outlineLvl w:val="x"/>', 1),
    ],
)
def test_level(properties, level):
    """A paragraph's own outline level wins, then its style's, then that of the styles below it."""
    paragraph = element(f"<w:pPr>{properties}</w:pPr>")

    assert read_styles(element(STYLES)).level(paragraph) == level


def test_level_when_the_file_has_no_styles():
    """The id alone names a heading."""
    paragraph = element('<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>')

    assert read_styles(None).level(paragraph) == 2
