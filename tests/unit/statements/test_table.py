"""Tables as objects."""

from dataclasses import is_dataclass

from kgrag.answer.citation import Citation
from kgrag.statements.table import Column, Row, Table


def test_rows_are_dataclasses_with_their_sources():
    """Keys that are no names of Python, as years in a comparison, begin with _."""
    columns = (Column("region", "地区", "region"), Column("2025", "2025", "2025"))
    source = Citation(
        0, "d1", "甲方案", "a.txt", (), None, 5, 9, "四成", "", document_number="甲政发〔2022〕3号"
    )
    (row,) = Table("compare", columns, (Row(("甲省", "40%"), (source,)),)).objects()
    assert is_dataclass(type(row))
    assert (row.region, row._2025) == ("甲省", "40%")
    assert row.sources[0].reference == "《甲方案》（甲政发〔2022〕3号）"
    assert row.sources[0].address == "d1:5-9"
