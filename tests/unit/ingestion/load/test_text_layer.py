"""Text layers that are no text."""

import pytest

from kgrag.ingestion.load.text_layer import is_garbage


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("".join(chr(0xE000 + i % 70) for i in range(300)), True),
        ("推进" + "".join(chr(0xE000 + i % 70) for i in range(300)), True),
        ("第一章 总则" + "\U001001ba" * 60 + "（3）" + "加快推进节能降碳" * 6, False),
        ("加快推进重点领域节能降碳。" * 20, False),
        ("| 甲 | 12 | 3.5% |\n" * 30, False),
        ("\ue001" * 40, False),
    ],
    ids=["private use", "mixed", "contents", "prose", "figures", "short"],
)
def test_is_garbage(text, expected):
    """Private-use characters of many kinds are no text; one leader, figures and prose are."""
    assert is_garbage(text) is expected
