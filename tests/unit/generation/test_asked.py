import pytest

from kgrag.generation.asked import asked_kind


@pytest.mark.parametrize(
    ("question", "kind", "answers", "does_not"),
    [
        ("每亩补多少钱", "money", "每亩补助500元", "2025年建成5万亩"),
        ("负责人不能超过多少岁", "age", "不超过60周岁", "2022年申报"),
        ("回收率要达到多大比例", "share", "达到35%以上", "达到35家"),
        ("多久打一次分", "duration", "按季评价", "评价结果公开"),
        ("哪一年达峰", "date", "2030年前达峰", "尽早达峰"),
        ("造林面积多大", "area", "完成造林20万亩", "完成造林任务"),
        ("由哪个部门负责", "agency", "省财政厅牵头", "稳步推进"),
        ("建成多少家绿色工厂", "number", "建成500家", "建成一批"),
        ("引用了哪些政策文件", "titles", "根据《节能法》", "根据有关规定"),
    ],
)
def test_asked_kind_tells_what_can_answer(question, kind, answers, does_not):
    """The unit decides: money is not answered with a year, an agency not with a phrase."""
    found = asked_kind(question)
    assert found is not None
    assert found.name == kind
    assert found.has.search(answers)
    assert not found.has.search(does_not)


@pytest.mark.parametrize("question", ["有哪些措施", "主要目标是什么", ""])
def test_asked_kind_when_anything_may_answer_is_none(question):
    """A question for measures or goals asks for no unit."""
    assert asked_kind(question) is None
