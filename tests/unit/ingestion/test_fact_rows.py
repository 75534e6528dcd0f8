import json

import pytest

from kgrag.ingestion.fact_rows import ITEMS, Told, read_items
from kgrag.ingestion.meta_model import TypedTriple, read_meta_model

MODEL = read_meta_model("dual-carbon")
TYPED = TypedTriple("绿色工厂", "target", "目标值为", "2025年500家以上", "value")
BARE = TypedTriple("绿色工厂", "", "目标值为", "2025年500家以上", "")
TOLD = Told("500", "家", "2025", ">=", "云岭省", "")
ROW = ["绿色工厂", "target", "目标值为", "2025年500家以上", "value"]
BARE_ROW = ["绿色工厂", "目标值为", "2025年500家以上"]
BESIDE = ["500", "家", "2025", ">=", "云岭省"]


@pytest.mark.parametrize(
    ("row", "triple", "told"),
    [
        (ROW, TYPED, Told()),
        ([*ROW, *BESIDE], TYPED, TOLD),
        (BARE_ROW, BARE, Told()),
        ([*BARE_ROW, *BESIDE], BARE, TOLD),
        ({"s": "绿色工厂", "st": "target", "p": "目标值为", "o": "2025年500家以上", "ot": "value"},
         TYPED, Told()),
        ({"subject": "绿色工厂", "relation": "目标值为", "object": "2025年500家以上"},
         BARE, Told()),
        ({"subject": "绿色工厂", "predicate": "目标值为", "object": "2025年500家以上",
          "value": 500, "unit": "家", "year": 2025, "comparator": ">=", "region": "云岭省"},
         BARE, TOLD),
    ],
)  # fmt: skip
def test_rows_and_objects_are_both_read(row, triple, told):
    """A row with types is told from one without; values beside a triple are kept as written."""
    (found,) = read_items([{"quote": "q", "triples": [row]}], MODEL)
    assert (found.quote, found.triple, found.told) == ("q", triple, told)


def test_rows_have_no_types_without_a_meta_model():
    """The second element is the relation, whatever it is called."""
    (found,) = read_items([{"quote": "q", "triples": [[*BARE_ROW, "500", "家"]]}])
    assert found.triple == BARE
    assert found.told == Told("500", "家")


@pytest.mark.parametrize(
    "types", [("", "value"), ("target", ""), ("指标", "数值"), ("indicator", "value")]
)
def test_a_row_has_types_where_one_is_known_or_its_relation_is(types):
    """A type that is empty or unknown does not move the rest of the row."""
    row = ["绿色工厂", types[0], "目标值为", "500家", types[1]]
    (found,) = read_items([{"quote": "q", "triples": [row]}], MODEL)
    assert (found.triple.predicate, found.triple.object) == ("目标值为", "500家")


def test_equal_quotes_are_items_of_their_own_but_rows_with_their_quote_are_one():
    """Two items with one quote are at two places; several triples beside one quote at one."""
    below = [{"quote": "q", "triples": [BARE_ROW]}] * 2
    assert [s.item for s in read_items(below)] == [0, 1]
    flat = {"s": "甲", "p": "为", "o": "乙", "quote": "q"}
    assert [s.item for s in read_items([flat, {**flat, "o": "丙"}, {**flat, "quote": "r"}])] == [
        0,
        0,
        2,
    ]


def test_a_single_row_that_is_not_in_a_list_is_read():
    """Some models leave out the outer brackets where there is one."""
    (found,) = read_items([{"quote": "q", "triples": BARE_ROW}])
    assert found.triple == BARE


@pytest.mark.parametrize("bad", [["甲"], [{"quote": "q"}], [{"quote": "q", "triples": ["x"]}]])
def test_another_form_is_refused(bad):
    """The model is asked once more."""
    with pytest.raises(ValueError, match="triples"):
        read_items(bad)


def test_nothing_is_nothing():
    """A table of contents states no fact."""
    assert read_items([]) == []


def test_the_schema_has_every_property_required_and_no_other_allowed():
    """As strict endpoints want it."""
    item = json.loads(json.dumps(ITEMS))["items"]
    assert item["required"] == list(item["properties"]) == ["quote", "triples"]
    assert item["additionalProperties"] is False
    assert item["properties"]["triples"]["items"] == {"type": "array", "items": {"type": "string"}}
