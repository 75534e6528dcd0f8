"""What a follow-up question takes over from the question before it, field by field."""

import pytest

from kgrag.answering.follow_up import Turn, carry_over

GOAL = "到2025年，吉林省绿色工厂的目标是多少？"
TITLED = "《吉林省碳达峰实施方案》第一条规定了什么？"
GOAL_EN = "How many green factories does Jilin Province plan by 2025?"
TITLED_EN = 'When was the "Jilin Plan" issued?'


@pytest.mark.parametrize(
    ("before", "question", "expected", "certain"),
    [
        # Fields alone take the places of those of their kinds, or stand in front.
        (GOAL, "那浙江省呢？", "到2025年，浙江省绿色工厂的目标是多少？", True),
        (GOAL, "换成河南和江西，2030年", "到2030年，河南和江西绿色工厂的目标是多少？", True),
        (GOAL, "十五五期间怎么样", "到十五五期间，吉林省绿色工厂的目标是多少？", True),
        ("绿色工厂的目标", "2030年全国呢", "2030年全国绿色工厂的目标", True),
        ("四川省成都市的目标", "绵阳呢", "绵阳的目标", True),
        (TITLED, "第二条呢", "《吉林省碳达峰实施方案》第二条规定了什么？", True),
        (TITLED, "《节能法》呢", "《节能法》第一条规定了什么？", True),
        (GOAL_EN, "What about Henan?", GOAL_EN.replace("Jilin Province", "Henan"), True),
        (GOAL_EN, "2030 instead", GOAL_EN.replace("2025", "2030"), True),
        ("What is the goal?", "And Henan?", "What is the goal (regarding: Henan)?", True),
        # Which of several is meant, or which document of another place, is unsure.
        ("吉林和江苏哪个高？", "那浙江呢？", "浙江哪个高？", False),
        ("吉林比全国高多少？", "那浙江呢？", "浙江比全国高多少？", False),
        (TITLED, "浙江呢", "浙江碳达峰实施方案第一条规定了什么？", False),
        # A pronoun stands for the title quoted, else the one cited, else what was asked about.
        (TITLED, "那它由谁牵头？", "《吉林省碳达峰实施方案》由谁牵头？", True),
        (TITLED, "其目标是什么？", "《吉林省碳达峰实施方案》目标是什么？", True),
        ("甲市补多少？", "上面那个办法还有效吗？", "《甲办法》还有效吗？", True),
        ("甲市补多少？", "该文件是谁发的？", "《甲办法》是谁发的？", False),
        ("甲市补多少？", "它由谁牵头？", "甲市补由谁牵头？", False),
        ("甲市补多少？", "Who issued this notice?", "Who issued 《甲办法》?", False),
        (TITLED_EN, "What is its target?", 'What is "Jilin Plan" target?', True),
        (GOAL_EN, "Who leads it?", f"Who leads it (regarding: {GOAL_EN[:-1]})?", False),
        # So it is in front of a question without words of its own; its time replaces the other.
        (TITLED, "牵头部门是谁？", "《吉林省碳达峰实施方案》牵头部门是谁？", False),
        (GOAL, "由哪个部门负责？", "到2025年，吉林省绿色工厂由哪个部门负责？", False),
        (GOAL, "2030年要达到多少？", "到2030年，吉林省绿色工厂要达到多少？", False),
        ("浙江要建多少家绿色工厂？", "何时完成？", "浙江要建绿色工厂何时完成？", False),
        (TITLED_EN, "Which agency leads?", 'Which agency leads (regarding: "Jilin Plan")?', False),
        # Something else gets the title, or time and place.
        (GOAL, "那氢能呢", "吉林省2025年氢能呢", False),
        (TITLED, "那氢能呢", "《吉林省碳达峰实施方案》氢能呢", False),
        (GOAL, "换成河南的能耗强度", "2025年河南的能耗强度", False),
    ],
)
def test_fields_of_the_question_before_are_filled(before, question, expected, certain):
    assert carry_over(question, [Turn(before, "", ("甲办法", "乙规划"))]) == (expected, certain)


@pytest.mark.parametrize(
    ("before", "question"),
    [
        *((GOAL, question) for question in ("新型储能装机规模要达到多少？", "浙江的目标是什么？")),
        *((GOAL, question) for question in ("《节能法》第二条是什么？", "《节能法》是什么？")),
        *((TITLED, question) for question in ("企业如何让它的产品达标？", "其中有哪些行业？")),
        *((TITLED, question) for question in ("这款列车归谁？", "应该如何申报绿色工厂？")),
        (TITLED_EN, "How long does it take to get a permit?"),
        (TITLED_EN, "And what is the target for steel?"),
        (GOAL, "What about Henan?"),  # of a question in another language
    ],
)
def test_a_question_that_stands_by_itself_is_unchanged(before, question):
    assert carry_over(question, [Turn(before, "", ("甲办法",))]) == (question, False)


def test_the_only_title_cited_and_places_of_the_documents_are_fields():
    """The subject stays beside the title, which was not asked for."""
    asked = [Turn("甲市补多少？", "", ("甲办法",))]
    assert carry_over("它由谁牵头？", asked) == ("《甲办法》由谁牵头？", True)
    assert carry_over("由谁牵头？", asked) == ("《甲办法》甲市补由谁牵头？", False)
    told, certain = carry_over("那乙县呢", [Turn("甲市的补贴是多少？", "")], known=["甲市", "乙县"])
    assert (told, certain) == ("乙县的补贴是多少？", True)
