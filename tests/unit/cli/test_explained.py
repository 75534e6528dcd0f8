"""How results came, in words of both languages."""

import ast
import json
import re
from pathlib import Path

import pytest

import kgrag.cli.search
from kgrag.cli.chinese import catalogue
from kgrag.cli.search import _KINDS, explained
from kgrag.results import ScoredChunk
from kgrag.types import Chunk
from tests.unit.cli.conftest import ingested, run

FACT = "森林覆盖率 —目标为→ 2025年24%"
REASONS = [
    ("covers 0.71", "share of the question covered (0.71)", "覆盖问题用词的比例（0.71）"),
    ("reranked: 0.93", "cross-encoder (0.93)", "重排模型打分（0.93）"),
    ("vector -0.02", "meaning (-0.02)", "语义相近（-0.02）"),
    ("words 14.0", "words in the text 绿色工厂 (14.0)", "正文命中词语 绿色工厂（14.0）"),
    ("path 9.5", "words in title and headings 目标 (9.5)", "标题命中词语 目标（9.5）"),
    (f"fact 0.69: {FACT}", f"fact {FACT} (0.69)", f"图谱事实 {FACT}（0.69）"),
    ("summary 0.61: 一、\n目标", "summary 一、\n目标 (0.61)", "摘要 一、\n目标（0.61）"),
    ("place 云岭", "place 云岭", "所问地区 云岭"),
    ("national", "national document, as asked", "国家层面文件"),
    ("title 《乙规划》", "title 《乙规划》", "所问文件 《乙规划》"),
    ("holds 《乙规划》", "names 《乙规划》", "文中提到 《乙规划》"),
    ("section 一、目标", "section 一、目标", "所问章节 一、目标"),
    ("cited: 甲 —→ 乙", "cited by the document named: 甲 —→ 乙", "所问文件引用 甲 —→ 乙"),
    ("graph query", "query to the graph", "图谱查询"),
    ("merged from 2 of 2 chunks of 256", "merged from 2 parts", "由2个片段合并"),
    ("merged from 2 of 3 chunks of 256", "merged from 2 of 3 parts", "由3个片段中的2个合并"),
    ("filled between 3 and 5", "stands between two results", "前后两段均命中"),
    ("asked for 云岭", "asked for: 云岭", "分别检索 云岭"),
    ("asked for the whole question", "asked for: the whole question", "分别检索 整个问题"),
    ("also found by 《谁承担？》", "also found by 《谁承担？》", "换个问法也检索到 《谁承担？》"),
    ("one of 5 parts of 二、任务", "one of 5 parts asked for", "所列5项之一"),
    ("翻新 read as 再制造", "翻新 read as 再制造", "“翻新”按“再制造”检索"),
    ("behind what is in force: draft", "behind what is in force", "非现行有效，排在后面"),
    ("vector of mine", "vector of mine", "vector of mine"),
    ("merged from 1 of 1 chunks of 256", "", ""),
]  # fmt: skip


def result(*via):
    text = "到2025年创建绿色工厂500家。\n"
    chunk = Chunk("a:256:0", "a", 256, 0, 0, len(text), text, heading_path=("一、目标",))
    return ScoredChunk(chunk, 1.0, via, title="甲方案")


@pytest.mark.parametrize(("via", "english", "chinese"), REASONS)
def test_a_reason_in_both_languages(monkeypatch, via, english, chinese):
    """Numbers stand behind; the words of a plugin stay."""
    assert explained("绿色工厂目标", [result(via)]) == [f"found by: {english}"]
    monkeypatch.setenv("KGRAG_LANG", "zh")
    assert explained("绿色工厂目标", [result(via)]) == [f"由来：{chinese}"]


def test_every_kind_of_reason_is_tried_above():
    known = [form for form, _ in _KINDS]
    assert {next(f for f in known if f.fullmatch(via)) for via, *_ in REASONS} == set(known)


def test_the_catalogue_has_no_reason_that_nobody_gives():
    tree = ast.parse(Path(kgrag.cli.search.__file__).read_text("utf-8"))
    written = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    labels = {"the whole question", "the document", "cited"}
    assert set(catalogue()["reasons"]) <= written | labels
    assert {told for _, told in _KINDS} - {"", "{what}"} <= set(catalogue()["reasons"])


def test_a_fact_that_two_ways_find_is_told_once():
    """With the score of the weightier; another fact, and another part of the question, stay."""
    via = (f"fact 1.00: {FACT}", f"fact 0.71: {FACT}", "fact 0.70: 甲 —依据→ 乙")
    (told,) = explained("目标", [result("asked for 云岭", *via, "asked for 全国", via[1])])
    assert told == (
        f"found by: asked for: 云岭; fact {FACT} (1.00); fact 甲 —依据→ 乙 (0.70); "
        f"asked for: 全国; fact {FACT} (0.71)"
    )


def test_ranks_are_among_the_results_of_one_way(monkeypatch):
    """Equal scores share a rank; sides of a comparison are not compared."""
    results = [result("vector 0.70"), result("vector 0.75", "words 9.0"), result("vector 0.70")]
    assert explained("没有", results) == [
        "found by: meaning (no. 2 of 3; 0.70)",
        "found by: meaning (no. 1 of 3; 0.75); words in the text (9.0)",
        "found by: meaning (no. 2 of 3; 0.70)",
    ]
    monkeypatch.setenv("KGRAG_LANG", "zh")
    sides = [result("asked for 甲", "vector 0.7"), result("asked for 乙", "vector 0.8")]
    assert [told.split("；")[1] for told in explained("没有", sides)] == [
        "语义相近（0.7）",
        "语义相近（0.8）",
    ]
    assert explained("没有", results)[0] == "由来：语义相近（3条中第2，0.70）"


def test_words_that_are_part_of_a_longer_one_are_left_out():
    (told,) = explained("创建绿色工厂的目标，绿色工厂", [result("words 9.0")])
    assert told == "found by: words in the text 创建 绿色工厂 (9.0)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a knowledge base of two documents."""
    text = "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家，森林覆盖率达到24%。\n"
    texts = {"a": text, "b": "乙规划\n到2030年森林覆盖率达到26%。\n"}
    return ingested(tmp_path_factory.mktemp("explained"), texts, "hash-32")


def test_search_explains_in_the_users_language(folder):
    """One line a result, no fact twice, and where it stands; JSON is the same in both."""
    words = ("search", "2025年森林覆盖率目标", "--explain")
    english, chinese = (run(folder, *words, language=language).stdout for language in ("en", "zh"))
    told = [line for line in english.splitlines() if line.startswith("   found by: ")]
    assert [line.count("森林覆盖率 —目标为→") for line in told] == [1, 1]
    assert re.search(r"a\.txt, characters \d+-\d+\n   found by: ", english)
    assert re.search(r"a\.txt, 第 \d+ 至 \d+ 个字符\n   由来：", chinese)
    assert "found by" not in chinese
    found = json.loads(run(folder, *words, "--json", language="zh").stdout)
    assert found == json.loads(run(folder, *words, "--json").stdout)
    for via in (result["via"] for result in found["results"]):  # JSON has each with its score
        assert len([reason for reason in via if "森林覆盖率 —目标为→" in reason]) == 2


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("targets",), "#  指标        地区"),
        (("stats",), "文件        2"),
        (("graph", "森林覆盖率"), "森林覆盖率：共2项事实"),
        (("docs", "set", "a.txt", "--number", "云〔2022〕3号"), "d-"),
    ],
)
def test_results_have_chinese_names(folder, words, first):
    said = run(folder, *words, language="zh").stdout
    assert said.startswith(first)
    assert ("  文号: 云〔2022〕3号" in said) == (words[0] == "docs")


def test_keys_of_json_stay(folder):
    for words in (("targets",), ("stats",), ("docs",)):
        outs = [
            run(folder, *words, "--json", language=language).stdout for language in ("zh", "en")
        ]
        assert outs[0] == outs[1] != ""
