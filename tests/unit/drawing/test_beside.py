"""Text beside pictures of its pages, and as Markdown: from a file, by command and on a page."""

import base64
import io

import pytest
from click.testing import CliRunner
from lxml import html

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.config import Config, EmbeddingConfig
from kgrag.drawing.beside import as_html, as_markdown
from kgrag.types import Document, Heading, Segment
from scripts.pdf_writer import Block, write_pdf
from tests.fixtures.served import served

PIL = pytest.importorskip("PIL.Image")
TEXT = "一、目标。到2025年减排5%。\n| 指标 | 2025年 |\n| --- | --- |\n| 甲 < 乙 | 3\ue0015 |\n末行"
HEADING = Heading(0, 4, 2, "一、目标")


def document(*warnings, segments=()):
    return Document("d", "节能<方案>", TEXT, "a.pdf", "pdf", "0", segments, warnings)


def test_markdown_has_headings_by_level_and_tables_in_one_piece():
    """What follows a heading in its line is a paragraph; a full stop alone stays with it."""
    told = as_markdown(document(), [HEADING])
    assert told.startswith(
        "## 一、目标\n\n。到2025年减排5%。\n\n| 指标 | 2025年 |\n| --- | --- |\n| 甲"
    )
    alone = Document("d", "t", "一、目标。\n正文", "a", "txt", "0")
    assert as_markdown(alone, [HEADING]) == "## 一、目标。\n\n正文\n"


def test_html_marks_pages_that_warnings_name_and_characters_that_only_a_font_knows():
    segments = (Segment(0, 16, "page", 1), Segment(17, len(TEXT), "page", 3))
    page = as_html(
        document("text not readable on pages 2-3: up to 9 %", segments=segments),
        [HEADING], {2: b"jpeg"}, "zh",
    )  # fmt: skip
    tree = html.fromstring(page)
    assert tree.xpath("//title/text()") == ["节能<方案>"]
    assert [s.get("id") for s in tree.xpath("//section")] == ["page-1", "page-2", "page-3"]
    assert [s.get("id") for s in tree.xpath("//section[h2[@class='doubt']]")] == [
        "page-2",
        "page-3",
    ]
    assert tree.xpath("//section[@id='page-1']//b/text()") == ["一、目标"]
    assert tree.xpath("//section[@id='page-3']//tr[2]/td[1]/text()") == ["甲 < 乙"]
    assert len(tree.xpath("//td/mark")) == 1
    (image,) = tree.xpath("//section[@id='page-2']//img")
    assert base64.b64decode(image.get("src").partition(",")[2]) == b"jpeg"
    assert "没有读到文字" in tree.xpath("string(//section[@id='page-2'])")


def test_a_pdf_is_compared_by_the_command_and_on_its_page(tmp_path):
    """Every page has its picture, as JPEG, beside what was read of it."""
    path = tmp_path / "a.pdf"
    path.write_bytes(write_pdf([Block((f"第{n}条 节能。" * 40,)) for n in range(1, 30)], title="x"))
    done = CliRunner().invoke(main, ["convert", str(path), "--compare"])
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(tmp_path / "kb", config=config) as kb:
        (outcome,) = kb.ingest([path]).outcomes
        with served(kb) as site:
            assert f"/beside/{outcome.doc_id}" in site.get(f"/documents/{outcome.doc_id}").text
            shown = site.get(f"/beside/{outcome.doc_id}")
    assert "sandbox" in shown.headers["content-security-policy"]
    for page in (done.stdout, shown.text):
        sections = html.fromstring(page).xpath("//section")
        assert len(sections) > 1
        for section in sections:
            (source,) = section.xpath(".//img/@src")
            assert PIL.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).width > 500
            assert "节能" in section.text_content()
    told = CliRunner().invoke(main, ["convert", str(path), "--to", "md"]).stdout
    assert told.startswith("# 第1条\n\n节能。第1条 节能。")
