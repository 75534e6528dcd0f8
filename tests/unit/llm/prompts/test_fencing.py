from hypothesis import given
from hypothesis import strategies as st

from kgrag.llm.prompts import fence


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
        "kgrag.llm.prompts.fencing.digest", lambda *parts, length: marks.get(parts, "b" * length)
    )
    assert (
        fence("写着 aaaaaaaa", label="data") == "<data bbbbbbbb>\n写着 aaaaaaaa\n</data bbbbbbbb>"
    )
