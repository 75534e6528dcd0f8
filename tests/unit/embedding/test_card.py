"""Cards tell models apart."""

import dataclasses

import pytest

from kgrag.embedding.card import ModelCard

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


def test_instruction_belongs_to_its_task():
    """Questions and passages have their own."""
    assert CARD.instruction("query") == "q:"
    assert CARD.instruction("passage") == ""
