"""Cards tell models apart."""

import dataclasses

import pytest

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import find_entry

CARD = ModelCard(name="m", dimension=3, query_instruction="q:", model_sha256="0123456789abcdef" * 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"model_sha256": "f" * 64},
        {"tokenizer_sha256": "f" * 64},
        {"pooling": "cls"},
        {"query_instruction": ""},
        {"passage_instruction": "p:"},
        {"max_tokens": 256},
        {"lower_case": True},
        {"weights_sha256": "f" * 64},
        {"format": "transformers"},
    ],
)
def test_identity_changes_with_all_that_changes_vectors(changes):
    """Two encoders with the same identity give the same vectors."""
    assert dataclasses.replace(CARD, **changes).identity != CARD.identity


def test_identity_ignores_what_does_not_change_vectors(tmp_path):
    """Where the files came from and where they are is of no account."""
    moved = dataclasses.replace(CARD, source="elsewhere", folder=tmp_path, licence="MIT")

    assert moved.identity == CARD.identity
    assert CARD.identity.startswith("m-0123456789ab-")


@pytest.mark.parametrize(
    "changes",
    [{"query_adapter": "q"}, {"passage_adapter": "p"}, {"precision": "bfloat16"}],
)
def test_identity_of_transformers_models_changes_with_adapters_and_precision(changes):
    """They decide the vectors of such a model."""
    card = dataclasses.replace(CARD, format="transformers")

    assert dataclasses.replace(card, **changes).identity != card.identity


def test_identity_of_the_default_model_stays_what_knowledge_bases_record():
    """A change would have every one of them refuse its encoder."""
    assert find_entry("bge-small-zh").card.identity == "bge-small-zh-15b717c382bc-8d14"


def test_settings_are_told_for_people():
    """What goes before a text is named by what it is."""
    card = dataclasses.replace(CARD, passage_adapter="retrieval", precision="int8")

    assert card.settings == {
        "model": "m",
        "pooling": "mean",
        "max_tokens": "512",
        "query": "instruction q:",
        "passage": "adapter retrieval",
        "precision": "int8",
    }
    assert dataclasses.replace(card, lower_case=True).settings["lower_case"] == "yes"


def test_adapter_belongs_to_its_task():
    """Questions and passages may have their own."""
    card = dataclasses.replace(CARD, query_adapter="ask", passage_adapter="tell")

    assert (card.adapter("query"), card.adapter("passage")) == ("ask", "tell")


def test_instruction_belongs_to_its_task():
    """Questions and passages have their own."""
    assert CARD.instruction("query") == "q:"
    assert CARD.instruction("passage") == ""
