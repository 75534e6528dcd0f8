import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.locate import _PAGE_MARK, Place, _normal, locate, locate_all

TEXT = (
    "到２０２５年，绿色工厂达到500家以上，\n单位工业增加值 能耗下降13.5%。"
    "（一）推广“三改联动”等技术，不得新建燃煤锅炉。推进园区循环化改造，加快发展氢能。"
)
CHARACTERS = st.sampled_from("到年绿色工厂达标，。、“”\"'（）() \n　２0255%AaＡ⟦⟧[]é①…")
TEXTS = st.text(CHARACTERS, max_size=60)


def found(quote, text=TEXT):
    place = locate(quote, text)
    return place and (text[place.start : place.end], place.match)


def starts(quotes, text, **how):
    return [place and place.start for place in locate_all(quotes, text, **how)]


def test_equal_quotes_stand_at_places_of_their_own():
    """Each of several equal clauses has its own place, as long as there are as many."""
    text = "甲达标。乙达标。丙达标。"
    assert locate("达标", text) == Place(1, 3, "exact")
    assert starts(["达标", "达 标", "达标"], text) == [1, 5, 9]
    assert starts(["乙达标", "乙达标"], text) == [4, 4]
    assert starts(["乙达标", "达标", "丙", "没有的话"], text) == [4, 5, 8, None]


TASKS = (
    "1.植树造林。全市造林一万亩。牵头单位：市林业局。\n2.河道整治。整治河道九条。牵头单位：市水务局。\n"
    "3.绿色建筑。新建建筑达标。牵头单位：市住建局。\n4.湿地修复。修复湿地两处。牵头单位：市林业局。\n"
)
LEAD = "牵头单位：市林业局"


@pytest.mark.parametrize(
    ("quotes", "wanted"),
    [
        (["修复湿地两处", LEAD], 1),
        (["新建建筑达标", LEAD], 1),
        ([LEAD, "修复湿地两处", LEAD], 2),
        (["整治河道九条", "4.湿地修复", LEAD], 2),
        (["牵头单位：市住建局", LEAD], 1),
    ],
)
def test_a_quote_stands_near_those_around_it(quotes, wanted):
    """牵头单位：市林业局 of the fourth item is not that of the first."""
    assert starts(quotes, TASKS)[wanted] == TASKS.rindex(LEAD)


def test_a_quote_stands_near_the_first_item_where_that_is_told():
    """The place follows its neighbours to the beginning, too."""
    assert starts(["全市造林一万亩", LEAD, "整治河道九条"], TASKS)[1] == TASKS.index(LEAD)


def test_a_quote_stands_near_what_is_stated_by_it():
    """Where nothing was quoted around it, the names of its statements tell which one it is."""
    assert starts([LEAD], TASKS) == [TASKS.index(LEAD)]
    assert starts([LEAD], TASKS, names=[["湿地修复"]]) == [TASKS.rindex(LEAD)]


@pytest.mark.parametrize(
    "mark", ["——6——", "—6—", "- 6 -", "第6页 共20页", "　6　", "－6－", "— 106 —"]
)
def test_the_mark_of_a_page_counts_for_nothing(mark):
    """无⏎——6——⏎锡 is 无锡: a sentence goes on behind the foot of its page."""
    text = f"二、范围。由无\n{mark}\n锡市工信局牵头实施。"
    place = locate("由无锡市工信局牵头", text)
    assert place == Place(5, text.index("实施"), "normalised")
    assert locate(f"由无 {mark} 锡市工信局牵头", text) is not None


@pytest.mark.parametrize("text", ["到2025——2030年间达标", "2021—2025—2030年", "共6处，其中甲6处"])
def test_years_and_numbers_are_no_marks_of_pages(text):
    """Only what stands alone between dashes, or alone on a line, is left out."""
    assert _PAGE_MARK.search(text) is None


@given(TEXTS, st.lists(TEXTS, min_size=4, max_size=4), TEXTS)
def test_locate_finds_every_substring(before, pieces, after):
    """What stands in the text is found, in whatever width and case, as the same characters."""
    quote = "".join(a + b for a, b in zip(pieces, "碳达峰A", strict=True))
    text = before + quote + after
    shown = quote.replace("⟦", "[").replace("⟧", "]")
    for variant in (shown, shown.lower(), f" {shown} ", "“" + "\n".join(shown) + "”"):
        place = locate(variant, text)
        assert place is not None
        assert place.match != "near"
        assert _normal(text[place.start : place.end]).text == _normal(quote).text


@given(TEXTS, TEXTS)
def test_locate_never_leaves_the_text(quote, text):
    """A place is a slice of the text that is not empty."""
    place = locate(quote, text)
    assert place is None or 0 <= place.start < place.end <= len(text)


@given(
    st.text(
        st.sampled_from("到年绿色工厂达标推进园区循环化改造加快发展氢能"), min_size=40, max_size=80
    ),
    st.data(),
)
def test_locate_finds_a_quote_with_one_character_changed(text, data):
    """One character in twenty is within the bound: the span found is near it in length."""
    quote = text[10:30]
    at = data.draw(st.integers(0, 19))
    place = locate(quote[:at] + "碳" + quote[at + 1 :], text)
    assert place is not None
    assert 18 <= place.end - place.start <= 22
