"""OFD files and electronic books: zips of XML."""

import pytest

from kgrag import KnowledgeBase
from kgrag.errors import IngestionError
from kgrag.ingestion.load.epub import read_epub
from kgrag.ingestion.load.ofd import read_ofd
from tests.fixtures.packed import OFD, book, ofd, packed

TITLE = [(50, 30, "云岭市节约用水办法")]
BODY = [
    *TITLE,
    (38, 45, "第一条　为了节约用水，保障水资源可持续利用，根据有"),
    (30, 52, "关法律，结合本市实际，制定本办法。"),
    (38, 59, "第二条　年用水量三万立方米以上的单位，每三年测试一"),
    (30, 66, "次水平衡。"),
]
RULED = "".join(
    f'<ofd:PathObject Boundary="0 0 210 297"><ofd:AbbreviatedData>{path}</ofd:AbbreviatedData>'
    "</ofd:PathObject>"
    for path in (
        *(f"M 30 {y} L 150 {y}" for y in (100, 110, 120, 130)),
        *(f"M {x} 100 L {x} 130" for x in (30, 90, 150)),
    )
)
CELLS = [
    (x, y, text)
    for y, row in zip((107, 117, 127), ("类别 定额", "居民 120升", "学校 40升"), strict=True)
    for x, text in zip((35, 95), row.split(), strict=True)
]


def test_ofd_lines_are_paragraphs_of_pages():
    """A line goes on with the one above; a page number is none of the text."""
    parsed = read_ofd(
        ofd([BODY, [(38, 45, "第三条　本办法自2026年1月1日起施行。"), (100, 280, "— 2 —")]]),
        name="a.ofd",
        stem="a",
    )

    assert parsed.text.splitlines() == [
        "云岭市节约用水办法",
        "第一条 为了节约用水，保障水资源可持续利用，根据有关法律，结合本市实际，制定本办法。",
        "第二条 年用水量三万立方米以上的单位，每三年测试一次水平衡。",
        "第三条 本办法自2026年1月1日起施行。",
    ]
    assert parsed.title == "云岭市节约用水办法"
    assert [segment.number for segment in parsed.segments] == [1, 2]


def test_ofd_rulings_make_tables():
    text = read_ofd(ofd([[*BODY, *CELLS]], more=[RULED]), name="a.ofd", stem="a").text

    assert text.splitlines()[-4:] == [
        "| 类别 | 定额 |",
        "| --- | --- |",
        "| 居民 | 120升 |",
        "| 学校 | 40升 |",
    ]


def test_ofd_marks_across_a_page_are_not_read():
    mark = (
        '<ofd:TextObject Boundary="40 100 100 100" Size="12" CTM="0.7 0.7 -0.7 0.7 0 0">'
        '<ofd:TextCode X="0" Y="12">内部资料</ofd:TextCode></ofd:TextObject>'
    )

    assert "内部资料" not in read_ofd(ofd([BODY], more=[mark]), name="a.ofd", stem="a").text


@pytest.mark.parametrize(
    "data",
    [
        b"no zip",
        packed({"OFD.xml": f"<ofd:OFD {OFD}><ofd:DocBody/></ofd:OFD>"}),
        packed({"OFD.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}),
        ofd([[(float("inf"), 3, "甲")]]),
        ofd([[(1, 2, "甲")]], more=['<ofd:TextObject Boundary="a b"/>']),
        ofd([[(1, 2, "甲")]], more=['<ofd:TextObject Size="" CTM="1 0"/>']),
        ofd([[(1, 2, "甲" * 60_000)]]),
    ],
)
def test_damaged_ofd_is_said(data):
    with pytest.raises(IngestionError, match=r"^a\.ofd: is damaged or no OFD file"):
        read_ofd(data, name="a.ofd", stem="a")


@pytest.mark.parametrize(
    ("place", "what"),
    [("Content.xml", "page 1 is missing"), ("../../../a.xml", "page 1 is missing")],
)
def test_a_page_that_is_not_in_an_ofd_is_said(place, what):
    """And what leads out of the file is not in it."""
    body = "<ofd:DocBody><ofd:DocRoot>D/Document.xml</ofd:DocRoot></ofd:DocBody>"
    page = f'<ofd:Pages><ofd:Page BaseLoc="{place}"/></ofd:Pages>'
    data = packed(
        {
            "OFD.xml": f"<ofd:OFD {OFD}>{body}</ofd:OFD>",
            "D/Document.xml": f"<ofd:Document {OFD}>{page}</ofd:Document>",
        }
    )

    with pytest.raises(IngestionError, match=what):
        read_ofd(data, name="a.ofd", stem="a")


def test_chapters_of_a_book_are_read_in_their_order(tmp_path):
    """From file to answer, cited to the chapter's clause."""
    chapters = {
        "第二章.xhtml": "<h1>第二章 用水定额</h1><p>居民每人每日用水定额为120升。</p>",
        "a/one.xhtml": "<h1>第一章 总则</h1><p>本办法适用于云岭市的节约用水&nbsp;活动。</p>",
    }
    (tmp_path / "a.epub").write_bytes(book(chapters, title="云岭市节约用水办法"))

    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb.ingest([tmp_path / "a.epub"])
        (document,) = kb.documents()
        hits = kb.search("居民用水定额")

    assert document.title == "云岭市节约用水办法"
    assert "120升" in hits[0].chunk.text
    chapters["b.xhtml"] = (
        "<h1>第三章 附表</h1><table><tr><td>类别<td>定额<tr><td>学校<td>40升</table>"
    )
    parsed = read_epub(book(chapters), name="a.epub", stem="节水")
    assert "第三章 附表\n| 类别 | 定额 |" in parsed.text
    assert parsed.title == "节水"
    assert parsed.text.index("用水定额") < parsed.text.index("总则")
    assert [parsed.text[s.start : s.end] for s in parsed.segments] == parsed.text.splitlines()


def test_books_that_cannot_be_read_are_said():
    for data in (
        b"PK",
        book({}, more={"META-INF/rights.xml": "<rights/>"}),
        packed({"META-INF/container.xml": "<container/>"}),
    ):
        with pytest.raises(IngestionError, match=r"^a\.epub: is damaged or no book"):
            read_epub(data, name="a.epub", stem="a")
