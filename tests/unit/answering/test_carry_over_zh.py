import pytest

from kgrag.answering.carry_over_zh import complete

PLAN = "到2025年，吉林省计划创建多少家绿色工厂？"
GOAL = "吉林省绿色工厂的目标是多少？"
ISSUED = "《吉林省碳达峰实施方案》什么时候发布？"


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (GOAL, "那浙江呢？", "浙江绿色工厂的目标是多少？"),
        (PLAN, "浙江省呢", "到2025年，浙江省计划创建多少家绿色工厂？"),
        ("绿色工厂的目标是多少？", "那浙江呢？", "浙江绿色工厂的目标是多少？"),
        ("浙江和江苏的目标分别是什么？", "那山东呢？", "山东的目标分别是什么？"),
        ("浙江的目标比全国高，江苏呢？", "山东呢", "山东的目标比全国高，江苏呢？"),
        (PLAN, "那2030年呢？", "到2030年，吉林省计划创建多少家绿色工厂？"),
        (PLAN, "十五五期间呢", "到十五五期间，吉林省计划创建多少家绿色工厂？"),
        ("《节能法》第一条规定了什么？", "第二条呢", "《节能法》第二条规定了什么？"),
        ("《节能法》的目的是什么？", "第二条呢？", "《节能法》第二条的内容是什么？"),
        (ISSUED, "保障措施呢？", "《吉林省碳达峰实施方案》的保障措施是什么？"),
        (GOAL, "那零碳园区呢？", "吉林省零碳园区的目标是多少？"),
        (PLAN, "那氢能呢？", "氢能：到2025年，吉林省计划创建多少家绿色工厂？"),
    ],
)
def test_something_else_of_the_same_kind_takes_its_place(before, question, expected):
    """Place, year, article or subject of the question before, the rest of it kept."""
    assert complete(question, before, "") == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (ISSUED, "它的目标是什么", "《吉林省碳达峰实施方案》的目标是什么"),
        (ISSUED, "其目标是什么？", "《吉林省碳达峰实施方案》的目标是什么？"),
        (ISSUED, "那该方案由谁牵头？", "《吉林省碳达峰实施方案》由谁牵头？"),
        (ISSUED, "这个文件有哪些任务？", "《吉林省碳达峰实施方案》有哪些任务？"),
        (PLAN, "该省的牵头部门是谁？", "吉林省的牵头部门是谁？"),
    ],
)
def test_a_pronoun_is_replaced_by_what_it_means(before, question, expected):
    """The title that was quoted, or the place."""
    assert complete(question, before, "") == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (ISSUED, "牵头部门是谁？", "《吉林省碳达峰实施方案》的牵头部门是谁？"),
        (ISSUED, "主要任务有哪些？", "《吉林省碳达峰实施方案》主要任务有哪些？"),
        (ISSUED, "第二条是什么？", "《吉林省碳达峰实施方案》的第二条是什么？"),
        (PLAN, "由哪个部门负责？", "到2025年，吉林省计划创建绿色工厂由哪个部门负责？"),
        (PLAN, "2030年的目标是多少？", "吉林省计划创建绿色工厂2030年的目标是多少？"),
    ],
)
def test_a_question_of_general_words_gets_the_subject(before, question, expected):
    """It names nothing of its own; its own year replaces that of the subject."""
    assert complete(question, before, "") == expected


@pytest.mark.parametrize(
    "question",
    [
        "新型储能装机规模要达到多少？",
        "《节能法》第二条是什么？",
        "浙江省数据中心PUE要降到多少？",
        "浙江的目标是什么？",
        "绿色工厂及其目标有哪些要求？",
        "企业如何让它的产品达标？",
        "其中有哪些行业？",
        "应该如何申报绿色工厂？",
    ],
)
def test_a_question_that_stands_by_itself_is_unchanged(question):
    """It names a title, a place or a subject, or its pronoun means something in it."""
    assert complete(question, PLAN, "") == question


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("由《节能法》规定[1]。", "《节能法》的目标是什么？"),
        ("《甲法》[1]和《乙法》[2]。", "节能由文件规定的目标是什么？"),
    ],
)
def test_the_only_title_of_the_answer_is_the_subject(answer, expected):
    """Where there are several, the words of the question before are taken."""
    assert complete("它的目标是什么？", "节能由什么文件规定？", answer) == expected
