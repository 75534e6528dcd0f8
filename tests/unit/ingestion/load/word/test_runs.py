"""The text of a paragraph as Word shows it."""

import pytest

from kgrag.ingestion.load.docx import read_docx
from kgrag.ingestion.load.parsed import Parsed
from tests.fixtures.word_files import field, paragraph, run, word_file


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
