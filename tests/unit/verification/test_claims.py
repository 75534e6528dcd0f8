from typing import Any

import pytest

from kgrag.text.quantities import dates, quantities
from kgrag.verification.claims import Source, missing_claims, numbers_missing, title_line

TEXT = """云岭省节能规划
到2025年，全省创建绿色工厂1,000家以上，新增林地3万亩，能耗下降百分之十，每千瓦时补贴0.3元。
2022年6月28日前报送省发展和改革委员会，由省生态环境厅、工业和信息化厅牵头，福州、厦门先行。
落实《节约能源法》，实行CCER交易，农村污水治理率达到65%，全国为40%。
三、保障措施
13.加强统一领导，奖励五百万元，期限5年。
"""


def missing(sentence, *, text=TEXT, question="有哪些目标？", around=()):
    return missing_claims(
        sentence, Source.of(text), asked=Source.of(question), around=around or [sentence]
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "绿色工厂1000家",
        "绿色工厂一千家",
        "绿色工厂１０００个",
        "林地30,000亩",
        "能耗下降10%",
        "能耗下降10％以上",
        "二〇二五年",
        "2022年6月28日",
        "6月28日",
        "2022年6月",
        "省发改委",
        "省工信厅和生态环境厅",
        "福州和厦门",
        "《节约能源法》第一",
        "ccer",
        "奖励500万元",
        "奖励5000000元",
        "每千瓦时0.3元",
        "一是统一领导，第一步",
    ],
)
def test_missing_claims_find_what_stands_there_in_other_writing(sentence):
    """No false alarm for form."""
    assert missing(sentence) == ()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("绿色工厂1001家", ("1001家",)),
        ("绿色工厂100家", ("100家",)),
        ("能耗下降12%", ("12%",)),
        ("能耗下降10个百分点", ("10个百分点",)),
        ("林地3亩", ("3亩",)),
        ("2026年", ("2026年",)),
        ("2022年8月28日", ("2022年8月28日",)),
        ("2021年6月28日", ("2021年6月28日",)),
        ("省财政厅牵头", ("省财政厅",)),
        ("省生态环境局牵头", ("省生态环境局",)),
        ("由泉州先行", ("泉州",)),
        ("《环境保护法》", ("《环境保护法》",)),
        ("实行CDM交易", ("CDM",)),
        ("奖励六百万元", ("六百万元",)),
        ("“十三五”期间", ("十三五",)),
        ("三个市", ("三个",)),  # 三、 numbers a section
        ("第13号令", ("13号",)),  # 13. numbers a line
        ("泉州绿色工厂50家，泉州", ("泉州", "50家")),
    ],
)
def test_missing_claims_are_named_as_written(sentence, expected):
    assert missing(sentence) == expected


def test_missing_claims_leave_names_and_times_of_the_question():
    """Whoever repeats the question claims nothing; its numbers and places count."""
    question = "到2030年8月，泉州的财政厅要创建50家吗？"
    assert missing("到2030年8月，财政厅创建50家", question=question) == ("50家",)
    assert missing("泉州的目标", question=question) == ("泉州",)


def test_missing_claims_leave_what_is_computed_from_supported_numbers():
    """65 - 40 = 25, where the sentence compares; other results are wrong."""
    around = ["全国40%，全省65%，", "高25个百分点"]
    assert missing(around[1], around=around) == ()
    assert missing("高26个百分点", around=around) == ("26个百分点",)
    assert missing("达25个百分点", around=around) == ("25个百分点",)


def test_missing_claims_leave_counts_of_what_the_answer_lists():
    """八项 in front of eight items is not in the text, and true."""
    assert missing("两个市：福州、厦门") == ()
    assert missing("共三家", around=["共三家", "甲", "乙", "丙"]) == ()
    assert missing("六家：福州、厦门") == ("六家",)


def test_missing_claims_read_tables_whose_unit_stands_elsewhere():
    """单位：万元 above a column."""
    assert missing("投资300万元", text="单位：万元\n投资 300 400") == ()
    assert missing("投资500万元", text="单位：万元\n投资 300 400") == ("500万元",)


def test_missing_claims_in_english():
    """Numbers, dates and names of an English text."""
    text = "The Eiffel Tower in Paris, 330 metres high, opened on 31 March 1889."
    assert missing("It opened in Paris on March 31, 1889.", text=text) == ()
    assert missing("It opened in London on March 30, 1889.", text=text) == (
        "London",
        "March 30, 1889",
    )


def test_missing_claims_of_equal_terms_and_longer_sums():
    """30 + 30 = 60, and 10 + 20 + 40 = 70."""
    text = "园区不少于30个，社区不少于30个，甲类10%、乙类20%、丙类40%。"
    around = ["园区30个，社区30个", "合计60个"]
    assert missing(around[1], text=text, around=around) == ()
    assert missing("合计90个", text=text, around=around) == ("90个",)
    around = ["甲类10%、乙类20%、丙类40%", "合计70%"]
    assert missing(around[1], text=text, around=around) == ()


def test_missing_claims_take_terms_from_all_that_the_sentence_cites():
    """Each half has its own source, their difference both."""
    first, second = Source.of("全省65%"), Source.of("全省65%\n全国40%")
    around = ["全省65%，全国40%，高25个百分点"]
    options: dict[str, Any] = {"asked": Source.of("问"), "around": around}
    assert missing_claims("高25个百分点", first, whole=second, **options) == ()
    assert missing_claims("高25个百分点", first, **options) == ("25个百分点",)


def test_missing_claims_read_decimals_that_a_scan_broke_and_currencies():
    """0. 75亿吨 in the text is 0.75亿吨; RMB is 元."""
    assert missing("总量0.75亿吨", text="总量为0. 75亿吨") == ()
    assert missing("总量0. 75亿吨", text="总量为0.75亿吨") == ()
    assert missing("奖励RMB 30万元", text="奖励30万元") == ()


def test_missing_claims_of_a_place_that_the_question_names():
    """A place must stand in the text, unless the sentence says that nothing is told of it."""
    source, asked = Source.of("陕西省方案"), Source.of("西藏的目标？")
    assert missing_claims("西藏的目标", source, asked=asked) == ("西藏",)
    assert missing_claims("西藏的目标", source, asked=asked, names_asked=True) == ()


def test_numbers_missing_are_those_with_a_unit_and_no_years():
    """What a quote must hold."""
    source, asked = Source.of("连续补贴2年"), Source.of("补贴？")
    found = numbers_missing("2025年起每年补贴0.05元，连续3年，共12", source, asked=asked)
    assert found == ("0.05元", "3年")


def test_missing_claims_read_a_scale_only_where_there_is_one():
    """300 in one place and 家 in another are not 300家; nor is 万元 without its number."""
    assert missing("投资300家", text="家数 300吨") == ("300家",)
    assert missing("投资三百万元", text="单位：万元 3") == ("三百万元",)
    assert missing("奖励六 万元", text="单位：万元 3") == ("六 万元",)


def test_missing_claims_leave_years_of_the_question():
    """With their 年 and without; other numbers of the question are claims."""
    assert missing("2031年", question="2031年的目标？") == ()
    assert missing("2031-2032年", question="2031年的目标？") == ("2032年",)
    assert missing("2032年", question="2031年的目标？") == ("2032年",)
    assert missing("投资50年", question="投资50年？") == ("50年",)
    for year, expected in (
        ("1900", ()),
        ("2099", ()),
        ("2100", ("2100年",)),
        ("1899", ("1899年",)),
    ):
        assert missing(f"{year}年", question=f"{year}年的目标？") == expected
    assert missing("2031-5万", question="2031年的目标？") == ("5万",)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("1月至3月，共2个月", ()),
        ("1月至3月，共3个月", ()),
        ("1月至3月，共4个月", ("4个月",)),
        ("2021年11月至2022年2月，共4个月", ()),
        ("2021年11月至2022年2月，共5个月", ("5个月",)),
        ("2022年3月至12月，共10个月", ()),
        ("2022年3月至12月，共12个月", ("12个月",)),
        ("2022年3月1日至12月1日，共9个月", ()),
        ("2022年3月1日至12月1日，共8个月", ("8个月",)),
    ],
)
def test_missing_claims_count_months_with_and_without_the_last(sentence, expected):
    """From 1月 to 3月 are two or three; over the turn of a year, too."""
    text = "1月、2月、3月、2021年11月、2022年2月、2022年3月、12月、2022年3月1日、12月1日"
    assert missing(sentence, text=text) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("三家：甲、乙、丙", ()),
        ("两家：甲、乙、丙", ("两家",)),
        ("四家：甲、乙、丙", ("四家",)),
        ("三家：甲、乙和丙", ()),
        ("两家：甲、乙和丙", ()),  # 乙和丙 may be one
        ("四家：甲、乙和丙", ("四家",)),
        ("3: alpha, beta, and gamma", ()),
        ("3: alpha, beta and gamma", ()),
        ("2: alpha, beta, and gamma", ("2",)),
        ("4: alpha, beta, and gamma", ("4",)),
        ("5: alpha, beta, and gamma", ("5",)),
    ],
)
def test_missing_claims_count_items_of_a_sentence(sentence, expected):
    """Between 、 and 和, commas and the word; no more and no fewer."""
    assert missing(sentence, text="无") == expected


def test_missing_claims_count_the_items_of_a_block():
    """All sentences of it, or all but the one that counts; 30 at most."""
    for n, expected in ((3, ()), (4, ()), (2, ("2家",)), (5, ("5家",))):
        assert missing(f"共{n}家", around=[f"共{n}家", "甲", "乙", "丙"]) == expected
    assert missing("共0家") == ("0家",)
    assert missing("共1家") == ("1家",)
    for n, expected in ((30, ()), (31, ("31家",))):
        assert missing(f"共{n}家", around=[f"共{n}家", *"甲" * n]) == expected


def test_has_number_takes_a_number_alone_for_one_with_any_unit():
    """And finds it as it is written where it cannot be read."""
    source = Source.of("共 13 项，A500型")
    assert missing("13", text="共13家") == ()
    assert missing("13家", text="共13") == ()
    assert source.has_number(quantities("500")[0], "500")
    assert not source.has_number(quantities("50")[0], "50")
    assert not source.has_number(quantities("00")[0], "00")


def test_has_date_takes_the_year_from_elsewhere():
    """But not another year."""
    source = Source.of("2022年方案：6月28日前完成，2023年7月1日前评估。")
    known = {
        "6月28日": True,
        "2022年6月28日": True,
        "2021年6月28日": False,
        "2022年7月1日": False,
        "2023年7月": True,
        "2023年8月": False,
        "6月29日": False,
    }
    assert {text: source.has_date(dates(text)[0]) for text in known} == known
    assert source.has_year(2022)
    assert not source.has_year(2021)


def test_missing_claims_take_the_year_of_any_date():
    """2022-06-28 says 2022年."""
    assert missing("2022年", text="2022-06-28发布") == ()
    assert missing("2021年", text="2022-06-28发布") == ("2021年",)


def test_missing_claims_leave_steps_and_keep_articles():
    """第九步 counts what is told, 第九条 names a place; （九）条 numbers a line."""
    assert missing("第九步") == ()
    assert missing("第九条") == ("九条",)
    assert missing("（九）条件") == ()
    assert missing("（9条）") == ()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("自2021年10月8日起实施，有效期5年，到2026年10月", ()),
        ("自2021年10月8日起实施，有效期5年，到2026年10月7日", ()),
        ("自2021年10月8日起实施，有效期5年，到2027年10月", ("2027年10月",)),
        ("自2021年10月8日起实施，有效期5年，到2026年12月", ("2026年12月",)),
        ("自2021年10月8日起实施，有效期6年，到2027年10月", ("6年", "2027年10月")),
        ("自2021年10月9日起实施，有效期5年，到2026年10月", ("2021年10月9日", "2026年10月")),
    ],
)
def test_missing_claims_leave_the_end_of_years_from_a_day(sentence, expected):
    """Where the text holds the day and the years, the end is computed from them."""
    text = "本办法自2021年10月8日起施行，有效期5年。"

    assert missing(sentence, text=text) == expected


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        ("3月", "2月28日", ()),
        ("3月", "2月", ()),
        ("3月", "2月27日", ("2026年2月27日",)),
        ("7月", "6月30日", ()),
        ("8月", "7月31日", ()),
    ],
)
def test_missing_claims_leave_the_day_before_the_first(begin, end, expected):
    """Five years from the first of March end with February."""
    text = f"本办法自2021年{begin}1日起施行，有效期5年。"

    assert missing(f"2021年{begin}1日起5年，到2026年{end}", text=text) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("落实《2030年前碳达峰行动方案》。", ("2030年",)),
        (title_line("云岭省2030年前碳达峰行动方案"), ("2030年",)),
        (title_line("云岭省2030年节能工作要点"), ()),
        ("到2030年实现达峰，落实《2030年前碳达峰行动方案》。", ()),
    ],
)
def test_a_year_in_a_title_backs_none_outside(source, expected):
    """It is a part of a name; the year of a document's own title is that of what it says."""
    assert missing("2030年实现达峰", text=source) == expected


@pytest.mark.parametrize(
    ("text", "sentence", "expected"),
    [
        ("森林覆盖率(％)\n２０１１􀆰３３１２\n保护约束性", "覆盖率达到12%", ()),
        ("森林覆盖率(％)\n２０１１􀆰３３１２\n保护约束性", "从11.33%起", ()),
        ("森林覆盖率(％)\n２０１１􀆰３３１２\n保护约束性", "覆盖率达到13%", ("13%",)),
        ("森林覆盖率(％)\n２０１１􀆰３３１２\n保护约束性", "覆盖率达到3312%", ("3312%",)),
        ("１５森林覆盖率(％)２０４２４２􀆰５约束性", "覆盖率达到42.5%", ()),
        ("水质比例下降３１􀆰７４％", "下降31.74%", ()),
        ("指标\n２０２５\n森林覆盖率", "覆盖率达到25%", ("25%",)),
        ("比２０２０年提高，共４２４２家", "覆盖率达到42%", ("42%",)),
    ],
)
def test_missing_claims_part_the_cells_of_a_row_as_its_reader_did(text, sentence, expected):
    """Wide digits without a blank are two values and a number; those of prose are one."""
    assert missing(sentence, text=text) == expected
