"""A quote in its document, and how it is cited."""

import pytest

from kgrag.answer.citation import reference
from kgrag.answer.excerpt import Excerpt
from kgrag.errors import OutOfRangeError
from kgrag.metadata import Metadata
from kgrag.types import Document, Heading, Segment

TEXT = "节能条例\n\n第一条 目的\n为了节能，制定本条例。\n \n第二条 范围\n适用于本省。\n其他事项。"
DOCUMENT = Document(
    "d", "节能条例", TEXT, "a/节能条例.pdf", "pdf", "0",
    (Segment(0, 20, "page", 1), Segment(20, len(TEXT), "page", 2)),
    metadata=Metadata(number="云政发〔2022〕5号"),
)  # fmt: skip
HEADINGS = [
    Heading(at, at + 6, 1, TEXT[at : at + 6]) for at in (TEXT.index("第一"), TEXT.index("第二"))
]
START = TEXT.index("适用")
SPAN = (START, START + 5)


@pytest.mark.parametrize(
    ("n", "before", "after"),
    [
        (0, "", "。"),
        (1, "第二条 范围\n", "。\n其他事项。"),
        (2, "为了节能，制定本条例。\n \n第二条 范围\n", "。\n其他事项。"),
        (9, TEXT[:START], "。\n其他事项。"),
    ],
)
def test_an_excerpt_has_so_many_paragraphs_around_the_quote(n, before, after):
    """Blank ones are not counted; together they are the text."""
    found = Excerpt.of(DOCUMENT, HEADINGS, SPAN, paragraphs=n)
    assert (found.before, found.citation.quote, found.after) == (before, "适用于本省", after)
    assert found.before + found.citation.quote + found.after in TEXT


def test_an_excerpt_says_where_it_is():
    found = Excerpt.of(DOCUMENT, HEADINGS, SPAN)
    cited = found.citation
    assert (cited.page, cited.heading_path, cited.start) == (2, ("第二条 范围",), START)
    assert cited.reference == "《节能条例》（云政发〔2022〕5号）第二条"
    assert cited.place("zh") == f"a/节能条例.pdf，第 2 页，第 {START} 至 {START + 5} 个字符"


@pytest.mark.parametrize("span", [(-1, 3), (3, 3), (5, 4), (0, len(TEXT) + 1)])
def test_characters_that_a_document_lacks_are_refused(span):
    with pytest.raises(OutOfRangeError, match=rf"节能条例 has the characters 0-{len(TEXT)}"):
        Excerpt.of(DOCUMENT, HEADINGS, span)


@pytest.mark.parametrize(
    ("path", "number", "cited"),
    [
        ([], "", "《节能方案》"),
        (["总体要求"], "云政发〔2022〕5号", "《节能方案》（云政发〔2022〕5号）"),
        (["第三章 管理", "第一节 一般规定", "第二十条"], "", "《节能方案》第二十条"),
        (["第三章 管理", "第一节 一般规定"], "", "《节能方案》第三章第一节"),
        (["一、目标", "（二）工业", "3.钢铁"], "", "《节能方案》一、（二）3"),
        (["八、保障", "附件2 分工表", "一、工业"], "", "《节能方案》附件2，一"),
    ],
)
def test_a_reference_names_the_article_or_the_numbers_around(path, number, cited):
    assert reference("节能方案", number, path) == cited


def test_a_title_in_a_title_has_inner_marks():
    assert reference("关于印发《节能方案》的通知", "", []) == "《关于印发〈节能方案〉的通知》"
