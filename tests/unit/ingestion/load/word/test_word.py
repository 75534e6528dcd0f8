"""Word's markup: runs, fields, formulas, heading levels, packages."""

import io
import zipfile

import pytest
from lxml import etree

from kgrag.errors import IngestionError
from kgrag.ingestion.load.docx import read_docx
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.word.formulas import equation
from kgrag.ingestion.load.word.styles import read_styles
from tests.fixtures.word_files import NS, field, paragraph, run, word_file


def read(body: str, **more) -> Parsed:
    """Read a body."""
    return read_docx(word_file(body, **more), name="a.docx", stem="stem")


def line(runs: str) -> str:
    """Return what is read of a paragraph."""
    return read(f"<w:p>{runs}</w:p>").text


OFF = '<w:default w:val="0"/>'
UP = '<w:rStyle w:val="up"/>'
WINGDINGS = '<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>'
RAISED = '<w:vertAlign w:val="superscript"/>'


def test_read_line_when_text_is_raised():
    """A power stays one, also where its parts are runs of their own or a style raises them."""
    styles = (
        '<w:style w:type="character" w:styleId="up"><w:name w:val="上标"/>'
        f"<w:rPr>{RAISED}</w:rPr></w:style>"
    )
    body = (
        f"<w:p>{run('产量3.5×10')}{run('4', RAISED)}{run('吨，密度10')}{run('-', RAISED)}"
        f"{run('6', RAISED)}{run('，面积5m')}{run('2', UP)}</w:p>"
    )

    assert read(body, parts={"styles": styles}).text == "产量3.5×10⁴吨，密度10⁻⁶，面积5m²"


def test_read_line_when_boxes_are_ticked():
    """Ticked and empty boxes are told apart, however Word keeps them."""

    def control(state: int) -> str:
        return (
            f'<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{state}"/></w14:checkbox>'
            f"</w:sdtPr><w:sdtContent>{run('☒')}</w:sdtContent></w:sdt>"
        )

    def legacy(state: str) -> str:
        data = f"<w:ffData><w:checkBox>{state}</w:checkBox></w:ffData>"
        return field(" FORMCHECKBOX ", data=data)

    body = (
        f"{control(1)}{run('是')}{control(0)}{run('否')}"
        f"{legacy(OFF + '<w:checked/>')}{run('甲')}{legacy(OFF)}{run('乙')}"
        f'<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>{run("丙")}'
        f"{run('þ', WINGDINGS)}{run('丁')}"
    )

    assert line(body) == "☑是☐否☑甲☐乙☑丙☑丁"


def test_read_line_when_a_symbol_is_unknown():
    """It is shown as missing and said, with its font."""
    parsed = read(f'<w:p>{run("甲")}<w:r><w:sym w:font="某字库" w:char="F123"/></w:r></w:p>')

    assert parsed.text == "甲\ufffd"
    assert parsed.warnings == (
        "symbols without a Unicode character, written as \ufffd: 某字库 F123",
    )


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (field(' HYPERLINK "http://a.example" ', run("网址")), "网址"),
        (field(" REF _Ref1 \\h ", run("表1")) + run("所示"), "表1所示"),
        (field(f" IF {'x'} ", field(" REF a ", run("内")) + run("外")), "内外"),
        ('<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> IF </w:instrText></w:r>'
         + field(" PAGE ", run("7"))
         + '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + run("结果")
         + '<w:r><w:fldChar w:fldCharType="end"/></w:r>', "结果"),
        ('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + run("没有结束的域"), "没有结束的域"),
        ('<w:r><w:fldChar w:fldCharType="end"/></w:r>' + run("没有开始的域"), "没有开始的域"),
        (f'<w:fldSimple w:instr=" DATE ">{run("2026年")}</w:fldSimple>', "2026年"),
        (field(r" EQ \f(1,2) "), "1/2"),
        (field(r" eq \o\ac(○,3) "), "③"),
        (field(' SYMBOL 254 \\f "Wingdings" '), "☑"),
        (field(" FORMDROPDOWN ", data='<w:ffData><w:ddList><w:result w:val="1"/>'
         '<w:listEntry w:val="甲级"/><w:listEntry w:val="乙级"/></w:ddList></w:ffData>'), "乙级"),
        ('<w:r><w:rPr><w:vanish/></w:rPr><w:fldChar w:fldCharType="begin"/></w:r>'
         '<w:r><w:instrText> XE </w:instrText></w:r>' + run("索引词")
         + '<w:r><w:rPr><w:vanish/></w:rPr><w:fldChar w:fldCharType="end"/></w:r>' + run("正文"),
         "正文"),
    ],
)  # fmt: skip
def test_read_line_when_there_are_fields(runs, text):
    """Results are text, instructions are not; a field that is not whole hides nothing."""
    assert line(runs) == text


def test_read_line_when_there_are_notes():
    """A note leaves its number where it is referred to; a second reference leaves the same one."""

    def mark(kind: str, n: int) -> str:
        return f'<w:r><w:rPr>{RAISED}</w:rPr><w:{kind}Reference w:id="{n}"/></w:r>'

    body = (
        f"<w:p>{run('甲')}{mark('footnote', 3)}{run('乙')}{mark('endnote', 3)}{run('丙')}"
        f"{mark('footnote', 3)}{mark('footnote', 9)}</w:p>"
    )
    notes = {
        f"{kind}s": f'<w:{kind} w:id="3">{paragraph(text)}{paragraph("续")}</w:{kind}>'
        for kind, text in (("footnote", "脚注"), ("endnote", "尾注"))
    }

    parsed = read(body, parts=notes)

    assert parsed.text == "甲[1]乙[2]丙[1]\n[1] 脚注 续\n[2] 尾注 续"
    assert parsed.warnings == ("2 note(s) put at the end of the text",)


def picture(alt: str = "", size: int = 3_000_000, path: str = "media/a.png") -> str:
    """Return a run with a picture."""
    return (
        f'<w:r><w:drawing><wp:inline><wp:extent cx="{size}" cy="{size}"/><wp:docPr id="1" '
        f'name="图片 1" descr="{alt}"/><a:graphic><a:graphicData><a:blip r:embed="{path}"/>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


@pytest.mark.parametrize(
    ("alt", "mark"),
    [
        ("", "[图片]"),
        ("厂区平面布置图", "[图片：厂区平面布置图]"),
        ("C:\\Users\\a\\1.png", "[图片]"),
        ("IMG_256", "[图片]"),
        ("图表, 条形图 描述已自动生成", "[图片]"),
    ],
)
def test_read_line_when_there_is_a_picture(alt, mark):
    """It leaves a mark, with what a person wrote of it, and a warning counts them."""
    parsed = read(f"<w:p>{run('见图')}{picture(alt)}</w:p>", files={"media/a.png": b"x"})

    assert parsed.text == "见图" + mark
    assert parsed.warnings == ("1 picture(s), marked [图片]: text in them is not read",)


def test_read_line_when_a_picture_is_small():
    """A bullet or line drawn as a picture is no picture to a reader."""
    assert read(f"<w:p>{picture(size=90_000)}{run('甲')}</w:p>").text == "甲"


def test_read_line_when_there_are_charts_and_objects():
    """Charts, old equations and embedded sheets are marked apart."""
    chart = "<w:r><w:drawing><a:graphic><a:graphicData><c:chart/></a:graphicData></a:graphic>"
    body = f"<w:p>{chart}</w:drawing></w:r>" + "".join(
        f'<w:r><w:object><v:shape><v:imagedata r:id="x"/></v:shape><o:OLEObject ProgID="{name}"/>'
        "</w:object></w:r>"
        for name in ("Equation.3", "Excel.Sheet.12", "Package")
    )

    parsed = read(f"{body}{run('甲')}</w:p>")

    assert parsed.text == "[图表][公式][嵌入表格][嵌入对象]甲"
    assert len(parsed.warnings) == 3


def test_read_line_when_there_is_a_diagram():
    """The texts of a diagram follow its paragraph."""
    shape = '<w:drawing><a:graphic><a:graphicData><dgm:relIds r:dm="d.xml"/>'
    body = f"<w:p>{run('流程')}<w:r>{shape}</a:graphicData></a:graphic></w:drawing></w:r></w:p>"
    text = "".join(f"<dgm:t><a:p><a:r><a:t>{t}</a:t></a:r></a:p></dgm:t>" for t in ("申报", "评审"))
    model = f'<dgm:dataModel xmlns:dgm="{DGM}" xmlns:a="{A}">{text}</dgm:dataModel>'

    assert read(body, files={"d.xml": model.encode()}).text == "流程\n申报\n评审"


DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def m(text: str) -> str:
    """Return a run of a formula."""
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text: str, tag: str = "e") -> str:
    """Return a part of a form."""
    return f"<m:{tag}>{text if text.startswith('<') else m(text)}</m:{tag}>"


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


def text_of(data: bytes) -> str:
    """Return what is read of a file."""
    return read_docx(data, name="a.docx", stem="stem").text


def test_open_package_when_the_file_is_strict():
    """ISO's strict namespaces mean the same: text, styles and formulas are read."""
    body = (
        paragraph("总则", '<w:pStyle w:val="1"/>') + "<w:p><m:oMath><m:f><m:num><m:r><m:t>1</m:t>"
    )
    body += "</m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></w:p>"
    styles = '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>'

    parsed = read_docx(
        word_file(body, parts={"styles": styles}, strict=True), name="a.docx", stem="stem"
    )

    assert parsed.text == "总则\n1/2"
    assert [segment.level for segment in parsed.segments] == [1, 0]


def test_open_package_when_it_holds_macros():
    """A file with macros is read like any other."""
    assert text_of(word_file(paragraph("正文"), macros=True)) == "正文"


def test_open_package_when_parts_are_named_otherwise():
    """Backslashes and capitals in the zip, as some writers have them, name the same parts."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word_file(paragraph("正文")))) as old,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        for path in old.namelist():
            new.writestr(path.replace("word/", "Word\\"), old.read(path))

    assert text_of(buffer.getvalue()) == "正文"


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [("_MAX_BYTES", 2000, "bytes unpacked"), ("_MAX_TAGS", 50, "tags and attributes")],
)
def test_tree_when_a_part_is_too_large(monkeypatch, limit, value, said):
    """A small file that would fill the memory is refused before a tree is made of it."""
    monkeypatch.setattr(f"kgrag.ingestion.load.word.package.{limit}", value)

    with pytest.raises(IngestionError, match=rf"a\.docx: has .* {said} .*split the file"):
        text_of(word_file(paragraph("正文") * 100))


@pytest.mark.parametrize("reference", ["&x;", "&y;"])
def test_tree_when_text_is_an_entity(reference):
    """It is neither expanded nor fetched, and the file is refused: no text is lost in silence."""
    data = word_file(paragraph(f"前{reference}后"))
    bomb = '<!DOCTYPE d [<!ENTITY x "甲乙"><!ENTITY y SYSTEM "file:///etc/hostname">]>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for path in old.namelist():
            lead = bomb if path == "word/document.xml" else ""
            new.writestr(path, lead + old.read(path).decode())

    with pytest.raises(IngestionError, match=f"text is replaced by an XML entity, {reference}"):
        text_of(buffer.getvalue())


def test_open_package_when_the_list_of_members_is_too_long(monkeypatch):
    """The list alone could fill the memory."""
    monkeypatch.setattr("kgrag.ingestion.load.word.package._MAX_DIRECTORY_BYTES", 100)

    with pytest.raises(IngestionError, match=r"a\.docx: its list of members takes"):
        text_of(word_file(paragraph("正文")))


def test_related_when_a_part_is_missing():
    """A relation that leads to nothing takes nothing away from the text."""
    data = word_file(paragraph("正文"), parts={"styles": "", "numbering": ""})
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for path in old.namelist():
            if path != "word/styles.xml":
                new.writestr(path, old.read(path))

    assert text_of(buffer.getvalue()) == "正文"


def test_an_equation_nested_without_end_ends():
    """It is no formula, and nothing of it is text."""
    assert equation("\\f(" * 500).rstrip("\\f(") == ""
