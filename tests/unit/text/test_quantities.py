"""Numbers, dates and numerals: properties and errors; examples are in tests/cases/numbers.toml."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.answer_text import statements
from kgrag.text.as_of import parse_as_of
from kgrag.text.numerals import chinese_number, han_numeral, roman_number, whole_number
from kgrag.text.quantities import dates, narrow, quantities, says_nothing


def read(text):
    return [(q.unit, sorted(q.values)) for q in quantities(text)]


@given(
    st.text(alphabet="0123456789,.一二十百千万亿零两点年月日%％元家至-—（） abPMjune", max_size=40)
)
def test_quantities_and_dates_of_any_text_stay_within_it(text):
    """Never an error; every place holds something."""
    places = [(q.start, q.end) for q in quantities(text)]
    places += [(d.start, d.end) for d in dates(text)]
    for start, end in places:
        assert 0 <= start < end <= len(text)


@given(st.integers(0, 10**12))
def test_quantities_read_any_number_with_and_without_commas(number):
    """1,000 is 1000."""
    assert read(f"{number:,}家") == read(f"{number}家") == [("家", [number])]


@given(st.text(max_size=60))
def test_narrow_keeps_the_length(text):
    """Offsets stay."""
    assert len(narrow(text)) == len(text)


@pytest.mark.parametrize("text", ["5家。", "5家", "5%"])
def test_a_number_with_a_unit_says_something_wherever_it_stands(text):
    assert not any(says_nothing(text, quantity) for quantity in quantities(text))


def test_says_nothing_of_words_and_line_numbers():
    """统一, and 13. where it opens a line."""
    text = "统一领导\n13.加强\n14.提高\n共13\n共15.\n16"
    says = [says_nothing(text, q) for q in quantities(text)]
    assert says == [True, True, True, False, False, False]


def test_narrow_takes_every_full_width_sign_and_no_neighbour():
    """From ！ to ～, the blank, and 〇."""
    wide = "".join(chr(0xFF01 + i) for i in range(94))
    assert narrow(wide) == "".join(chr(0x21 + i) for i in range(94))
    assert narrow("\u3000〇") == " 零"
    assert narrow("\uff00｟、") == "\uff00｟、"


def test_a_broken_number_ends_no_sentence():
    """It is checked as the number that it is."""
    (told,) = statements("总量为0. 75亿吨，比例为6%。[1]")
    assert "0.75亿吨" in told.text
    assert told.numbers == (1,)


@pytest.mark.parametrize("n", [1, 9, 10, 11, 20, 105, 110, 999, 1001])
def test_numerals_are_read_as_they_are_written(n):
    """Chinese and Roman."""
    assert whole_number(chinese_number(n)) == n
    assert whole_number(roman_number(n)) == n or len(roman_number(n)) == 1


@pytest.mark.parametrize("text", ["", "千瓦", "目标", "两两", "亿"])
def test_what_is_no_numeral_means_nothing(text):
    """A unit alone, a word."""
    assert han_numeral(text) is None if text != "目标" else whole_number(text) is None


@pytest.mark.parametrize(
    "text", ["", "22", "昨天", "2022-13", "2022-00", "2022-02-30", "2022-03-00", "1022", "2022-03x"]
)
def test_what_is_no_date_is_refused_with_the_forms_that_there_are(text):
    with pytest.raises(ValueError, match=r"2022, 2022-03, 2022-03-05 or 2022年3月, got"):
        parse_as_of(text)
