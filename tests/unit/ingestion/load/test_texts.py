"""Texts and their heads: plain, Markdown, front matter, notices, raised characters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag import KnowledgeBase
from kgrag.errors import IngestionError
from kgrag.ingestion.load.parsed import (
    join_blocks,
    join_cells,
    line_segments,
    numbered_lines,
    replace_unusable,
)
from kgrag.ingestion.load.plain import front_matter, read_markdown, read_plain
from kgrag.ingestion.load.title import guess_title, split_title


def test_read_plain_when_line_breaks_are_windows():
    """The text is the decoded file, carriage returns included."""
    text = "关于节能的通知\r\n\r\n各市：\r\n"

    parsed = read_plain(text.encode("gb18030"), name="a.txt", stem="a")

    assert parsed.text == text
    assert parsed.title == "关于节能的通知"
    assert [(s.number, text[s.start : s.end]) for s in parsed.segments] == [
        (1, "关于节能的通知"),
        (3, "各市："),
    ]
    assert parsed.properties == {"encoding": "gb18030"}
    assert parsed.warnings == ()


def test_read_plain_when_there_is_a_nul():
    """A NUL is replaced in place and reported, and the offsets after it hold."""
    parsed = read_plain("甲\x00乙丙丁\n戊".encode(), name="a.txt", stem="a")

    assert parsed.text == "甲\ufffd乙丙丁\n戊"
    assert len(parsed.warnings) == 1


def test_read_plain_when_the_file_is_binary():
    """Binary data is refused, not filled with replacement characters."""
    with pytest.raises(IngestionError):
        read_plain(b"\x01\x02\x03\x04" * 100, name="a.txt", stem="a")


def test_read_markdown_keeps_its_marks():
    """The text is the file as it stands; only the title is plain."""
    text = "# **节能**办法 #\r\n\n正文[链接](http://a)。\n"

    parsed = read_markdown(text.encode(), name="a.md", stem="a")

    assert parsed.text == text
    assert parsed.title == "节能办法"


def test_a_rule_in_the_text_ends_no_head_that_never_began():
    """Text between two rules is no head, however long."""
    assert front_matter("---\n" + "正文。\n" * 100) == {}


def test_the_head_gives_the_title_before_any_heading():
    """It is no text of the document: blanks are left of it, and offsets stay."""
    data = "---\ntitle: 节能办法\ndate: 2022-03-05\ntags:\n  - 甲\n---\n# 总则\n正文".encode()
    for read in (read_markdown, read_plain):
        parsed = read(data, name="a", stem="a")
        assert (parsed.title, parsed.properties["date"]) == ("节能办法", "2022-03-05")
        assert parsed.text.split() == ["#", "总则", "正文"]
        assert len(parsed.text) == len(data.decode())


def test_fields_of_a_crawler_are_no_text():
    """Lines of small keys, two of them known, above the text; a note or a letter's head is text."""
    head = "source: http://a.gov.cn/b.html\ncrawl_time: 2024-01-02 03:04\ntitle: 节能办法\n"
    parsed = read_markdown(f"{head}\n第一条 节能。\n".encode(), name="a.md", stem="a")
    letter = "Subject: Heating\nTo: All owners\nPlease report.\n"

    assert parsed.text.strip() == "第一条 节能。"
    assert (parsed.title, parsed.properties["source"]) == ("节能办法", "http://a.gov.cn/b.html")
    assert read_plain(letter.encode(), name="a.txt", stem="a").text == letter


def test_guess_title_when_the_text_is_endless():
    """Long text without line breaks is handled in bounded time and gives the stem."""
    assert guess_title("关于" * 500_000, "stem") == "stem"


@given(st.text(max_size=80), st.text(max_size=30))
def test_any_text_is_read(text, title):
    """The title stays where no notice is found."""
    found, notice = split_title(text, title)
    assert notice or found == title


def test_replace_unusable_when_text_is_clean():
    """Clean text comes back as it is, without a warning."""
    assert replace_unusable("甲乙") == ("甲乙", [])


def test_replace_unusable_when_characters_cannot_be_stored():
    """Each NUL or lone surrogate becomes one U+FFFD, and the warning counts them."""
    text, warnings = replace_unusable("a\x00b\ud800c")

    assert text == "a\ufffdb\ufffdc"
    assert warnings == ["unusable characters (NUL or lone surrogate) replaced by U+FFFD: 2"]


def test_numbered_lines_when_breaks_are_mixed():
    """CR, LF and CRLF each end one line; blank lines are counted but not given."""
    text = "一\r\n二\r三\n\n \n五"

    assert [(n, text[a:b]) for n, a, b in numbered_lines(text)] == [
        (1, "一"),
        (2, "二"),
        (3, "三"),
        (6, "五"),
    ]


def test_numbered_lines_when_other_separators_stand_in_a_line():
    """A form feed or a Unicode line separator ends no line: editors do not count it."""
    assert [n for n, _, _ in numbered_lines("a\x0cb\u2028c\nd")] == [1, 2]


@given(st.text(alphabet="甲 \r\n\x85a"))
def test_line_segments_for_any_text(text):
    """Segments are in order, apart, never blank, and hold all that is not blank."""
    segments = line_segments(text)

    assert all(a.end < b.start and a.number < b.number for a, b in pairwise(segments))
    assert all(text[s.start : s.end].strip() for s in segments)
    held = "".join(text[s.start : s.end] for s in segments)
    assert "".join(held.split()) == "".join(text.split())


@given(st.lists(st.text(alphabet="甲乙 　")))
def test_join_blocks_for_any_blocks(blocks):
    """Every block that is not blank stands on a line of its own and has its segment."""
    text, segments = join_blocks(blocks, "paragraph")

    kept = [block.strip() for block in blocks if block.strip()]
    assert text.split("\n") == (kept or [""])
    assert [text[s.start : s.end] for s in segments] == kept
    assert [s.number for s in segments] == list(range(1, len(kept) + 1))


def test_join_cells_when_no_cell_says_anything():
    """A row in which nothing stands gives nothing."""
    assert join_cells(["", " ", "\n"]) == ""


def test_join_cells_when_a_cell_has_line_breaks():
    """A cell stays on one line, and an empty cell keeps its place."""
    assert join_cells(["指标\n名称", "", "5%"]) == "指标 名称 |  | 5%"


def test_comments_of_markdown_are_blanks_and_places_stay():
    """Nobody reads them on a page; `<!-- 正文 -->` was quoted in answers."""
    text = "# 节能办法\n\n<!-- 施行\n日期 -->\n第一条 节能。<!-- 没有结束 第二条 合理用能。\n"
    read = read_markdown(text.encode(), name="a.md", stem="a")
    assert len(read.text) == len(text)
    assert "施行" not in read.text
    assert read.text.split() == [
        "#",
        "节能办法",
        *["第一条", "节能。<!--", "没有结束", "第二条", "合理用能。"],
    ]
    assert [read.text[s.start : s.end] for s in read.segments] == [
        "# 节能办法", "第一条 节能。<!-- 没有结束 第二条 合理用能。"
    ]  # fmt: skip


def test_read_plain_when_marks_of_gbk_were_read_as_utf_16():
    """A lone code of Yi is the mark that its bytes are in GBK; a text in Yi stays."""
    parsed = read_plain("现印发你们\ua3ac请执行\ua3ae".encode(), name="a.txt", stem="a")

    assert parsed.text == "现印发你们，请执行．"
    assert read_plain("ꆏꌠꊿꉙ".encode(), name="a.txt", stem="a").text == "ꆏꌠꊿꉙ"


def test_search_when_words_have_characters_that_are_not_seen(tmp_path):
    """Zero-width, soft and turning marks part no word, and the citation is a part of the text."""
    text = "# 云岭省节\u200b能办法\n\n第一条 床\u00ad位\u202e补\u202c贴为每人每月九百元。\n"
    (tmp_path / "a.md").write_text(text, encoding="utf-8")

    with KnowledgeBase.open(tmp_path / "kb") as base:
        base.ingest([tmp_path / "a.md"])
        (hit,) = base.search("床位补贴")

    assert "床位补贴为每人每月九百元" in hit.chunk.text
