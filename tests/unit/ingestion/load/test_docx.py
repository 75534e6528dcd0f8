"""Word files: paragraphs, lists and their numbers, parts and damage."""

import io
import zipfile

import docx
import pytest
from docx.document import Document
from docx.oxml import parse_xml

from kgrag.errors import IngestionError
from kgrag.ingestion.load.docx import read_docx
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.word.styles import Level, Numbering
from tests.fixtures.word_files import field, paragraph, run, word_file

NS = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def saved(document: Document) -> bytes:
    """Return a document as the bytes of its file."""
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def read(document: Document) -> Parsed:
    """Read a document as if it came from a file."""
    return read_docx(saved(document), name="a.docx", stem="stem")


def with_body(xml: str) -> Document:
    """Return a document whose body is the given XML."""
    document = docx.Document()
    for i, element in enumerate(parse_xml(f"<w:body {NS}>{xml}</w:body>")):
        document.element.body.insert(i, element)
    return document


def text_of(xml: str) -> str:
    """Return what is read of a body."""
    return read(with_body(xml)).text


def test_read_docx_keeps_the_order_of_paragraphs_and_tables():
    """Paragraphs and table rows come in the order of the body, each with its segment."""
    document = docx.Document()
    document.add_paragraph("一、目标")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip([*table.rows[0].cells, *table.rows[1].cells], "甲乙丙丁", strict=True):
        cell.text = text
    document.add_paragraph("")
    document.add_paragraph("二、任务")

    parsed = read(document)

    assert parsed.text == "一、目标\n| 甲 | 乙 |\n| --- | --- |\n| 丙 | 丁 |\n二、任务"
    assert [parsed.text[s.start : s.end] for s in parsed.segments] == parsed.text.split("\n")
    assert [s.number for s in parsed.segments] == [1, 2, 3, 4, 5]


def test_read_docx_when_cells_are_merged():
    """A merged cell repeats its text, across or down; a row without text gives nothing."""
    document = docx.Document()
    table = document.add_table(rows=4, cols=3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "跨列"
    table.cell(0, 2).text = "丙"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "跨行"
    table.cell(1, 1).text, table.cell(1, 2).text = "1", "2"
    table.cell(2, 1).text, table.cell(2, 2).text = "3", "4"

    assert read(document).text == (
        "| 跨列 | 跨列 | 丙 |\n| --- | --- | --- |\n| 跨行 | 1 | 2 |\n| 跨行 | 3 | 4 |"
    )


def test_read_docx_when_a_table_is_a_frame():
    """The paragraphs of a table with one column stay lines, and a table inside is read."""
    document = docx.Document()
    cell = document.add_table(rows=1, cols=1).cell(0, 0)
    cell.text = "专栏1 主要指标"
    inner = cell.add_table(rows=2, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "指标", "2025年"
    inner.cell(1, 0).text, inner.cell(1, 1).text = "风电", "700"

    assert read(document).text == (
        "专栏1 主要指标\n| 指标 | 2025年 |\n| --- | --- |\n| 风电 | 700 |"
    )


def test_read_docx_leaves_out_headers_and_footers():
    """Headers and footers are not the document."""
    document = docx.Document()
    document.add_paragraph("正文")
    document.sections[0].header.paragraphs[0].text = "页眉"
    document.sections[0].footer.paragraphs[0].text = "页脚"

    assert read(document).text == "正文"


def test_read_docx_when_only_a_header_has_the_number():
    """The document's number is in the text, first, and once."""
    document = docx.Document()
    document.add_paragraph("云岭省节能办法")
    document.sections[0].header.paragraphs[0].text = "云政发〔2022〕 3号"
    assert read(document).text == "云政发〔2022〕3号\n云岭省节能办法"

    document.add_paragraph("云政发〔2022〕3号")
    assert read(document).text == "云岭省节能办法\n云政发〔2022〕3号"


@pytest.mark.parametrize(
    ("hidden", "text"),
    [
        ("<w:strike/>", "补贴。"),
        ("<w:dstrike/>", "补贴。"),
        ('<w:strike w:val="0"/>', "补贴九千元。"),
        ('<w:color w:val="FFFFFF"/>', "补贴。"),
        ('<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="003366"/>', "补贴九千元。"),
        ('<w:sz w:val="2"/>', "补贴。"),
    ],
)
def test_read_docx_when_a_run_is_not_seen(hidden, text):
    """Struck out, white on white and tiny text is none; white text on a colour is."""
    xml = (
        f"<w:p><w:r><w:t>补贴</w:t></w:r><w:r><w:rPr>{hidden}</w:rPr><w:t>九千元</w:t></w:r>"
        "<w:r><w:t>。</w:t></w:r></w:p>"
    )

    assert text_of(xml) == text


def test_read_docx_when_a_style_hides():
    """Styles of paragraphs and runs hide, also by the style that they are based on."""
    styles = (
        '<w:style w:styleId="a"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:styleId="b"><w:basedOn w:val="a"/></w:style>'
    )
    xml = (
        '<w:p><w:pPr><w:pStyle w:val="b"/></w:pPr><w:r><w:t>批注</w:t></w:r></w:p>'
        '<w:p><w:r><w:rPr><w:rStyle w:val="a"/></w:rPr><w:t>备注</w:t></w:r>'
        "<w:r><w:t>正文</w:t></w:r></w:p>"
    )

    parsed = read_docx(word_file(xml, parts={"styles": styles}), name="a.docx", stem="a")

    assert parsed.text == "正文"


def test_read_docx_when_changes_are_tracked():
    """Inserted text is text; deleted, moved-away and hidden text is not."""
    xml = (
        "<w:p><w:r><w:t>目标</w:t></w:r>"
        "<w:ins><w:r><w:t>下降14%</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>下降13%</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>移走</w:t></w:r></w:moveFrom>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>隐藏</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>。</w:t></w:r></w:p>'
    )

    assert text_of(xml) == "目标下降14%。"


def test_read_docx_when_text_is_wrapped():
    """Links, content controls, fields and formulas hold text, instructions of fields do not."""
    xml = (
        "<w:sdt><w:sdtContent><w:p><w:hyperlink><w:r><w:t>链接</w:t></w:r></w:hyperlink>"
        "<w:sdt><w:sdtContent><w:r><w:t>控件</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:instrText> REF x </w:instrText></w:r>"
        '<w:fldSimple w:instr="PAGE"><w:r><w:t>域</w:t></w:r></w:fldSimple>'
        "<m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath></w:p></w:sdtContent></w:sdt>"
    )

    assert text_of(xml) == "链接控件域E=mc"


def test_read_docx_when_lines_are_broken():
    """A line break inside a paragraph makes two lines, a tab stays a tab."""
    xml = "<w:p><w:r><w:t>甲</w:t><w:tab/><w:t>乙</w:t><w:br/><w:t>丙</w:t></w:r></w:p>"

    assert text_of(xml) == "甲\t乙\n丙"


def test_read_docx_when_there_is_a_text_box():
    """A text box follows its paragraph once, though the file holds it twice, with a warning."""
    box = "<w:txbxContent><w:p><w:r><w:t>框中</w:t></w:r></w:p></w:txbxContent>"
    xml = (
        "<w:p><w:r><w:t>前</w:t></w:r><w:r><mc:AlternateContent>"
        f"<mc:Choice Requires='wps'>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p><w:p><w:r><w:t>后</w:t></w:r></w:p>"
    )

    parsed = read(with_body(xml))

    assert parsed.text == "前\n框中\n后"
    assert len(parsed.warnings) == 1
    assert "text box" in parsed.warnings[0]


def test_read_docx_when_a_table_of_contents_was_generated():
    """Its lines repeat the headings and are left out with a warning."""
    document = docx.Document()
    document.styles.add_style("toc 1", 1)
    document.add_paragraph("一、目标\t1", style="toc 1")
    document.add_paragraph("一、目标")

    parsed = read(document)

    assert parsed.text == "一、目标"
    assert parsed.warnings == ("generated table of contents left out (1 lines)",)


NUMBERING = """<w:abstractNum {ns} w:abstractNumId="90">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/>
<w:lvlText w:val="%1、"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/>
<w:pStyle w:val="Heading2"/><w:lvlText w:val="（%2）"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%3."/></w:lvl>
</w:abstractNum>""".replace("{ns}", NS)


def numbered(
    document: Document, text: str, level: int, num_id: int = 90, style: str | None = None
) -> None:
    """Add a paragraph of an automatic list."""
    paragraph = document.add_paragraph(text, style=style)
    xml = f'<w:numPr {NS}><w:ilvl w:val="{level}"/><w:numId w:val="{num_id}"/></w:numPr>'
    paragraph._p.get_or_add_pPr().append(parse_xml(xml))


@pytest.fixture
def listed():
    """A document with the lists 90 and 91 (which restarts) of one definition."""
    document = docx.Document()
    root = document.part.numbering_part.element
    root.insert(0, parse_xml(NUMBERING))
    reference = '<w:abstractNumId w:val="90"/>'
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    root.append(parse_xml(f'<w:num {NS} w:numId="90">{reference}</w:num>'))
    root.append(parse_xml(f'<w:num {NS} w:numId="91">{reference}{restart}</w:num>'))
    return document


def test_read_docx_when_headings_are_numbered(listed):
    """Numbers that only numbering.xml holds are written before the text."""
    for text, level in (
        ("目标", 0),
        ("原则", 1),
        ("指标", 1),
        ("细项", 2),
        ("任务", 0),
        ("要求", 1),
    ):
        numbered(listed, text, level)

    assert read(listed).text == "一、目标\n（一）原则\n（二）指标\n1. 细项\n二、任务\n（一）要求"


def test_read_docx_when_a_numbered_paragraph_is_blank(listed):
    """A blank paragraph gives no line but counts, as Word shows it."""
    numbered(listed, "目标", 0)
    numbered(listed, " ", 0)
    numbered(listed, "任务", 0)

    assert read(listed).text == "一、目标\n三、任务"


def test_read_docx_when_a_list_restarts(listed):
    """A list that restarts begins at its own start."""
    numbered(listed, "甲", 0)
    numbered(listed, "乙", 0, 91)
    numbered(listed, "丙", 0, 91)

    assert read(listed).text == "一、甲\n一、乙\n二、丙"


def test_read_docx_when_the_style_is_numbered(listed):
    """A style's list numbers its paragraphs at the level that names the style."""
    style = listed.styles["Heading 2"].element
    xml = f'<w:numPr {NS}><w:numId w:val="90"/></w:numPr>'
    style.get_or_add_pPr().append(parse_xml(xml))
    numbered(listed, "目标", 0)
    listed.add_heading("原则", 2)
    numbered(listed, "不编号", 0, 0, "Heading 2")
    listed.add_heading("指标", 2)

    assert read(listed).text == "一、目标\n（一）原则\n不编号\n（二）指标"


def test_read_docx_when_a_list_has_bullets():
    """Word's own bullet list adds nothing, its own number list digits."""
    document = docx.Document()
    document.add_paragraph("点", style="List Bullet")
    document.add_paragraph("一项", style="List Number")
    document.add_paragraph("二项", style="List Number")

    assert read(document).text == "点\n1. 一项\n2. 二项"


def test_read_docx_when_there_are_footnotes():
    """Notes stand at the end in the order of their marks, with a warning."""
    body = (
        '<w:p><w:r><w:t>甲</w:t><w:footnoteReference w:id="3"/></w:r>'
        '<w:r><w:t>乙</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    notes = "".join(
        f'<w:footnote w:id="{i}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>'
        for i, text in ((1, "未引用"), (2, "后注"), (3, "前注"))
    )
    data = with_part(
        saved(with_body(body)),
        "footnotes",
        f"<w:footnotes {NS}>{notes}</w:footnotes>",
    )

    parsed = read_docx(data, name="a.docx", stem="a")

    assert parsed.text == "甲[1]乙[2]\n[1] 前注\n[2] 后注"
    assert parsed.warnings == ("2 note(s) put at the end of the text",)


def with_part(data: bytes, name: str, xml: str) -> bytes:
    """Add a part to a Word file: the file itself, its type and the relation to it."""
    kind = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{name}"
    content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{name}+xml"
    changes = {
        "[Content_Types].xml": (
            "</Types>",
            f'<Override PartName="/word/{name}.xml" ContentType="{content}"/></Types>',
        ),
        "word/_rels/document.xml.rels": (
            "</Relationships>",
            f'<Relationship Id="rId900" Type="{kind}" Target="{name}.xml"/></Relationships>',
        ),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for item in old.namelist():
            text = old.read(item)
            if item in changes:
                before, after = changes[item]
                text = text.decode().replace(before, after).encode()
            new.writestr(item, text)
        new.writestr(f"word/{name}.xml", xml)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("text", "property_title", "title"),
    [
        ("关于节能的通知", "别的标题文字", "关于节能的通知"),
        ("为了节能，制定本办法。", "云岭省节能工作安排", "云岭省节能工作安排"),
        ("为了节能，制定本办法。", "文档1", "stem"),
        ("为了节能，制定本办法。", "Microsoft Word - a.doc", "stem"),
        ("为了节能，制定本办法。", "规划定稿.docx", "stem"),
        ("为了节能，制定本办法。", "", "stem"),
    ],
)
def test_read_docx_title(text, property_title, title):
    """The text's own title wins; the property counts only if it says something."""
    document = docx.Document()
    document.add_paragraph(text)
    document.core_properties.title = property_title

    assert read(document).title == title


def test_read_docx_author():
    """The author is metadata, the name of a program is not."""
    document = docx.Document()
    document.add_paragraph("正文")
    assert read(document).properties == {}

    document.core_properties.author = "王某"
    assert read(document).properties == {"author": "王某"}


def damaged(how: str) -> bytes:
    """Return the bytes of a Word file broken in some way."""
    document = docx.Document()
    document.add_paragraph("正文")
    data = saved(document)
    if how == "cut":
        return data[: len(data) // 2]
    if how == "other zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("a.txt", "x")
        return buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for item in old.namelist():
            if item != "word/document.xml":
                new.writestr(item, old.read(item))
            elif how == "bad xml":
                new.writestr(item, old.read(item)[:-200])
    return buffer.getvalue()


@pytest.mark.parametrize("how", ["cut", "other zip", "bad xml", "no document"])
def test_read_docx_when_the_file_is_damaged(how):
    """Whatever is broken, the error is ours, names the file and gives a remedy."""
    with pytest.raises(IngestionError, match=r"a\.docx: is damaged.*save it again"):
        read_docx(damaged(how), name="a.docx", stem="a")


def test_read_docx_when_the_file_is_old_or_locked():
    """The old binary format, also around an encrypted file, is told apart from damage."""
    with pytest.raises(IngestionError, match="password"):
        read_docx(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, name="a.docx", stem="a")


def raw(body: str, **more) -> Parsed:
    """Read a body in a file that python-docx would not write."""
    return read_docx(word_file(body, **more), name="a.docx", stem="stem")


def test_read_docx_when_paragraphs_are_headings():
    """Their segments carry the level, their lines are one; other paragraphs carry none."""
    document = docx.Document()
    document.add_paragraph("关于节能的通知", style="Title")
    document.add_heading("第一章\n总则", 1)
    document.add_paragraph("为了节能，制定本办法。")
    document.add_heading("适用\n范围", 2)

    parsed = read(document)

    assert parsed.text == "关于节能的通知\n第一章 总则\n为了节能，制定本办法。\n适用范围"
    assert [segment.level for segment in parsed.segments] == [0, 1, 0, 2]


def test_read_docx_when_a_paragraph_mark_is_deleted():
    """Two paragraphs that a tracked change joined are one, under the style of the second."""
    deleted = '<w:rPr><w:del w:id="1" w:author="a"/></w:rPr>'
    body = paragraph("到2030年，", deleted) + paragraph("达到500家。")

    assert raw(body).text == "到2030年，达到500家。"
    assert raw(paragraph("末段", deleted)).text == "末段"


def test_read_docx_when_the_contents_list_has_no_style():
    """A contents field is left out by its links and page numbers; what follows it is not."""
    entry = "<w:hyperlink w:anchor='_Toc1'>" + run("一、目标") + "</w:hyperlink>"
    whole = field(' TOC \\o "1-3" ', f"{entry}</w:p><w:p>" + run("二、任务\t3"))
    body = f"<w:p>{whole}</w:p>" + paragraph("一、目标") + paragraph("正文")

    parsed = raw(body)

    assert parsed.text == "一、目标\n正文"
    assert parsed.warnings == ("generated table of contents left out (2 lines)",)


def test_read_docx_when_a_contents_field_spans_the_text():
    """A contents field that ends too late does not take the text with it."""
    whole = field(" TOC ", run("一、目标\t1") + "</w:p>" + paragraph("正文很长。") + "<w:p>")

    assert raw(f"<w:p>{whole}</w:p>").text == "正文很长。"


def test_read_docx_when_documents_are_inserted_whole():
    """What Word would take in on opening is said to be missing."""
    parsed = raw(paragraph("正文") + '<w:altChunk r:id="x"/>')

    assert parsed.text == "正文"
    assert "altChunk" in parsed.warnings[0]


def test_read_docx_when_it_is_one_picture():
    """A scan in a Word file is refused with the reason."""
    body = '<w:p><w:r><w:drawing><a:blip r:embed="a.png"/></w:drawing></w:r></w:p>'

    with pytest.raises(IngestionError, match=r"a\.docx: its text is a picture.*OCR"):
        raw(body, files={"a.png": b"x"})


def test_read_docx_when_text_would_multiply():
    """A note that is referred to again and again stands once."""
    mark = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    note = f'<w:footnote w:id="1">{paragraph("注" * 1000)}</w:footnote>'

    assert len(raw(f"<w:p>{mark * 500}</w:p>", parts={"footnotes": note}).text) < 4000


def numbering(levels: dict[int, Level]) -> Numbering:
    """Return the numbering of a file with one list, numId 1."""
    return Numbering({"1": ("0", levels)}, {}, {})


def test_label_when_levels_are_nested():
    """A level counts on by itself, and begins anew below the next of an outer level."""
    lists = numbering(
        {
            0: Level(1, "chineseCounting", "%1、"),
            1: Level(1, "chineseCounting", "（%2）"),
            2: Level(1, "decimal", "%3."),
        }
    )

    labels = [lists.label("1", level, None) for level in (0, 1, 1, 2, 2, 0, 1, 2)]

    assert labels == ["一、", "（一）", "（二）", "1.", "2.", "二、", "（一）", "1."]


def test_label_when_outer_numbers_are_shown():
    """`%1.%2` writes the outer number, in digits where the level says so."""
    lists = numbering(
        {
            0: Level(1, "chineseCounting", "第%1章"),
            1: Level(1, "decimal", "%1.%2", legal=True),
            2: Level(1, "lowerLetter", "%1-%3)"),
        }
    )

    assert [lists.label("1", i, None) for i in (0, 1, 2)] == ["第一章", "1.1", "一-a)"]


def test_label_when_an_outer_level_was_never_counted():
    """A level without its outer one shows that one's start."""
    lists = numbering({0: Level(3, "decimal", "%1"), 1: Level(1, "decimal", "%1.%2")})

    assert lists.label("1", 1, None) == "3.1"


@pytest.mark.parametrize(
    ("number_format", "text"),
    [
        ("decimal", "2"),
        ("decimalZero", "02"),
        ("decimalFullWidth", "２"),
        ("decimalEnclosedCircle", "②"),
        ("ideographDigital", "二"),
        ("ideographTraditional", "乙"),
        ("ideographZodiac", "丑"),
        ("upperLetter", "B"),
        ("lowerRoman", "ii"),
        ("upperRoman", "II"),
        ("bullet", ""),
        ("none", ""),
    ],
)
def test_label_in_each_format(number_format, text):
    """Every format that is known is written; bullets say nothing."""
    lists = numbering({0: Level(2, number_format, "%1")})

    assert lists.label("1", 0, None) == text
    assert lists.unknown == set()


def test_label_when_the_format_is_unknown():
    """An unknown format is written in digits and remembered for the warning."""
    lists = numbering({0: Level(1, "thaiCounting", "%1)")})

    assert lists.label("1", 0, None) == "1)"
    assert lists.unknown == {"thaiCounting"}


def test_label_when_lists_share_a_definition():
    """Lists of one definition count on; one that restarts does so once."""
    levels = {0: Level(1, "decimal", "%1.")}
    lists = Numbering({"1": ("0", levels), "2": ("0", levels)}, {"2": {0: 5}}, {})

    assert [lists.label(n, 0, None) for n in ("1", "1", "2", "2", "1")] == [
        *("1.", "2.", "5.", "6.", "7."),
    ]


def test_label_when_the_style_is_numbered():
    """A style's number counts; the paragraph's own numId 0 takes it away."""
    lists = numbering({0: Level(1, "decimal", "%1."), 1: Level(1, "decimal", "%2)")})
    lists.styles = {"Heading2": ("1", 1)}

    assert lists.label(None, None, "Heading2") == "1)"
    assert lists.label("0", None, "Heading2") == ""
    assert lists.label(None, None, "Normal") == ""
    assert lists.label("9", 0, None) == ""
    assert lists.label("1", 12, None) == ""
