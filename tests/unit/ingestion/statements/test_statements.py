"""Properties of the readers of statements; their examples are in tests/cases."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.statements.definitions import definitions
from kgrag.ingestion.statements.duties import duties
from kgrag.ingestion.statements.duty_sentences import organs
from kgrag.ingestion.statements.provisions import conditions
from kgrag.ingestion.statements.references import references
from kgrag.ingestion.statements.target_phrases import value_qualifiers
from kgrag.ingestion.statements.target_tables import Columns, Heads
from kgrag.ingestion.statements.targets import targets
from kgrag.ingestion.statements.unwrapped import unwrapped
from kgrag.types import Heading
from tests.fixtures import extent

CITING = "《 》 〈 » « （ ） 根据 关于 印发 的通知 号 〔2021〕4 。 以下简称 同时废止 一、成效 a"
AIMING = """
到2025年 ， 。 ； 率 达到 分别 10% 5万吨 、 和 （ ） 《 由 提高到 比2020年 建成 20个 以上 森林
约束性 2020年 指标 “十四五”期间 １２ |
"""


def runs(words, *more):
    """Return texts of words, and of what stands between them."""
    return st.lists(st.sampled_from([*words.split(), "\n", "\0", *more]), max_size=60).map("".join)


READERS = {
    conditions: st.text(
        "对企业的，给予奖励补助最高10万元%/每处罚款自年月日起施行有效期条件：\n（一）。1.\0",
        max_size=150,
    ),
    definitions: st.text("甲乙碳汇是指以下简称：，。（）《》“”\n1.术语 定义\0", max_size=120),
    duties: st.text(
        "市工信局委部、，。；：（）()〔〕牵头负责配合单位责任会同由要等各|\n\0 1一—", max_size=150
    ),
    partial(references, own_names=["节能规划"]): runs(CITING, " ", "\ud800")
    | st.text(max_size=200),
    targets: runs(AIMING, " | "),
}


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=extent.of(300, 100))
@given(data=st.data())
def test_findings_of_any_text_stand_in_it(reader, data):
    """Half brackets, labels without organs, NULs: no error, and each says something."""
    text = data.draw(READERS[reader])
    for found in reader(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.subject
        assert found.object
        assert found.qualifiers.kind != "duty" or 1 < len(found.object) <= 60
        assert found.qualifiers.kind != "target" or float(found.qualifiers.value) >= 0


def test_conditions_of_grants_under_a_heading_are_surer_where_a_sentence_names_whom():
    """扶持标准 says nothing of whom: the item around it does."""
    text = "（二）绿色工厂示范\n1.申报材料。\n3.扶持标准：奖励，金额不超过50万元。\n"
    (found,) = conditions(text)
    (named,) = conditions("对绿色工厂，给予50万元奖励。")
    assert found.subject == "绿色工厂示范"
    assert found.confidence < named.confidence


def read(text):
    return [(f.predicate, f.subject, f.object) for f in duties(text)]


def test_duties_take_the_headings_that_are_given():
    """A heading that no marker shows is known to who gives it."""
    text = "绿色交通\n推广新能源车，建设充电桩，到2025年建成。（责任单位：市交通局）"
    assert read(text)[0][2] == "推广新能源车，建设充电桩，到2025年建成"
    (found,) = duties(text, headings=[Heading(0, 4, 1, "绿色交通")])
    assert found.object == "绿色交通"


@given(st.text(alphabet="市工信局和、（）等各县部门及", max_size=60))
def test_organs_never_raise(text):
    """Half brackets and joints without sides are names of nobody."""
    assert all(len(name) > 1 for name in organs(text))


def test_long_lists_and_loose_brackets_are_read_to_the_end():
    """Tens of thousands of characters of one kind: what is read of one piece is read of all."""
    n = 5_000
    assert len(references("《甲规划》、" * n, own_names=[])) == n
    assert references("《" * n, own_names=[]) == []
    assert references("（以下简称《规划》）" * n, own_names=["甲规划"]) == []


@given(
    st.text(max_size=60),
    st.text(alphabet="0123456789年%万亿家达到比下降、（）()《》. \n\0", max_size=60),
)
def test_any_text_is_read_of_target_phrases(predicate, phrase):
    """No text raises an error; what is told has a value."""
    told = value_qualifiers(predicate, phrase)
    assert bool(told) == bool(told.value)


def test_what_a_header_tells():
    """Years, what follows them, whether the first is what was."""
    heads = Heads()
    for line in ("类别指标", "2020年现状2025年", "五年累计年均增速属性"):
        assert heads.step(line) == len(line)
    assert heads.columns == Columns(("2020", "2025"), ("achieved", ""), 2, True)
    assert heads.step("单位地区生产总值能耗降低(%)3 5约束性") == 0


@given(st.text(alphabet="市局（）、。\n —7|\x00a　", max_size=200))
def test_unwrapped_says_where_every_character_stood(text):
    """What is kept is kept as it is; breaks are the only thing that may be put in."""
    flat = unwrapped(text)
    assert len(flat.text) == len(flat.offsets) == len(flat.narrowed)
    assert all(c in (text[at], "\n") for c, at in zip(flat.text, flat.offsets, strict=True))
    assert list(flat.offsets) == sorted(flat.offsets)
