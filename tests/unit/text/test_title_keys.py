import pytest

from kgrag.text.title_keys import (
    issuer_ahead,
    issuer_before,
    same_organ,
    title_key,
    title_keys,
    without_number,
)


@pytest.mark.parametrize(
    "other",
    [
        "“十四五”节能规划（试行）",
        "《十四五 节能规划》",
        "＂十四五＂节能的规划",
        "云政发〔2021〕3号“十四五”节能规划",
        "“十四五”节能规划（云政发[2021]3号）",
    ],
)
def test_spellings_of_one_title_have_one_key(other):
    """Width, marks, blanks, 的, 试行 and a number before or behind make no difference."""
    assert title_key(other) == title_key("“十四五”节能规划")


@pytest.mark.parametrize(
    "other", ["“十三五”节能规划", "“十四五”节能规划纲要", "“十四五”节能规划（2022年版）"]
)
def test_other_periods_kinds_and_editions_have_others(other):
    """What tells two documents of a series apart stays in the key."""
    assert title_key(other) != title_key("“十四五”节能规划")


def test_years_in_characters_are_those_in_digits():
    """二〇三五年, 二○三五年 and 2035年."""
    assert title_key("二〇三五年远景目标") == title_key("二○三五年远景目标") == "2035年远景目标"


def test_titles_are_cited_without_issuer_and_without_the_notice_around():
    """With marks within or without any."""
    assert "节能规划" in title_keys("云岭省人民政府关于印发节能规划的通知")
    assert "节能规划" in title_keys("云岭省人民政府关于印发《节能规划》的通知")
    assert title_keys("中共云岭省委 云岭省人民政府关于节能的意见")[-1] == "关于节能意见"


def test_issuers_are_organs_and_nothing_else():
    """What stands before 关于, and what is named before a title."""
    assert issuer_before("省发展改革委等部门关于节能的意见") == "省发展改革委等部门"
    assert issuer_before("做好节能关于公共机构的意见") == ""
    assert issuer_ahead("为贯彻落实国务院办公厅") == "国务院办公厅"
    assert issuer_ahead("为贯彻落实") == ""


def test_short_names_of_organs_may_be_the_long_ones():
    """省政府 is any province's; another ministry is not the council."""
    assert same_organ("国家发展和改革委员会", "国家发展改革委")
    assert not same_organ("", "国务院")


def test_a_title_that_is_only_a_number_stays():
    """Nothing is left of it otherwise."""
    assert without_number("云政发〔2021〕3号") == "云政发〔2021〕3号"
