"""How documents are drawn in Neo4j Browser."""

import pytest

from kgrag.store.neo4j.caption import document_caption


@pytest.mark.parametrize(
    ("title", "places", "lines"),
    [
        ("省政府关于印发云岭省碳达峰方案的通知", ["云岭"], ["云岭省", "碳达峰方", "案"]),
        ("宁夏回族自治区节能规划", ["宁夏"], ["宁夏", "节能规划"]),
        ("关于加快节能工作的意见", [], ["加快节能", "工作的意", "见"]),
        ("内蒙古自治区“十四五”节能规划", ["内蒙古"], ["内蒙古", "十四五节", "能规划"]),
        ("驻马店市《节能条例》", ["驻马店"], ["驻马店市", "节能条例"]),
        ("成都市", ["成都"], ["成都市", "成都市"]),
        ("关于印发", [], ["关于印发"]),
    ],
)  # fmt: skip
def test_a_document_is_drawn_with_its_place_first(title, places, lines):
    """Twenty plans of one name are told apart by the first line."""
    assert [line.strip("\u2002") for line in document_caption(title, places).split(" ")] == lines
