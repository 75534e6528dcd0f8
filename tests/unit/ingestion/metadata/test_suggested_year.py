"""The year that a text without a date suggests."""

import pytest

from kgrag.ingestion.metadata.lines import read_lines
from kgrag.ingestion.metadata.read import suggested_year


@pytest.mark.parametrize(
    ("title", "number", "text", "effective", "year"),
    [
        ("节能通知", "云政发〔2019〕3号", "（国发〔2021〕1号）", "", "2019"),
        ("节能办法", "", "（国发〔2014〕1号）", "2022-07-01", "2022"),
        ("2022年节能工作要点", "", "", "", "2022"),
        ("2021年度配额分配方案", "", "", "", "2021"),
        ("节能计划（2021—2025年）", "", "", "", "2021"),
        ("节能方案", "", "根据（国发〔2021〕1号）、（国发〔2018〕3号）", "", "2021"),
        ("节能方案", "", "到2025年，下降13%。到2030年，下降20%。", "", "2021"),
        ("节能方案", "", "贯彻党的十九届六中全会精神", "", "2021"),
        ("节能方案", "", "2021年6月，全省已建成。国发〔2020〕1号", "", "2021"),
        ("2030年前碳达峰方案", "", "", "", ""),
        ("节能方案", "", "", "", ""),
    ],
)
def test_suggested_year(title, number, text, effective, year):
    """Its own number first; then the latest that the text knows of; targets are none."""
    found = suggested_year(title, number, read_lines(text), effective=effective)
    assert found == year
