"""Entities that a question names, and those that only its keywords name."""

import unicodedata
from dataclasses import replace

import pytest

from kgrag.question.query import analyse
from kgrag.retrieval.entities import question_entities
from kgrag.types import Entity


class Names:
    """A store that knows entities by name, each with one fact around it."""

    def __init__(self, *names):
        self.held = [Entity(f"e-{name}", name) for name in names]

    def find_entities(self, names):
        """Return those with exactly such a name."""
        return [e for e in self.held if e.name in names]

    def entity_degrees(self, entity_ids):
        """Return two for each: a weight of one half."""
        return dict.fromkeys(entity_ids, 2)


def found(store, question, *keywords):
    query = replace(analyse(question), keywords=keywords)
    return [(a.entity.name, a.weight, a.at) for a in question_entities(query, store)]


def test_an_entity_that_a_keyword_names_weighs_half():
    """It stands nowhere in the question, so that its place says nothing."""
    store = Names("工信部", "工业和信息化部")
    assert found(store, "请问工信部的职责", "工业和信息化部") == [
        ("工信部", 0.5, 2),
        ("工业和信息化部", 0.25, -1),
    ]


@pytest.mark.parametrize("keywords", [(), ("节能",), ("《节能》",)])
def test_a_keyword_that_the_question_names_changes_nothing(keywords):
    """Its own weight and place stay."""
    assert found(Names("节能"), "推进节能", *keywords) == [("节能", 0.5, 2)]


def test_a_longer_keyword_does_not_push_out_what_the_question_names():
    """Of names inside each other the longest counts, but a model's guess is no such name."""
    store = Names("节能", "节能减排", "减排")
    assert found(store, "节能", "节能减排", "减排") == [
        ("节能", 0.5, 0),
        ("节能减排", 0.25, -1),
    ]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_with_accents_is_found_however_they_are_written(form):
    """As one character or two, in a question that is mostly Chinese."""
    question = unicodedata.normalize(form, "关于poincaré的规定有哪些内容和要求？")
    assert found(Names("poincaré"), question) == [("poincaré", 0.5, 2)]


def test_an_indicator_is_found_by_its_other_names():
    """The graph knows one of them; the question's own words tell where it stands."""
    store = Names("非化石能源消费比重")
    assert found(store, "到2025年非化石能源占能源消费比重多少") == [("非化石能源消费比重", 0.5, 6)]
