"""Answers by rules."""

import json

from kgrag.llm.prompts import fence
from kgrag.testing.reply import fake_answer, wanted_schema

TEXT = "⟦1⟧第一章 总则\n到2025年，绿色建筑占比达到70%。省发展改革委负责统筹协调。\n⟦2⟧开展试点。"
SCHEMA = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"quote": {"type": "string"}, "triples": {"type": "array"}},
            },
        },
        "summaries": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"part": {"type": "string"}, "summary": {"type": "string"}},
            },
        },
    },
}


def body(user, system="", schema=None):
    """Return the body of a request."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    named = {"name": "knowledge", "schema": schema}
    form = {"response_format": {"type": "json_schema", "json_schema": named}} if schema else {}
    return {"model": "m", "messages": messages, **form}


def test_facts_are_verbatim_sentences_of_the_fenced_text():
    """Whole sentences without our marks, each with three pieces of itself."""
    user = (
        f"{fence('一 > 二', label='headings')}\n{fence(TEXT, label='passage')}\n要写的 part：1-2, 2"
    )
    answer = json.loads(fake_answer(body(user, schema=SCHEMA)))
    assert answer["facts"][0] == {
        "quote": "到2025年，绿色建筑占比达到70%。", "triples": [["绿色建筑占比", "达到", "70%"]],
    }  # fmt: skip
    assert [f["quote"] for f in answer["facts"]] == [
        "到2025年，绿色建筑占比达到70%。",
        "省发展改革委负责统筹协调。",
        "开展试点。",
    ][: len(answer["facts"])]
    assert [s["part"] for s in answer["summaries"]] == ["1-2", "2"]
    assert all(s["summary"] in TEXT for s in answer["summaries"])


def test_an_example_in_the_prompt_stands_for_a_schema_that_was_not_sent():
    """Bare words in it are numbers, quoted ones texts, a|b choices; a tail of dots is none."""
    system = 'JSON：{"ratings": [{"n": 编号, "score": 整数, "why": "理由", "is": "yes|no"}, …]}'
    first, second = (fence(t, label="passage") for t in ("甲是乙。", "丙是丁戊己庚。"))
    user = f"[1]\n{first}\n[2]\n{second}"
    assert json.loads(fake_answer(body(user, system))) == {
        "ratings": [
            {"n": 1, "score": 1, "why": "丙是丁戊己庚。", "is": "yes"},
            {"n": 2, "score": 1, "why": "丙是丁戊己庚。", "is": "no"},
        ]
    }


def test_json_in_a_document_is_no_example():
    """Fenced text is material."""
    assert wanted_schema({}, "只回答文字") is None
    user = fence('{"a": 1}，这是一个配置文件的例子。', label="passage")
    assert not fake_answer(body(user)).startswith('{"a": 2')


def test_a_text_quotes_the_first_sentence_of_the_first_numbered_passage():
    """With its number before the full stop, headings left out."""
    passage = fence(f"《办法》 > 第一章\n{TEXT}", label="passage")
    user = f"{fence('问？', label='question')}\n[3]\n{passage}"
    assert fake_answer(body(user)) == "到2025年，绿色建筑占比达到70%[3]。"


def test_a_text_without_passages_repeats_what_was_fenced_last():
    """A follow-up question comes back as it was asked."""
    history = fence("很长的对话。" * 9, label="conversation")
    user = f"{history}\n{fence('那么浙江省的目标呢？', label='question')}"
    assert fake_answer(body(user)) == "那么浙江省的目标呢？"


def test_a_corrected_request_is_answered_from_its_material():
    """The last message only says what was wrong; nothing is quoted from there."""
    asked = body(fence(TEXT, label="passage"), schema=SCHEMA)
    wrong = [
        {"role": "assistant", "content": "坏"},
        {"role": "user", "content": "请重新完整作答。"},
    ]
    again = {**asked, "messages": [*asked["messages"], *wrong]}
    assert fake_answer(again) == fake_answer(asked)
