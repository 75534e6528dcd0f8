"""Plain text: offsets are those of the user's own file."""

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.plain import read_plain


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
