"""The notice that covers a document, and the title of what it issues."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.load.covering_notice import split_title

NOTICE = "云岭省人民政府关于印发《云岭省节能方案（2022—2025年）》的通知"
BODY = "云岭省节能方案（2022—2025年）"


@pytest.mark.parametrize(
    "text",
    [
        f"{NOTICE}\n各市：\n现印发给你们。\n{BODY}\n一、要求",
        f"{NOTICE}\n各市：\n现印发给你们。\n云岭省节能方案\n（2022—2025年）\n一、要求",
        f"{NOTICE}\n各市：\n云岭省人民政府2022年3月5日{BODY}\n一、要求",
        f"{NOTICE}\n各市：\n附件\n云岭省节能方案\n一、要求",
    ],
)
@pytest.mark.parametrize("title", [NOTICE, BODY])
def test_a_notice_with_its_body_is_two_titles(text, title):
    """Whichever of them was found; the body's may be broken or run into the signature."""
    assert split_title(text, title) == (BODY, NOTICE)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"{NOTICE}\n各市：\n现印发给你们。\n附件：{BODY}", NOTICE),
        ("关于转发《节能方案》的通知\n各市：\n节能方案\n一、", "关于转发《节能方案》的通知"),
        ("关于节能的通知\n各市：\n请照办。", "关于节能的通知"),
        (f"{BODY}\n一、要求", BODY),
        ("", ""),
    ],
)
def test_a_title_alone_stays(text, title):
    """A notice without its body, one that passes on what others issued, a plan by itself."""
    assert split_title(text, title) == (title, "")


def test_a_body_without_marks():
    """关于印发云岭省节能方案的通知."""
    notice = "关于印发云岭省节能方案的通知"
    text = f"{notice}\n各市：\n现印发给你们。\n云岭省节能方案\n一、"
    assert split_title(text, notice) == ("云岭省节能方案", notice)


@given(st.text(max_size=80), st.text(max_size=30))
def test_any_text_is_read(text, title):
    """The title stays where no notice is found."""
    found, notice = split_title(text, title)
    assert notice or found == title
