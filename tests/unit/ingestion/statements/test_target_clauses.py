"""Clauses whose verb, indicator or time stands elsewhere than right before the number."""

import pytest

from kgrag.ingestion.statements.targets import targets


def read(text):
    """Return (indicator, value, unit, year) of what is found."""
    told = [(f.subject, f.qualifiers) for f in targets(text)]
    return [(name, q.value, q.unit, q.year) for name, q in told]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("到2022年，每年盘活2万亩存量用地。", [("存量用地", "20000", "亩", "2022")]),
        (
            "到2025年，评定绿色工厂90家、绿色园区7个。",
            [("绿色工厂", "90", "家", "2025"), ("绿色园区", "7", "个", "2025")],
        ),
        ("到2023年，电池循环利用示范项目8个。", [("电池循环利用示范项目", "8", "个", "2023")]),
        ("到2022年，建成压缩式中转站16个。", [("压缩式中转站", "16", "个", "2022")]),
        ("2022年全省营造林任务60万亩。", [("营造林任务", "600000", "亩", "2022")]),
        (
            "到2025年，新建变电站9座，变电容量720万千伏安。",
            [("变电站", "9", "座", "2025"), ("变电容量", "7200000", "千伏安", "2025")],
        ),
        ("到2025年，入湖断面总氮浓度降至2mg/L。", [("入湖断面总氮浓度", "2", "毫克/升", "2025")]),
        ("2021年，累计竣工装配式建筑20万平方米。", [("装配式建筑", "200000", "平方米", "2021")]),
        ("到2025年，完成全市60条农村水体治理。", [("农村水体治理", "60", "条", "2025")]),
        ("到2025年，至少35%的降雨实现就地利用。", [("降雨实现就地利用", "35", "%", "2025")]),
        ("到2025年，80%行政村污水得到治理。", [("行政村污水得到治理", "80", "%", "2025")]),
        ("全省“十四五”新增能耗总量不能突破35万吨。", [("新增能耗总量", "350000", "吨", "2025")]),
        ("“十三五”年均增长率11%。", [("年均增长率", "11", "%", "2020")]),
        (
            "到2025年，非常规水利用量达到15亿立方。",
            [("非常规水利用量", "1500000000", "立方米", "2025")],
        ),
        (
            "到2025年，市、县污泥无害化处理率分别达到97%、95%。",
            [
                ("市污泥无害化处理率", "97", "%", "2025"),
                ("县污泥无害化处理率", "95", "%", "2025"),
            ],
        ),
        (
            "到2025年，新能源产值达到45亿元，年均增速5.9%。",
            [
                ("新能源产值", "4500000000", "元", "2025"),
                ("新能源产值年均增速", "5.9", "%", "2025"),
            ],
        ),
        (
            "2020年，清洁装机由23万千瓦增长到66万千瓦，比重由18%提高到34%。",
            [("清洁装机", "660000", "千瓦", "2020"), ("清洁装机比重", "34", "%", "2020")],
        ),
        ("到2025年，力争取得4项以上原创性成果。", [("原创性成果", "4", "项", "2025")]),
        ("2021年，绿心地区79个项目全部关停。", [("项目全部关停", "79", "个", "2021")]),
        ("到2025年，新建车位100%建设充电设施。", [("新建车位建设充电设施", "100", "%", "2025")]),
        (
            "到2025年，能耗强度下降12%，“十四五”期间年均下降2.6%。",
            [("能耗强度", "12", "%", "2025"), ("能耗强度", "2.6", "%", "2025")],
        ),
        (
            "到2025年，涂料、油墨使用比例分别降低20个、10个百分点。",
            [
                ("涂料使用比例", "20", "个百分点", "2025"),
                ("油墨使用比例", "10", "个百分点", "2025"),
            ],
        ),
        ("到2025年，森林覆盖率1达到58.9%。", [("森林覆盖率1", "58.9", "%", "2025")]),
    ],
)
def test_verbs_places_and_units(text, expected):
    """What is built, behind a place, a body or no verb; words that only look like a verb."""
    assert read(text) == expected


def test_an_indicator_told_of_before_its_values():
    """产量明显提升, 从…增长到…."""
    text = "天然气产量明显提升，从2012年的110亿立方米增长到2019年的176亿立方米。"
    (found,) = targets("云政发〔2021〕3号\n" + text)
    told = found.qualifiers
    assert (found.subject, told.value, told.base_value) == (
        "天然气产量",
        "17600000000",
        "11000000000",
    )


def test_a_list_whose_first_item_holds_an_and():
    """Two values part at the 和 that leaves two like ends."""
    text = "到2025年，新增和更新的公交车辆和物流配送车辆分别达到50%和20%。"
    assert read(text) == [
        ("新增和更新的公交车辆", "50", "%", "2025"),
        ("物流配送车辆", "20", "%", "2025"),
    ]


def test_all_of_which_do_what():
    """新建建筑100%执行标准."""
    assert read("到2025年，城镇新建建筑100%执行绿色标准。") == [
        ("城镇新建建筑执行绿色标准", "100", "%", "2025")
    ]


def test_masses_that_something_was_done_to():
    """每年10亿吨废水实现资源化利用, but none of a threshold."""
    assert read("2021年，10万吨废水实现资源化利用。") == [
        ("废水实现资源化利用", "100000", "吨", "2021")
    ]
    assert read("2021年，10万吨以上的企业实现达标排放。") == []


@pytest.mark.parametrize(
    "text",
    [
        "到2025年，推动60万千瓦亚临界煤电机组改造。",
        "到2025年，规划新建6个500千伏变电站。",
        "林木细根直径不超过2毫米。",
        "每校推荐资源不超过6项，专职人员不少于10人。",
        "云溪市科技局关于组织申报2022年度专项的通知\n申请专利2项，回收率达到50%。",
        "主要河流劣V类水质比例0% 3%\n到2035年，河流清澈。",
    ],
)
def test_what_only_says_which_are_meant(text):
    """The capacity of one plant, a voltage, a row of a table that lost its header."""
    assert [row for row in read(text) if row[2] != "个"] == []


@pytest.mark.parametrize(
    ("section", "standing"),
    [
        ("一、“十三五”进展成效", "achieved"),
        ("一、发展基础和形势\n（一）主要目标\n到2025年目标明确。\n（二）绿色制造", "planned"),
        ("一、发展基础和形势\n（一）绿色制造", "achieved"),
    ],
)
def test_a_section_that_has_come_to_its_aims_looks_back_no_more(section, standing):
    """Where the heading of the aims was lost, those of the past would hold for all."""
    text = f"云政发〔2021〕3号\n{section}\n在云溪打造10家标杆绿色工厂。\n"
    assert [f.qualifiers.standing for f in targets(text)] == [standing]


def test_the_year_of_writing_is_past_where_a_section_looks_back():
    """到2021年 in a document of 2021."""
    text = "云政发〔2021〕3号\n一、“十三五”进展成效\n能力从2016年的30万吨提高到2021年的40万吨。\n"
    assert [f.qualifiers.standing for f in targets(text)] == ["achieved"]


def test_the_parts_of_a_sum_by_place():
    """其中甲市5个 is of the indicator before, and of that region."""
    text = "到2025年，新建水质监测站9个，其中杭州市4个、宁波市5个。"
    told = [(f.subject, f.qualifiers.value, f.qualifiers.region) for f in targets(text)]
    assert told == [
        ("水质监测站", "9", ""),
        ("水质监测站", "4", "杭州市"),
        ("水质监测站", "5", "宁波市"),
    ]


def test_a_share_of_the_world_is_what_is():
    """占全球 tells no aim."""
    (found,) = targets("云政发〔2021〕3号\n我国纺织纤维加工总量占全球的50%以上。")
    assert found.qualifiers.standing == "achieved"


def standings(text):
    """Return (indicator, value, year, standing) of what is found."""
    told = [(f.subject, f.qualifiers) for f in targets(text)]
    return [(name, q.value, q.year, q.standing) for name, q in told]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "新能源车占比2023年底达到30%，2025年底40%。",
            [("新能源车占比", "30", "%", "2023"), ("新能源车占比", "40", "%", "2025")],
        ),
        (
            "到2025年，废物处置率、废水无害化处理率保持100%。",
            [("废物处置率", "100", "%", "2025"), ("废水无害化处理率", "100", "%", "2025")],
        ),
        ("到2025年，农药、化肥利用率达到43%。", [("农药、化肥利用率", "43", "%", "2025")]),
        (
            "2023至2025年绿色建筑占比分别达到80%、90%、100%。",
            [
                ("绿色建筑占比", "80", "%", "2023"),
                ("绿色建筑占比", "90", "%", "2024"),
                ("绿色建筑占比", "100", "%", "2025"),
            ],
        ),
        (
            "到2025年，单位面积能耗、单位面积碳排放、人均用水量分别下降6%、7%、8%。",
            [
                ("单位面积能耗", "6", "%", "2025"),
                ("单位面积碳排放", "7", "%", "2025"),
                ("人均用水量", "8", "%", "2025"),
            ],
        ),
        ("到2025年，并网规模达到40万千瓦。", [("并网规模", "400000", "千瓦", "2025")]),
        ("到2025年，有机产品认证证书突破2000张。", [("有机产品认证证书", "2000", "张", "2025")]),
        ("到2025年，防洪能力达到200年一遇。", [("防洪能力", "200", "年一遇", "2025")]),
        (
            "到2025年，开采、掘进机械化程度分别达到98%、97%。",
            [("开采机械化程度", "98", "%", "2025"), ("掘进机械化程度", "97", "%", "2025")],
        ),
        (
            "到2025年，风电、光伏发电累计装机分别达到2万千瓦、3万千瓦。",
            [
                ("风电累计装机", "20000", "千瓦", "2025"),
                ("光伏发电累计装机", "30000", "千瓦", "2025"),
            ],
        ),
        ("到2025年，建筑能效比“十二五”期间提高20%。", [("建筑能效", "20", "%", "2025")]),
        ("到2025年，技术突破领域达到50个。", [("技术突破领域", "50", "个", "2025")]),
        (
            "到2025年，绿色出行比例达到75%；到2035年，达到85%。",
            [("绿色出行比例", "75", "%", "2025"), ("绿色出行比例", "85", "%", "2035")],
        ),
        ("到2025年，减碳能力达到230多万吨。", [("减碳能力", "2300000", "吨", "2025")]),
        ("到2025年，除涝标准5年一遇。", [("除涝标准", "5", "年一遇", "2025")]),
        ("到2025年，煤炭消费比重占据70%。", [("煤炭消费比重", "70", "%", "2025")]),
        (
            "到2025年，垃圾排放不高于300吨/万平方米。",
            [("垃圾排放", "300", "吨/万平方米", "2025")],
        ),
        ("到2025年，整改完成率达到99%。", [("整改完成率", "99", "%", "2025")]),
        ("到2025年，检查企业1200家次。", [("企业", "1200", "家次", "2025")]),
        ("到2025年，惠及居民9万户。", [("惠及居民", "90000", "户", "2025")]),
        (
            "到2025年，建成公共充电桩8万个（其中智能公用充电桩5万个）。",
            [("公共充电桩", "80000", "个", "2025"), ("智能公用充电桩", "50000", "个", "2025")],
        ),
        (
            "到2025年，全市绿色建筑占比超过30%，其中城南片区超过45%。",
            [("绿色建筑占比", "30", "%", "2025"), ("城南片区绿色建筑占比", "45", "%", "2025")],
        ),
    ],
)
def test_names_and_years_of_lists(text, expected):
    """Each value has its name in full and its own year, in brackets, too."""
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("目前，全市有污水处理厂12座。", [("污水处理厂", "12", "", "achieved")]),
        (
            "全市已建成充电桩3万个，换电站5座。",
            [("充电桩", "30000", "", "achieved"), ("换电站", "5", "", "achieved")],
        ),
        (
            "目前已建成充电桩3万个，力争新建换电站5座。",
            [("充电桩", "30000", "", "achieved"), ("换电站", "5", "", "planned")],
        ),
        ("加速现有数据中心改造，能效提升20%。", [("能效", "20", "", "planned")]),
        (
            "云政发〔2021〕3号\n质量明显改善。2020年，优良率为93%。覆盖率为41%，居全省第一。",
            [("优良率", "93", "2020", "achieved"), ("覆盖率", "41", "2020", "achieved")],
        ),
        (
            "云岭省“十四五”林草规划\n落实云政发〔2014〕3号。2020年，覆盖率为41%。",
            [("覆盖率", "41", "2020", "achieved")],
        ),
    ],
)
def test_what_is_now_is_achieved(text, expected):
    """目前, 已建成 and a year that is past tell a result, also of what follows them."""
    assert standings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "建筑（单体建筑面积超过2万平方米）按标准建设。",
        "（二）申报条件\n企业研发投入占收入的比例达到3%。",
        "附表：偏差系数取值达到60%。",
        "给予不超过购买金额15%的补助，最高100万元。",
        "占比达到全国领先，高出全国平均水平10个百分点。",
    ],
)
def test_what_only_says_who_is_meant_is_no_target(text):
    """Sizes in brackets, conditions of who may apply, grants and comparisons."""
    assert read(text) == []


def test_a_rise_by_a_range_keeps_its_direction():
    """提升2~5倍 is a rise, from 2 to 5 times."""
    told = targets("平均效率提升2～5倍。")[0].qualifiers
    assert (told.value, told.value_to, told.unit, told.comparator) == ("2", "5", "倍", "+")


def test_a_section_of_results_needs_no_word_in_each_sentence():
    """Behind three results without an aim the next count of the section is one, too."""
    heading = "云政发〔2021〕3号\n三、环境监管\n"
    done = "已建成监测站9个。完成了12个站点改造。2020年，培训人员300人次。\n"
    assert standings(f"{heading}{done}单元总数为100个。")[-1] == ("单元总数", "100", "", "achieved")
    mixed = f"{heading}{done}力争新建监测站5个。\n单元总数为100个。"
    assert standings(mixed)[-1] == ("单元总数", "100", "", "planned")


def test_a_heading_of_what_is_safe_may_stand_among_results():
    """安全得到保障 tells of no means where the chapter tells what was done."""
    chapter = "云政发〔2021〕3号\n第一章发展形势\n一、生态安全得到保障\n单元总数为100个。"
    assert standings(chapter) == [("单元总数", "100", "", "achieved")]
    means = "云政发〔2021〕3号\n第五章推进实施\n一、强化资金保障\n单元总数为100个。"
    assert standings(means) == [("单元总数", "100", "", "planned")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "2019年，装机容量20万千瓦，发电量7亿千瓦时，较2012年分别增长75%、50%。",
            [
                ("装机容量", "200000", "千瓦", "2019"),
                ("发电量", "700000000", "千瓦时", "2019"),
                ("装机容量", "75", "%", "2019"),
                ("发电量", "50", "%", "2019"),
            ],
        ),
        (
            "2020年，以新业态、新模式为主要特征的新经济增加值占GDP比重的27%。",
            [("新经济增加值占GDP比重", "27", "%", "2020")],
        ),
        (
            "到2025年，甲醇、烯烃行业达到能效标杆水平以上产能比例分别达到30%、50%。",
            [
                ("甲醇行业达到能效标杆水平以上产能比例", "30", "%", "2025"),
                ("烯烃行业达到能效标杆水平以上产能比例", "50", "%", "2025"),
            ],
        ),
        (
            "到2025年，实现防洪标准10—20年一遇、除涝标准5年一遇标准。",
            [("防洪标准", "10", "年一遇", "2025"), ("除涝标准", "5", "年一遇", "2025")],
        ),
        (
            "到2025年，60%以上城市污水处理厂进行提标改造。",
            [("城市污水处理厂进行提标改造", "60", "%", "2025")],
        ),
        (
            "到2025年，客运码头岸电使用率和港作船舶岸电使用率达到100%。",
            [
                ("客运码头岸电使用率", "100", "%", "2025"),
                ("港作船舶岸电使用率", "100", "%", "2025"),
            ],
        ),
        ("到2025年，实现全部场馆100%绿电供应。", [("全部场馆绿电供应", "100", "%", "2025")]),
    ],
)
def test_indicators_that_the_sentence_tells_in_parts(text, expected):
    """Parts of a country, values told before, ends that a list shares, shares of what does."""
    assert read(text) == expected


def test_years_of_a_flow_end_with_its_sentence():
    """2000-2016年 within a sentence says nothing of the next; 到2025年 does."""
    flow = "全市入海水量减少，2000-2016年北河流入水量为9亿立方米。已建成污水处理厂6座。"
    assert read(flow)[-1] == ("污水处理厂", "6", "座", "")
    aim = "全市产业升级，到2025年森林覆盖率达到40%。建成污水处理厂6座。"
    assert read(aim)[-1] == ("污水处理厂", "6", "座", "2025")


def test_what_problems_tell_is_no_aim():
    """In a section of problems a year ahead that was said before does not make an aim."""
    text = (
        "云政发〔2021〕3号\n一、规划基础\n（一）面临的主要问题\n"
        "到2025年任务艰巨。全市监测站120座，新能源装机占比偏低，达到8%。\n"
    )
    assert [standing for *_, standing in standings(text)] == ["achieved", "achieved"]
    few = "云政发〔2021〕3号\n三、环境监管\n本科学历以上人员占比仅为15%。"
    assert standings(few)[-1][-1] == "achieved"


def test_a_line_of_prose_among_the_headings_tells_nothing():
    """５）…超过任务目标。 is no title by which a section would tell aims."""
    text = (
        "云政发〔2021〕3号\n第一节 主要成效\n"
        "（一）年均浓度达到47微克/立方米,为历年最好水平.优良水体比例优于任务目标。\n"
        "完成345家企业土壤调查。\n"
    )
    assert standings(text)[-1] == ("企业土壤调查", "345", "", "achieved")
