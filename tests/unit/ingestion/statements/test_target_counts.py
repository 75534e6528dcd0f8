"""What is counted, and what is done to it, wherever both stand around the number."""

import pytest

from kgrag.ingestion.statements.targets import targets


def read(text):
    """Return (indicator, value, unit, year, standing) of what is found."""
    told = [(f.subject, f.qualifiers) for f in targets(text)]
    return [(name, q.value, q.unit, q.year, q.standing) for name, q in told]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "全市30座油库和45辆罐车于2018年底全部完成治理工作。",
            [
                ("油库全部完成治理工作", "30", "座", "2018", "planned"),
                ("罐车全部完成治理工作", "45", "辆", "2018", "planned"),
            ],
        ),
        (
            "目前，完成18座尾矿库、25座矿山污染治理。",
            [
                ("尾矿库治理", "18", "座", "", "achieved"),
                ("矿山污染治理", "25", "座", "", "achieved"),
            ],
        ),
        (
            "到2025年，完成20个行政村整治和17个行政村污水治理。",
            [
                ("行政村整治", "20", "个", "2025", "planned"),
                ("行政村污水治理", "17", "个", "2025", "planned"),
            ],
        ),
        (
            "2019年对71家放射源单位进行监督检查，审批建设项目7个。",
            [
                ("放射源单位监督检查", "71", "家", "2019", "planned"),
                ("建设项目", "7", "个", "2019", "planned"),
            ],
        ),
        (
            "现有的3.4万株古树全部实现挂牌保护。",
            [("古树全部实现挂牌保护", "34000", "株", "", "achieved")],
        ),
    ],
)
def test_what_is_done_belongs_to_all_that_is_counted(text, expected):
    """One predicate, before or behind, is of every count of the clause."""
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("规划实施5大类17个治理项目。", [("治理项目", "17", "个")]),
        ("实施共5类17个治理项目。", [("治理项目", "17", "个")]),
        ("完成33个行业170个污染源的清理整顿。", [("污染源的清理整顿", "170", "个")]),
        ("建设东河、西河等生态河道100条，修复湿地。", [("生态河道", "100", "条")]),
        ("完成青川市化工行业14项废气治理项目。", [("化工行业废气治理项目", "14", "项")]),
        ("东山等5座煤矿全部关停。", [("煤矿全部关停", "5", "座")]),
        ("加快25个物流园区建设。", [("物流园区建设", "25", "个")]),
        ("推进农户清洁取暖改造5万户。", [("农户清洁取暖改造", "50000", "户")]),
        (
            "减排二氧化硫约5万吨、氮氧化物3万吨。",
            [("减排二氧化硫", "50000", "吨"), ("氮氧化物", "30000", "吨")],
        ),
        (
            "甲污染物、乙污染物等2项主要污染物排放量分别达到13万吨、6万吨。",
            [("甲污染物排放量", "130000", "吨"), ("乙污染物排放量", "60000", "吨")],
        ),
    ],
)
def test_a_count_has_the_name_that_the_clause_gives_it(text, expected):
    """A count of kinds or of a list's items is no value; the noun may stand behind."""
    assert [row[:3] for row in read(text)] == expected


def test_a_count_without_a_verb_is_kept_where_results_are_told():
    """公交车辆300台 is a state among results; in a plan's task it says nothing."""
    told = read("一、发展现状\n全市公交车辆300台，其中新能源车辆占比达到85%。")
    assert told[0] == ("公交车辆", "300", "台", "", "achieved")
    assert read("一、重点任务\n全市公交车辆300台。") == []


def test_a_place_alone_names_no_indicator():
    """What a sum is parted by says where, not what."""
    assert read("一、发展现状\n广州市5万亩、深圳市3万亩。") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020年，治理松材线虫病3.3万公顷次。", [("松材线虫病", "33000", "公顷次")]),
        (
            "着力推进建设总面积30万亩的12个森林片区、总面积20万亩的5个草原片区。",
            [("森林片区", "12", "个"), ("草原片区", "5", "个")],
        ),
        (
            "修建20-50吨/日污水处理设施12座，化粪池80座。",
            [("污水处理设施", "12", "座"), ("化粪池", "80", "座")],
        ),
        (
            "淘汰每小时10蒸吨以下燃煤锅炉82台。",
            [("每小时10蒸吨以下燃煤锅炉", "82", "台")],
        ),
        (
            "规划新建220千伏变电站9座、110千伏变电站41座。",
            [("220千伏变电站", "9", "座"), ("110千伏变电站", "41", "座")],
        ),
        (
            "到2025年，建设5座加氢站、热电联供装机量1万户。",
            [("加氢站", "5", "座"), ("热电联供装机量", "10000", "户")],
        ),
        (
            "累计培育生产基地市级16家，省级11家。",
            [("生产基地市级", "16", "家"), ("省级生产基地", "11", "家")],
        ),
        (
            "到2025年，3～5家企业进入全国前列。",
            [("企业进入全国前列", "3", "家")],
        ),
        (
            "到2025年，完成市区公共机构60万平方米既有建筑调适、节能改造。",
            [("市区公共机构既有建筑调适、节能改造", "600000", "平方米")],
        ),
    ],
)
def test_counts_with_sizes_and_amounts(text, expected):
    """A size belongs to the name, an amount of those counted to what they are."""
    assert [each[:3] for each in read(text)] == expected
