from math import comb

import pytest

from kgrag.store.neo4j.gate.regular import COMPARED, MOST_STEPS, most_steps

HONEST = [
    *(".*节能.*", "(?i).*(减排|节能).*", r"\d{4}年.*", "a", r"^[0-9]+(\.[0-9])?%$"),
    *(
        r".*(碳达峰|碳中和).*(目标|方案).*",
        r".*\d+年.*",
        r"(?s).*20[0-9]{2}年.*",
        ".*?绿色.*?工厂.*?",
    ),
    *(
        r"(?=.*节能)(?=.*降碳).*",
        r".*绿色制造体系建设.*实施方案.*",
        r"关于.*的(通知|意见|公告)",
        r".*第[一二三四五六七八九十]+条.*",
    ),
    *(r"^(GB|GB/T)\s?\d+(\.\d+)?-\d{4}$", r".*[A-Z]{2}\(2024\).*", r".*绿色(低碳)?工厂.*"),
    *(r"[\u4e00-\u9fa5\]]+".replace(r"\u4e00-\u9fa5", "一-龥"), r".*\p{IsHan}+.*", r"a\|b\*\?"),
]
# What keeps a server busy for minutes, or for ever, on a text of 2,100 characters.
HOSTILE = [
    *("(a+)+$", "(a|aa)*b", "(.*a){25}", ".*.*.*.*", ".{0,9}.{0,9}.{0,9}.{0,9}", "a?" * 32),
    *("(a|a)" * 16, ".*" + "(a|A)" * 12, "(?i)" + "(a|A)" * 16, "(?iu).*.*.*b", "(?x)(a+) +"),
    *(r"(.*)(.*)(.*)\1\2\3b", r"(?<a>.*)\k<a>b", "(?<=a{1,900}b)", r".*\X*.*b", r"\Q(\E(a+)+"),
    *("(.*),(.*),(.*)b", "[^b]*[^b]*[^b]*b", r"\p{L}*\p{L}*.*b", ".*.*.*" + "a" * 12 + "b"),
    *(".*.*.*a{9}b", ".*.*.*a?b", ".*.*.*(a|aa)b", ".*a.*+.*?.*b", "(?>a+)+b"),
]


def most_on_long(pattern):
    """Return about how many steps it takes on the text of a parent chunk."""
    return most_steps(pattern, COMPARED[0])


@pytest.mark.parametrize("pattern", HONEST)
def test_what_one_would_look_for_is_within_the_bound(pattern):
    """One word between others, two of several, numbers, ends."""
    assert 0 < most_steps(pattern, COMPARED[-1]) <= MOST_STEPS


@pytest.mark.parametrize("pattern", HOSTILE)
def test_what_takes_minutes_is_not(pattern):
    """It cannot be counted, or counts too much."""
    refused = False
    try:
        steps = most_on_long(pattern)
    except ValueError:
        refused = True
    assert refused or steps > MOST_STEPS


def test_steps_are_the_ways_to_share_a_text():
    """Repeats share it in so many ways; a choice makes four of one."""
    assert most_on_long("a") == 1
    assert most_on_long("a.*b") == COMPARED[0] + 1
    assert most_on_long(".*a.*") == comb(COMPARED[0] + 2, 2)
    assert most_on_long("a?b??") == 4**3
    assert most_on_long("[ab]+") == most_on_long("(.+)") == 2 * most_on_long(".+")
    assert (
        most_on_long("a" * 4)
        == most_on_long("abcabab[^b]")
        == most_on_long("(?i)a")
        == most_on_long("(?si:a)")
        == 2
    )
    assert (
        most_on_long("(?=.*a)")
        == most_on_long("(?:.*a)")
        == most_on_long("()(?s).*a")
        == most_on_long(".*")
    )


def test_words_of_which_only_one_can_match_are_no_choice():
    """Unless one begins as another does, in capitals or not."""
    assert most_on_long("(目标|方案)") == most_on_long("(?:目标|方案|碳)") == 1
    assert most_on_long("(目标|目)") == most_on_long("(a|AB)") == most_on_long("(ı|I)") == 4
    assert most_on_long("(.|a)") == most_on_long("(目标|)") == 4
    assert most_on_long("(节能|节能减排|绿色|绿色低碳|环保)") == 4 * most_on_long("(节能|减排)")
    assert most_on_long("(a|a|aa)") == 4**2
