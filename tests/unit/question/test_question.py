"""What a question asks for, read from its words, titles, times and places."""

import re

import pytest

from kgrag.question.question import analyse, grammar, question_of, tagged


def asked(question, **known):
    return question_of(analyse(question, **known))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("哪些文件引用了《甲办法》", "cited_by"),
        ("《甲办法》被哪些文件引用", "cited_by"),
        ("哪些文件以《甲办法》为依据", "cited_by"),
        ("《甲办法》是哪些文件的依据", "cited_by"),
        ("which documents cite 《甲办法》", "cited_by"),
        ("《甲办法》引用或依据了哪些政策文件？", "cites"),
        ("《甲办法》的依据是什么", "basis"),
        ("《甲办法》规定了什么", ""),
        ("生态环境部负责哪些工作", "duties"),
    ],
)
def test_what_a_question_asks_of_a_title_or_an_agency(question, kind):
    """By a cue and the side of the title on which it stands."""
    assert asked(question).kind == kind


@pytest.mark.parametrize(
    ("question", "level", "order", "standing"),
    [
        ("各省森林覆盖率目标从高到低", "省", "most", "planned"),
        ("哪些城市的PM2.5浓度最低", "市", "least", ""),
        ("四川目前的森林覆盖率", "", "", "achieved"),
        ("四川已经达到目标了吗", "", "", ""),
        ("国家级新区有哪些", "", "", ""),
    ],
)
def test_level_order_and_standing(question, level, order, standing):
    """Of figures: all places of a level, the largest or smallest first, planned or achieved."""
    read = asked(question)
    assert (read.level, read.order, read.standing) == (level, order, standing)


@pytest.mark.parametrize(
    ("question", "years", "periods", "due"),
    [
        ("到2030年的目标", {2030}, (), {2030}),
        ("十五五的目标", set(), ("十五五",), {2030}),
        ("“十四五”末和2030年各是多少", {2030}, ("十四五",), {2030}),
        ("比2020年提高多少", set(), (), set()),
        ("2025年是多少，和2020年相比提高多少", {2025}, (), {2025}),
        ("2021年4月的计划", set(), (), set()),
        ("《甲市2021年计划》的目标", set(), (), set()),
    ],
)
def test_when_a_question_asks_for(question, years, periods, due):
    """Years and five-year plans that it names, not those of titles, issue or comparison."""
    read = asked(question)
    assert (set(read.years), read.periods, set(read.due)) == (years, periods, due)


def test_a_question_is_read_once():
    """Whoever asks for it, the same reading is given."""
    query = analyse("各省森林覆盖率")
    assert question_of(query) is question_of(analyse("各省森林覆盖率"))


def test_what_can_never_match_is_no_part_of_the_grammar():
    """A word of the lexicon is one character of a tagged question; every tag is used."""
    told = grammar().told
    source = " ".join(told["cues"].values())
    tags = frozenset().union(*grammar().lexicon.tag_sets())
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"\{([a-z_|]+)\}", source))))
    assert tags - named <= {"filler", "bound", "document"}


def test_tagged_keeps_the_places_of_letters_that_grow():
    """A letter whose lower case is two would move all that follows: then case stays."""
    assert tagged(analyse("İ各省")).text == "İ各省"


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("2025年风电装机超过2000万千瓦的省", {2025}),
        ("非化石能源占比2025年不高于20%的省", {2025}),
        ("比2020年下降多少", set()),
        ("到2030年建成2000家", {2030}),
    ],
)
def test_an_amount_and_a_base_are_no_year(text, years):
    """占比2025年 is a share in 2025, 比2020年 a base."""
    assert question_of(analyse(text)).due == years


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("PUE要降到多少？", "zh"),
        ("What is the target of 《碳达峰方案》?", "zh"),
        ("What is the target?", "en"),
        ("2025?", "zh"),
        ("", "zh"),
    ],
)
def test_a_query_knows_the_language_that_it_is_answered_in(question, language):
    """Chinese where Chinese characters stand in it, or no letters at all."""
    assert analyse(question).language == language
