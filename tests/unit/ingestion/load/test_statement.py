import pytest

from kgrag.ingestion.load.statement import (
    stated_digest,
    stated_fields,
    stated_title,
    statement,
    with_stated,
)
from kgrag.metadata import Metadata


def test_a_statement_holds_what_can_be_read_of_a_row():
    """The rest is told, and further columns are kept as they are."""
    row = [
        ("文件", "a.txt"), ("标题", " 云岭省\n节能规划 "), ("发文机关", "甲厅、乙局;丙委、甲厅"),
        ("文号", "云政发 [2022] 3号"), ("级别", "省级"), ("状态", "试行"), ("地区", ""),
        ("施行日期", "很快"), ("主送机关", "各市、州人民政府；省直各部门"), ("备 注", "存档"),
        ("title", "另一个"), ("", "x"), ("x", {}), ("年", 2022), ("列" * 81, "x"),
    ]  # fmt: skip
    found, problems = statement(row)

    assert found == {
        "stated.title": "云岭省 节能规划",
        "stated.issuers": "甲厅；乙局；丙委",
        "stated.number": "云政发〔2022〕3号",
        "stated.level": "省",
        "stated.status": "试行",
        "stated.recipients": "各市、州人民政府；省直各部门",
        "stated.备注": "存档",
        "stated.年": "2022",
    }
    assert [problem.partition(":")[0] for problem in problems] == [
        "'施行日期'",
        "'x'",
        f"'{'列' * 39}…'",
    ]


def test_stated_fields_are_those_of_metadata():
    """Lists as tuples, and nothing of what a loader says or what is no field."""
    found, _ = statement(
        [
            ("issuer", ["甲厅", "乙局"]),
            ("date", 20220305),
            ("level", "市"),
            ("title", "丙"),
            ("a", "b"),
        ]
    )
    fields = stated_fields({**found, "encoding": "gbk", "issued": "1999"})

    assert fields == {"issuers": ("甲厅", "乙局"), "issued": "2022-03-05", "level": "市"}
    assert Metadata(**fields).year == 2022  # type: ignore[arg-type]
    assert stated_title(found) == "丙"
    assert stated_fields({"stated.issued": "irgendwann"}) == {}


@pytest.mark.parametrize(
    ("stated", "level", "regions"),
    [
        ({}, "省", ("云岭省",)),
        ({"regions": "云岭省；青川市"}, "市", ("云岭省", "青川市")),
        ({"regions": "重庆市；万州区"}, "县", ("重庆市", "万州区")),
        ({"regions": "全国"}, "国家", ()),
        ({"regions": "全国", "level": "部门"}, "部门", ()),
        ({"level": "市"}, "市", ("云岭省",)),
    ],
)
def test_what_is_stated_takes_the_place_of_what_was_read(stated, level, regions):
    """A region brings its level; what nobody states stays as it was read."""
    suggested = ("issuers", "level", "regions")
    read = Metadata(issuers=("甲厅",), level="省", regions=("云岭省",), inferred=suggested)
    told = with_stated(read, {f"stated.{k}": v for k, v in stated.items()})

    assert (told.issuers, told.level, told.regions) == (("甲厅",), level, regions)
    assert set(told.inferred) == {*suggested} - {*stated, *(["level"] if stated else [])}
    ministry = with_stated(Metadata(level="部门"), {"stated.regions": "全国"})
    assert ministry.level == "部门"


def test_the_digest_is_that_of_all_that_is_stated_and_of_nothing_else():
    """Order and what a loader says do not count."""
    one, other = {"stated.a": "1", "stated.b": "2"}, {"stated.b": "2", "stated.a": "1"}

    assert stated_digest({**one, "encoding": "gbk"}) == stated_digest(other) != ""
    assert stated_digest({"stated.a": "1", "stated.b": "3"}) != stated_digest(one)
    assert stated_digest({"stated.a": "1stated.b"}) != stated_digest({"stated.a": "1"})
    assert stated_digest({"encoding": "gbk"}) == ""
