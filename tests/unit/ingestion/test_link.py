import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.citation_fit import Cited, Held, contradict
from kgrag.ingestion.link import DocumentNames
from kgrag.metadata import Metadata

NATION = Metadata(issuers=("国务院",), number="国发〔2021〕4号", issued="2021-02-02", level="国家")
YUN = Metadata(issuers=("云岭省人民政府",), regions=("云岭省",), issued="2021-06-01", level="省")
NAN = Metadata(issuers=("南渡省人民政府",), regions=("南渡省",), issued="2021-07-01", level="省")
QING = Metadata(issuers=("青川市人民政府",), regions=("云岭省", "青川市"), issued="2022-01-01")
GREEN = "关于加快建立绿色低碳循环发展经济体系的实施意见"


def held(*documents):
    """Return the names of (doc_id, title, metadata)."""
    return DocumentNames(Held(*document) for document in documents)


def test_a_number_finds_its_document_first():
    """Brackets and width make no difference; the title may be a slip, but no other subject."""
    names = held(("a", "节能工作方案", NATION), ("b", "节能工作方案", YUN))
    assert names.resolve(Cited("", number="国发[２０２１]4号")) == ("a", "number")
    assert names.resolve(Cited("节能工作的方案", number="国发〔2021〕4号")) == ("a", "number")
    assert names.resolve(Cited("海洋渔业管理条例", number="国发〔2021〕4号")) is None


def test_a_number_of_another_document_rules_a_title_out():
    """The same words under another organ's number are another document."""
    names = held(("a", "关于节能工作的意见", NATION))
    assert names.resolve(Cited("关于节能工作的意见", number="云政发〔2021〕9号")) is None
    assert names.resolve(Cited("关于节能工作的意见", number="国发〔2022〕4号")) == ("a", "exact")
    assert contradict("", "国发〔2022〕4号") is False


@pytest.mark.parametrize(
    ("title", "match"),
    [
        ("“十四五”节能规划", "exact"),
        ("＂十四五＂ 节能规划（试行）", "normalised"),
        ("国务院关于印发“十四五”节能规划的通知", "normalised"),
        ("国务院关于印发《“十四五”节能规划》的通知", "normalised"),
    ],
)
def test_titles_are_found_exactly_or_in_another_spelling(title, match):
    """Width, blanks, 试行, the notice around."""
    names = held(("a", "“十四五”节能规划", Metadata(issuers=("国务院",), level="国家")))
    assert names.resolve(Cited(title)) == ("a", match)


def test_the_notices_title_finds_the_body():
    """What a notice issues is cited by either name."""
    said = Metadata(issuers=("国务院",), notice="国务院关于印发节能方案的通知", level="国家")
    names = held(("a", "节能方案", said))
    assert names.resolve(Cited("国务院关于印发节能方案的通知")) == ("a", "exact")


def test_of_one_title_by_several_provinces_the_one_that_is_named_is_meant():
    """By the issuer in the title, before the marks, or the citing document's own province."""
    names = held(("yun", GREEN, YUN), ("nan", GREEN, NAN))
    city = ("南渡省", "东原市")
    assert names.resolve(Cited("云岭省人民政府" + GREEN, regions=city)) == ("yun", "normalised")
    assert names.resolve(Cited(GREEN, issuer="省政府", regions=city)) == ("nan", "exact")
    assert names.resolve(Cited(GREEN, issuer="省政府等部门", regions=city)) == ("nan", "exact")
    assert names.resolve(Cited(GREEN, regions=city)) == ("nan", "exact")
    assert names.resolve(Cited("云岭省" + GREEN)) == ("yun", "normalised")


def test_what_stays_open_is_none():
    """No guess among several, none of another region, none where another organ is named."""
    names = held(("yun", GREEN, YUN), ("nan", GREEN, NAN))
    assert names.resolve(Cited(GREEN)) is None
    assert names.resolve(Cited(GREEN, regions=("西原省",))) is None
    assert names.resolve(Cited("国务院" + GREEN)) is None
    assert held(("nan", GREEN, NAN)).resolve(Cited(GREEN, regions=("云岭省", "青川市"))) is None


def test_a_title_that_says_its_place_is_known_everywhere():
    """《青川市节能办法》 cited by another province."""
    names = held(("a", "青川市节能管理办法", QING))
    assert names.resolve(Cited("青川市节能管理办法", regions=("南渡省",))) == ("a", "exact")


def test_a_title_without_its_place_may_be_the_countrys():
    """《“十四五”节能规划》 in a city's document is not sought among the province's."""
    names = held(("a", "云岭省“十四五”节能环保规划", YUN))
    own = ("云岭省", "青川市")
    assert names.resolve(Cited("“十四五”节能环保规划", regions=own)) is None
    found = names.resolve(Cited("“十四五”节能环保规划", issuer="省政府", regions=own))
    assert found == ("a", "normalised")


def test_no_document_cites_itself_and_its_edition_is_the_last_known():
    """Of two editions by one organ the one that was out when the citing document was issued."""
    old = Metadata(issuers=("国务院",), issued="2018-01-01", level="国家")
    new = Metadata(issuers=("国务院",), issued="2022-06-01", level="国家")
    names = held(("old", "节能管理办法", old), ("new", "节能管理办法", new))
    assert names.resolve(Cited("节能管理办法", doc_id="new")) == ("old", "exact")
    assert names.resolve(Cited("节能管理办法", year=2021)) == ("old", "exact")
    assert names.resolve(Cited("节能管理办法", year=2023)) == ("new", "exact")
    assert names.resolve(Cited("节能管理办法")) is None


def test_slips_are_found_with_their_score():
    """One character for another; a few left out of a long 关于… title."""
    title = "关于完整准确全面贯彻新发展理念做好碳达峰碳中和工作的意见"
    names = held(("a", title, Metadata(issuers=("国务院",), level="国家")))
    assert names.resolve(Cited(title.replace("新发展", ""))) == ("a", "fuzzy 0.94")
    assert names.resolve(Cited(title.replace("做好", "敞好"))) == ("a", "fuzzy 0.96")


@pytest.mark.parametrize(
    "title",
    [
        "云岭省“十三五”节能环保发展规划",
        "云岭省“十四五”节能环保发展规划（2022年版）",
        "云岭省“十四五”节能环保发展规划纲要",
        "云岭省“十四五”节能环保发展实施方案",
        "云岭省“十四五”环保发展规划",
        "云岭省“十四五”工业节能环保发展规划",
        "云岑省“十四五”节能环保发展规划",
        "云岭省“十四五”节能水利发展规划",
    ],
)
def test_another_period_edition_kind_subject_or_place_is_no_slip(title):
    """十三五 is not 十四五, a 纲要 no 规划, another province never meant."""
    names = held(("a", "云岭省“十四五”节能环保发展规划", YUN))
    assert names.resolve(Cited(title)) is None


def test_provinces_that_differ_by_one_character_are_two():
    """湖南 and 河南."""
    said = Metadata(regions=("湖南省",), level="省")
    names = held(("a", "湖南省“十四五”节能环保和绿色建筑发展规划", said))
    assert names.resolve(Cited("河南省“十四五”节能环保和绿色建筑发展规划")) is None


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_any_citation_is_answered(title, number, issuer):
    """Nothing that a text holds makes it fail."""
    names = held(("a", title, Metadata(number=number)), ("b", "节能规划", YUN))
    found = names.resolve(Cited(title, number=number, issuer=issuer, doc_id="a"))
    assert found is None or found[0] == "b"
