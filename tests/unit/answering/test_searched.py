from kgrag.answer.support import Numbers, Searched, wording

TEXT = "总体要求。\n到2025年，创建绿色工厂500家。\n。\n2022年3月9日印发。"


def test_searched_places_are_those_of_the_document():
    """Bare marks are none."""
    searched = Searched.of(TEXT, offset=100)
    assert [TEXT[start - 100 : end - 100] for start, end in searched.places] == [
        "总体要求。",
        "到2025年，创建绿色工厂500家。",
        "2022年3月9日印发。",
    ]


def test_searched_of_a_compressed_text_is_what_was_shown():
    """The rest was not read by the model."""
    assert len(Searched.of(TEXT, seen="…总体要求。…").places) == 1


def test_searched_of_a_blank_text_is_all_of_it():
    """There is always a place."""
    assert Searched.of(" \n").places == ((0, 2),)


def test_searched_knows_what_stands_above():
    """Headings, and the sentences before."""
    searched = Searched.of(TEXT, headings=lambda _start, _end: ["钢铁行业"])
    assert {"钢铁", "总体", "绿色"} <= searched.above[2]
    assert "印发" not in searched.above[2]


def test_numbers_of_a_date_are_the_date():
    """3月9日 is neither 3 months nor 9 days; its year counts."""
    numbers = Numbers.of("2022年3月9日印发，统一领导，补贴3年")
    assert [(q.unit, int(min(q.values))) for q in numbers.quantities] == [("年", 2022), ("年", 3)]
    assert [(d.month, d.day) for d in numbers.dates] == [(3, 9)]


def test_numbers_held_by_another_text_in_other_writing():
    """两年 is 2年; 2个 is not."""
    said = Numbers.of("2年，1,200元")
    assert said.held_by(Numbers.of("两年，1200元")) == said.held_by(said)
    assert said.held_by(Numbers.of("2个，1200户")) == frozenset()


def test_wording_leaves_numbers_out():
    """They are compared with their units."""
    assert wording("创建500家工厂") == {"创建", "家工", "工厂"}
    assert wording("The 500 towers") == {"tower"}
