"""Targets in the rows that the loader writes of a table."""

import pytest

from kgrag.ingestion.statements.targets import targets

HEAD = "云政发〔2021〕3号\n"


def read(text, *names):
    """Return the findings' subjects and the given qualifiers."""
    return [
        (f.subject, *(getattr(f.qualifiers, name) for name in names)) for f in targets(HEAD + text)
    ]


def table(*rows: str) -> str:
    """Return rows of cells, given with commas, as a Markdown table; the first is the header."""
    lines = [f"| {row.replace(',', ' | ')} |" for row in rows]
    n = rows[0].count(",") + 1
    return "\n".join([lines[0], f"|{' --- |' * n}", *lines[1:]]) + "\n"


def test_an_indicator_table_in_markdown():
    """Name, value, unit, year, standing and binding of every cell; the row is the evidence."""
    text = table(
        "序号,指标,单位,2020年（现状值）,2025年（目标值）,属性",
        "1,森林覆盖率,%,42,≥42.5,约束性",
        "2,湿地面积,万亩,—,300,预期性",
    )

    assert read(text, "value", "unit", "year", "standing", "binding") == [
        ("森林覆盖率", "42", "%", "2020", "achieved", "约束性"),
        ("森林覆盖率", "42.5", "%", "2025", "planned", "约束性"),
        ("湿地面积", "3000000", "亩", "2025", "planned", "预期性"),
    ]
    found = targets(HEAD + text)[0]
    assert (HEAD + text)[found.start : found.end].startswith("| 1 | 森林覆盖率 |")


def test_an_indicator_table_whose_first_cell_is_empty():
    """An empty cell ahead of a name keeps its place."""
    text = table("类别,指标,2025年", "绿色,森林覆盖率（%）,42.5", ",湿地保护率（%）,55")

    assert read(text, "value", "unit") == [("森林覆盖率", "42.5", "%"), ("湿地保护率", "55", "%")]


def test_an_indicator_table_with_merged_labels():
    """A label over two columns is of the inner one, a group's row over all columns is no value."""
    text = table(
        "指标,指标,单位,目标 2023年,目标 2025年",
        "一、经济发展,一、经济发展,一、经济发展,一、经济发展,一、经济发展",
        "经济,地区生产总值,亿元,500,600",
        "居民人均可支配收入,城镇,元,41000,46000",
    )

    assert read(text, "value", "year", "standing") == [
        ("地区生产总值", "50000000000", "2023", "planned"),
        ("地区生产总值", "60000000000", "2025", "planned"),
        ("居民人均可支配收入城镇", "41000", "2023", "planned"),
        ("居民人均可支配收入城镇", "46000", "2025", "planned"),
    ]


def test_columns_of_several_years_together_are_of_no_year():
    """年均增长 between two years is no value of the first."""
    text = table("指标,单位,2020年,2025年,2021-2025年年均增长", "粮食产量,万吨,80,90,2.4")

    assert read(text, "value", "year") == [
        ("粮食产量", "800000", "2020"),
        ("粮食产量", "900000", "2025"),
    ]


def test_year_and_unit_may_stand_above_the_table():
    """The caption's plan dates a column of aims, 单位：亿元 is the unit of all."""
    text = "表2 “十四五”主要指标\n单位：亿元\n" + table("指标,目标值,属性", "工业增加值,600,预期性")

    assert read(text, "value", "unit", "year", "standing") == [
        ("工业增加值", "60000000000", "元", "2025", "planned")
    ]
    assert read(table("指标,目标值,属性", "工业增加值,600,预期性")) == []


@pytest.mark.parametrize("bars", ["|{}|", "| {} |"])
def test_rows_without_blanks(bars):
    """As others write Markdown."""
    rows = ["指标|单位|2025年", ":---|---|---", "森林覆盖率|%|42.5"]
    text = "\n".join(bars.format(row) for row in rows)

    assert read(text, "value", "year") == [("森林覆盖率", "42.5", "2025")]


def test_sentences_in_cells_are_read_once():
    """A column of tasks states targets; a merged cell that repeats states nothing new."""
    task = "到2025年，建成绿色工厂500家"
    text = table("任务,责任单位", *[f"{task},{organ}" for organ in ("市工信局", "市财政局")])

    assert read(text, "value", "year") == [("绿色工厂", "500", "2025")]
    assert read(table("任务,时限", "---,---")) == []
