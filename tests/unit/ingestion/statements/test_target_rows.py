"""Rows of indicator tables that lost their cells, below headers that a page broke."""

from kgrag.ingestion.statements.target_tables import Columns, Heads


def test_what_a_header_tells():
    """Years, what follows them, whether the first is what was."""
    heads = Heads()
    for line in ("类别指标", "2020年现状2025年", "五年累计年均增速属性"):
        assert heads.step(line) == len(line)
    assert heads.columns == Columns(("2020", "2025"), ("achieved", ""), 2, True, True)
    assert heads.step("单位地区生产总值能耗降低(%)3 5约束性") == 0
