"""Raised and lowered characters keep their meaning as plain text."""

import pytest

from kgrag.ingestion.load.raised import Script, Scripted, written


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([("3.5×10", ""), ("4", "raised"), ("吨", "")], "3.5×10⁴吨"),
        ([("10", ""), ("−", "raised"), ("4", "raised")], "10⁻⁴"),
        ([("m", ""), ("2", "raised")], "m²"),
        ([("a", ""), ("n+k", "raised")], "a^(n+k)"),
        ([("达到2000", ""), ("1", "raised"), ("家", "")], "达到2000¹家"),
        ([("办法", ""), ("[3]", "raised")], "办法[3]"),
        ([("办法", ""), ("①", "raised")], "办法①"),
        ([("办法", ""), ("注1", "raised")], "办法^(注1)"),
        ([("CO", ""), ("2", "lowered"), ("排放", "")], "CO₂排放"),
        ([("PM", ""), ("2.5", "lowered")], "PM2.5"),
        ([("CO", ""), ("2", "lowered"), ("2030年", "")], "CO₂2030年"),
        ([("log", ""), ("10", "lowered"), ("100", "")], "log₁₀100"),
        ([("E", ""), ("基准年", "lowered")], "E基准年"),
        ([("PM", ""), ("2.5", "lowered"), ("35微克", "")], "PM_(2.5)35微克"),
        ([("10", ""), (" ", "raised"), ("4", "raised")], "10 ⁴"),
        ([("整行都是小字的一段说明文字，并不是指数或脚注标记。", "raised")],
         "整行都是小字的一段说明文字，并不是指数或脚注标记。"),
    ],
)  # fmt: skip
def test_written(pieces: list[tuple[str, Script]], text):
    """A power, an index and a note's mark each come out as one reads them."""
    assert written(Scripted(*piece) for piece in pieces) == text
