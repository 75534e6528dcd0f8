import pytest

from kgrag.question.question import asked_kind, states_kind


@pytest.mark.parametrize(
    ("question", "kind", "answers", "does_not"),
    [
        ("每亩补多少钱", "money", "每亩补助500元", "2025年建成5万亩"),
        ("交易所收多少手续费", "money", "按成交额收取，每笔不超过20元", "第20条另有规定"),
        ("责任险一年保费要交多少", "money", "每年3万元", "应当投保3种责任险"),
        ("这个计划总预算多少", "money", "安排资金2亿元", "根据〔2019〕2号文件"),
        ("评上标杆的一家给多少万奖补", "money", "奖励50万元", "第2批标杆企业"),
        ("非化石能源消费比重要达到多少", "number", "比重达到38%", "持续提高"),
        ("最晚几号交报告", "day", "3月31日前报送", "2022年报送"),
        ("从哪天起施行", "day", "自2022年8月1日起施行", "2022年施行"),
        ("回收率要达到多大比例", "share", "达到35%以上", "达到35家"),
        ("多久打一次分", "duration", "按季评价", "评价结果公开"),
        ("哪一年达峰", "date", "2030年前达峰", "尽早达峰"),
        ("造林面积多大", "area", "完成造林20万亩", "完成造林任务"),
        ("由哪个部门负责", "agency", "省财政厅牵头", "稳步推进"),
        ("建成多少家绿色工厂", "number", "建成2000家", "2021—2025年建成一批"),
        ("光伏要装多少万千瓦", "power", "光伏发电560万千瓦", "完成光伏项目100个"),
        ("一年产多少万吨绿氢", "mass", "年产3万吨", "投资3亿元"),
        ("能省多少吨标准煤", "energy", "节能20万吨标准煤", "建成20座"),
        ("水库有多大规模", "number", "规模达到2亿立方米", "2021年印发《2030年方案》"),
        ("引用了哪些政策文件", "titles", "根据《节能法》", "根据有关规定"),
    ],
)
def test_asked_kind_tells_what_can_answer(question, kind, answers, does_not):
    """The unit decides: money is not answered with a year, an agency not with a phrase."""
    found = asked_kind(question)
    assert found is not None
    assert found.name == kind
    assert states_kind(answers, found)
    assert not states_kind(does_not, found)


@pytest.mark.parametrize("question", ["有哪些措施", "主要目标是什么", ""])
def test_asked_kind_when_anything_may_answer_is_none(question):
    """A question for measures or goals asks for no unit."""
    assert asked_kind(question) is None
