"""Targets by rule, on sentences in the form that policies have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.statements.targets import targets


def read(text, *names):
    """Return the named fields of each finding; subject and object unless told otherwise."""
    names = names or ("subject", "object")
    return [
        tuple(getattr(f if hasattr(f, name) else f.qualifiers, name) for name in names)
        for f in targets(text)
    ]


@pytest.mark.parametrize(
    ("text", "indicator", "phrase", "comparator"),
    [
        ("到2025年，森林覆盖率达到39%。", "森林覆盖率", "2025年达到39%", "="),
        ("到2025年，湿地保护率不低于57%。", "湿地保护率", "2025年不低于57%", ">="),
        ("到2025年，绿色工厂达到500家以上。", "绿色工厂", "2025年达到500家以上", ">="),
        ("到2025年，回收利用率提高到42%左右。", "回收利用率", "2025年提高到42%左右", "~"),
        (
            "到2025年，用水总量控制在23.5亿立方米以内。",
            "用水总量",
            "2025年控制在23.5亿立方米以内",
            "<=",
        ),
        ("到2025年，货运量增长10%以上。", "货运量", "2025年增长10%以上", "+"),
        ("到2025年，单位能耗下降16%。", "单位能耗", "2025年下降16%", "-"),
        ("到2025年，机组装机突破800万千瓦。", "机组装机", "2025年突破800万千瓦", ">"),
        ("到2025年，农膜回收率81%以上。", "农膜回收率", "2025年81%以上", ">="),
        ("到2025年，新建高标准农田54万亩。", "高标准农田", "2025年新建54万亩", "+"),
        ("到2025年，建成60个宜居村庄。", "宜居村庄", "2025年建成60个", "="),
        ("到2025年，累计培育领军企业10家以上。", "领军企业", "2025年累计培育10家以上", ">="),
        ("到2025年，创建示范企业不少于30家。", "示范企业", "2025年创建不少于30家", ">="),
        ("到2025年，30万千瓦级机组煤耗为90%。", "30万千瓦级机组煤耗", "2025年为90%", "="),
        ("到2025年，打造1-2个示范园区。", "示范园区", "2025年打造1-2个", "range"),
    ],
)
def test_targets_of_every_form(text, indicator, phrase, comparator):
    """Indicator and value with a verb, without one, and what is to be built."""
    assert read(text, "subject", "object", "comparator") == [(indicator, phrase, comparator)]


@pytest.mark.parametrize(
    ("amount", "value", "unit"),
    [
        ("50万亩", "500000", "亩"),
        ("４０％", "40", "%"),
        ("4000万千瓦", "40000000", "千瓦"),
        ("40GW", "40000000", "千瓦"),
        ("0.4亿千瓦", "40000000", "千瓦"),
        ("400万吨标准煤", "4000000", "吨标准煤"),
        ("30微克/立方米", "30", "微克/立方米"),
        ("637万吨/日", "6370000", "吨/日"),
        ("2‰", "0.2", "%"),
        ("9.8个百分点", "9.8", "个百分点"),
        ("1.5亿千瓦时", "150000000", "千瓦时"),
    ],
)
def test_equal_quantities_have_one_value_and_unit(amount, value, unit):
    """万 and 亿 scale the number; other names of a unit are one."""
    assert read(f"到2025年，某项总量达到{amount}。", "value", "unit") == [(value, unit)]


def test_a_range_has_two_ends():
    """40%至50%."""
    assert read("到2025年，比重达到40%至50%。", "value", "value_to", "unit", "comparator") == [
        ("40", "50", "%", "range")
    ]


def test_what_it_is_compared_with():
    """Base year, base value."""
    text = "到2025年，单位地区生产总值能耗比2020年下降13.5%，数据中心利用率由2020年的30%提高到50%。"
    assert read(text, "subject", "value", "base_year", "base_value", "year") == [
        ("单位地区生产总值能耗", "13.5", "2020", "", "2025"),
        ("数据中心利用率", "50", "2020", "30", "2025"),
    ]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (
            "到2025年，生活垃圾处理率、污水处理率分别达到90%、85%。",
            [("生活垃圾处理率", "90"), ("污水处理率", "85")],
        ),
        (
            "到2025年，农药、化肥利用率分别达到40%和41%。",
            [("农药利用率", "40"), ("化肥利用率", "41")],
        ),
        (
            "到2025年，化学需氧量、氨氮两项主要污染物排放量分别减少5万吨、1万吨。",
            [("化学需氧量排放量", "50000"), ("氨氮排放量", "10000")],
        ),
        (
            "到2025年，绿色建筑占比达到70%，其中星级绿色建筑占比达到20%。",
            [("绿色建筑占比", "70"), ("星级绿色建筑占比", "20")],
        ),
        (
            "到2025年，新增风电10万千瓦、光伏发电5万千瓦。",
            [("风电", "100000"), ("光伏发电", "50000")],
        ),
        (
            "到2025年，建设示范县8个、示范园区4家，森林乡镇10个。",
            [("示范县", "8"), ("示范园区", "4"), ("森林乡镇", "10")],
        ),
        (
            "2020年，排放量为8.1万吨，较2015年下降13%。",
            [("排放量", "81000"), ("排放量", "13")],
        ),
    ],
)
def test_several_a_sentence(text, pairs):
    """Lists, 分别, 其中, a second value of the same indicator."""
    assert read(text, "subject", "value") == pairs


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (
            "到2025年，各区分别建成1个试点园区、3个试点机关，不少于5家试点学校以及10家试点企业。",
            [("试点园区", "1"), ("试点机关", "3"), ("试点学校", "5"), ("试点企业", "10")],
        ),
        (
            "到2025年，培育和引进50名以上青年科学家和20个以上创新团队。",
            [("青年科学家", "50"), ("创新团队", "20")],
        ),
        (
            "到2025年，划定2个市级、4个县级水源地保护区。",
            [("市级水源地保护区", "2"), ("县级水源地保护区", "4")],
        ),
        ("到2025年，建设甲区、乙区2个示范基地。", [("示范基地", "2")]),
        ("到2025年，构建水稻、茶叶、中药材等10个产业链。", [("产业链", "10")]),
        ("到2025年，每年建成不少于500亩的示范林。", [("示范林", "500")]),
        ("到2025年，建成10 00个充电桩。", [("充电桩", "1000")]),
        (
            "到2025年，农药利用率、化肥利用率均达到43%。",
            [("农药利用率", "43"), ("化肥利用率", "43")],
        ),
        ("到2025年，全市万人拥有公交车12标台。", [("万人拥有公交车", "12")]),
        ("到2025年，公交站点500米覆盖率达到100%。", [("公交站点500米覆盖率", "100")]),
    ],
)
def test_enumerations_are_read_to_their_end(text, pairs):
    """Every item of a list that is built or counted; one value for several; numbers in names."""
    assert read(text, "subject", "value") == pairs


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (
            "到2023年，绿色建筑占比达到35%；体系逐步健全。到2025年，该比例达到45%。",
            [("绿色建筑占比", "35"), ("绿色建筑占比", "45")],
        ),
        (
            "到2025年，云岭省设区城市污水收集率达到30%以上，县级城市达到15%以上。",
            [("设区城市污水收集率", "30"), ("县级城市污水收集率", "15")],
        ),
        (
            "2020年，光伏发电量为17亿千瓦时，占全社会用电量的4.6%。",
            [("光伏发电量", "1700000000"), ("光伏发电量占全社会用电量", "4.6")],
        ),
        (
            "甲浓度、乙浓度分别为5微克/立方米、27微克/立方米，较“十二五”末分别下降7%、2%。",
            [("甲浓度", "5"), ("乙浓度", "27"), ("甲浓度", "7"), ("乙浓度", "2")],
        ),
        (
            "到2025年，单位产值能耗、单位产值用水量分别下降13%、15%。",
            [("单位产值能耗", "13"), ("单位产值用水量", "15")],
        ),
    ],
)
def test_an_indicator_is_followed_back(text, pairs):
    """该比例, 占…的, 地级城市, 分别 whose list stands in the clause before."""
    assert read(text, "subject", "value") == pairs


@pytest.mark.parametrize(
    ("text", "indicator", "value"),
    [
        ("督促12家涉气企业完成整治。", "涉气企业完成整治", "12"),
        ("督促完成自然保护区96个环境问题整改。", "自然保护区环境问题整改", "96"),
        ("将27万家排污单位纳入许可管理。", "排污单位纳入许可管理", "270000"),
        ("47家涉气企业安装监测设备。", "涉气企业安装监测设备", "47"),
    ],
)
def test_what_those_that_are_counted_did(text, indicator, value):
    """The verb behind what is counted, and the object behind the number."""
    assert read(f"一、工作成效\n{text}", "subject", "value", "standing") == [
        (indicator, value, "achieved")
    ]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("到2025年，实施青川、石桥等地不少于56个示范项目。", [("示范项目", "56")]),
        ("到2025年，新建管网700公里，累计完成造林8万亩。", [("管网", "700"), ("造林", "80000")]),
        (
            "到2025年，营运货车、社会车辆等能耗强度分别下降2%、3%。",
            [("营运货车能耗强度", "2"), ("社会车辆能耗强度", "3")],
        ),
        ("到2025年，甲产值、乙产值年均增长5%。", [("甲产值、乙产值", "5")]),
        ("到2025年，配网10千伏线路联络率100%。", [("配网10千伏线路联络率", "100")]),
        ("到2025年，港口75%以上泊位具备供电能力。", [("港口泊位具备供电能力", "75")]),
        ("2020年，水电装备销量占全国40%以上。", [("水电装备销量占全国", "40")]),
        ("2020年，单位产值排放从2015年的1.3吨/万元，下降至1.1吨/万元。", [("单位产值排放", "1.1")]),
        ("全市19个断面水质优良比例达到100%。", [("断面水质优良比例", "100")]),
        ("到2025年ꎬ绿化率达到７０􀆰５％ꎮ湿地率达到８％ꎮ", [("绿化率", "70.5"), ("湿地率", "8")]),
    ],
)
def test_further_forms(text, pairs):
    """等地, what verbs name, 占全国, a value begun in the clause before, marks that a font lost."""
    assert read(text, "subject", "value") == pairs


def test_lists_that_do_not_fit_are_left_out():
    """Two values for three indicators."""
    assert read("到2025年，甲处理率、乙处理率、丙处理率分别达到90%、85%。") == []


def test_years_of_a_list():
    """到2025年、2030年分别达到."""
    assert read("到2025年、2030年，森林覆盖率分别达到20%、25%。", "value", "year") == [
        ("20", "2025"),
        ("25", "2030"),
    ]


def test_a_year_holds_for_all_that_follow_it():
    """Through a sentence, a paragraph, the list below a colon, the section of aims."""
    text = "到2025年，体系初步形成。甲处理率达到90%；乙处理率达到80%。\n丙处理率达到70%。"
    assert read(text, "value", "year") == [("90", "2025"), ("80", "2025"), ("70", "")]
    text = "到2030年，实现以下目标：\n1.甲处理率达到90%；\n2.乙处理率达到80%。"
    assert read(text, "value", "year") == [("90", "2030"), ("80", "2030")]
    text = (
        "一、主要目标\n到2025年，体系初步形成。\n——甲处理率达到90%。\n二、措施\n乙处理率达到80%。"
    )
    assert read(text, "value", "year") == [("90", "2025"), ("80", "")]
    text = "一、2025年目标\n甲处理率达到90%。"
    assert read(text, "value", "year") == [("90", "2025")]


def test_a_period_has_its_last_year():
    """十四五期间, 十四五末."""
    text = "“十四五”期间，新增光伏发电40万千瓦。"
    assert read(text, "object", "year", "period") == [
        ("“十四五”期间新增40万千瓦", "2025", "十四五")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "“十三五”期间，建成污水处理厂5座。各地在“十四五”时期继续努力。",
        "云政发〔2021〕3号\n截至2020年底，森林覆盖率达到39%。",
        "云政发〔2022〕3号\n2020年全省森林覆盖率达到39%。",
        "一、发展基础\n全省污水处理率达到97%。\n二、主要目标\n到2035年，体系健全。",
        "全市已建成污水处理厂5座。",
    ],
)
def test_results_are_achieved(text):
    """By period, date, year before the document's own, section, word."""
    assert read(text, "predicate", "standing") == [("已达到", "achieved")]


@pytest.mark.parametrize(
    "text",
    [
        "云政发〔2021〕3号\n到2022年，森林覆盖率达到39%。",
        "云政发〔2018〕3号\n到2020年，森林覆盖率达到39%。",
        "二、主要目标\n森林覆盖率达到39%。",
        "力争森林覆盖率达到39%。",
    ],
)
def test_what_is_to_come_is_planned(text):
    """A year that was ahead when the document was written, an aim."""
    assert read(text, "predicate", "standing") == [("目标为", "planned")]


@pytest.mark.parametrize(
    "text",
    [
        "对获评绿色工厂的企业给予一次性奖励50万元。",
        "按设备投资额的20%给予补助，最高不超过300万元。",
        "将年综合能耗超过1万吨标准煤的企业纳入重点管理。",
        "对产能低于30万吨的企业实施改造。",
        "淘汰每小时35蒸吨以下燃煤锅炉。",
        "应当在15个工作日内提出申请。",
        "《云岭省节能条例》第十二条规定的情形，云政发〔2021〕15号。",
        "联系电话：0871-63112233。",
        "2021年6月28日起施行，有效期5年。",
        "图2 2010年-2020年云岭省能耗变化情况",
        "表1 2025年主要指标",
        "序号指标单位2020年2025年属性",
        "3.2项目建设内容完成情况",
        "对水质优良比例未达到100%但有提升的市县，予以通报。",
        "从十个方面提出25条措施。",
        "碳排放量与前一年度相差20%以上的；",
    ],
)
def test_what_is_no_target(text):
    """Money that is granted, thresholds, deadlines, articles, numbers, dates, captions."""
    assert read(text) == []


def test_limits_of_rules_are_no_targets():
    """A standard sets limits, a plan aims."""
    limit = "建筑外窗气密性达标率应达到95%。"
    assert read(f"绿色建筑评价导则\n{limit}") == []
    assert read(f"云岭省建筑节能规划\n{limit}", "value") == [("95",)]


def test_region_and_scope():
    """Where the clause names them."""
    text = "到2025年，云岭省规模以上工业单位增加值能耗下降13%。"
    assert read(text, "subject", "region", "scope") == [
        ("规模以上工业单位增加值能耗", "云岭省", "规模以上工业")
    ]


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("全国2025年非化石能源消费占比将达到20%左右。", "全国"),
        ("全国到2025年底非化石能源消费占比达到20%。", "全国"),
        ("全省“十四五”期间森林覆盖率达到41%。", "全省"),
        ("到2025年，沿黄省区县城人口密度控制在1万人/平方公里以内。", ""),  # no place of this name
    ],
)
def test_a_whole_place_before_the_time(text, region):
    """What is said of the country in a local document is the country's."""
    assert [told for (told,) in read(f"云岭省能源规划\n{text}", "region")] == [region]


HEADED = "上海市节能方案\n一、重点区域\n（一）临港新片区\n"


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("上海市节能方案\n到2025年，临港新片区光伏装机容量达到50万千瓦。", "临港新片区"),
        ("上海市节能方案\n临港新片区到2025年，光伏装机容量达到50万千瓦。", "临港新片区"),
        ("上海市节能方案\n临港新片区推广储能，到2025年，光伏装机容量达到50万千瓦。", "临港新片区"),
        ("甘肃省节能方案\n麦积区2022年光伏装机容量达到50万千瓦。", "麦积区"),
        (HEADED + "到2025年，光伏装机容量达到50万千瓦。", "临港新片区"),
        (HEADED + "到2025年，全市光伏装机容量达到50万千瓦。", "全市"),
        ("南京江北新区节能计划\n到2025年，光伏装机容量达到50万千瓦。", "江北新区"),
        (
            "关于印发《南京江北新区节能计划》的通知\n到2025年，光伏装机容量达到50万千瓦。",
            "江北新区",
        ),
        # no part alone, and nothing named
        ("上海市节能方案\n到2025年，临港新片区、张江高新区光伏装机容量达到50万千瓦。", ""),
        ("上海市节能方案\n临港新片区管委会带头，到2025年，光伏装机容量达到50万千瓦。", ""),
        ("上海市节能方案\n（一）建设绿色园区\n到2025年，光伏装机容量达到50万千瓦。", ""),
        ("上海市节能方案\n推进工业园区改造，到2025年，光伏装机容量达到50万千瓦。", ""),
    ],
)
def test_a_part_is_told_as_the_part(text, region):
    """An area or a district that the sentence, a heading or the title names as the place."""
    assert read(text, "region") == [(region,)]


def test_what_stands_in_brackets():
    """A value of the same indicator, and a name that goes on behind."""
    text = "到2022年，绿色建筑占比达到70%（其中，2021年达到60%），培育审（认）定品种15个。"
    assert read(text, "subject", "value", "year") == [
        ("绿色建筑占比", "70", "2022"),
        ("绿色建筑占比", "60", "2021"),
        ("审（认）定品种", "15", "2022"),
    ]


def test_lines_that_a_page_broke_are_one():
    """The indicator on one line, its value on the next."""
    text = "到2025年，全省县级以上城市生活污水集中收集率力争达到\n70%以上，成效显著。"
    assert read(text) == [("县级以上城市生活污水集中收集率", "2025年达到70%以上")]


def test_a_table_of_cells():
    """Header and rows as the loader joins them."""
    text = (
        "云政发〔2021〕3号\n表1 主要指标\n序号 | 指标 | 单位 | 2020年 | 2025年 | 属性\n"
        "1 | 森林覆盖率 | % | 42 | ≥42.5 | 约束性\n2 | 湿地面积 | 万亩 | — | 300 | 预期性\n"
        "3 | 能耗强度 | % | 完成国家下达任务 | 约束性\n"
    )
    assert read(text, "subject", "value", "unit", "year", "standing", "binding") == [
        ("森林覆盖率", "42", "%", "2020", "achieved", "约束性"),
        ("森林覆盖率", "42.5", "%", "2025", "planned", "约束性"),
        ("湿地面积", "3000000", "亩", "2025", "planned", "预期性"),
    ]


def test_a_table_with_one_cell_a_line():
    """As a plain text has it."""
    cells = ["序号", "指标", "单位", "2020年", "2025年", "属性"]
    cells += ["1", "森林覆盖率", "%", "42", "42.5", "约束性"]
    cells += ["2", "湿地面积", "万亩", "—", "300", "预期性", "注：以上为规划数。"]
    text = "云政发〔2021〕3号\n" + "\n".join(cells)
    assert read(text, "subject", "value", "year", "binding") == [
        ("森林覆盖率", "42", "2020", "约束性"),
        ("森林覆盖率", "42.5", "2025", "约束性"),
        ("湿地面积", "3000000", "2025", "预期性"),
    ]


def test_a_table_that_lost_its_cells():
    """Rows with as many values as the header has years; others are left out."""
    text = (
        "云政发〔2021〕3号\n序号指标单位2020年2025年属性\n1森林覆盖率（%）42 42.5约束性"
        "2湿地保护率（%）40.3 40.8预期性\n3能耗强度（%）完成国家任务约束性\n体比例（%）3 5预期性\n"
    )
    found = read(text, "subject", "value", "year", "binding")
    assert found[:4] == [
        ("森林覆盖率", "42", "2020", "约束性"),
        ("森林覆盖率", "42.5", "2025", "约束性"),
        ("湿地保护率", "40.3", "2020", "预期性"),
        ("湿地保护率", "40.8", "2025", "预期性"),
    ]


def test_the_span_is_the_clause():
    """Without the clauses around it."""
    text = "为落实要求，到2025年，森林覆盖率达到39%，体系健全。"
    (found,) = targets(text)
    assert text[found.start : found.end] == "森林覆盖率达到39%"


@given(
    st.lists(
        st.sampled_from(
            [
                "到2025年",
                "，",
                "。",
                "\n",
                "；",
                "率",
                "达到",
                "分别",
                "10%",
                "5万吨",
                "、",
                "和",
                "（",
                "）",
                "《",
                "由",
                "提高到",
                "比2020年",
                "建成",
                "20个",
                "以上",
                "森林",
                "约束性",
                "2020年",
                "指标",
                "\x00",
                "“十四五”期间",
                "１２",
                " | ",
            ]
        ),
        max_size=40,
    ).map("".join)
)
@settings(max_examples=300)
def test_any_text_is_read(text):
    """Never an error; spans lie within, values are numbers."""
    for found in targets(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.subject
        assert float(found.qualifiers.value) >= 0


def test_rows_whose_names_a_page_broke():
    """The name around a line that holds only values; the binding beside them."""
    text = (
        "云政发〔2021〕3号\n专栏1 主要指标\n序号指标2020年2025年属性\n"
        "青川市设区城市空气质量\n1约束性97 98\n优良天数比率（%）\n"
        "青川市设区城市细颗\n2预期性27 26\n粒物浓度\n"
    )
    assert read(text, "subject", "value", "unit", "year", "standing", "binding") == [
        ("设区城市空气质量优良天数比率", "97", "%", "2020", "achieved", "约束性"),
        ("设区城市空气质量优良天数比率", "98", "%", "2025", "planned", "约束性"),
        ("设区城市细颗粒物浓度", "27", "", "2020", "achieved", "预期性"),
        ("设区城市细颗粒物浓度", "26", "", "2025", "planned", "预期性"),
    ]


def test_rows_below_a_header_of_one_year():
    """Numbered rows with a unit or a sign; full-width digits; rows with two values left out."""
    text = (
        "行动方案主要指标\n序号指标名称２０２５年目标\n"
        "1城市可渗透地面面积比例（%） ≥40%\n2绿地率（%）≤30% 3节水器具使用率（%）100%\n"
        "４占总量１％以上的物种数＞１２\n种\n5海洋比例（%）69 87\n"
    )
    assert read(text, "subject", "value", "unit", "year", "comparator") == [
        ("城市可渗透地面面积比例", "40", "%", "2025", ">="),
        ("绿地率", "30", "%", "2025", "<="),
        ("节水器具使用率", "100", "%", "2025", "="),
        ("占总量1%以上的物种数", "12", "种", "2025", ">"),
    ]


def test_the_number_of_a_row_is_no_value():
    """14 % 18.11 is the fourteenth row."""
    assert read("生态保护红线占国土面积比例\n14 % 18.11\n耕地安全利用率\n15 % 91\n") == []
