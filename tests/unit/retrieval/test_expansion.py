"""Further wordings and made-up passages, from good and bad answers."""

import json

import pytest

from kgrag.errors import ModelOutputError
from kgrag.retrieval.expansion import expand, hypothetical
from kgrag.testing.scripted import ScriptedChat

QUESTION = "村里脏水谁出钱？"


def wordings(*questions):
    return json.dumps({"questions": list(questions)}, ensure_ascii=False)


def test_all_wordings_come_from_one_call():
    """The number is told; the question is fenced."""
    model = ScriptedChat([wordings("农村污水处理费由谁承担？", "农户如何\n付费？")])
    assert expand(QUESTION, language="zh", model=model) == [
        "农村污水处理费由谁承担？",
        "农户如何 付费？",
    ]
    (request,) = model.requests
    assert (request.stage, request.schema_name) == ("analyse", "expansions")
    assert "2 个" in request.messages[0].content
    assert request.messages[1].content.startswith("<question ")


def test_repeats_and_more_than_asked_for_are_left_out():
    """What normalises to the question or to another wording is no further wording."""
    model = ScriptedChat([wordings("村里脏水，谁出钱", "甲？", "甲", "乙？", "丙？")])
    assert expand(QUESTION, language="zh", model=model, n=2) == ["甲？", "乙？"]


def test_a_model_that_only_repeats_the_question_gives_none():
    """That is no error: there is nothing to ask again for."""
    model = ScriptedChat([wordings(QUESTION)])
    assert expand(QUESTION, language="zh", model=model) == []


@pytest.mark.parametrize("bad", ['{"questions": []}', '{"questions": "甲"}', wordings("长" * 201)])
def test_no_usable_wording_is_asked_for_once_more(bad):
    """Then it is an error for the caller, who searches without."""
    assert expand(QUESTION, language="zh", model=ScriptedChat([bad, wordings("甲？")])) == ["甲？"]
    with pytest.raises(ModelOutputError):
        expand(QUESTION, language="zh", model=ScriptedChat([bad, bad]))


def test_fewer_than_one_wording_cannot_be_asked_for():
    """Nothing is sent."""
    model = ScriptedChat([])
    with pytest.raises(ValueError, match="at least 1"):
        expand(QUESTION, language="zh", model=model, n=0)
    assert model.requests == []


def test_a_passage_is_one_line_of_at_most_200_characters():
    """It is an encoder's input, shown to nobody."""
    model = ScriptedChat(["推进污水处理\n\n收费" + "".join(map(str, range(200)))])
    passage = hypothetical(QUESTION, language="zh", model=model)
    assert passage.startswith("推进污水处理 收费")
    assert len(passage) == 200
    assert model.requests[0].schema is None


def test_an_empty_passage_is_asked_for_once_more():
    """As with every plain answer."""
    assert hypothetical(QUESTION, language="zh", model=ScriptedChat([" ", "收费。"])) == "收费。"
