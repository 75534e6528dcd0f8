"""What a question asks for, read from its words, titles, times and places."""

import re

import pytest

from kgrag.question.query import analyse
from kgrag.question.question import grammar, pieces, question_of, tagged


def asked(question, **known):
    return question_of(analyse(question, **known))


@pytest.mark.parametrize(
    ("question", "name", "is_asked"),
    [
        ("甲省比乙省非化石能源消费比重目标高多少", "difference", True),
        ("甲省和乙省哪个更高", "difference", True),
        ("甲省、乙省的森林覆盖率相差几个百分点", "difference", True),
        ("煤电厂每度电烧煤，天津、合肥谁定得最低", "difference", True),
        ("甲省、乙省的非化石能源消费比重目标各是多少", "difference", False),
        ("甲省、乙省的风电占比多大", "difference", False),
        ("两市谁定得低", "least", True),
        ("甲市和乙市哪个更严", "difference", True),
        ("How much higher is it than in 2020", "difference", True),
        ("甲市比乙市低多少", "least", True),
        ("各省森林覆盖率从高到低", "most", True),
        ("森林覆盖率提高几个百分点", "change", True),
        ("森林覆盖率提高到多少", "change", False),
        ("《应对气候变化规划》的目标", "change", False),
        ("哪些文件引用了《甲办法》", "who cites", True),
        ("《甲办法》被哪些文件引用", "who cites", True),
        ("谁落实了《甲办法》", "who cites", True),
        ("which documents cite 《甲办法》", "who cites", True),
        ("《甲办法》引用了哪些文件", "who cites", False),
        ("《甲办法》引用了哪些文件", "what is cited", True),
        ("《甲办法》的依据是什么", "what is cited", True),
        ("《甲办法》规定了什么", "what is cited", False),
        ("《甲办法》替代了什么文件", "what is cited", True),
        ("《甲办法》取代了哪些旧办法", "repeals", True),
        ("哪些文件被《甲办法》取代", "what is cited", True),
        ("《甲办法》废止了哪些文件", "what is cited", True),
        ("《甲办法》被什么文件取代", "what is cited", False),
        ("什么取代了《甲办法》", "what is cited", False),
        ("《甲办法》已被哪些文件废止", "what is cited", False),
        ("《甲办法》废止了吗？", "what is cited", False),
        ("《甲方案》提出用什么替代燃煤", "what is cited", False),
        ("库里还缺哪些文件", "lacking", True),
        ("哪些文件被引用了但没有收录", "lacking", True),
        ("哪些文件缺少目标", "lacking", False),
        ("广东省有哪些碳市场文件", "documents", True),
        ("碳市场文件一共有多少份", "documents", True),
        ("各省的碳达峰方案有哪些要求", "documents", False),
        ("在甲省，哪些企业要交文件", "documents", False),
        ("《甲办法》是谁印发的", "record", True),
        ("《甲办法》什么时候发布的，文号是多少", "record", True),
        ("《甲办法》规定由谁发布名单", "record", False),
        ("《甲办法》何时实施光伏项目", "record", False),
        ("现行有效的办法有哪些", "in force", True),
        ("《甲规划》的时间节点有哪些", "time points", True),
        ("《甲规划》有哪些重点任务", "tasks", True),
        ("which projects does it list", "projects", True),
        ("thistle projections", "projects", False),
    ],
)
def test_what_a_question_asks_for(question, name, is_asked):
    """By words of the grammar; those of a title that it quotes ask for nothing."""
    assert (name in asked(question).asks) is is_asked


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


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("国有林场的面积是多少", ["国有林场", "面积"]),
        ("对外贸易额分别达到多少", ["对外贸易额"]),
        ("数据中心PUE要降到多少", ["数据中心PUE"]),
        ("单位工业增加值能耗下降多少", ["单位工业增加值能耗"]),
        ("省级以上开发区要建多少个", ["省级以上开发区"]),
    ],
)
def test_words_of_asking_are_words(text, left):
    """的 and 对 part words only where a segmenter parts them: 对外 stays."""
    assert pieces(text) == left


def test_a_question_is_read_once():
    """Whoever asks for it, the same reading is given."""
    query = analyse("各省森林覆盖率")
    assert question_of(query) is question_of(analyse("各省森林覆盖率"))


def test_what_can_never_match_is_no_part_of_the_grammar():
    """A word of the lexicon is one character of a tagged question; every tag is used."""
    told = grammar().told
    source = " ".join([*told["patterns"].values(), *told["asks"].values()])
    tags = frozenset().union(*grammar().lexicon.tag_sets())
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"\{([a-z_|]+)\}", source))))
    assert tags - named <= {"filler", "nation", *told["asks"]}
    spelt = re.sub(r"\[[^\]]*\]|\{[^}]*\}|<[a-z_]+>", "|", source)
    for run in re.findall("[一-鿿]{2,}", spelt):
        terms = grammar().lexicon.terms(run)
        assert [run[t.start : t.end] for t in terms if t.end - t.start > 1] == [], run


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
