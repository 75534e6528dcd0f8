"""An answer as a Word file, opened as another program opens it."""

import io
import zipfile
from dataclasses import replace

import docx
import pytest
from docx.shared import Mm, Twips
from lxml import etree

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Missing, Quote, Row, Run, Side
from kgrag.answer.citation import Citation, SentenceCheck
from kgrag.answer.word import Bold, WordFile, source_words
from kgrag.status import Status
from tests.fixtures.word_files import W, footnotes

PLACE = ("第二章 目标", "第七条 总量")


def cited(number, quote="达到41%", **more):
    made = Citation(
        0, "d", "甲方案", "a/甲.pdf", PLACE, 3, 10 * number, 10 * number + 5, quote, "c"
    )
    return replace(made, **{"document_number": "甲政发〔2022〕5号"} | more)


def opened(answer):
    """Return an answer's Word file, and its footnotes."""
    data = answer.to_docx()
    return docx.Document(io.BytesIO(data)), footnotes(data)


def told(document):
    """Return the paragraphs with words outside tables, each with its style."""
    return [(p.style.name, p.text) for p in document.paragraphs if p.text]


def cells(document):
    return [[cell.text for cell in row.cells] for table in document.tables for row in table.rows]


def test_each_citation_is_a_footnote_as_officials_cite_it():
    """With what is wrong with the document, file, page and quote."""
    status = Status("expired", "2026-01-01", since="2025-02-28")
    document, notes = opened(Answer("目标？", (Quote(cited(1, status=status)),), "extractive"))
    assert told(document) == [
        ("Heading 1", "目标？"),
        ("Normal", "《甲方案》 › 第二章 目标 › 第七条 总量"),
        ("Normal", "达到41%"),
    ]
    where = "《甲方案》（甲政发〔2022〕5号）第七条【已失效，有效期至2025-02-28】，a/甲.pdf，第 3 页"
    assert notes == [f"{where}：“达到41%”"]


def test_rows_are_a_table_and_sides_have_headings():
    """What was not found is said; notes come last, in small type."""
    rows = (Row(cited(1), "甲省：41%"), Row(cited(2, "达到38%")))
    sides = (Missing(nearest=True), Side("甲市", (Quote(cited(3, "建500家")),)))
    document, notes = opened(Answer("各地？", (*rows, *sides), "extractive", notes=("只有一方",)))
    assert cells(document) == [
        ["要点", "文件", "原文"],
        ["甲省：41%", "《甲方案》", "达到41%"],
        ["", "《甲方案》", "达到38%"],
    ]
    assert told(document)[1:] == [
        ("Normal", "没有条款直接写明；最相近的是："),
        ("Heading 2", "甲市"),
        ("Normal", "《甲方案》 › 第二章 目标 › 第七条 总量"),
        ("Normal", "建500家"),
        ("Normal", "注：只有一方"),
    ]
    assert document.paragraphs[-1].runs[0].font.size.pt == 9
    assert len(notes) == 3


def test_rows_without_leads_have_no_column_for_them():
    document, _ = opened(Answer("Which?", (Row(cited(1)),), "extractive"))
    assert cells(document) == [["document", "quote"], ["《甲方案》", "达到41%"]]


def test_a_models_markdown_becomes_that_of_word():
    """Headings, items, bold words, tables; what checks found stands behind the sentence."""
    wrong = SentenceCheck(0, 11, (1,), ("600",), True)
    table = "\n\n| 市 | 家 |\n| --- | --- |\n| **甲** | 500"
    claims = (
        Claim((Run("## 目标", (cited(3),)),), "heading"),
        Claim((Run("**600**家", (cited(1),)),), before="\n\n- ", check=wrong),
        Claim((Run("1. 其次"),), before="\n\n---\n"),
        Claim((Run("", (cited(1),)), Run(" |")), before=table),
        Claim((Run("| --- |\n| --- |"),), before="\n\n段\n\n"),
    )
    document, notes = opened(Answer("目标？", claims, "m"))
    assert told(document)[1:] == [
        ("Heading 2", "目标"),
        ("List Bullet", "600家〔引文中没有：600〕"),
        ("Normal", "1. 其次"),
        ("Normal", "段"),
    ]
    (item,) = [p for p in document.paragraphs if p.style.name == "List Bullet"]
    assert [run.text for run in item.runs if run.bold] == ["600"]
    assert cells(document) == [["市", "家"], ["甲", "500"]]
    header = document.tables[0].rows[0]
    assert header._tr.trPr.find(f"{W}tblHeader") is not None
    assert [note.endswith("“达到41%”") for note in notes] == [True, True, False]


def test_a_source_is_quoted_once_in_a_section():
    """Cited again it has its reference, not another number, which might become wrong."""
    file = WordFile("题", "en")
    file.heading("一")
    file.paragraph("甲", cited(1), cited(1), Bold("乙"))
    file.heading("二")
    file.paragraph(cited(1))
    first, again, other = footnotes(file.data())
    assert first == other == f"{again}: “达到41%”"
    assert again == "《甲方案》（甲政发〔2022〕5号）第七条, a/甲.pdf, page 3"
    document = docx.Document(io.BytesIO(file.data()))
    assert [p.text for p in document.paragraphs] == ["一", "甲,乙", "二", ""]  # 1,2 and not 12


HOSTILE = (
    '=HYPERLINK("http://a")\x00\x1b[2J\x07\ud800\ufffe\u202e',
    '{ INCLUDETEXT "c:\\x" } http://a.b <w:fldSimple w:instr="DDEAUTO"/> &lt;\x0b\x0c',
    "\x001\x01 和 \x009\x01\x00" + "9" * 5000 + "\x01",
    "]]><!--\r\n\t|a|b|\u2028",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_data(text):
    """Wherever they come from; what XML cannot hold is shown as an escape."""
    source = cited(1, text, title=text, file=text, heading_path=(text,), document_number=text)
    blocks = (
        Quote(source),
        Row(replace(source, start=2), text),
        Side(text, (Missing(text),)),
        Claim((Run(f"# {text}\n| {text} |\n- **{text}**", (source,)),)),
    )
    data = Answer(text * 90, blocks, "m", notes=(text,)).to_docx()
    assert footnotes(data)
    document = docx.Document(io.BytesIO(data))
    assert len(document.core_properties.title) == 255
    assert len(document.tables) >= 1


def test_chinese_is_shown_in_chinese_fonts():
    """Word's own template has Japanese ones."""
    with zipfile.ZipFile(io.BytesIO(WordFile("题", "zh").data())) as archive:
        styles = etree.fromstring(archive.read("word/styles.xml"))
        settings = archive.read("word/settings.xml")
    fonts = {}
    for style in styles.iter(f"{W}style", f"{W}docDefaults"):
        for found in style.iter(f"{W}rFonts"):
            fonts[style.get(f"{W}styleId")] = found.get(f"{W}eastAsia")
            assert found.get(f"{W}eastAsiaTheme") is None
            assert found.get(f"{W}hint") == ("eastAsia" if found.get(f"{W}eastAsia") else None)
    assert (fonts[None], fonts["Heading1"], fonts["Title"]) == ("宋体", "黑体", "黑体")
    assert b'eastAsia="ja-JP"' not in settings


def test_a_table_of_many_columns_lies_on_its_side():
    """It fills the width between the margins, but for rounding to twentieths of a point."""
    for columns, inner in ((5, Mm(160)), (6, Mm(247))):
        file = WordFile("题", "zh", columns=columns)
        file.table([[["甲"]] * columns])
        (table,) = docx.Document(io.BytesIO(file.data())).tables
        widths = [column.width or 0 for column in table.columns]
        assert abs(sum(widths) - inner) <= columns * Twips(1)


def test_a_file_without_pages_or_name_is_cited_without_them():
    assert source_words(cited(1, page=None), "en", quoted=False).endswith("第七条, a/甲.pdf")
    assert source_words(cited(1, page=None, file=""), "zh", quoted=False).endswith("第七条")
