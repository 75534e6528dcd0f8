"""What is shown of a text: every character that acts, or cannot be seen, as an escape."""

import json
import os
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.text.visible import (
    LOST,
    carried,
    is_hidden,
    json_line,
    shown_path,
    visible,
    visible_line,
)

CODECS = ("gbk", "latin-1", "ascii", "utf-8", "cp1252", "cp437", "big5", "gb18030")
ANY_TEXT = st.text(
    st.one_of(
        st.characters(),  # all of Unicode, surrogates too
        st.characters(max_codepoint=0x2FF),
        st.sampled_from("\x1b\x07\x9b\r\n\t\b\u202e\u2066\u200f\u061c\ufeff\U000e0041\udce4›→—“"),
    )
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]8;;http://x\x07a\x1b]8;;\x07", r"\x1b]8;;http://x\x07a\x1b]8;;\x07"),
        ("\x1b]52;c;aGk=\x1b\\", r"\x1b]52;c;aGk=\x1b" + "\\"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\bc\x7f", r"a\rb\x08c\x7f"),
        ("\u202e\u2066\u200e\u061c", r"\u202e\u2066\u200e\u061c"),
        ("甲\u200b\ufeff\u2060\xad", r"甲\u200b\ufeff\u2060\xad"),
        ("\U000e0041\U000e0100\u034f\u3164", r"\U000e0041\U000e0100\u034f\u3164"),
        ("a\u2028b\u2029", r"a\u2028b\u2029"),
        ("\udce4\ud800", r"\xe4\ud800"),
        ("第1条　“甲”——《乙》（丙）；①㎡ é ü 😀 C:\\a", None),
        ("\ue000 \U00020000 \U000313f0 \xa0", None),  # private use, rare and new Chinese
    ],
)
def test_what_acts_or_is_not_seen_is_an_escape(text, shown):
    """And what is written stays as it is."""
    assert visible_line(text) == (text if shown is None else shown)


@settings(max_examples=400)
@given(text=ANY_TEXT)
def test_only_what_is_seen_is_left_of_any_text(text):
    """Whatever it holds: no character of control or format, none without a shape."""
    for shown in (visible(text).replace("\n", "").replace("\t", ""), visible_line(text)):
        assert not any(map(is_hidden, shown))
        assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, shown))


@settings(max_examples=400)
@given(text=ANY_TEXT, codec=st.sampled_from(CODECS))
def test_every_codec_carries_what_is_shown(text, codec):
    """Nothing raises, and what fits stays as it is."""
    shown = visible(text)
    there = carried(shown, codec)
    assert len(there) >= len(shown)
    fitting = [c for c in shown if c.encode(codec, "ignore")]
    assert not fitting or set(fitting) <= set(there)


def test_our_own_signs_have_a_likeness():
    """What we print around names is read in every encoding; other characters are `?`."""
    LOST.clear()
    ours = "甲 › 乙 —依据→ 丙 “引” ── ═══ …"
    assert carried(ours, "gbk") == ours.replace("›", ">")
    assert carried(ours, "latin-1") == '? > ? --??-> ? "?" -- === ...'
    assert LOST == {"gbk": 0, "latin-1": 6}


@settings(max_examples=300)
@given(text=ANY_TEXT, encoding=st.sampled_from(("utf-8", "UTF8", "gbk", "latin-1", "ascii")))
def test_json_is_the_same_value_and_does_nothing_on_a_terminal(text, encoding):
    """In another encoding than UTF-8 it is ASCII, so that it is UTF-8 as well."""
    line = json_line({"甲": text}, encoding=encoding)
    assert not any(map(is_hidden, line))
    # two halves of one character that stand apart are one character for JSON
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert json.loads(line) == {"甲": joined}
    line.encode(encoding)
    assert encoding.lower().startswith("utf") or line.isascii()


def test_json_holds_what_json_does_not_know():
    """Valid JSON, whatever a query returned: bytes, infinite numbers, NaN."""
    value = {"a": [float("inf"), (-float("inf"), float("nan"))], "b": b"\x00\xff", "c": 0.5}
    assert json.loads(json_line(value), parse_constant=pytest.fail) == {
        "a": ["Infinity", ["-Infinity", "NaN"]],
        "b": {"hex": "00ff"},
        "c": 0.5,
    }


def test_a_path_is_a_text_that_can_be_stored():
    """Bytes that are no character are shown; what is UTF-8 after all is read as that."""
    assert shown_path("docs/甲.txt") == "docs/甲.txt"
    assert shown_path(os.fsdecode(b"docs/\xb1\xb1.txt")) == "docs/北.txt"  # in GBK
    assert shown_path(os.fsdecode("濮阳市（2025年）通知—1.doc".encode("gbk"))) == (
        "濮阳市（2025年）通知—1.doc"
    )
    assert shown_path(os.fsdecode("甲/".encode() + b"\xb1\xb1/\xff")) == "甲/北/\\xff"
    assert shown_path(os.fsdecode("résumé.txt".encode("latin-1"))) == r"r\xe9sum\xe9.txt"
    # as Python gives names where the system's encoding is ASCII
    assert shown_path("甲.txt".encode().decode("ascii", "surrogateescape")) == "甲.txt"
    assert shown_path("a\ud800.txt") == r"a\ud800.txt"  # half a character, as Windows allows
