"""Markdown: raw text, title from the first heading of level 1."""

from kgrag.ingestion.load.markdown import read_markdown


def title_of(text: str) -> str:
    """Return the title that is read of a text."""
    return read_markdown(text.encode(), name="a.md", stem="stem").title


def test_read_markdown_keeps_its_marks():
    """The text is the file as it stands; only the title is plain."""
    text = "---\nx: 1\n---\n\n# **节能**办法 #\r\n\n正文[链接](http://a)。\n"

    parsed = read_markdown(text.encode(), name="a.md", stem="a")

    assert parsed.text == text
    assert parsed.title == "节能办法"


def test_read_markdown_when_the_first_heading_is_inside_code():
    """A comment in a code block is no title."""
    assert title_of("```sh\n# install\n```\n# 节能条例\n") == "节能条例"


def test_read_markdown_when_breaks_are_old_mac():
    """Lone carriage returns end lines, too."""
    assert title_of("前言\r# 节能条例\r正文\r") == "节能条例"


def test_read_markdown_when_there_is_no_level_1_heading():
    """Without `# ` the title comes from the first lines, as in plain text."""
    assert (
        title_of("关于印发《节能\n方案》的通知\n各市：\n## 一、目标\n")
        == "关于印发《节能方案》的通知"
    )


def test_read_markdown_when_a_hash_is_no_heading():
    """`#tag` and `## ` are no title."""
    assert title_of("#tag\n## 二级\n# 条例\n") == "条例"
