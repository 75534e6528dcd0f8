"""The head of a text file: what it says of the document, and what is no head."""

from kgrag.ingestion.load.front_matter import front_matter
from kgrag.ingestion.load.markdown import read_markdown
from kgrag.ingestion.load.plain import read_plain


def test_a_rule_in_the_text_ends_no_head_that_never_began():
    """Text between two rules is no head, however long."""
    assert front_matter("---\n" + "正文。\n" * 100) == {}


def test_the_head_gives_the_title_before_any_heading():
    """The text stays as it is, so that offsets are the file's."""
    data = "---\ntitle: 节能办法\ndate: 2022-03-05\n---\n# 总则\n正文".encode()
    for read in (read_markdown, read_plain):
        parsed = read(data, name="a", stem="a")
        assert (parsed.title, parsed.properties["date"]) == ("节能办法", "2022-03-05")
        assert parsed.text == data.decode()
