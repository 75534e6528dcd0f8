"""Places in running text: the longest, the ones that only look like one, namesakes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import path


def named(text, **context):
    """Return what is named as (text, path)."""
    return [(text[m.start : m.end], path(m.region)) for m in regions_in(text, **context)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("四川省成都市武侯区的企业", [("四川省成都市武侯区", ("四川省", "成都市", "武侯区"))]),
        (
            "北京、朝阳区",
            [("北京", ("北京市",)), ("朝阳区", ("北京市", "朝阳区"))],
        ),
        ("吉林省吉林市", [("吉林省吉林市", ("吉林省", "吉林市"))]),
        (
            "山东济南市中区试点",
            [("山东济南市", ("山东省", "济南市"))],
        ),
    ],
)
def test_the_longest_name_counts(text, expected):
    """A place with what lies around it before it is one mention."""
    assert named(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "推进美丽乡村建设，均衡水平、平衡水量",
        "黄河北岸和淮河南岸，渤海东部",
        "老城区、新城区、中心城区改造",
        "建成县级中心，完成县域规划",
        "确保定期检查，稳定西部电网，重大庆典",
        "朝阳产业，日照时数，白山黑水",
        "朝阳区",
    ],
)
def test_words_that_look_like_places_are_none(text):
    """Names across two words, districts that are words, namesakes without their city."""
    assert named(text) == []


def test_the_context_tells_namesakes_and_names_that_no_list_holds():
    """朝阳区 of the document's city; 云岭省 where the document is its."""
    within = ("吉林省", "长春市")
    assert named("朝阳区", within=within) == [("朝阳区", (*within, "朝阳区"))]
    assert named("云岭省和青川市", within=("云岭省",)) == [("云岭省", ("云岭省",))]


TEXTS = st.lists(
    st.sampled_from(["四川", "省", "成都市", "朝阳区", "美丽", "江苏", "县", "、", "x", "\x00"])
).map("".join)


@given(TEXTS | st.text(max_size=80))
def test_mentions_are_in_order_and_inside_the_text(text):
    """They never overlap, and never raise."""
    spans = [(m.start, m.end) for m in regions_in(text)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
