"""The last year of the period that a plan is for, by its title."""

import pytest

from kgrag.text.plan_periods import last_year


@pytest.mark.parametrize(
    ("title", "year"),
    [
        ("云岭省“十三五”节能规划", 2020),
        ("云岭省节能“十二五”规划", 2015),
        ("云岭省国民经济和社会发展第十四个五年规划和2035年远景目标纲要", 2035),
        ("云岭省“十五五”时期能源发展规划", 2030),
        ("绿色出行三年行动计划（2018—2020年）", 2020),
        ("环保装备行动计划(2022−2025年)", 2025),
        ("云岭省节水规划（2021-25年）", 2025),
        ("2019至2021年造林工作方案", 2021),
        ("2022年云岭省公共机构节能工作要点", 2022),
        ("云岭省2022年措施任务清单", 2022),
        # No period of a plan.
        ("2030年前碳达峰行动方案", None),
        ("关于促进节能的二十五条措施工作方案", None),
        ("关于十五条措施的工作方案", None),
        ("“十三五”节能目标责任考核结果通报", None),
        ("云岭省2020年度配额分配实施方案", None),
        ("云岭省节能补贴管理办法（2018—2020年）", None),
        ("关于申报2022年度科技计划项目的通知", None),
        ("云岭省节能规划", None),
        ("", None),
    ],
)
def test_the_last_year_of_a_plan(title, year):
    """Five years by their number, years from and to, a year of points; else none."""
    assert last_year(title) == year
