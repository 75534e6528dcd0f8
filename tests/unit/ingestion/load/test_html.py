"""Saved pages: the article without the site around it."""

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.html import read_html
from kgrag.ingestion.load.parsed import Parsed

SENTENCE = "为了推动全社会节约能源，提高能源利用效率，制定本办法。"


def page(body: str, head: str = "") -> str:
    """Return a page in UTF-8."""
    return f"<html><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>"


def read(text: str, encoding: str = "utf-8") -> Parsed:
    """Read a page as if it came from a file."""
    return read_html(text.encode(encoding), name="a.html", stem="stem")


def lines(body: str) -> list[str]:
    """Return the lines that are read of a body."""
    return read(page(body)).text.split("\n")


def test_read_html_when_a_site_stands_around():
    """Menus, scripts, breadcrumbs, share links, related links and footers are left out."""
    parsed = read(
        page(
            "<nav><a href='#'>首页</a></nav><header>门户网站，欢迎您。</header>"
            "<div class='breadcrumb'>当前位置：首页 &gt; 正文</div>"
            "<script>var a = '脚本，不是正文。';</script>"
            f"<div class='main'><div class='share'>分享到：微信</div>"
            f"<div class='text'><p>{SENTENCE}</p><p>{SENTENCE * 2}</p><p>打印</p></div></div>"
            "<div style='display: none'><p>看不见的文字，也不要。</p></div>"
            "<ul><li><a href='#'>相关文件一，解读文章很长很长很长。</a></li></ul>"
            "<footer>主办单位：云岭省人民政府，版权所有。</footer>"
        )
    )

    assert parsed.text == f"{SENTENCE}\n{SENTENCE * 2}"
    assert [(s.kind, s.number) for s in parsed.segments] == [("paragraph", 1), ("paragraph", 2)]


def test_read_html_when_paragraphs_are_siblings():
    """Paragraphs beside each other are one article, however long one of them is."""
    assert lines(f"<p>{SENTENCE * 30}</p><p>短，也是正文。</p>") == [
        SENTENCE * 30,
        "短，也是正文。",
    ]


def test_read_html_when_breaks_and_blanks_stand_in_it():
    """`<br>` ends a line; blanks are one; a line break in the source between Chinese is nothing."""
    body = f"<p>　　第一条&nbsp;&nbsp;目的<br/>第二条 适\n   用\u200b范围</p><p>{SENTENCE}</p>"

    assert lines(body)[:2] == ["第一条 目的", "第二条 适用范围"]


def test_read_html_when_inline_tags_cut_words():
    """Tags inside a line add no blanks."""
    assert lines(f"<p>到<b>2025</b>年<span>，</span>下降14%。</p><p>{SENTENCE}</p>")[0] == (
        "到2025年，下降14%。"
    )


def test_read_html_when_there_is_a_table():
    """A row is a line of cells, a row in which nothing stands gives nothing."""
    table = (
        "<table><thead><tr><th>指标</th><th>2025年</th></tr></thead>"
        "<tr><td> </td><td></td></tr><tr><td><p>风电</p><p>装机</p></td><td>700</td></tr></table>"
    )

    assert lines(f"<p>{SENTENCE}</p>{table}") == [SENTENCE, "指标 | 2025年", "风电 装机 | 700"]


def test_read_html_when_a_table_is_the_layout():
    """A table of one cell is a frame: its paragraphs stay paragraphs."""
    body = f"<table><tr><td><p>{SENTENCE}</p><p>{SENTENCE}</p></td></tr></table>"

    assert lines(body) == [SENTENCE, SENTENCE]


def test_read_html_when_the_text_is_preformatted():
    """Lines of `<pre>` stay lines."""
    assert lines(f"<pre>一、目标，第一\n二、任务，第二</pre><p>{SENTENCE}</p>")[:2] == [
        "一、目标，第一",
        "二、任务，第二",
    ]


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<meta name='ArticleTitle' content='节能办法'><title>x - 网站</title>", "", "节能办法"),
        ("<title>节能办法-云岭省人民政府门户网站</title>", "<h1>节能办法</h1>", "节能办法"),
        ("<title>节能办法-云岭省人民政府门户网站</title>", "<h1>当前位置：首页</h1>", "节能办法"),
        ("<title> 节能办法（2022-2025年） </title>", "", "节能办法（2022-2025年）"),
        ("", "<h1>关于节能的通知</h1>", "关于节能的通知"),
        ("", "<p>关于节能的意见</p>", "关于节能的意见"),
        ("", "", "stem"),
    ],
)
def test_read_html_title(head, body, title):
    """ArticleTitle, then a heading that the window repeats, then the window, then the text."""
    assert read(page(f"{body}<p>{SENTENCE}</p>", head)).title == title


@pytest.mark.parametrize("label", ["gb2312", "GBK", "gb18030"])
def test_read_html_when_the_page_is_gb18030(label):
    """The declared encoding is used, gb2312 as the larger GB18030."""
    text = f"<html><head><meta charset={label}></head><body><p>镕，{SENTENCE}</p></body></html>"

    assert read(text, "gb18030").text == f"镕，{SENTENCE}"


def test_read_html_when_it_is_xhtml():
    """An XML declaration does not disturb."""
    parsed = read(
        f'<?xml version="1.0" encoding="utf-8"?><html><body><p>{SENTENCE}</p></body></html>'
    )

    assert parsed.text == SENTENCE


def test_read_html_keeps_what_the_page_says_of_itself():
    """Date, source and address of the page are metadata."""
    head = "<meta name='PubDate' content='2024-03-04'><meta name='ContentSource' content='省厅'>"

    properties = read(page(f"<p>{SENTENCE}</p>", head)).properties

    assert properties["date"] == "2024-03-04"
    assert properties["source"] == "省厅"


def test_read_html_when_control_characters_stand_in_it():
    """Characters that XML does not allow are dropped, written out or as references."""
    body = f"<p>甲\x01乙&#1;&#x1f;&#xffff;\uffff，</p><nav>x</nav>\x02丙。<p>{SENTENCE}</p>"

    assert lines(body) == ["甲乙，", "丙。", SENTENCE]


@pytest.mark.parametrize("text", ["<!-- nothing -->", "<div>" * 10_000 + SENTENCE, "<html>", " "])
def test_read_html_when_it_is_hardly_a_page(text):
    """Whatever the parser makes of it, the outcome is a text or an ingestion error."""
    try:
        text = read(text).text
    except IngestionError:
        text = ""

    assert text in ("", SENTENCE)
