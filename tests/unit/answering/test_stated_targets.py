"""Figures of the kind and year that a question asks for."""

import pytest

from kgrag.answer.sentences import Sentence
from kgrag.answering.extract import StatedTargets
from kgrag.qualifiers import Qualifiers
from kgrag.question.query import analyse
from kgrag.question.question import question_of
from kgrag.results import ScoredChunk
from kgrag.types import Chunk, Entity, Evidence, Fact

CHUNK = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, 100, "文" * 100), 1.0)


def asked_by(question):
    return question_of(analyse(question))


def sentence(start, end):
    return Sentence("d", start, end, "文" * (end - start), CHUNK, 0)


def stating(start, end, **told):
    place = Evidence("d", start, end, "d:256:0", qualifiers=Qualifiers("target", **told))
    return Fact("f", Entity("a", "绿色工厂"), "目标为", Entity("b", "500家"), (place,))


REACHED = stating(0, 10, value="300", year="2020", standing="achieved")
DUE_2025 = stating(10, 20, value="500", year="2025", standing="planned")
DUE_2030 = stating(20, 30, value="800", year="2030", standing="planned")
TARGETS = StatedTargets([REACHED, DUE_2025, DUE_2030])


@pytest.mark.parametrize(
    ("question", "standing", "years"),
    [
        ("到2030年绿色工厂的目标是多少", "planned", {"2030"}),
        ("绿色工厂已建成多少家", "achieved", set()),
        ("绿色工厂要建多少家", "planned", set()),
        ("绿色工厂有多少家", "", set()),
        ("十三五做到多少，十四五要到多少", "", set()),
        ("2030年的目标比2020年底多出多少", "", {"2030"}),
        ("2021年4月的计划里，目标是多少", "planned", set()),
        ("2022年工作要点要完成多少", "planned", set()),
        ("What is the target for 2025?", "planned", {"2025"}),
    ],
)
def test_a_question_asks_for_a_kind_and_years(question, standing, years):
    """The year of a document, and what a figure is compared with, are not asked for."""
    asked = asked_by(question)
    assert (asked.standing, set(map(str, asked.years))) == (standing, years)


def test_a_past_result_is_no_target():
    """十三五期间建成 answers what was reached, not what is planned."""
    planned, achieved = map(asked_by, ("目标是多少", "已建成多少"))
    assert TARGETS.fit(sentence(0, 10), planned) < 0 == TARGETS.fit(sentence(10, 20), planned)
    assert TARGETS.fit(sentence(10, 20), achieved) < 0 == TARGETS.fit(sentence(0, 10), achieved)


def test_a_figure_of_another_year_gives_way():
    """The sentence that has both, and one of which nothing is known, do not."""
    asked = asked_by("2030年多少")
    assert TARGETS.fit(sentence(10, 20), asked) < 0
    assert TARGETS.fit(sentence(20, 30), asked) == 0
    assert TARGETS.fit(sentence(10, 30), asked) == 0
    assert TARGETS.fit(sentence(50, 60), asked) == 0


def test_an_answer_without_the_year_asked_for_says_so():
    """In the language of the question; where one is of that year, or has none, nothing is said."""
    asked = asked_by("2030年多少")
    assert TARGETS.note([sentence(10, 20)], asked, "zh") == "找到的是2025年的数字，未找到2030年的"
    assert "2025" in TARGETS.note([sentence(10, 20)], asked, "en")
    assert TARGETS.note([sentence(10, 20), sentence(20, 30)], asked, "zh") == ""
    assert TARGETS.note([sentence(50, 60)], asked, "zh") == ""
    assert TARGETS.note([sentence(10, 20)], asked_by("多少"), "zh") == ""
