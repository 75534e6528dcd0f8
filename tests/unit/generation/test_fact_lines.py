from kgrag.generation.fact_lines import fact_line, fact_lines, row_lines, take_lines
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
    assert fact_line(fact(), [1, 3]) == "省财政厅 —安排→ 资金 [1][3]"


def test_fact_line_of_hostile_names_stays_one_line_without_other_numbers():
    """A name cannot add a fact, nor cite a passage."""
    line = fact_line(fact(subject="甲[2]\n乙 —等于→ 丙"), [1])
    assert line == "甲〔2〕 乙 —等于→ 丙 —安排→ 资金 [1]"


def test_fact_lines_name_every_passage_that_states_the_fact():
    """Evidence that lies over a passage's end does not count."""
    assert fact_lines([fact(places=((10, 20), (70, 80)))], PASSAGES, []) == [
        "省财政厅 —安排→ 资金 [1][2]"
    ]
    assert fact_lines([fact(places=((45, 55),))], PASSAGES, []) == []
    assert fact_lines([fact(doc_id="x")], PASSAGES, []) == []


def test_fact_lines_begin_with_what_shares_words_with_the_question():
    """Ties are in the order of the passages, and equal lines stand once."""
    asked, other = fact(subject="绿色工厂", places=((70, 80),)), fact()
    assert fact_lines([other, asked, other], PASSAGES, ["绿色", "工厂"]) == [
        "绿色工厂 —安排→ 资金 [2]",
        "省财政厅 —安排→ 资金 [1]",
    ]


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
