"""Bytes to text by fixed rules."""

import codecs
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import IngestionError
from kgrag.files.encoding import Utf8Lines, decode, decode_settings, encoding_of_json

TEXT = "第一条 为了推动节能，到2025年下降14%。\r\n第二条 “本省”适用本条例。\n"


@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-8", b"", "utf-8"),
        ("utf-8", codecs.BOM_UTF8, "utf-8"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "utf-16-le"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "utf-16-be"),
        ("utf-32-le", codecs.BOM_UTF32_LE, "utf-32-le"),
        ("utf-16-le", b"", "utf-16-le"),
        ("utf-16-be", b"", "utf-16-be"),
        ("gb18030", b"", "gb18030"),
        ("gbk", b"", "gb18030"),
    ],
)
def test_decode_when_text_is_whole(encoding, mark, name):
    """Every encoding is recognised, the mark is left out, no character or break is changed."""
    decoded = decode(mark + TEXT.encode(encoding), name="a.txt")

    assert decoded.text == TEXT
    assert decoded.encoding == name
    assert decoded.warnings == []


TRADITIONAL = "第二條　本辦法所稱主管機關，在中央為經濟部，在直轄市為直轄市政府。"


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        (TRADITIONAL * 20, None),
        (TRADITIONAL, None),
        (TRADITIONAL[4:13], None),
        (TRADITIONAL[4:13], "big5"),
        (TRADITIONAL, "iso-8859-1"),
    ],
)
def test_decode_when_text_is_in_big5(text, declared):
    """Its bytes are characters of GB18030, too, but rare ones; GBK in the same characters stays."""
    assert decode(text.encode("big5"), name="a.txt", declared=declared).text == text
    assert decode(text.encode("gb18030"), name="a.txt").text == text


def test_decode_when_utf_16_has_no_zero_byte():
    """Chinese in UTF-16 without a line break is not taken for GB18030."""
    text = "节约能源条例由省人民政府发展改革部门负责解释"

    assert decode(text.encode("utf-16-le"), name="a.txt").text == text
    assert decode(text.encode("utf-16-be"), name="a.txt").text == text


def test_decode_when_utf_16_is_all_latin():
    """Latin letters in UTF-16 are valid UTF-8 full of zeros, and still read as UTF-16."""
    assert decode("plain text\n".encode("utf-16-le"), name="a.txt").text == "plain text\n"


def test_decode_when_ascii_holds_one_zero_byte():
    """A stray zero does not turn ASCII letters into Chinese by pairs."""
    assert decode(b"plain text\x00 and more text\n", name="a.txt").encoding == "utf-8"


def test_decode_when_utf_8_is_damaged():
    """A damaged place in long UTF-8 becomes U+FFFD and is counted; the rest stays."""
    data = bytearray((TEXT * 20).encode())
    data[3] = 0xFF

    decoded = decode(bytes(data), name="a.txt")

    assert decoded.encoding == "utf-8"
    assert decoded.text.endswith(TEXT)
    assert decoded.n_replaced == decoded.text.count("\ufffd") > 0
    assert "could not be decoded" in decoded.warnings[0]


def test_decode_when_the_file_holds_replacement_characters_of_its_own():
    """U+FFFD that stands in the file is no damage."""
    assert decode("甲\ufffd乙".encode(), name="a.txt").warnings == []


def test_decode_when_gb18030_is_damaged():
    """The reading that loses less wins, with a warning that counts the loss."""
    data = (TEXT * 5).encode("gb18030") + b"\xff"

    decoded = decode(data, name="a.txt")

    assert decoded.encoding == "gb18030"
    assert decoded.n_replaced == 1


def test_decode_when_a_latin_letter_is_in_an_old_encoding():
    """Letters of Latin-1 text are not read two by two as Chinese."""
    decoded = decode("a law on café energy\n".encode("latin-1"), name="a.txt")

    assert decoded.text.startswith("a law on caf")
    assert decoded.n_replaced == 1


def test_decode_when_the_page_declares_gb2312():
    """A declared gb2312 is read as GB18030, which holds the characters beyond it."""
    decoded = decode("镕基".encode("gb18030"), name="a.html", declared="gb2312")

    assert decoded.text == "镕基"


def test_decode_when_the_declaration_is_wrong():
    """A declaration that does not fit the bytes is passed over."""
    assert decode(TEXT.encode(), name="a.html", declared="ascii").text == TEXT
    assert decode(TEXT.encode(), name="a.html", declared="no-such-code").text == TEXT


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"%PDF-1.7\n...", "PDF"),
        (b"PK\x03\x04....", "Office"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".docx"),
        (b"\x89PNG\r\n", "image"),
    ],
)
def test_decode_when_the_file_is_of_another_kind(data, word):
    """A file with the wrong ending is refused with its real kind and a remedy."""
    with pytest.raises(IngestionError, match=word):
        decode(data, name="a.txt")


def test_decode_when_the_file_is_binary():
    """Bytes that are no text in any encoding are refused, naming the file."""
    with pytest.raises(IngestionError, match=r"a\.txt: does not look like text"):
        decode(bytes(range(256)) * 20, name="a.txt")


CHINESE = st.text(
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5) | st.sampled_from("，。、\n 2025年"),
    min_size=6,
)


@given(CHINESE)
def test_decode_for_any_chinese_text_in_utf_8(text):
    """UTF-8 comes back exactly, whatever the characters."""
    assert decode(text.encode(), name="a.txt").text == text


@given(st.text(st.sampled_from("为了推动全社会节约能源提高利用效率保护环境，。\n1%"), min_size=8))
def test_decode_for_common_chinese_text_in_gb18030(text):
    """Text of common characters comes back exactly from GB18030."""
    assert decode(text.encode("gb18030"), name="a.txt").text == text


ANY_ENCODING = [
    ("utf-8", b""),
    ("utf-8", codecs.BOM_UTF8),
    ("gb18030", b""),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-16-le", b""),
]


@pytest.mark.parametrize(("encoding", "mark"), ANY_ENCODING)
def test_settings_are_read_in_any_encoding(encoding, mark):
    """As Notepad and its like save them."""
    assert decode_settings(mark + TEXT.encode(encoding), name="kgrag.toml") == TEXT


def test_settings_that_are_not_whole_are_refused():
    """The error says which encoding the file seems to be in, and the remedy."""
    with pytest.raises(IngestionError, match=r"a\.toml: seems to be gb18030, but not all"):
        decode_settings((TEXT * 5).encode("gb18030") + b"\xff", name="a.toml")


def lines_of(data):
    """Return the lines of a file that holds these bytes."""
    with Utf8Lines(io.BufferedReader(io.BytesIO(data))) as lines:
        return list(lines)


@pytest.mark.parametrize(("encoding", "mark"), ANY_ENCODING)
def test_lines_are_utf_8_whatever_the_file_is_in(encoding, mark):
    """Characters of which a byte is a line break in another encoding do not break lines."""
    lines = ['{"a": "上海市的节能减排内容\\n二、\u0a0a\u4e0a\u2028"}\n', "\n", '{"b": "末行"}']
    data = mark + "".join(lines).encode(encoding)
    read = [line.decode() for line in lines_of(data)]
    assert [line.removeprefix("\ufeff") for line in read] == lines


def test_a_line_that_its_encoding_cannot_hold_is_no_json():
    """It is not taken in with another text than it has."""
    good = '{"a": "节约能源条例由省人民政府负责解释"}\n'.encode("gb18030")
    bad = good.replace(b"}", b"\xff}")
    first, second = lines_of(good + bad)
    assert json.loads(first)
    with pytest.raises(UnicodeDecodeError):
        json.loads(second)


@pytest.mark.parametrize("n_cut", range(4))
def test_a_head_that_is_broken_off_in_a_character_is_utf_8_still(n_cut):
    """A line may be longer than the head, and have few characters beyond ASCII."""
    head = ('{"text": "' + "x" * 500 + "能😀").encode()
    assert encoding_of_json(head[: len(head) - n_cut]) == "utf-8"


def test_a_letter_in_an_old_encoding_does_not_make_a_file_chinese():
    """Its line is refused instead of taken in with a character that nobody wrote."""
    assert encoding_of_json('{"text": "le café énergie naïve"}'.encode("latin-1")) == "utf-8"


def test_a_line_that_does_not_end_is_refused(monkeypatch):
    """A device, or a file without line breaks, does not fill the memory."""
    monkeypatch.setattr("kgrag.files.encoding.MOST_LINE", 10)

    assert lines_of(b"0123456789") == [b"0123456789"]
    with pytest.raises(OSError, match="more than 10 bytes"):
        lines_of(b"{}\n" + b"0" * 11)
