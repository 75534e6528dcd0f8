from kgrag.answering.pack import fact_line, fact_lines, row_lines, take_lines
from kgrag.qualifiers import Qualifiers
from kgrag.results import Passage
from kgrag.types import Entity, Evidence, Fact

PASSAGES = [
    Passage(1, "d", "甲", (), 0, 50, "", "d:256:0"),
    Passage(2, "d", "甲", (), 60, 90, "", "d:256:1"),
]


def fact(subject="省财政厅", obj="资金", places=((10, 20),), doc_id="d"):
    evidence = tuple(Evidence(doc_id, start, end, "d:256:0") for start, end in places)
    return Fact("f-1", Entity("e-1", subject), "安排", Entity("e-2", obj), evidence)


def test_fact_line_is_a_triple_with_its_passages():
    """Each passage that states it can be cited."""
    assert fact_line(["省财政厅"], fact(), [1, 3]) == "省财政厅 —安排→ 资金 [1][3]"


def test_fact_line_of_hostile_names_stays_one_line_without_other_numbers():
    """A name cannot add a fact, nor cite a passage."""
    line = fact_line(["甲[2]\n乙 —等于→ 丙"], fact(), [1])
    assert line == "甲〔2〕 乙 —等于→ 丙 —安排→ 资金 [1]"


def test_fact_lines_name_every_passage_that_states_the_fact():
    """Evidence that lies over a passage's end does not count."""
    assert fact_lines([fact(places=((10, 20), (70, 80)))], PASSAGES, []) == [
        "省财政厅 —安排→ 资金 [1][2]"
    ]
    assert fact_lines([fact(places=((45, 55),))], PASSAGES, []) == []
    assert fact_lines([fact(doc_id="x")], PASSAGES, []) == []


def test_fact_lines_begin_with_what_shares_most_words_with_the_question():
    """What shares none is left out, ties are in the order of the passages."""
    most, some, none = (
        fact(subject="绿色工厂", places=((70, 80),)),
        fact(subject="绿色园区"),
        fact(obj="经费"),
    )
    assert fact_lines([none, some, most, some], PASSAGES, ["绿色", "工厂"]) == [
        "绿色工厂 —安排→ 资金 [2]",
        "绿色园区 —安排→ 资金 [1]",
    ]


def test_what_several_do_alike_is_one_line():
    """In the same passages; the same in another stands by itself."""
    facts = [fact(), fact(subject="省能源局"), fact(subject="省交通厅", places=((70, 80),))]
    assert fact_lines(facts, PASSAGES, []) == [
        "省财政厅、省能源局 —安排→ 资金 [1]",
        "省交通厅 —安排→ 资金 [2]",
    ]


def test_duties_stand_only_where_it_is_asked_who_is_responsible():
    """Each task has its organs, and the passages name them."""
    duty = Evidence("d", 10, 20, "d:256:0", qualifiers=Qualifiers(kind="duty"))
    facts = [Fact("f-1", Entity("e-1", "省能源局"), "负责", Entity("e-2", "节能"), (duty,))]
    assert fact_lines(facts, PASSAGES, ["节能"]) == ["省能源局 —负责→ 节能 [1]"]
    assert fact_lines(facts, PASSAGES, ["节能"], duties=False) == []


def test_row_lines_are_single_lines_without_citations():
    """Blank rows are left out."""
    assert row_lines(["a: 1\nb: [2]", "  "]) == ["a: 1 b: 〔2〕"]


def test_take_lines_takes_the_first_that_fit():
    """As many as possible, in order."""
    assert take_lines(["一一", "二二", "三三"], lambda kept: len("".join(kept)) <= 5) == (
        "一一",
        "二二",
    )
    assert take_lines(["一"], lambda kept: not kept) == ()
