"""How a value is meant: a level, what is added or taken away, and how exact it is."""

import pytest

from kgrag.ingestion.statements.targets import targets


@pytest.mark.parametrize(
    ("text", "comparator", "bound"),
    [
        ("到2025年，全市新增充电桩2万个。", "+", ""),
        ("到2025年，充电桩达到2万个。", "=", ""),
        ("到2025年，新建充电桩约2万个。", "+", "~"),
        ("到2025年，累计新增光伏发电装机600万千瓦以上。", "+", ">="),
        ("到2025年，新增可再生能源装机约600万千瓦。", "+", "~"),
        ("到2025年，光伏发电装机新增不超过600万千瓦。", "+", "<="),
        ("到2025年，可再生能源装机达到约600万千瓦。", "~", ""),
        ("到2025年，单位GDP能耗比2020年下降13.5%左右。", "-", "~"),
        ("到2025年，空气质量优良天数比例比2020年提高9.8个百分点。", "+", ""),
        ("到2025年，新建数据中心电能利用效率1.25以下。", "<=", ""),
        ("到2025年，新增可再生能源装机占比达到50%。", "=", ""),
        ("到2025年，新能源汽车保有量达到30万辆。", "=", ""),
    ],
)
def test_what_is_added_is_no_level(text, comparator, bound):
    """A share of what is new is a level; 约 and 以上 hold for what is added, too."""
    (found,) = targets(text)
    assert (found.qualifiers.comparator, found.qualifiers.bound) == (comparator, bound)


def test_cells_of_a_table_say_it_too():
    """In the name of the indicator and beside the number."""
    text = (
        "专栏1 主要指标\n指标 单位 2020年 2025年 属性\n新增光伏装机 万千瓦 100 ≥600 预期性\n"
        "森林覆盖率 % 23 ≥24 约束性\n"
    )
    found = {f.subject: f.qualifiers for f in targets(text) if f.qualifiers.year == "2025"}
    told = found["新增光伏装机"]
    assert (told.comparator, told.bound, told.binding) == ("+", ">=", "预期性")
    told = found["森林覆盖率"]
    assert (told.comparator, told.bound, told.binding) == (">=", "", "约束性")
