"""Answers in plain text that cannot be used."""

import json

import pytest

from kgrag.llm.checks import (
    ThoughtFilter,
    check_question,
    is_refusal,
    one_question,
    repeats,
    without_thoughts,
)

FACT = '{"subject": "北京市", "predicate": "发布", "object": "实施方案"}'


@pytest.mark.parametrize(
    "text",
    [
        "的" * 100,
        "一是节能，" * 20,
        "前文。" + "二是降碳；三是减污；" * 10,
        "x" * 500 + "甲" * 3 + "abc" * 40,
        ("第一句话说的是这个。第二句话说的是那个。" * 6 + "，" * 10) * 9,
        "\n" * 200,
        "前文。" + "推进能源结构调整。\n" * 9 + "完。",
        '{"facts": [' + ", ".join([FACT] * 9) + "]}",
        '{"facts": [\n  ' + ",\n  ".join([FACT] * 9) + "\n]}",
        '{"facts": [' + ", ".join([FACT, FACT.replace("北京", "上海")] * 9) + '], "n": 1}',
    ],
)
def test_a_text_in_circles_is_told(text):
    """At its end, cut anywhere, or item by item."""
    assert repeats(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "好",
        "哈哈哈哈哈哈",
        "-" * 60,
        "一是节能。二是降碳。三是减污。四是增长。",
        '{"facts": [' + ", ".join([FACT] * 7) + "]}",
        '{"facts": [' + ", ".join(FACT.replace("实施", str(i)) for i in range(60)) + "]}",
        '{"ratings": [' + ", ".join(["0"] * 40) + "]}",
        "\n".join(f"| {i} | 0 | 0 |" for i in range(50)),
        "\n".join(f"第{i}条 各部门应当落实责任。[{i}]" for i in range(50)),
    ],
)
def test_a_list_is_no_circle(text):
    """Items that differ somewhere, short emphasis, rules, equal scores."""
    assert not repeats(text)


@pytest.mark.parametrize("text", ["甲乙丙丁。" * 20_000, "ab" * 50_000])
def test_long_answers_are_judged_too(text):
    """Of 100,000 characters, in milliseconds; what ends otherwise would take a bad search hours."""
    assert repeats(text)
    assert not repeats(text + "完")


def test_equal_scores_written_over_many_lines_are_no_loop():
    """Pretty-printed JSON: what repeats is the key."""
    ratings = {"ratings": [{"n": n, "score": 5} for n in range(1, 13)]}
    assert not repeats(json.dumps(ratings, indent=2))


@pytest.mark.parametrize(
    "text",
    [
        "抱歉，我无法回答这个问题。",
        "对不起，我不能提供相关内容。",
        "你好，这个问题我暂时无法回答，让我们换个话题再聊聊吧。",
        "作为一个人工智能语言模型，我没有个人观点。",
        "系统检测到输入或生成内容可能包含不安全或敏感内容。",
        "I'm sorry, but I can't assist with that.",
        "I’m sorry, I cannot help with this request.",
        "As an AI language model, I cannot read this document.",
    ],
)
def test_declining_the_task_is_a_refusal(text):
    """In Chinese and English, with either apostrophe."""
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PUE 应降到 1.3 以下。[1]",
        "抱歉，所给文档中没有提到这一指标。",
        "根据提供的资料，我无法回答这个问题。",
        "I cannot answer this from the documents given.",
        "企业不能提供合规证明的，不予支持。[2]",
        "对群众反映的问题无法处理的，应当说明理由。[1]",
        "北京市作为人工智能产业高地，将建设算力中心。[1]",
        "涉及敏感信息的数据应当加密。[1]",
        "我无法回答。" + "国家发展改革委负责统筹协调各项工作。" * 12,
    ],
)
def test_an_answer_is_no_refusal(text):
    """That documents say nothing is an answer; so is what policies forbid, and a long text."""
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (" 目标是什么？\n", "目标是什么？"),
        ("“目标是什么？”", "目标是什么？"),
        ('"What is it?"', "What is it?"),
        ("**目标是什么？**", "目标是什么？"),
        ("“双碳”目标是什么？", "“双碳”目标是什么？"),
        ("什么是“双碳”", "什么是“双碳”"),
        ("改写后的问题：目标是什么？", "目标是什么？"),
        ("补充后的问题: 目标是什么？", "目标是什么？"),
        ("Rewritten question: What is it?", "What is it?"),
    ],
)
def test_a_question_comes_without_what_models_put_around_it(text, question):
    """Labels and quotation marks around all of it go; those of its words stay."""
    assert one_question(text) == question


@pytest.mark.parametrize("text", ["", " \n", "“”", "一？\n二？", "长" * 301])
def test_a_text_that_is_no_question_is_refused(text):
    """Empty, several lines, or too long to be one."""
    with pytest.raises(ValueError, match="wanted"):
        check_question(text)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("是。[1]", "是。[1]"),
        ("<think>嗯</think>\n\n是。", "是。"),
        (" \n<think></think>是。", "是。"),
        ("<think>没有说完", ""),
        ("先说<think>不是开头</think>", "先说<think>不是开头</think>"),
        ("<thinking>别的标签", "<thinking>别的标签"),
        ("<thi", "<thi"),
        ("  \n", "  \n"),
        ("", ""),
        ("<think>a</think><think>b</think>c", "<think>b</think>c"),
    ],
)
def test_thoughts_are_left_out_whatever_the_pieces_when_they_come_first(answer, shown):
    """Only a `<think>` at the very start goes, and cutting the answer up changes nothing."""
    assert without_thoughts(answer) == shown
    for size in (1, 2, 3, 7):
        thoughts = ThoughtFilter()
        pieces = [thoughts.feed(answer[i : i + size]) for i in range(0, len(answer), size)]
        assert "".join(pieces) + thoughts.end() == shown


def test_feed_gives_words_at_once_when_no_thought_can_come():
    """Nothing is held back longer than it must be."""
    thoughts = ThoughtFilter()
    assert thoughts.feed("<t") == ""
    assert thoughts.feed("able>") == "<table>"
    assert thoughts.feed("<think>") == "<think>"
