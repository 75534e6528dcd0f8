import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgrag.errors import ModelOutputError
from kgrag.llm.json_text import find_json, read_json

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


@given(VALUES)
@example({"```": []})
@example(["```json\n[[]]\n```"])
def test_a_fence_and_prose_around_json_do_no_harm(value):
    """An object is read out of either unchanged."""
    wanted = {"facts": value}
    text = json.dumps(wanted, ensure_ascii=False)
    assert read_json(f"结果如下[1]：\n```json\n{text}\n```\n以上。") == wanted
    assert read_json(f"好的，{text} 以上。") == wanted


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


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    """Nothing else is raised."""
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
        FACTS_TEXT.replace('"s": ', "s: ").replace('"o": ', "o: "),
        FACTS_TEXT.removesuffix("]}"),
        FACTS_TEXT + "}",
    ],
)
def test_wrapped_or_damaged_json_is_read(text):
    """As it was meant."""
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
