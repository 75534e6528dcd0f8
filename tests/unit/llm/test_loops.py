import json
import time

import pytest

from kgrag.llm.loops import repeats

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


def test_long_answers_are_judged_quickly():
    """100,000 characters in well under a second, whatever they are."""
    for text in (
        "甲乙丙丁。" * 20_000 + "完",
        "ab" * 50_000 + "c",
        "".join(map(str, range(20_000))),
    ):
        began = time.perf_counter()
        repeats(text)
        assert time.perf_counter() - began < 1


def test_equal_scores_written_over_many_lines_are_no_loop():
    """Pretty-printed JSON: what repeats is the key."""
    ratings = {"ratings": [{"n": n, "score": 5} for n in range(1, 13)]}
    assert not repeats(json.dumps(ratings, indent=2))
