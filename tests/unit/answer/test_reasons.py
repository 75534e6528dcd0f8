"""Why a passage was found, in words."""

import copy
import json

import pytest

from kgrag.answer.reasons import explained
from kgrag.results import REASONS, Reason, ScoredChunk
from kgrag.text.messages import catalogue
from kgrag.types import Chunk


def merged(n, of):
    return Reason("merged", n=str(n), of=str(of), size="256")


def vector(score):
    return Reason("vector", score=score)


FACT = "森林覆盖率 —目标为→ 2025年24%"
EXPLAINED = [
    (
        Reason("graph", score="0.300", who="rules", what="绿色 工厂"),
        "chunk graph (0.300), critical information by rules: 绿色 工厂",
        "切片图得分（0.300），关键信息（按规则）：绿色 工厂",
    ),
    (
        Reason("coverage", score="0.71"),
        "share of the question covered (0.71)",
        "覆盖问题用词的比例（0.71）",
    ),
    (Reason("reranked", score="0.93"), "cross-encoder (0.93)", "重排模型打分（0.93）"),
    (Reason("vector", score="-0.02"), "meaning (-0.02)", "语义相近（-0.02）"),
    (
        Reason("text", score="14.0"),
        "words in the text 绿色工厂 (14.0)",
        "正文命中词语 绿色工厂（14.0）",
    ),
    (
        Reason("path", score="9.5"),
        "words in title and headings 目标 (9.5)",
        "标题命中词语 目标（9.5）",
    ),
    (Reason("fact", score="0.69", what=FACT), f"fact {FACT} (0.69)", f"图谱事实 {FACT}（0.69）"),
    (
        Reason("summary", score="0.61", what="一、\n目标"),
        "summary 一、\n目标 (0.61)",
        "摘要 一、\n目标（0.61）",
    ),
    (Reason("place", what="云岭"), "place 云岭", "所问地区 云岭"),
    (Reason("national"), "national document, as asked", "国家层面文件"),
    (Reason("title", what="《乙规划》"), "title 《乙规划》", "所问文件 《乙规划》"),
    (Reason("mention", what="《乙规划》"), "names 《乙规划》", "文中提到 《乙规划》"),
    (Reason("section", what="一、目标"), "section 一、目标", "所问章节 一、目标"),
    (
        Reason("cited", what="甲 —→ 乙"),
        "cited by the document named: 甲 —→ 乙",
        "所问文件引用 甲 —→ 乙",
    ),
    (merged(2, 3), "merged from 2 of 3 parts", "由3个片段中的2个合并"),
    (Reason("filled", left="3", right="5"), "stands between two results", "前后两段均命中"),
    (Reason("side", what="云岭"), "asked for: 云岭", "分别检索 云岭"),
    (Reason("part", n="5", of=" of 二、任务"), "one of 5 parts asked for", "所列5项之一"),
    (Reason("official", word="翻新", what="再制造"), "翻新 read as 再制造", "“翻新”按“再制造”检索"),
    (Reason("outdated", what="draft"), "behind what is in force", "非现行有效，排在后面"),
    (Reason("edition", what="甲"), "behind another edition: 甲", "排在另一版《甲》之后"),
    (
        Reason("version", what="甲"),
        "another version of 甲 is in force, or asked for",
        "《甲》的另一版本为现行或所问",
    ),
    ("vector of mine", "vector of mine", "vector of mine"),
    (merged(1, 1), "", ""),
]


def result(*via):
    text = "到2025年创建绿色工厂500家。\n"
    chunk = Chunk("a:256:0", "a", 256, 0, 0, len(text), text, heading_path=("一、目标",))
    return ScoredChunk(chunk, 1.0, via, title="甲方案")


@pytest.mark.parametrize(("via", "english", "chinese"), EXPLAINED)
def test_a_reason_in_both_languages(via, english, chinese):
    """Numbers stand behind; the words of a plugin stay."""
    assert explained("绿色工厂目标", [result(via)], "en") == [f"found by: {english}"]
    assert explained("绿色工厂目标", [result(via)], "zh") == [f"由来：{chinese}"]


def test_every_kind_of_reason_is_tried_above():
    tried = {via.kind for via, *_ in EXPLAINED if isinstance(via, Reason)}
    assert tried == set(REASONS) == catalogue("kgrag.answer", "reasons.toml").keys() - {"labels"}


def test_a_reason_is_its_text():
    """As JSON output and run files have it; copies keep what it says."""
    reason = Reason("fact", score="0.69", what="甲{乙}")
    assert reason == "fact 0.69: 甲{乙}"
    assert json.dumps([reason]) == json.dumps(["fact 0.69: 甲{乙}"])
    assert copy.deepcopy(reason).values == reason.values


def test_a_fact_that_two_ways_find_is_told_once():
    """With the score of the weightier; another fact, and another part of the question, stay."""
    facts = (("1.00", FACT), ("0.71", FACT), ("0.70", "甲 —依据→ 乙"))
    via = [Reason("fact", score=score, what=fact) for score, fact in facts]
    here, there = Reason("side", what="云岭"), Reason("side", what="全国")
    (told,) = explained("目标", [result(here, *via, there, via[1])], "en")
    assert told == (
        f"found by: asked for: 云岭; fact {FACT} (1.00); fact 甲 —依据→ 乙 (0.70); "
        f"asked for: 全国; fact {FACT} (0.71)"
    )


def test_words_that_are_part_of_a_longer_one_are_left_out():
    (told,) = explained("创建绿色工厂的目标，绿色工厂", [result(Reason("text", score="9.0"))], "en")
    assert told == "found by: words in the text 创建 绿色工厂 (9.0)"
