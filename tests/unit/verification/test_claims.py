"""A sentence is compared with the clause that it cites, part by part."""

from fractions import Fraction

import pytest

from kgrag.verification.claims import Clause, completing, findings
from kgrag.verification.parts import claims_something, is_modal, lines_of, parts_of

TEXT = """云岭省节能规划
到2025年，全省创建绿色工厂1,000家以上，新增林地3万亩，能耗下降百分之十，每千瓦时补贴0.3元。
2022年6月28日前报送省发展和改革委员会，由省生态环境厅、工业和信息化厅牵头，福州、厦门先行。
落实《节约能源法》，实行CCER交易，农村污水治理率达到65%，全国为40%。
三、保障措施
13.加强统一领导，奖励五百万元，期限5年。
"""


def verdicts(sentence, text=TEXT, *, question="有哪些目标？", around=(), **above):
    clause = text if isinstance(text, Clause) else Clause(text, **above)
    found = findings(sentence, clause, asked=question, around=around or [sentence])
    return [f.verdict for f in found]


@pytest.mark.parametrize(
    "sentence",
    [
        "绿色工厂1000家",
        "绿色工厂一千家",
        "绿色工厂１０００个",
        "林地30,000亩",
        "林地2000公顷",
        "能耗下降10%",
        "二〇二五年底",
        "“十四五”末",
        "6月28日",
        "2022年6月",
        "省发改委",
        "省工信厅和生态环境厅牵头",
        "福州和厦门",
        "《节约能源法》第一",
        "ccer",
        "奖励5 million yuan",
        "奖励5000000元",
        "期限60个月",
        "一是统一领导，第一步",
        "希望对您有帮助！",
    ],
)
def test_what_stands_there_in_other_writing_is_stated(sentence):
    """Units are converted, times and names have one form."""
    assert verdicts(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("绿色工厂1001家", "contrary"),
        ("能耗下降12%", "contrary"),
        ("能耗下降10个百分点", "missing"),
        ("林地3亩", "contrary"),
        ("2026年", "missing"),
        ("2022年8月28日", "missing"),
        ("省财政厅牵头", "contrary"),
        ("由泉州先行", "missing"),
        ("《环境保护法》", "missing"),
        ("“十三五”期间", "missing"),
        ("第13号令", "missing"),  # 13. numbers a line
        ("期限5个月", "contrary"),
    ],
)
def test_what_does_not_stand_there_is_found(sentence, expected):
    assert verdicts(sentence) == [expected]


RULES = (
    "制冷温度不得低于26℃，数据中心PUE控制在1.3以下。\n"
    "到2025年，甲类比重达到20%，乙类比重达到25%。\n到2030年，甲类比重达到26%。\n"
    "单位能耗比2020年下降13.5%。每季度检查一次，每年补贴500元。\n"
    "主管部门不得向企业收取任何费用。符合条件的企业可以申请延期。企业应当按时报送监测计划。\n"
    "推广节能电机，由市工信局牵头，市财政局配合。配合市教育局开展学校改造。\n"
    "评定四星级酒店3家，市级绿色工厂100家。"
)


@pytest.mark.parametrize(
    "sentence",
    [
        "制冷温度不高于26度",
        "PUE须在1.3以上",
        "甲类比重达到25%",
        "乙类比重20%，甲类比重25%",
        "2030年甲类比重为20%",
        "2030年，乙类比重达到25%",
        "单位能耗比2015年下降13.5%",
        "单位能耗上升13.5%",
        "每月补贴500元",
        "主管部门可以向企业收取费用",
        "符合条件的企业不得申请延期",
        "企业可以按时报送监测计划",
        "企业无须按时报送监测计划",
        "推广节能电机，市财政局牵头",
        "学校改造由市教育局配合开展",
        "评定五星级酒店3家",
        "评定国家级绿色工厂100家",
        "PUE must be above 1.3",
        "The temperature is at most 26 degrees",
    ],
)
def test_what_is_meant_or_told_otherwise_is_contrary(sentence):
    """All of the figures stand there: bound, time, what they are of, modality and role do not."""
    assert "contrary" in verdicts(sentence, RULES)


@pytest.mark.parametrize(
    "sentence",
    [
        "制冷温度至少26度",
        "PUE不超过1.3",
        "2025年甲类20%、乙类25%",
        "甲类比重由20%升至26%",
        "能耗较2020年降低13.5%",
        "一年补贴500元",
        "不允许主管部门向企业收取费用",
        "企业必须报送监测计划",
        "推广节能电机由市工信局牵头、市财政局配合",
        "PUE is at most 1.3",
        "By 2025, 20 %",
    ],
)
def test_what_is_told_in_other_words_is_stated(sentence):
    assert verdicts(sentence, RULES) == []


def test_a_part_that_stands_only_elsewhere_in_the_passage_is_told_so():
    """连续补贴2年 is quoted; 3年 belongs to something else."""
    clause = Clause("连续补贴2年。", passage="连续补贴2年。本办法有效期3年，奖励60万元。")
    assert verdicts("连续补贴2年", clause) == []
    assert verdicts("连续补贴3年", clause) == ["contrary"]
    assert verdicts("奖励60万元", clause) == ["elsewhere"]
    assert verdicts("奖励70万元", clause) == ["missing"]


def test_times_and_names_may_stand_above_the_clause():
    """In title, sections and lead-in; a figure where none in the clause stands against it."""
    clause = Clause("创建绿色工厂50家。", "云岭省2025年要点\n1. 最高300万元", "", "到2030年，…")
    assert verdicts("2025年创建50家，最高300万元", clause) == []
    assert verdicts("创建300家", clause) == ["contrary"]
    assert verdicts("2026年创建50家", clause) == ["missing"]


def test_a_time_in_the_clause_stands_against_one_before_it():
    clause = Clause("到2030年，创建50家。", passage="到2025年，创建20家。到2030年，创建50家。")
    assert verdicts("到2025年，创建50家", clause)
    assert verdicts("到2030年，创建50家", clause) == []


def test_a_row_is_read_under_its_header():
    row = lines_of("| 水泥 | 41 | 2027年底 |", "| 行业 | 企业（家） | 时限 |")
    assert verdicts("水泥41家，2027年", row) == []
    assert verdicts("水泥42家，2027年", row) == ["contrary"]
    assert verdicts("投资300万元", Clause("投资 | 300", "单位：万元")) == []


def test_the_question_is_no_claim_but_its_numbers_and_places():
    question = "到2030年8月，泉州的财政厅要创建50家吗？"
    assert verdicts("到2030年8月，财政厅创建50家", question=question) == ["missing"]
    assert verdicts("泉州的目标", question=question) == ["missing"]


@pytest.mark.parametrize(
    ("sentence", "around", "expected"),
    [
        ("高25个百分点", "全国40%，全省65%", "computed"),
        ("高26个百分点", "全国40%，全省65%", "missing"),
        ("达25个百分点", "全国40%，全省65%", "missing"),
        ("前者占后者的61.5%", "全国40%，全省65%", "computed"),
    ],
)
def test_a_computed_figure_shows_its_operands(sentence, around, expected):
    (found,) = findings(sentence, Clause(TEXT), around=[around, sentence])
    assert found.verdict == expected
    assert ("40%" in found.words) == (expected == "computed")


def test_counts_of_what_the_answer_lists_are_no_claims():
    assert verdicts("6个市：福州、厦门") == ["missing"]
    assert verdicts("共3家", around=["共3家", "甲", "乙", "丙"]) == ["computed"]
    assert verdicts("四个方面") == []


@pytest.mark.parametrize(
    ("end", "expected"),
    [("2026年10月", "computed"), ("2026年10月7日", "computed"), ("2027年10月", "missing")],
)
def test_the_end_of_a_period_is_computed(end, expected):
    text = "本办法自2021年10月8日起施行，有效期5年。"
    assert verdicts(f"自2021年10月8日起，有效期5年，到{end}", text) == [expected]


def test_a_year_in_a_title_backs_none_outside():
    assert verdicts("2030年实现达峰", "落实《2030年前碳达峰行动方案》。") == ["missing"]


ENGLISH = (
    "The Eiffel Tower in Paris, 330 metres high, opened on 31 March 1889. Visits last 72 hours."
)


def test_languages_are_bridged_by_values():
    assert verdicts("埃菲尔铁塔高330米，1889年3月31日开放，参观3天", ENGLISH) == []
    assert "missing" in verdicts("参观24小时", ENGLISH) + verdicts("高300米", ENGLISH)
    assert verdicts("It opened in Paris on March 31, 1889.", ENGLISH) == []
    assert verdicts("It opened in London on March 30, 1889.", ENGLISH) == ["missing", "missing"]
    assert verdicts("A task led by The agency", "由市工信局牵头") == []


def test_completing_takes_what_is_near_or_alike_where_nothing_stands_against_it():
    sentences = ["补贴500元。", "期限2年。", "其他。", "其他。", "对光伏补贴60万元。", "税率3%。"]
    clause = Clause(sentences[0], passage="".join(sentences))
    assert completing("补贴500元，期限2年", clause, sentences, [0], asked="") == 1
    assert completing("补贴60万元", clause, sentences, [0], asked="") is None
    assert completing("补贴500元", clause, sentences, [0], asked="") is None


def test_parts_have_the_kinds_and_marks_of_a_statement():
    (quantity, time, *_) = parts_of("到2025年底，比重不低于20%")
    assert quantity.written == "20%"
    assert quantity.sizes == {("%", Fraction(20))}
    assert quantity.marked("bound") == {"least"}
    assert quantity.when == {(2025, 0, 0), (2025, 12, 31)}
    assert (time.kind, time.start) == ("time", 1)


def test_a_sentence_without_parts_claims_nothing():
    assert not claims_something("希望以上内容对您有帮助。")
    assert claims_something("奖励20万元。")


def test_bounds_forbid_nothing():
    """不得超过 is one word."""
    assert not is_modal("不得超过30%")
    assert is_modal("不得收费")


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("年综合能耗达5000吨标准煤以上的单位", "能耗在5000吨标准煤以上", "能耗在5000吨标准煤以下"),
        ("期限为五个工作日。", "期限为5个工作日", "期限为五个星期"),
        ("按10元/吨给予补贴。", "The subsidy is 10 yuan per tonne", "It is 10 yuan per kilogram"),
        ("按3000元/台给予补贴。", "每台补贴3000元", "每千瓦补贴3000元"),
        ("保证金为2000万元。", "The deposit is 20 million yuan", "It is 20 million US dollars"),
        ("Open from 9 to 11:30 a.m. daily.", "每天上午9点至11点半开放", "每天上午9点至10点半开放"),
        ("检修在二十时以后进行。", "检修在20:00以后进行", "检修在21:00以后进行"),
        ("价格由物价部门审定。", "价格由物价局审定", "价格由能源主管部门审定"),
        (
            "街道辖区为重点管理区，乡镇辖区为一般管理区。",
            "乡镇辖区为一般管理区",
            "乡镇辖区为重点管理区",
        ),
        ("Visitors must not enter the hall.", "访客不可以进入大厅", "访客可以进入大厅"),
        ("所需时间不计入期限。", "所需时间不会计入期限", "所需时间应当计入期限"),
        ("It is approved by the Office of General Counsel.", "OGC approves it", "CFO approves it"),
    ],
)
def test_what_is_meant_otherwise_is_told(text, right, wrong):
    assert not [f for f in findings(right, Clause(text)) if f.verdict != "computed"]
    assert [f for f in findings(wrong, Clause(text)) if f.verdict != "computed"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("1.2万吨比1万吨的门槛高出2000吨", ["computed"]),
        ("1.2万吨比1万吨的门槛高出3000吨", ["missing"]),
        ("1.2万吨就要报告", ["missing"]),  # nothing of the text is set against it
    ],
)
def test_a_figure_of_the_question_may_be_set_against_one_of_the_text(sentence, expected):
    clause = Clause("年能耗1万吨以上的单位应当报告。")
    asked = "我单位年能耗1.2万吨，要报告吗？"
    assert verdicts(sentence, clause, question=asked) == expected


@pytest.mark.parametrize(
    "text", ["每\t吨10元", "每\xa0吨10元", "10元/ 吨", "10 yuan per tonne", "10 yuan per\ttonne"]
)
def test_blanks_before_what_a_figure_is_for_one_of_do_not_matter(text):
    assert [p.marked("of") for p in parts_of(text) if p.kind == "quantity"] == [{"1 吨"}]
    assert parts_of("10 yuan per  square metre, per\xa0working day")


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("3份，每份100元，是300元", "300元 = 3份×100元"),
        ("7月4日至7月24日共21天", "21天 = 7月24日−7月4日"),
        ("单侧15米，总宽30米", "30米 = 15米×2"),
    ],
)
def test_products_spans_and_doubles_are_computed(sentence, words):
    clause = Clause("共3份，每份100元；7月4日起，7月24日止；单侧15米。")
    assert [f.words for f in findings(sentence, clause, around=[sentence])] == [words]
