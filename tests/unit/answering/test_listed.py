"""Lists and rows are quoted complete."""

import asyncio

import pytest

from kgrag.answer.sentences import sentences
from kgrag.answering.listed import Listing, Lists, asks_for_list, definitions
from kgrag.api import KnowledgeBase
from kgrag.async_api import AsyncKnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.question.query import analyse
from kgrag.results import ScoredChunk
from kgrag.types import Chunk, Document
from tests.fixtures.kit import shared_folder
from tests.fixtures.policies import POLICIES

TEXT = (
    "云岭省绿色工厂管理办法\n"
    "一、申报\n"
    "（一）申报单位为省内企业。应当提交下列材料：\n"
    "1.申请书；\n"
    "2.能源审计报告；\n"
    "3.承诺书。\n"
    "材料不齐的不予受理。\n"
    "（二）每年3月前申报。\n"
    "二、重点任务\n"
    "（一）实施节能行动。推广高效电机。\n"
    "（二）实施节水行动。建设再生水厂。\n"
    "（三）实施固废行动。建设处置中心。\n"
    "第三条有下列情形之一的，取消称号：\n"
    "（一）发生重大事故的；\n"
    "（二）数据造假的。\n"
)


def at(words):
    start = TEXT.index(words)
    return start, start + len(words)


def listed_at(words):
    found = Lists(TEXT).of(*at(words))
    assert found is not None
    return found


def quoted(listed):
    return [TEXT[start:end] for start, end in listed.items]


def test_a_lead_in_gives_its_items_and_no_others():
    """Up to what no longer counts on; the lead-in is what ends in the colon."""
    listed = listed_at("应当提交下列材料：")
    assert listed.lead is not None
    assert TEXT[slice(*listed.lead)] == "应当提交下列材料："
    assert quoted(listed) == ["1.申请书；", "2.能源审计报告；", "3.承诺书。"]


@pytest.mark.parametrize("words", ["2.能源审计报告；", "应当提交下列材料：\n1.申请书；"])
def test_an_item_gives_the_whole_list(words):
    """Whichever of them is found; so does a lead-in that is joined to the first item."""
    assert len(listed_at(words).items) == 3


def test_an_article_is_a_lead_in_and_ends_the_list_before():
    """第三条 stands behind （三）, which it does not continue."""
    listed = listed_at("第三条有下列情形之一的，取消称号：")
    assert quoted(listed) == ["（一）发生重大事故的；", "（二）数据造假的。"]


def test_a_heading_gives_the_headings_below_it():
    """Of items that are sections, what each begins with."""
    listed = listed_at("二、重点任务")
    assert not listed.is_led
    assert quoted(listed) == [
        "（一）实施节能行动。",
        "（二）实施节水行动。",
        "（三）实施固废行动。",
    ]


def test_other_sentences_stand_in_no_list():
    """What follows an item on a line of its own is not in it."""
    assert Lists(TEXT).of(*at("材料不齐的不予受理。")) is None


@pytest.mark.parametrize(
    ("question", "is_list"),
    [
        ("申报要交哪些材料", True),
        ("一共几大行动", True),
        ("列出重点任务", True),
        ("由哪个部门负责", False),
        ("两地的要求有什么不同", False),
        ("补贴多少钱", False),
    ],
)
def test_what_asks_for_a_list(question, is_list):
    """More than one thing, not one of several."""
    assert asks_for_list(question) is is_list


def made(question, words):
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(TEXT), TEXT), 1.0)
    chosen = [s for word in words for s in sentences([chunk]) if word in s.text]
    document = Document("d", "云岭省绿色工厂管理办法", TEXT, "d.txt", "txt", "00")
    places, n = Listing(analyse(question), {"d": document}).whole(chosen)
    return [TEXT[p.start : p.end] for p in places], n


def test_the_whole_list_is_quoted_where_one_is_asked_for():
    """In place of the sentences that stand in it; others stay where they were."""
    places, n = made("申报要交哪些材料", ["（二）每年3月前申报", "能源审计报告"])
    assert places == [
        "（二）每年3月前申报。",
        "应当提交下列材料：",
        "1.申请书；",
        "2.能源审计报告；",
        "3.承诺书。",
    ]
    assert n == 3


def test_one_section_alone_is_no_list():
    """Two of them are, and then all."""
    assert made("有哪些行动", ["节能行动"]) == (["（一）实施节能行动。"], 0)
    places, n = made("有哪些行动", ["节水行动", "固废行动"])
    assert len(places) == n == 3


def test_nothing_changes_where_no_list_is_asked_for():
    """A question for one thing gets the sentence that holds it."""
    assert made("能源审计报告何时交", ["能源审计报告"]) == (["2.能源审计报告；"], 0)


def test_a_short_list_is_one_quote_with_what_introduces_it():
    """Also without a question for a list, and without a colon."""
    places, _ = made("何时取消称号", ["第三条"])
    assert places == [TEXT[TEXT.index("第三条") :].rstrip()]
    text = TEXT.replace("取消称号：", "取消称号，三年内不再受理。")
    start = text.index("第三条")
    listed = Lists(text).of(start, text.index("不再受理。") + 5)
    assert listed is not None
    assert listed.lead is not None
    assert text[slice(*listed.lead)] == "第三条有下列情形之一的，取消称号，三年内不再受理。"
    assert len(listed.items) == 2


@pytest.mark.parametrize(
    ("question", "text", "is_defined"),
    [
        ("哪些企业要披露环境信息", "下列企业应当按照规定披露环境信息：", True),
        ("哪些企业要披露环境信息", "企业的报告应当包括以下内容：", False),
        ("两高项目包括哪些行业", "“两高”项目暂按煤电、石化等行业统计。", True),
        ("两高项目由谁审批", "“两高”项目暂按煤电、石化等行业统计。", False),
        ("温室气体有哪几种", "下列温室气体重点排放单位应当报告：", False),
    ],
)
def test_what_defines_the_thing_asked_about(question, text, is_defined):
    """Not what only uses its name, nor what another thing is named after."""
    assert definitions(analyse(question))(text) is is_defined


folder = shared_folder(POLICIES, "hash-32")


QUESTION = "全国、四川2025年森林覆盖率目标分别是多少？"


def test_a_program_on_asyncio_gets_the_same(folder):
    config = Config(embedding=EmbeddingConfig(model="hash-32"))

    async def ask():
        async with await AsyncKnowledgeBase.open(folder / "kb", config=config) as kb:
            return await kb.ask(QUESTION)

    with KnowledgeBase.open(folder / "kb", config=config) as kb:
        assert asyncio.run(ask()) == kb.ask(QUESTION)
