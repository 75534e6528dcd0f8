from hypothesis import given
from hypothesis import strategies as st

from kgrag.llm.fence import fence


def test_fence_is_the_same_for_the_same_text():
    """Answers are cached by prompt: a random mark would make each prompt new."""
    assert fence("甲", label="data") == fence("甲", label="data")


@given(st.text(), st.sampled_from(["document", "passage"]))
def test_text_cannot_write_its_closing_tag(text, label):
    """The closing tag stands once, at the end."""
    fenced = fence(text, label=label)
    closing = fenced.rsplit("\n", 1)[1]
    assert fenced.count(closing) == 1


def test_text_that_holds_the_mark_gets_another():
    """Whoever knows how the mark is made cannot use it."""
    mark = fence("甲", label="data").split("\n")[0].split()[1].rstrip(">")
    assert mark not in fence("甲" + mark, label="data").split("\n")[0]
