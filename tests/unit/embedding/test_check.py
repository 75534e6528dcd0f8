"""Files are the model that they are said to be, or are refused."""

import dataclasses

import pytest

from kgrag.embedding.cache import MODEL_FILE, file_sha256
from kgrag.embedding.check import check_model, with_dimension
from kgrag.errors import ModelError


def test_check_model_accepts_known_hashes_at_once(tiny_folder, tiny_entry):
    """The hashes prove it; not even a false check is run."""
    entry = dataclasses.replace(tiny_entry, checks=(("a", "bb", "aa"),))

    assert check_model(entry, tiny_folder) == entry.card


def test_check_model_accepts_other_files_that_tell_the_passages_apart(
    tiny_folder, tiny_entry, write_model
):
    """A model quantised elsewhere is the same model; its own hash goes into the card."""
    write_model(tiny_folder / MODEL_FILE, inputs=("input_ids",))
    card = check_model(tiny_entry, tiny_folder)

    assert card.model_sha256 == file_sha256(tiny_folder / MODEL_FILE)
    assert card.identity != tiny_entry.card.identity


def test_check_model_refuses_other_files_that_rank_wrongly(tiny_folder, tiny_entry, write_model):
    """It loads and has the dimension, but it is not the model."""
    write_model(tiny_folder / MODEL_FILE, inputs=("input_ids",))
    entry = dataclasses.replace(tiny_entry, checks=(("a", "bb", "aa"),))

    with pytest.raises(ModelError, match="the files are not tiny"):
        check_model(entry, tiny_folder)


def test_check_model_refuses_another_dimension(tiny_folder, tiny_entry, write_model):
    """A model with longer vectors is another model."""
    write_model(tiny_folder / MODEL_FILE, states=[[1.0, 2.0]] * 9)

    with pytest.raises(ModelError, match="its card says 3"):
        check_model(tiny_entry, tiny_folder)


def test_with_dimension_runs_the_model(tiny_folder, tiny_card):
    """The dimension is what comes out."""
    unknown = dataclasses.replace(tiny_card, dimension=1)

    assert with_dimension(unknown, tiny_folder).dimension == 3
