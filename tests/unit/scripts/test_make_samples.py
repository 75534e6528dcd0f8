"""The script that writes the samples."""

from kgrag.ingestion.load.docx import read_docx
from kgrag.ingestion.load.html import read_html
from scripts.make_samples import (
    Piece,
    heading_level,
    make_samples,
    parse_source,
    write_docx,
    write_html,
    write_md,
    write_txt,
)

SOURCE = """# 关于节能的通知
= 云政〔2022〕1号
一、目标
（一）总体要求

到2025年，能耗下降14%，风电装机达到700万千瓦。
| 指标 | 2025年 |
| 风电 | 700 |
> 云岭省人民政府
"""
PIECES = parse_source(SOURCE)


def test_make_samples_when_run_twice(tmp_path):
    """Two runs write the same bytes: no time, no random id is in the files."""
    first = [path.read_bytes() for path in make_samples(tmp_path / "a")]
    second = [path.read_bytes() for path in make_samples(tmp_path / "b")]

    assert first == second
    assert len(first) == 10


def test_parse_source_knows_every_mark():
    """Each mark makes its kind of piece, blank lines none."""
    assert [piece.kind for piece in PIECES] == [
        *("title", "center", "text", "text", "text", "row", "row", "right"),
    ]
    assert PIECES[5] == Piece("row", ("指标", "2025年"))


def test_heading_level_of_pieces():
    """一、 and 第一章 are of level 1, a （一） alone of level 2, a sentence is none."""
    assert [heading_level(piece) for piece in PIECES[:5]] == [None, None, 1, 2, None]
    assert heading_level(Piece("center", ("第一章 总则",))) == 1
    assert heading_level(Piece("text", ("（一）原则。坚持节约。",))) is None


def test_write_txt_is_gb18030_with_windows_breaks():
    """The text file is one that needs its encoding to be found out."""
    assert write_txt(PIECES).decode("gb18030").startswith("关于节能的通知\r\n云政")


def test_write_md_has_headings_and_a_table():
    """Headings carry their level, a table its rule after the first row."""
    text = write_md(PIECES).decode()

    assert text.startswith("# 关于节能的通知\n\n云政")
    assert "\n## 一、目标\n" in text
    assert "\n### （一）总体要求\n" in text
    assert "| 指标 | 2025年 |\n| --- | --- |\n| 风电 | 700 |\n" in text


def test_write_html_has_furniture_that_the_loader_removes():
    """The page has menu, share links and footer, and its article comes back without them."""
    data = write_html(PIECES)
    parsed = read_html(data, name="a.html", stem="a")

    assert "版权所有" in data.decode()
    assert parsed.title == "关于节能的通知"
    assert parsed.text.split("\n")[1:4] == ["一、目标", "（一）总体要求", PIECES[4].text]
    assert not any(word in parsed.text for word in ("版权所有", "分享", "首页", "相关链接"))


def test_write_docx_has_headings_and_a_table():
    """The Word file comes back line by line."""
    parsed = read_docx(write_docx(PIECES), name="a.docx", stem="a")

    assert parsed.text.split("\n") == [
        "关于节能的通知",
        "云政〔2022〕1号",
        "一、目标",
        "（一）总体要求",
        PIECES[4].text,
        "| 指标 | 2025年 |",
        "| --- | --- |",
        "| 风电 | 700 |",
        "云岭省人民政府",
    ]
