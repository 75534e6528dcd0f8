"""Which of several places has more: answered where figures are of the same, else said why not."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.answering.compared_figures import contrast
from kgrag.qualifiers import Qualifiers
from kgrag.store.graph import Statement, Triple
from kgrag.types import Document, Entity

CITED = Citation(0, "d", "规划", "d.txt", (), None, 0, 1, "文", "d:256:0")


def stated(value, unit="%", comparator="=", year="2025", indicator="森林覆盖率", **told):
    """Return a statement of a figure with its document and its citation."""
    q = Qualifiers("target", value=value, unit=unit, comparator=comparator, year=year, **told)
    entity = Entity(indicator, indicator, "target")
    fact = Triple("f", entity, "目标值", Entity("v", told.get("object", "见表"), "value"))
    statement = Statement("d", 0, 1, fact, q, "rule", "d:256:0", 1.0)
    return statement, Document("d", "规划", "", "d.txt", "txt", "00"), CITED


def said_of(sides, *, least=False):
    """Return what is said of sides, as text."""
    return Answer("谁高？", tuple(contrast(sides, least=least, language="zh")), "m").text


@pytest.mark.parametrize(
    ("one", "other", "question", "said"),
    [
        (["41"], ["24.1"], "差多少", "甲省更高：甲省 41%[1]、乙省 24.1%[1]，相差16.9个百分点。"),
        (["41"], ["24.1"], "谁更低", "乙省更低：乙省 24.1%[1]、甲省 41%[1]，相差16.9个百分点。"),
        (["0.3"], ["0.1"], "差多少", "甲省更高：甲省 0.3%[1]、乙省 0.1%[1]，相差0.2个百分点。"),
        (["24"], ["24.0"], "相差多少", "两者相同：甲省 24%[1]、乙省 24%[1]。"),
        (
            ["89000000", "千瓦"],
            ["60000000", "千瓦"],
            "差多少",
            "甲省更高：甲省 8900万千瓦[1]、乙省 6000万千瓦[1]，相差2900万千瓦。",
        ),
        (
            ["41", "%", ">="],
            ["24", "%", ">="],
            "谁高",
            "甲省更高：甲省 ≥41%[1]、乙省 ≥24%[1]，相差17个百分点。",
        ),
        (["41", "%", ">="], ["24"], "谁高", "一为定值，一为下限"),
        (["41"], ["24", "%", "=", "2030"], "谁高", "年份不同"),
        (["41"], ["24", "千瓦"], "谁高", "单位不同"),
        (["41", "%", "+"], ["24"], "谁高", "指标、范围或基期不同"),
    ],
)
def test_two_figures(one, other, question, said):
    """Exactly, as decimals; the text's own words."""
    sides = {"甲省": [stated(*one)], "乙省": [stated(*other)]}
    assert said in said_of(sides, least="低" in question)


def test_what_cannot_be_told_is_not_guessed():
    """Two values of one place and year, or one side alone."""
    sides = {"甲省": [stated("41"), stated("42")], "乙省": [stated("24")]}
    assert "不止一个数字" in said_of(sides)
    assert "只读出了一方" in said_of({"甲省": sides["甲省"]})


def test_years_of_one_place_are_sides_too():
    """As the question names them."""
    sides = {"2025年": [stated("20")], "2030年": [stated("25", year="2030")]}
    said = said_of(sides)
    assert said == "2030年更高：2030年 25%[1]、2025年 20%[1]，相差5个百分点。"
