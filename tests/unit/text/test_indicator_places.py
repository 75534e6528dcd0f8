"""Where an indicator is measured is told apart from what is measured."""

import pytest

from kgrag.text.indicators import split_place

CHENGDU = ("四川省", "成都市")


@pytest.mark.parametrize(
    ("name", "regions", "place", "rest"),
    [
        ("四川省森林覆盖率", (), "四川省", "森林覆盖率"),
        ("四川森林覆盖率", (), "四川省", "森林覆盖率"),
        ("成都市武侯区的森林覆盖率", (), "武侯区", "森林覆盖率"),
        ("全省森林覆盖率", CHENGDU, "四川省", "森林覆盖率"),
        ("我市森林覆盖率", CHENGDU, "成都市", "森林覆盖率"),
        ("全国森林覆盖率", CHENGDU, "全国", "森林覆盖率"),
        ("全区森林覆盖率", ("广西壮族自治区",), "广西壮族自治区", "森林覆盖率"),
        ("自治区非化石能源消费比重", ("广西壮族自治区",), "广西壮族自治区", "非化石能源消费比重"),
        ("全省森林覆盖率", (), "", "森林覆盖率"),
        ("成都市中心城区绿化覆盖率", (), "成都市", "中心城区绿化覆盖率"),
    ],
)
def test_a_place_at_the_head_is_parted(name, regions, place, rest):
    """In full, short or by a word for the document's own; of places within each other the inner."""
    assert split_place(name, regions) == (place, rest)


@pytest.mark.parametrize(
    ("name", "regions"),
    [
        ("成都市高新区", ()),
        ("四川省林业局", ()),
        ("四川盆地森林覆盖率", ()),
        ("成都、德阳森林覆盖率", ()),
        ("全市森林覆盖率", ("四川省",)),
        ("城区绿化覆盖率", CHENGDU),
        ("省级公园覆盖率", CHENGDU),
        ("四川省", ()),
        ("森林覆盖率", CHENGDU),
    ],
)
def test_what_is_no_place_of_an_indicator_stays(name, regions):
    """Organs, areas of another kind, several places, any city of a province."""
    assert split_place(name, regions) == ("", name)
