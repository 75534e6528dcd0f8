"""What documents are told apart by: facets and nodes; titles are in tests/cases/titles.toml."""

from dataclasses import replace

import pytest

from kgrag.errors import NotFoundError
from kgrag.metadata import Metadata
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.text.document_nodes import node_id, node_name
from kgrag.text.facets import NATIONAL, document_facets
from kgrag.text.titles import title_subject
from kgrag.types import Document

TITLES = {
    "成都市节能管理办法（试行）": ("四川省", "成都市"),
    "四川省人民政府关于印发《四川省碳达峰实施方案》的通知": ("四川省",),
    "关于印发云岭省绿色工厂行动计划的通知": ("云岭省",),
    "国务院关于加快节能工作的指导意见": (),
    "湖北省武汉市节能规划": ("湖北省", "武汉市"),
    "节能概况": (),
}
CARDS = [
    Document(f"d-{i}", title, "", "", "txt", "", metadata=Metadata(regions=regions))
    for i, (title, regions) in enumerate(TITLES.items())
]
FACETS = {card.doc_id: document_facets(card.title, card.metadata) for card in CARDS}


def found(wanted):
    try:
        return documents_within(wanted, CARDS)
    except NotFoundError:
        return frozenset()


@pytest.mark.parametrize("region", ["四川", "成都", "云岭", "武汉", "湖北", NATIONAL, "广东"])
def test_a_region_finds_the_documents_that_list_it(region):
    """So that `$region IN d.regions` on a server agrees with `--region`."""
    listed = {doc_id for doc_id, facets in FACETS.items() if region in facets.regions}
    assert found(Filter(regions=(region,))) == listed


@pytest.mark.parametrize(
    "kind", ["通知", "方案", "实施方案", "计划", "行动计划", "办法", "意见", "规划", "条例"]
)
def test_a_kind_finds_the_documents_one_of_whose_kinds_ends_so(kind):
    """So that `any(k IN d.kinds WHERE k ENDS WITH $kind)` agrees with `--kind`."""
    listed = {d for d, facets in FACETS.items() if any(k.endswith(kind) for k in facets.kinds)}
    assert found(Filter(kinds=(kind,))) == listed


@pytest.mark.parametrize(
    ("regions", "places", "around"),
    [
        (("湖北省", "武汉市"), ("武汉",), ("武汉", "湖北")),
        (("上海市", "徐汇区"), ("上海", "徐汇"), ("上海", "徐汇")),
        (("四川省", "成都市", "武侯区"), ("成都", "武侯"), ("成都", "武侯", "四川")),
        (("广东省", "海南省"), ("广东", "海南"), ("广东", "海南")),
        ((), (), (NATIONAL,)),
    ],
)
def test_places_are_the_innermost_and_regions_what_lies_around(regions, places, around):
    """The first place is the one that a caption shows; a county goes with its city."""
    facets = document_facets("节能规划", Metadata(regions=regions))
    assert (facets.places, facets.regions) == (places, around)


def test_kinds_are_those_of_the_body_and_of_its_notice():
    """A plan that came with a notice is found as both."""
    metadata = Metadata(notice="云岭省人民政府关于印发《云岭省节能规划》的通知", issued="2022-03")
    facets = document_facets("云岭省节能规划", metadata)
    assert facets.kinds == ("规划", "通知")
    assert facets.year == 2022


TITLE = "关于加快建立健全绿色低碳循环发展经济体系的实施意见"
YUN = Metadata(issuers=("云岭省人民政府",), regions=("云岭省",))
NAN = Metadata(issuers=("南渡省人民政府",), regions=("南渡省",))


@pytest.mark.parametrize(
    "written",
    [
        f"{TITLE}（云政发〔2021〕3号）",
        f"云政发〔2021〕3号 云岭省人民政府{TITLE}",
        f"云岭省人民政府{TITLE}",
    ],
)
def test_a_number_or_the_issuer_in_the_title_makes_no_second_node(written):
    """The name is the one that others cite."""
    assert node_name(written) == TITLE
    assert node_id(written, YUN) == node_id(TITLE, YUN)


def test_one_title_of_several_issuers_is_several_nodes():
    """Where no issuer is told, the region tells them apart."""
    assert node_id(TITLE, YUN) != node_id(TITLE, NAN)
    regions = (replace(m, issuers=()) for m in (YUN, NAN))
    assert len({node_id(TITLE, m) for m in regions}) == 2


@pytest.mark.parametrize(
    ("title", "regions", "subject", "kind"),
    [
        ("山东省“十四五”应对气候变化规划", ("山东省",), "应对气候变化", "规划"),
        ("宁夏回族自治区应对气候变化“十四五”规划", ("宁夏回族自治区",), "应对气候变化", "规划"),
        (
            "内蒙古自治区人民政府办公厅关于印发自治区“十四五”应对气候变化规划的通知",
            ("内蒙古自治区",),
            "应对气候变化",
            "规划",
        ),
        ("青岛市节能计划（２０２１－２０２３年）", ("山东省", "青岛市"), "节能", "计划"),
        ("2022年全省节能工作要点", ("四川省",), "节能", "工作要点"),
        ("关于加快节能工作的意见（试行）", (), "加快节能工作", "意见"),
        ("节能概况", (), "节能概况", ""),
        ("四川省规划", ("四川省",), "", "规划"),
        ("", (), "", ""),
    ],
)  # fmt: skip
def test_titles_of_one_subject_agree_whatever_the_place_and_the_years(
    title, regions, subject, kind
):
    assert title_subject(title, regions) == (subject, kind)
