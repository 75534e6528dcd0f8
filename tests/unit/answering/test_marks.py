import pytest

from kgrag.answering.draft import cited_passages, normalise
from kgrag.results import Context, Passage

CONTEXT = Context(tuple(Passage(n, "d", "t", (), 0, 1, "x", "c") for n in (1, 2)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲[1-3]。", ("甲[1][2][3]。", [])),
        ("甲[2-9]。", ("甲[2][3]。", [9])),
        ("甲[1、3]。", ("甲[1][3]。", [])),
        ("甲[3][3] [3]。", ("甲[3]。", [])),
        ("国发[2021]4号[1]", ("国发[2021]4号[1]", [])),
        ("甲[999-1]。", ("甲[1]。", [999])),
    ],
)
def test_normalise_writes_every_number_alone(text, expected):
    """Ranges hold what exists; document numbers are left."""
    assert normalise(text, [1, 2, 3]) == expected


def test_cited_passages_reads_every_form():
    """Numbers of the context, not of the answer."""
    assert cited_passages("甲【2】乙[1,7]", CONTEXT) == {1, 2}


@pytest.mark.parametrize(
    "text",
    [
        "甲（来源：passage 1）。",
        "甲（文段1）。",
        "甲(Source: [1])。",
        "甲（见文段1）。",
        "甲（出处：[1]）。",
    ],
)
def test_normalise_reads_citations_in_words(text):
    """Some models will not write [n]."""
    assert normalise(text, [1, 2]) == ("甲[1]。", [])


@pytest.mark.parametrize("text", ["甲（来源：省统计局）。", "甲（见附件1）。", "甲（第1段）。"])
def test_normalise_leaves_other_brackets(text):
    """What names no passage is text."""
    assert normalise(text, [1]) == (text, [])


@pytest.mark.parametrize(
    "list_",
    [
        "参考文献：\n[1] 《甲规划》\n[2] 《乙办法》",
        "**参考资料**\n- [1] 甲规划，第三条\n- [2] 乙办法\n",
        "## References\n\n[1]: A plan\n[9]: Another",
        "---\n来源：\n【1】甲规划",
    ],
)
def test_normalise_drops_a_list_of_references(list_):
    """The citations are one, with the words that support each sentence."""
    text, astray = normalise(f"甲[1]，乙[2]。\n\n{list_}", [1, 2])
    assert (text.rstrip("-\n "), astray) == ("甲[1]，乙[2]。", [])


def test_normalise_keeps_a_list_of_claims():
    """Whose lines do not begin with [n]."""
    text = "资金来源：\n- 省财政安排3000万元[1]\n- 市财政配套[2]"
    assert normalise(text, [1, 2]) == (text, [])


def test_normalise_mends_decimals_that_a_scan_broke():
    """0. 75 would end a sentence; 1. 75 may begin a line."""
    assert normalise("总量0. 75亿吨[1]。\n1. 75家", [1])[0] == "总量0.75亿吨[1]。\n1. 75家"
