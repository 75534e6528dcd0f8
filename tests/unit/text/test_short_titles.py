"""Titles cut short, as models call the document that they read."""

import pytest

from kgrag.text.short_titles import shortens

PLAN = "云岭省加快建立健全绿色低碳循环发展经济体系实施方案"


@pytest.mark.parametrize(
    "name", ["云岭省绿色低碳循环发展经济体系实施方案", "加快建立健全绿色低碳发展体系实施方案"]
)
def test_a_title_without_some_of_its_words_is_that_title(name):
    """With its place or without."""
    assert shortens(name, PLAN)


@pytest.mark.parametrize(
    "name",
    [
        PLAN,
        "实施方案",
        "绿色发展实施方案",
        "云岭省绿色低碳循环发展经济体系实施办法",
        "南渡省绿色低碳循环发展经济体系实施方案",
        "云岭省十四五绿色低碳循环发展经济体系实施方案",
        "云岭省绿色低碳循环发展产业体系实施方案",
    ],
)
def test_other_words_kinds_places_and_periods_are_other_titles(name):
    """So is what tells too little."""
    assert not shortens(name, PLAN)
