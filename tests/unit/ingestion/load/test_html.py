"""Saved pages: the article without the site around it."""

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.html import read_html
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.metadata.read import read_metadata

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


def test_read_html_names_what_is_attached_behind_the_article():
    """Files that are linked there, not those of further pages."""
    behind = (
        "<div class='fj'><a href='/a/P020.docx?x=1'>云岭省节能规划</a>"
        "<a href='/a/%E8%A1%A8.xlsx' title='任务分工表'><img src='x.gif'></a></div>"
        "<div><a href='/b.html'>更多</a></div>"
        "<div><p>相关阅读</p><a href='/c.pdf'>年度报告</a></div>"
    )

    read = lines(f"<div><div class='t'><p>{SENTENCE}</p><p>{SENTENCE * 2}</p></div>{behind}</div>")

    assert read[-2:] == ["附件：云岭省节能规划", "附件：任务分工表"]


@pytest.mark.parametrize(
    "hidden",
    [
        "<del>补贴九千元，</del>",
        "<s>补贴九千元，</s>",
        "<span hidden>补贴九千元，</span>",
        "<span style='visibility: hidden'>补贴九千元，</span>",
        "<span style='color:red; font-size:0px'>补贴九千元，</span>",
        "<span style='text-decoration: line-through'>补贴九千元，</span>",
        "<span class='x note'>补贴九千元，</span>",
        "<span id='old'>补贴九千元，</span>",
    ],
)
def test_read_html_when_text_is_deleted_or_hidden(hidden):
    """It is not quoted as if it were in force, however the page hides it."""
    rules = "<style>@media print {.t {display:none}} p.note, .note, #old { display : none }</style>"
    text = f"<div class='t'><p>{SENTENCE}</p><p>第二条　{hidden}自公布之日起施行。</p></div>"

    assert read(page(text, rules)).text == f"{SENTENCE}\n第二条 自公布之日起施行。"


def test_read_html_when_a_rule_hides_the_whole_article():
    """A script shows it: the page is read."""
    rules = "<style>.tab { display: none }</style>"

    assert read(page(f"<div class='tab'><p>{SENTENCE}</p></div>", rules)).text == SENTENCE


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


def test_read_html_when_blocks_are_never_closed():
    """Hundreds of open blocks lose nothing; thousands are read flat, and a warning says so."""
    some = read(page("".join(f"<div><p>第{i}段，内容。</p>" for i in range(600))))
    many = read(page("".join(f"<div><p>第{i}段，内容。</p>" for i in range(3000))))

    assert some.text.count("\n") == 599
    assert some.warnings == ()
    assert many.text.count("\n") == 2999
    assert many.warnings == ("its blocks are nested too deeply, and were read without nesting",)


def test_read_html_when_inline_tags_are_nested_deeply():
    """Tags within a line may nest as deeply as a careless editor leaves them."""
    assert lines(f"<p>{'<font>' * 1500}{SENTENCE}</p>") == [SENTENCE]


BOX = (
    "<ul class='basic'><li><span>文　号：</span> 云政发〔2022〕3 号 </li>"
    "<li><span>实施日期：</span> 2022年03月05日 </li>"
    "<li><span>失效日期：</span> 2029年03月04日 </li>"
    "<li><span>文件状态：</span><script>say('有效')</script></li></ul>"
)


@pytest.mark.parametrize(
    "box",
    [
        BOX,
        "<ul><li><em>[ 文 号 ]</em>云政发〔2022〕3号</li><li>【施行日期】2022-03-05</li>"
        "<li>[失效日期]2029-03-04</li></ul>",
        "<table><tr><td>文号</td><td>云政发〔2022〕3号</td><td>施行日期</td><td>2022-03-05</td>"
        "</tr><tr><td>失效日期：</td><td>2029-03-04</td><td>时效性：</td><td></td></tr></table>",
        "<div style='display:none'>发文字号：云政发〔2022〕3号 生效日期：2022.3.5"
        " 失效日期：2029.3.4</div>",
    ],
)
def test_read_html_when_an_official_box_stands_beside_the_article(box):
    """Number and dates of the box are properties, and a document's dates follow it."""
    parsed = read(page(f"{box}<div>{f'<p>{SENTENCE}</p>' * 20}</div>"))
    metadata = read_metadata(parsed.text, title="节能办法", properties=parsed.properties)

    assert parsed.text == "\n".join([SENTENCE] * 20)
    assert metadata.number == "云政发〔2022〕3号"
    assert (metadata.effective, metadata.expires) == ("2022-03-05", "2029-03-04")


def test_read_metadata_when_the_box_made_a_documents_life_longer():
    """The box of the page holds over 有效期五年 in the text."""
    parsed = read(page(f"{BOX}<p>{SENTENCE}本办法自2022年3月5日起施行，有效期五年。</p>"))

    found = read_metadata(parsed.text, title="节能办法", properties=parsed.properties)

    assert found.expires == "2029-03-04"


def test_read_html_when_a_box_says_that_it_ended():
    """时效性：失效 is the document's status."""
    parsed = read(page(f"<p>索引号：A-1 时效性：已失效</p><div>{f'<p>{SENTENCE}</p>' * 6}</div>"))

    found = read_metadata(parsed.text, title="节能办法", properties=parsed.properties)

    assert found.status == ("失效",)


def test_read_html_when_news_only_tell_when_they_came():
    """Time and source above a text are no official box."""
    parsed = read(page(f"<p>发布时间：2022-03-05 来源：云岭日报</p><p>{SENTENCE * 3}</p>"))

    assert set(parsed.properties) == {"encoding"}


def test_read_html_when_the_end_stands_in_blocks_beside():
    """Signature, date and attachments set beside the main block belong to it; the rest does not."""
    body = (
        "<div class='wrap'><div class='no'>云政发〔2022〕3号</div>"
        f"<div class='text'>{f'<p>{SENTENCE}</p>' * 9}</div>"
        "<div class='sign'><p>云岭省人民政府办公厅</p><p>2022年3月5日</p></div>"
        "<div class='files'><p>附件：</p><p>1.重点任务分工表.docx</p></div>"
        "<div>附件1 重点任务分工<p>甲市负责实施，乙市配合。</p></div></div>"
        "<div><p>上一篇：关于节水的通知，已经印发。</p><p>附件：别的文件，不是这里的。</p></div>"
    )

    assert lines(body) == [
        "云政发〔2022〕3号",
        *[SENTENCE] * 9,
        "云岭省人民政府办公厅",
        "2022年3月5日",
        "附件：",
        "1.重点任务分工表.docx",
        "附件1 重点任务分工",
        "甲市负责实施，乙市配合。",
    ]


@pytest.mark.parametrize("declared", ["gb2312", "iso-8859-1", "big5", "windows-1252"])
def test_read_html_when_the_declared_charset_is_wrong(declared):
    """UTF-8 is read as that whatever the page declares, and so is plain Chinese in GBK."""
    source = f"<html><head><meta charset='{declared}'></head><body><p>{SENTENCE * 3}</p></body>"
    gbk = source.replace(declared, "iso-8859-1")

    assert read(source).text == SENTENCE * 3
    assert read(gbk, "gb18030").text == SENTENCE * 3


def test_read_html_when_headings_are_tagged():
    """The levels of h1 to h6 are kept with their paragraphs."""
    parsed = read(page(f"<h2>工作目标</h2><p>{SENTENCE}</p><h3>近期</h3><p>{SENTENCE}</p>"))

    assert [segment.level for segment in parsed.segments] == [2, 0, 3, 0]
