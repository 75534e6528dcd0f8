import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from kgrag.errors import ModelOutputError, RateLimitError
from kgrag.llm.chat import Completion, Message, Request
from kgrag.llm.ledger import Calls
from kgrag.llm.middleware import Cached
from kgrag.llm.structured import ask, ask_text
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


def test_a_good_answer_is_asked_for_once():
    """And parsed."""
    model = ScriptedChat([GOOD])
    assert ask(model, REQUEST, facts) == ["甲"]
    assert model.requests == [REQUEST]


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


def test_a_long_bad_answer_is_shown_shortened():
    """It is paid for as part of the next prompt."""
    bad = "开头" + "".join(f"第{i}句。" for i in range(2000)) + "结尾"
    model = ScriptedChat([bad, GOOD])
    ask(model, REQUEST, facts)
    shown = model.requests[1].messages[2].content
    assert len(shown) < 1000
    assert shown.startswith("开头")
    assert shown.endswith("结尾")


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


def test_an_answer_cut_in_a_loop_is_asked_for_again():
    """It was no want of room."""
    loop = Completion('{"facts": [' + '"一是节能", ' * 50, "m", "length")
    assert kind_of([loop, loop]) == ("repeating", 2)


def test_json_that_is_whole_may_end_at_the_limit():
    """Some models write blank lines behind it until they are stopped."""
    model = ScriptedChat([Completion(GOOD + "\n" * 500, "m", "length")])
    assert ask(model, REQUEST, facts) == ["甲"]


def test_a_bare_list_is_put_into_the_object_that_its_schema_wants():
    """Where that has one list."""
    assert ask(ScriptedChat(['["甲"]']), REQUEST, facts) == ["甲"]
    two = {"properties": {"facts": {"type": "array"}, "more": {"type": "array"}}}
    request = Request(REQUEST.messages, "extract", schema=two)
    assert kind_of(['["甲"]'] * 2, request) == ("invalid", 2)


def test_the_error_shows_how_the_answer_began_on_one_line():
    """At most 120 characters of it."""
    model = ScriptedChat(["坏\n答" + "".join(map(str, range(500)))] * 2)
    with pytest.raises(
        ModelOutputError, match=r"scripted .*\(malformed\).* 坏 答0123[0-9]+…$"
    ) as caught:
        ask(model, REQUEST, facts)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value).split("it begins: ")[1]) == 121


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


def test_other_errors_go_up_at_once():
    """They are the wrappers' concern."""
    model = ScriptedChat([RateLimitError("slow")])
    with pytest.raises(RateLimitError):
        ask(model, REQUEST, facts)
    assert len(model.requests) == 1


def test_an_error_of_ours_in_parsing_is_not_taken_for_the_models():
    """Only ValueError speaks of the answer."""

    def named(value: Any) -> object:
        return value["facts"]

    with pytest.raises(KeyError):
        ask(ScriptedChat(["{}"]), REQUEST, named)


def test_a_corrected_answer_is_found_by_the_question_itself(tmp_path):
    """The next run asks nothing, not even for the bad answer."""
    calls = Calls.open(tmp_path / "calls.db")
    scripted = ScriptedChat(["坏", GOOD])
    model = Cached(scripted, calls=calls, parameters={})
    assert [ask(model, REQUEST, facts) for _ in range(2)] == [["甲"], ["甲"]]
    assert len(scripted.requests) == 2
    calls.close()


def test_a_kept_answer_that_is_of_no_use_now_is_asked_for_afresh(tmp_path):
    """What reads it has changed: once, with nothing said to the model about the old one."""
    calls = Calls.open(tmp_path / "calls.db")
    scripted = ScriptedChat([GOOD, '{"facts": ["乙"]}'])
    model = Cached(scripted, calls=calls, parameters={})
    ask(model, REQUEST, facts)

    def stricter(value):
        if "甲" in facts(value):
            raise ValueError("not this one")
        return facts(value)

    assert [ask(model, REQUEST, stricter) for _ in range(2)] == [["乙"], ["乙"]]
    assert [request.added for request in scripted.requests] == [0, 0]
    calls.close()


def test_an_answer_that_was_cut_is_not_paid_again(tmp_path):
    """Whoever reads the document again is told at once."""
    calls = Calls.open(tmp_path / "calls.db")
    scripted = ScriptedChat([Completion('{"facts": ["甲', "m", "length")])
    model = Cached(scripted, calls=calls, parameters={})
    for _ in range(2):
        with pytest.raises(ModelOutputError) as caught:
            ask(model, replace(REQUEST, doc_id="d-1"), facts)
        assert caught.value.kind == "truncated"
    assert len(scripted.requests) == 1
    calls.close()


def test_a_kept_answer_is_shown_only_when_it_can_be_used(tmp_path):
    """What was shown cannot be taken back."""
    calls = Calls.open(tmp_path / "calls.db")
    model = Cached(ScriptedChat(["旧答。[1]", "新答。[1]"]), calls=calls, parameters={})
    pieces: list[Any] = []
    for _ in range(2):
        ask_text(model, REQUEST, on_text=pieces.append)
    assert pieces == ["旧答。[1]"] * 2
    calls.keep(model.key(REQUEST), Completion("抱歉，我无法回答这个问题。", "m"))
    ask_text(model, REQUEST, on_text=pieces.append)
    assert pieces[2:] == ["新答。[1]"]
    calls.close()


@pytest.mark.parametrize(
    ("answers", "outcomes"),
    [
        ([GOOD], ["ok"]),
        (["坏", GOOD], ["malformed", "ok"]),
        (["{}", "坏"], ["invalid", "malformed"]),
    ],
)
def test_what_came_of_every_answer_is_reported(answers, outcomes):
    """To whoever keeps it."""
    told: list[Any] = []

    class Listening(ScriptedChat):
        def complete(self, request, *, on_text=None):
            return super().complete(request, on_text=on_text).reporting_to(told.append)

    with suppress(ModelOutputError):
        ask(Listening(answers), REQUEST, facts)
    assert told == outcomes


def test_an_answer_whose_reading_is_interrupted_is_reported():
    """It was paid for."""
    told: list[Any] = []
    completion = Completion(GOOD, "m").reporting_to(told.append)

    def interrupted(value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(ScriptedChat([completion]), REQUEST, interrupted)
    assert told == ["KeyboardInterrupt"]


def test_a_plain_answer_comes_back_whole():
    """With its tokens."""
    completion = ask_text(ScriptedChat(["答。[1]"]), REQUEST)
    assert completion.text == "答。[1]"
    assert completion.usage.completion == 5


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


def test_a_plain_answer_that_is_cut_is_refused_at_once():
    """It would be cut again."""
    model = ScriptedChat([Completion("答到一半", "m", "length")])
    with pytest.raises(ModelOutputError) as caught:
        ask_text(model, REQUEST)
    assert (caught.value.kind, len(model.requests)) == ("truncated", 1)


def test_a_plain_answer_is_handed_on_as_it_comes():
    """Piece by piece, and only once."""
    pieces: list[Any] = []
    ask_text(ScriptedChat(["答。"]), REQUEST, on_text=pieces.append)
    assert pieces == ["答。"]


def test_json_may_be_any_form_that_parse_takes():
    """A number as well."""
    assert ask(ScriptedChat([json.dumps(7)]), REQUEST, lambda value: value) == 7
