"""Markdown: raw text, title from the first heading of level 1."""

from kgrag.ingestion.load.markdown import read_markdown


def test_read_markdown_keeps_its_marks():
    """The text is the file as it stands; only the title is plain."""
    text = "---\nx: 1\n---\n\n# **节能**办法 #\r\n\n正文[链接](http://a)。\n"

    parsed = read_markdown(text.encode(), name="a.md", stem="a")

    assert parsed.text == text
    assert parsed.title == "节能办法"
