import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.load.stated_values import LISTED, METADATA_FIELDS, field_of, stated_value
from kgrag.ingestion.load.statement import stated_fields
from kgrag.metadata import Metadata

FIELDS = [*sorted(METADATA_FIELDS), "title", "备注"]


def test_every_field_of_metadata_can_be_stated():
    """One that is added there is a column, too, but for what only a reader knows."""
    fields = {*Metadata.__dataclass_fields__} - {"inferred"}

    assert fields == METADATA_FIELDS
    assert {field_of(name) for name in fields} == fields


@pytest.mark.parametrize(
    "text",
    [
        "2022-13", "2022-02-30", "2023-02-29", "长期", "0000", "22-3-5", "2022-3-", "2022-3/5",
        "2022年3月5日起", "5", "2022年第3号", "٢٠٢٢",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_the_remedy(text):
    """A date that is not in the calendar is none; nothing is guessed."""
    with pytest.raises(ValueError, match="write 2022-03-05, 2022-03 or 2022"):
        stated_value("issued", text)


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("四川", ("四川省",)),
        ("成都", ("四川省", "成都市")),
        ("四川省、成都市", ("四川省", "成都市")),
        ("四川省成都市", ("四川省", "成都市")),
        ("云岭省青川市", ("云岭省", "青川市")),
        ("云岭省;青川市", ("云岭省", "青川市")),
        ("北京市、朝阳区", ("北京市", "朝阳区")),
        ("四川省、重庆市", ("四川省", "重庆市")),
        ("全国", ()),
        ("中央", ()),
    ],
)
def test_regions_are_full_names_with_what_lies_around_them(text, regions):
    """Empty for a national document, which is a statement, too."""
    assert stated_fields({"stated.regions": stated_value("regions", text)}) == {"regions": regions}


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("regions", "朝阳区", "several places; write 北京市朝阳区"),
        ("regions", "京津冀", "no place that is known; write it in full"),
        ("level", "乡", "no level; write 国家, 部门, 省, 市 or 县"),
        ("title", "长" * 2001, "has 2,001 characters; at most 2,000"),
        ("备注", "\ufffd", "cannot be read; save it as UTF-8"),
        ("title", "甲\x00", "cannot be read; save it as UTF-8"),
        ("title", "甲\ud800", "cannot be read; save it as UTF-8"),
    ],
)
def test_what_cannot_be_read_says_what_and_the_remedy(field, text, told):
    """A value is never taken in part."""
    with pytest.raises(ValueError, match=told):
        stated_value(field, text)


@given(st.sampled_from(FIELDS), st.text())
def test_a_value_has_a_normal_form_or_a_problem(field, text):
    """Whatever is written there; the normal form is its own, and one that `Metadata` takes."""
    try:
        value = stated_value(field, text)
    except ValueError:
        return
    assert stated_value(field, value) == value
    fields = stated_fields({f"stated.{field}": value})
    Metadata(**fields)  # type: ignore[arg-type]
    assert all(isinstance(v, tuple) is (k in LISTED) for k, v in fields.items())
