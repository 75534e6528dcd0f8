import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.locate import Place, _normal, locate, locate_all

TEXT = (
    "到２０２５年，绿色工厂达到500家以上，\n单位工业增加值 能耗下降13.5%。"
    "（一）推广“三改联动”等技术，不得新建燃煤锅炉。推进园区循环化改造，加快发展氢能。"
)
CHARACTERS = st.sampled_from("到年绿色工厂达标，。、“”\"'（）() \n　２0255%AaＡ⟦⟧[]é①…")
TEXTS = st.text(CHARACTERS, max_size=60)


def found(quote, text=TEXT):
    place = locate(quote, text)
    return place and (text[place.start : place.end], place.match)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("绿色工厂达到500家以上", ("绿色工厂达到500家以上", "exact")),
        ("到2025年", ("到２０２５年", "normalised")),
        ("500家以上，单位工业增加值能耗", ("500家以上，\n单位工业增加值 能耗", "normalised")),
        ('(一)推广"三改联动"等技术', ("（一）推广“三改联动”等技术", "normalised")),
        ("绿色工厂⟦2⟧达到500家", ("绿色工厂达到500家", "exact")),
        ("到2025年……达到500家", ("到２０２５年，绿色工厂达到500家", "near")),
        ("推进园区循环化改造...", ("推进园区循环化改造", "near")),
        ("推进园区循环改造，加快发展氢能", ("推进园区循环化改造，加快发展氢能", "near")),
        ("推进园区循环化改革，加快发展氢能", ("推进园区循环化改造，加快发展氢能", "near")),
        ("绿色工厂达到600家以上，单位工业增加值", None),
        ("推广三改联动等技术，可以新建燃煤锅炉", None),
        ("建成一批零碳园区和零碳工厂", None),
        ("到2025年……加快发展风能", None),
        ("", None),
        ("⟦1⟧ “”", None),
        ("，", None),
    ],
)
def test_locate_finds_what_a_model_may_have_made_of_a_quote(quote, expected):
    """Width, blanks, quotation marks, … and a changed character do no harm; numbers and 不 do."""
    assert found(quote) == expected


def test_locate_takes_the_place_after_the_last_quote():
    """Of equal clauses the one that is expected counts; without one behind, the last before."""
    text = "甲达标。乙达标。丙达标。"
    assert locate("达标", text) == Place(1, 3, "exact")
    assert locate("达标", text, after=4) == Place(5, 7, "exact")
    assert locate("达 标", text, after=10) == Place(9, 11, "normalised")
    assert [p and p.start for p in locate_all(["乙达标", "达标", "丙", "没有的话"], text)] == [
        4,
        5,
        8,
        None,
    ]


def test_locate_reads_marks_of_the_document_as_they_were_shown():
    """A mark that the document itself wrote is shown as [9], and quoted so."""
    assert found("[9]绿色工厂", "见⟦9⟧绿色工厂") == ("⟦9⟧绿色工厂", "normalised")


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
