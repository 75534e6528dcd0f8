"""Asking for JSON and text, and reading what a model answers."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.errors import ModelOutputError
from kgrag.llm.chat import Completion, Message, Request
from kgrag.llm.middleware import Cached
from kgrag.llm.structured import (
    ThoughtFilter,
    ask,
    ask_text,
    find_json,
    is_refusal,
    one_question,
    read_json,
    repeats,
    without_thoughts,
)
from kgrag.testing.scripted import ScriptedChat

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}
REQUEST = Request(
    (Message("system", "读出事实。"), Message("user", "文")), "extract", schema=SCHEMA
)
GOOD = '{"facts": ["甲"]}'


def facts(value):
    if not isinstance(value, dict) or not isinstance(value.get("facts"), list):
        raise ValueError("facts must be a list")
    return value["facts"]


def kind_of(script, request=REQUEST):
    """Return the kind of the error and how often was asked."""
    model = ScriptedChat(script)
    with pytest.raises(ModelOutputError) as caught:
        ask(model, request, facts)
    return caught.value.kind, len(model.requests)


@pytest.mark.parametrize(
    ("bad", "kind", "told"),
    [
        ("", "empty", "空"),
        ("好的，没有。", "malformed", "JSON"),
        ("抱歉，我无法回答这个问题。", "refused", "材料"),
        ('{"事实": []}', "invalid", "facts must be a list"),
        ('{"facts": [' + ", ".join(['{"s": "北京市"}'] * 9) + "]}", "repeating", "反复"),
    ],
)
def test_a_bad_answer_is_asked_for_once_more(bad, kind, told):
    """The model sees its answer and what is wrong with it; a second bad one ends it."""
    model = ScriptedChat([bad, GOOD])
    assert ask(model, REQUEST, facts) == ["甲"]
    again = model.requests[1]
    assert again.messages[:2] == REQUEST.messages
    assert [m.role for m in again.messages[2:]] == ["assistant", "user"]
    assert again.messages[2].content.strip()
    assert told in again.messages[3].content
    assert again.added == 2
    assert kind_of([bad, bad]) == (kind, 2)


def test_the_model_is_told_in_the_language_of_the_prompt():
    """English for an English system message."""
    model = ScriptedChat(["no", GOOD])
    request = Request((Message("system", "Read facts."), Message("user", "文")), "extract")
    ask(model, request, facts)
    told = model.requests[1].messages[-1].content
    assert told.isascii()
    assert "cannot be used" in told


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Completion('{"facts": ["甲", "乙', "m", "length"), "truncated"),
        (Completion('{"facts": [{"s": "甲"}, {"s": "乙"}', "m", "length"), "truncated"),
        (Completion('{"facts": ["甲", "乙', "m", "stop"), "truncated"),
        (Completion(GOOD, "m", "filter"), "filtered"),
    ],
)
def test_an_answer_that_would_end_the_same_way_is_not_asked_for_again(answer, kind):
    """Cut at the limit, or withheld; what was cut is not repaired into something shorter."""
    assert kind_of([answer]) == (kind, 1)


def test_json_that_is_whole_may_end_at_the_limit():
    """Some models write blank lines behind it until they are stopped."""
    model = ScriptedChat([Completion(GOOD + "\n" * 500, "m", "length")])
    assert ask(model, REQUEST, facts) == ["甲"]


def test_a_bare_list_is_put_into_the_object_that_its_schema_wants():
    assert ask(ScriptedChat(['["甲"]']), REQUEST, facts) == ["甲"]
    two = {"properties": {"facts": {"type": "array"}, "more": {"type": "array"}}}
    request = Request(REQUEST.messages, "extract", schema=two)
    assert kind_of(['["甲"]'] * 2, request) == ("invalid", 2)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Completion("", "m"), r"of m cannot be used \(empty\); .*llm.max_tokens$"),
        (Completion('{"facts": ["', "m", "length"), r"llm.max_tokens .*; it begins: {"),
        (Completion("无", "m"), r"llm.json, or model"),
    ],
)
def test_the_error_says_what_can_be_done(answer, says):
    """By the kind of what is wrong; nothing is shown of an answer without words."""
    with pytest.raises(ModelOutputError, match=says):
        ask(ScriptedChat([answer] * 2), REQUEST, facts)


def test_a_kind_of_the_callers_own_is_told_in_its_words():
    """The model reads what is wrong, the user which model it was and how the answer began."""

    def check(text):
        raise ModelOutputError("请用中文回答", kind="language")

    model = ScriptedChat(["Plain English."] * 2)
    with pytest.raises(
        ModelOutputError, match=r"scripted .*\(language: 请用.*begins: Plain"
    ) as caught:
        ask_text(model, REQUEST, check)
    assert caught.value.kind == "language"
    told = model.requests[1].messages[-1].content
    assert "请用中文回答" in told
    assert "scripted" not in told


def test_a_corrected_answer_is_found_by_the_question_itself(calls):
    """The next run asks nothing, not even for the bad answer."""
    scripted = ScriptedChat(["坏", GOOD])
    model = Cached(scripted, calls=calls, parameters={})
    assert [ask(model, REQUEST, facts) for _ in range(2)] == [["甲"], ["甲"]]
    assert len(scripted.requests) == 2


def test_a_kept_answer_that_is_of_no_use_now_is_asked_for_afresh(calls):
    """What reads it has changed: once, with nothing said to the model about the old one."""
    scripted = ScriptedChat([GOOD, '{"facts": ["乙"]}'])
    model = Cached(scripted, calls=calls, parameters={})
    ask(model, REQUEST, facts)

    def stricter(value):
        if "甲" in facts(value):
            raise ValueError("not this one")
        return facts(value)

    assert [ask(model, REQUEST, stricter) for _ in range(2)] == [["乙"], ["乙"]]
    assert [request.added for request in scripted.requests] == [0, 0]


@pytest.mark.parametrize(
    ("answers", "outcomes"),
    [
        ([GOOD], ["ok"]),
        (["坏", GOOD], ["malformed", "ok"]),
        (["{}", "坏"], ["invalid", "malformed"]),
    ],
)
def test_what_came_of_every_answer_is_reported(answers, outcomes):
    told: list[Any] = []

    class Listening(ScriptedChat):
        def complete(self, request, *, on_text=None):
            return super().complete(request, on_text=on_text).reporting_to(told.append)

    with suppress(ModelOutputError):
        ask(Listening(answers), REQUEST, facts)
    assert told == outcomes


def wanted(text):
    if "[1]" not in text:
        raise ValueError("没有引用")


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        ("  ", "empty"),
        ("作为一个人工智能助手，我无法回答。", "refused"),
        ("一是节能，" * 50, "repeating"),
        ("没有出处。", "invalid"),
    ],
)
def test_a_bad_plain_answer_is_asked_for_once_more(bad, kind):
    """Unless part of it has been shown."""
    assert ask_text(ScriptedChat([bad, "答。[1]"]), REQUEST, wanted).text == "答。[1]"
    for on_text, times in ((None, 2), (lambda _: None, 1)):
        model = ScriptedChat([bad, bad])
        with pytest.raises(ModelOutputError) as caught:
            ask_text(model, REQUEST, wanted, on_text)
        assert (caught.value.kind, len(model.requests)) == (kind, times)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)
FACTS = {"facts": [{"s": "北京市", "o": "10 MW"}, {"s": "他说：“好”，见[1]{2}", "o": "a\nb"}]}
FACTS_TEXT = json.dumps(FACTS, ensure_ascii=False)


def outcome(text):
    """Return `read`, or the kind of the error."""
    try:
        read_json(text)
    except ModelOutputError as exc:
        return exc.kind
    return "read"


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_what_is_json_comes_back_equal(value, ascii_only, indent):
    """Any value, escaped or not, on one line or many."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert read_json(text) == value
    assert find_json(text) == value


@given(st.data())
@settings(max_examples=300)
def test_damage_raises_nothing_but_the_one_error(data):
    """Characters dropped, put in and swapped at random."""
    text = FACTS_TEXT
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from(["", '"', "{", "]", "}", ",", "，", "：", "“", "\\", "\n", "```"])
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 3)) :]
    assert outcome(text) in ("read", "malformed", "truncated")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + FACTS_TEXT,
        f"```json\n{FACTS_TEXT}\n```",
        f"```JSON\n{FACTS_TEXT}",
        f"根据[1]和{{注}}，结果：{FACTS_TEXT}\n注：见[2]。",
        f'<think>先看{{"facts": []}}。</think>\n{FACTS_TEXT}',
        f"先想一想。</think>{FACTS_TEXT}",
        f'例如 {{"facts": []}}，实际是 {FACTS_TEXT}',
        FACTS_TEXT.replace("\\n", "\n"),
        FACTS_TEXT.replace("]}", ",]}"),
        FACTS_TEXT.replace('"}, {"', '"}，{"'),
        FACTS_TEXT.replace('": "', '"："'),
        FACTS_TEXT.replace('"s": ', "“s”：").replace('"10 MW"', "‘10 MW’"),
        FACTS_TEXT.replace('"s": ', "s: ").replace('"o": ', "o: "),
        FACTS_TEXT.removesuffix("]}"),
        FACTS_TEXT + "}",
    ],
)
def test_wrapped_or_damaged_json_is_read(text):
    assert read_json(text) == FACTS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b', 'c': [1, 2]}", {"a": "b", "c": [1, 2]}),
        ("{“a”：“x，y”，“b”：[“c”，“d”]}", {"a": "x，y", "b": ["c", "d"]}),
        ("{‘a’：‘b’}", {"a": "b"}),
        ('{"q": "提出"双碳"目标，即“碳达峰”"}', {"q": '提出"双碳"目标，即“碳达峰”'}),
        ('{"a": True, "b": None}', {"a": True, "b": None}),
        ('{"a": 1 /* 注 */}', {"a": 1}),
        ('{"a": "x ```b``` y",}', {"a": "x ```b``` y"}),
        ('{"a": "\\ud83d"}', {"a": "\ufffd"}),
        ('{"a": 1} 注：["引', {"a": 1}),
        ("[]", []),
        (" {} ", {}),
    ],
)
def test_marks_of_other_kinds_are_read(text, value):
    """Single, full-width and unescaped quotation marks; comments; Python's words."""
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        FACTS_TEXT[:-20],
        FACTS_TEXT[:40],
        '{"facts": [{"s": "a"},',
        '{"facts": [{"s": "a"}, {"s": "见[1]和',
        f"```json\n{FACTS_TEXT[:-20]}",
    ],
)
def test_json_that_stops_in_the_middle_is_truncated(text):
    """Half an answer is not taken for a whole one."""
    with pytest.raises(ModelOutputError) as caught:
        read_json(text)
    assert caught.value.kind == "truncated"


@pytest.mark.parametrize(
    "text", ["", "没有。", "根据[1]，{注}。", "<think>{}", "9" * 5000, "[" * 200 + "]" * 200]
)
def test_a_text_without_json_is_malformed(text):
    """It never becomes an empty object."""
    with pytest.raises(ModelOutputError) as caught:
        read_json(text)
    assert caught.value.kind == "malformed"


def test_nothing_is_repaired_where_only_whole_json_counts():
    """`find_json` takes JSON out of its wrapping and no more."""
    assert find_json(f"结果：{FACTS_TEXT}\n\n\n") == FACTS
    for text in (FACTS_TEXT.removesuffix("}"), "没有。", f'{{"a": 1}} {FACTS_TEXT[:-5]}'):
        with pytest.raises(ValueError, match="whole"):
            find_json(text)


def test_long_damage_is_not_worked_on(monkeypatch):
    """Repairing takes more than linear time; such answers are asked for again."""
    worked_on: list[str] = []

    def repair(text, **_):
        worked_on.append(text)
        return FACTS

    monkeypatch.setattr("json_repair.loads", repair)
    with pytest.raises(ModelOutputError):
        read_json('{"a": "' + 'x"y' * 40_000 + '"}')
    assert not worked_on
    assert read_json('{"a": "' + 'x"y' * 4_000 + '"}') == FACTS
    assert worked_on


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
