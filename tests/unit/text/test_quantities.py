from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.quantities import agree, dates, narrow, quantities, says_nothing


def read(text):
    return [(q.unit, sorted(q.values)) for q in quantities(text)]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,000家", "1000", "家"),
        ("１０００家", "1000", "家"),
        ("一千家", "1000", "家"),
        ("三万五千亩", "35000", "亩"),
        ("3.5万亩", "35000", "亩"),
        ("1.5亿元", "150000000", "元"),
        ("5千吨", "5000", "吨"),
        ("十二条", "12", "条"),
        ("二〇二五年", "2025", "年"),
        ("10%", "10", "%"),
        ("10％", "10", "%"),
        ("百分之十", "10", "%"),
        ("百分之16.9", "16.9", "%"),
        ("百分之一点五", "1.5", "%"),
        ("六成", "60", "%"),
        ("千分之三", "0.3", "%"),
        ("10个百分点", "10", "个百分点"),
        ("30个工作日", "30", "工作日"),
        ("5天", "5", "日"),
        ("3.5 million", "3500000", ""),
        ("20 percent", "20", "%"),
        ("100KW", "100", "kw"),
    ],
)
def test_quantities_read_a_number_however_it_is_written(text, value, unit):
    """Digits, full width, Chinese numerals, scales, shares."""
    assert read(text) == [(unit, [Decimal(value)])]


@pytest.mark.parametrize("text", ["5A级", "CO2", "PM2.5", "5G", "A4纸", "千瓦", "上亿"])
def test_quantities_leave_names_and_bare_scales(text):
    """A digit in a name is no number."""
    assert read(text) == []


def test_quantities_of_a_range_give_the_first_what_stands_behind_the_last():
    """5-10万元 may be 5 or 50,000 to 100,000."""
    assert read("5-10万元") == [("元", [5, 50000]), ("元", [100000])]
    assert read("20%至30%") == [("%", [20]), ("%", [30])]
    assert read("5千至1万吨") == [("吨", [5000]), ("吨", [10000])]


def test_quantities_say_where_they_stand():
    """Blanks and what follows the unit are left out."""
    text = "达到 500 家以上"
    (quantity,) = quantities(text)
    assert text[quantity.start : quantity.end] == "500 家"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2022年6月28日", (2022, 6, 28)),
        ("二〇二二年六月二十八日", (2022, 6, 28)),
        ("2022-06-28", (2022, 6, 28)),
        ("2022.6.28", (2022, 6, 28)),
        ("2022/6/28", (2022, 6, 28)),
        ("8月31日", (0, 8, 31)),
        ("2022年6月", (2022, 6, 0)),
        ("June 28, 2022", (2022, 6, 28)),
        ("28 June 2022", (2022, 6, 28)),
        ("28th June", (0, 6, 28)),
        ("June 2022", (2022, 6, 0)),
    ],
)
def test_dates_read_every_form(text, expected):
    """0 for what is not said."""
    assert [(d.year, d.month, d.day) for d in dates(text)] == [expected]


@pytest.mark.parametrize("text", ["2025年", "6个月", "3.5.12", "may 500 plants", "1.2.3"])
def test_dates_leave_what_is_none(text):
    """A year alone is a quantity."""
    assert dates(text) == []


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


def test_quantities_of_a_decimal_that_a_scan_broke():
    """0. 75 is one number; 1. 75 may be the number of a line and another."""
    assert [float(min(q.values)) for q in quantities("0. 75亿吨")] == [75_000_000]
    assert len(quantities("1. 75家")) == 2


def test_agree_lets_counting_words_stand_for_each_other():
    """500个 may be called 500家; 2年 is not 2个."""
    assert agree("个", "家")
    assert agree("", "吨")
    assert not agree("年", "个")


@pytest.mark.parametrize("text", ["5家。", "5家", "5%"])
def test_a_number_with_a_unit_says_something_wherever_it_stands(text):
    assert not any(says_nothing(text, quantity) for quantity in quantities(text))


def test_says_nothing_of_words_and_line_numbers():
    """统一, and 13. where it opens a line."""
    text = "统一领导\n13.加强\n共13"
    assert [says_nothing(text, q) for q in quantities(text)] == [True, True, False]


SCALES = {
    "百": 10**2, "千": 10**3, "万": 10**4, "十万": 10**5, "百万": 10**6, "千万": 10**7, "亿": 10**8,
    "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12, " thousand": 10**3,
    " million": 10**6, " billion": 10**9, " trillion": 10**12,
}  # fmt: skip


@pytest.mark.parametrize(("scale", "factor"), SCALES.items())
def test_quantities_read_every_scale(scale, factor):
    """3 of them."""
    (found,) = quantities(f"共3{scale}")
    assert found.values == {3 * factor}
    assert found.is_scaled
    assert not found.is_word


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("两家", "2", "家"),
        ("两千家", "2000", "家"),
        ("十家", "10", "家"),
        ("二十三家", "23", "家"),
        ("三百零五家", "305", "家"),
        ("万三千家", "13000", "家"),
        ("一亿三千万家", "130000000", "家"),
        ("三万亿元", "3000000000000", "元"),
        ("二亿零五十万三千家", "200503000", "家"),
        ("九点二五亿元", "925000000", "元"),
        ("5‰", "0.5", "%"),
        ("万分之五", "0.05", "%"),
        ("千分之五", "0.5", "%"),
        ("三成", "30", "%"),
        ("3万千米", "30000", "公里"),
        ("5 percentage points", "5", "个百分点"),
    ],
)
def test_quantities_read_numerals_and_shares(text, value, unit):
    """To the last digit."""
    assert read(text) == [(unit, [Decimal(value)])]


def test_narrow_takes_every_full_width_sign_and_no_neighbour():
    """From ！ to ～, the blank, and 〇."""
    wide = "".join(chr(0xFF01 + i) for i in range(94))
    assert narrow(wide) == "".join(chr(0x21 + i) for i in range(94))
    assert narrow("\u3000〇") == " 零"
    assert narrow("\uff00｟、") == "\uff00｟、"
