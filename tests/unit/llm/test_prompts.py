"""Prompts, and the fences around documents in them."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.llm.prompts import LANGUAGES, Prompt, fence, prompt, prompt_names

ROOT = Path(__file__).parents[3]


def test_fence_is_the_same_for_the_same_text():
    """Answers are cached by prompt: a random mark would make each prompt new."""
    assert fence("甲", label="data") == fence("甲", label="data")


@given(st.text(), st.sampled_from(["document", "passage"]))
def test_text_cannot_write_its_closing_tag(text, label):
    """The closing tag stands once, at the end."""
    fenced = fence(text, label=label)
    closing = fenced.rsplit("\n", 1)[1]
    assert fenced.count(closing) == 1


def test_text_that_holds_the_mark_gets_another(monkeypatch):
    """Even if somebody finds a text whose hash stands in it."""
    marks = {("fence", "写着 aaaaaaaa"): "aaaaaaaa"}
    monkeypatch.setattr(
        "kgrag.llm.prompts.digest", lambda *parts, length: marks.get(parts, "b" * length)
    )
    assert (
        fence("写着 aaaaaaaa", label="data") == "<data bbbbbbbb>\n写着 aaaaaaaa\n</data bbbbbbbb>"
    )


@pytest.fixture
def greeting():
    return Prompt(
        "greeting", "en", "Says hello.", "Be kind to $name.", "Hello $name, $$5 for $what."
    )


def test_every_place_is_filled_in(greeting):
    """Two messages, `$$` is a dollar."""
    system, user = greeting.fill(name="Ann", what="tea")
    assert (system.role, system.content) == ("system", "Be kind to Ann.")
    assert (user.role, user.content) == ("user", "Hello Ann, $5 for tea.")


def test_values_are_not_read_for_places(greeting):
    """A document that writes $what stays as it is."""
    assert greeting.fill(name="$what", what="x")[0].content == "Be kind to $what."


@pytest.mark.parametrize("values", [{"name": "a"}, {"name": "a", "what": "b", "more": "c"}])
def test_a_place_left_or_a_value_too_many_is_an_error(greeting, values):
    """A prompt with a hole would be sent, and paid for."""
    with pytest.raises(ValueError, match="places"):
        greeting.fill(**values)


def test_unknown_prompt_is_an_error():
    """It names what was asked for."""
    with pytest.raises(ValueError, match="'nothing'"):
        prompt("nothing", "zh")


def test_every_prompt_stands_in_every_language_with_the_same_places():
    """Otherwise one language fails at run time."""
    for name in prompt_names():
        fields = {language: prompt(name, language).fields for language in LANGUAGES}
        assert len(set(fields.values())) == 1, (name, fields)
    for language in LANGUAGES:
        folder = ROOT / "kgrag/llm/prompts" / language
        assert sorted(f.stem for f in folder.iterdir()) == prompt_names()


def test_every_prompt_says_what_it_is_for():
    """`kgrag prompts` prints it."""
    for name in prompt_names():
        for language in LANGUAGES:
            assert prompt(name, language).about, (name, language)


def test_every_prompt_is_used():
    """A prompt that no code names is never sent; `answer_{template}` names all that fit."""
    patterns = {
        _pattern(node)
        for package in ("kgrag", "ingestion")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    }
    named = [re.compile(pattern) for pattern in patterns if re.search("[a-z]", pattern)]
    unused = [n for n in prompt_names() if not any(pattern.fullmatch(n) for pattern in named)]
    assert unused == []


def _pattern(node):
    """Return what names a string may stand for; what is put in is one word."""
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    parts = (
        re.escape(str(v.value)) if isinstance(v, ast.Constant) else "[a-z]+" for v in node.values
    )
    return "".join(parts) if any(isinstance(v, ast.Constant) for v in node.values) else ""
