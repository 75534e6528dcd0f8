import pytest

from kgrag.errors import GarbledTextError, NotFoundError
from kgrag.metadata import Metadata
from kgrag.retrieval.filter import (
    Filter,
    document_called,
    documents_within,
    parse_years,
    what_is_left_out,
)
from kgrag.types import Document


def card(doc_id, title, *, file="", regions=(), **dates):
    metadata = Metadata(regions=regions, **dates)
    path = file or f"/archive/{doc_id}.txt"
    return Document(doc_id, title, "", path, "txt", "0", metadata=metadata)


CARDS = [
    card(
        "a",
        "云岭省人民政府关于印发《云岭省节能实施方案（试行）》的通知",
        regions=("云岭省",),
        issued="2022-03-05",
    ),
    card("b", "青川市节能管理办法", regions=("云岭省", "青川市"), issued="2020"),
    card("c", "国务院关于节能的意见", issued="2021"),
    card("d", "某地节能方案", regions=("南渡省",)),
]
GUESSED = card("e", "云岭省节水方案", regions=("云岭省",), written="2021", inferred=("written",))
OF_CITIES = [
    card("a", "湖北省节能规划", regions=("湖北省",), issued="2022"),
    card("b", "武汉市节能要点", regions=("湖北省", "武汉市")),
    card("c", "湖北省宜昌市节能要点", regions=("湖北省", "宜昌市")),
    card("d", "长沙市节能要点", regions=("湖南省", "长沙市")),
    card("e", "吉林省节能要点", regions=("吉林省",)),
    card("f", "吉林市节能要点", regions=("吉林省", "吉林市")),
]


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (Filter(documents=("a", "b.txt")), "ab"),
        (Filter(documents=("国务院关于节能的意见",)), "c"),
        (Filter(regions=("云岭",)), "ab"),
        (Filter(regions=("云岭省",)), "ab"),
        (Filter(regions=("青川", "南渡")), "bd"),
        (Filter(regions=("全国",)), "c"),
        (Filter(without=("c", "b.txt")), "ad"),
        (Filter(regions=("云岭",), without=("a",)), "b"),
        (Filter(kinds=("通知",)), "a"),
        (Filter(kinds=("方案",)), "ad"),
        (Filter(kinds=("实施方案", "办法")), "ab"),
        (Filter(years=(2021, 2022)), "ac"),
        (Filter(regions=("云岭",), years=(2020, 2020)), "b"),
    ],
)
def test_documents_within_are_those_that_every_condition_holds_for(wanted, left):
    """Values of one condition are alternatives; what a notice issues is of its kind, too."""
    assert wanted
    assert documents_within(wanted, CARDS) == frozenset(left)


@pytest.mark.parametrize(
    ("regions", "left"),
    [
        (("湖北",), "abc"),
        (("湖北省",), "abc"),
        (("武汉",), "b"),
        (("湖北省武汉市",), "b"),
        (("吉林",), "ef"),
        (("吉林市",), "f"),  # called like its province
        (("湖北", "长沙"), "abcd"),
        (("湖南",), "d"),
    ],
)
def test_a_province_includes_its_cities_and_no_city_its_province(regions, left):
    """A province that only says where a city lies is not asked for itself."""
    assert documents_within(Filter(regions=regions), OF_CITIES) == frozenset(left)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Filter(documents=("x",)), "no document is called 'x'"),
        (Filter(documents=("a", "x")), "no document is called 'x'"),
        (Filter(regions=("北海",)), "no document is about '北海'; places: 云岭, 南渡, 青川"),
        (Filter(regions=("云岭", "北海")), "no document is about '北海'"),
        (Filter(kinds=("条例",)), "ends in '条例'"),
        (Filter(kinds=(" ",)), "ends in ' '"),
        (Filter(years=(1999, 2001)), "of 1999-2001; years: 2020, 2021, 2022; 1 document does not"),
        (Filter(years=(1900, 1900)), "no document is of 1900; years"),
        (
            Filter(documents=("d",), years=(2022, 2022)),
            r"\(documents for document d: 1; year 2022: 1\)",
        ),
        (
            Filter(documents=("d",), regions=("云岭",)),
            r"fits all conditions \(documents for document d: 1; region 云岭: 2\)",
        ),
    ],
)
def test_documents_within_when_there_are_none_says_which_condition(wanted, told):
    """A name that nothing bears is never passed over, and none never means all."""
    with pytest.raises(NotFoundError, match=told):
        documents_within(wanted, CARDS)


def test_years_where_no_document_has_one_say_what_to_do():
    """A knowledge base of an older kgrag has read none."""
    with pytest.raises(NotFoundError, match="kgrag ingest"):
        documents_within(Filter(years=(2022, 2022)), [CARDS[3]])


def test_what_is_left_out_tells_documents_without_a_year():
    """They may be of the years asked for: people should know."""
    assert what_is_left_out(Filter(years=(2022, 2022)), CARDS).startswith("1 of 4 documents")
    assert what_is_left_out(Filter(years=(2022, 2022)), CARDS[:3]) == ""
    assert what_is_left_out(Filter(regions=("云岭",)), CARDS) == ""


def test_a_filter_without_conditions_is_false():
    """It asks for nothing, so that everything is searched."""
    assert not Filter()


def test_a_document_is_called_by_the_most_exact_name_first():
    """An id wins over a file name; a name that several bear names none."""
    twins = [card("x", "甲", file="/one/y.txt"), card("y", "乙", file="/two/y.txt")]
    assert document_called("y", twins).doc_id == "y"
    with pytest.raises(NotFoundError, match="may be any of x"):
        document_called("y.txt", twins)


def test_a_year_that_is_inferred_never_leaves_a_document_out():
    """It may be another one: it is kept, and that is said."""
    for year in (2020, 2021, 2022):
        assert "e" in documents_within(Filter(years=(year, year)), [*CARDS, GUESSED])
    said = what_is_left_out(Filter(years=(2022, 2022)), [*CARDS, GUESSED])
    assert said.endswith("left out; the year of 1 is inferred: kept, whatever it is")


@pytest.mark.parametrize("text", ["", "22", "2023-2020", "2020-", "近年"])
def test_parse_years_when_they_are_none_is_refused(text):
    """Two years of four digits, the first one first."""
    with pytest.raises(ValueError, match="year"):
        parse_years(text)


@pytest.mark.parametrize(
    ("n", "told"), [(12, "p12"), (13, "p12 and 1 more"), (20, "p12 and 8 more")]
)
def test_an_error_lists_twelve_of_what_there_is(n, told):
    """And how many more there are."""
    cards = [card(f"{i:02}", "方案", regions=(f"p{i:02}",)) for i in range(1, n + 1)]
    with pytest.raises(NotFoundError) as raised:
        documents_within(Filter(regions=("云岭",)), cards)
    assert str(raised.value).endswith(f"p11, {told}")


@pytest.mark.parametrize("given", [{"regions": "四川"}, {"documents": "a"}, {"years": 2022}])
def test_a_filter_of_another_shape_is_refused_at_once(given):
    """A plain text would be taken for its letters."""
    with pytest.raises(ValueError, match=str(*given.values())):
        Filter(**given)


def test_a_name_that_was_damaged_on_its_way_is_told_as_such():
    """Half a character is no document's name."""
    with pytest.raises(GarbledTextError, match="document's name"):
        document_called("\ud800", CARDS)
