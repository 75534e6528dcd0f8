"""Characters of symbol fonts."""

import pytest

from kgrag.ingestion.load.word.runs import is_symbol_font, symbol


@pytest.mark.parametrize(
    ("font", "code", "character"),
    [
        ("Wingdings", 0xF0FE, "☑"),
        ("Wingdings", 0xA8, "☐"),
        ("wingdings", 0xF0FC, "✔"),
        ("Wingdings", 0xF081, "①"),
        ("Wingdings 2", 0xF052, "☑"),
        ("Wingdings 2", 0xF0A3, "☐"),
        ("Symbol", 0xF0B3, "≥"),
        ("Symbol", 0xB0, "°"),
        ("Symbol", 0x6D, "μ"),
        ("Symbol", 0xD6, "√"),
        ("宋体", 0x2460, "①"),
        ("方正小标宋", 0xF0FE, "\ufffd"),
        ("Wingdings", 0xF021, "\ufffd"),
        ("Wingdings", 0, "\ufffd"),
    ],
)
def test_symbol(font, code, character):
    """A known glyph is its Unicode character; another one is not guessed."""
    assert symbol(font, code) == character


def test_is_symbol_font():
    """Only fonts with another encoding than Unicode count."""
    assert is_symbol_font("Wingdings 2")
    assert not is_symbol_font("仿宋_GB2312")
