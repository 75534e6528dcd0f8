"""Files are the model that they are said to be, or are refused."""

import dataclasses

import pytest

from kgrag.embedding.check import check_model, measured, with_files
from kgrag.embedding.installed import MODEL_FILE, file_sha256
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


def test_measured_runs_the_model(tiny_folder, tiny_card):
    """The dimension is what comes out."""
    unknown = dataclasses.replace(tiny_card, dimension=1)

    assert measured(unknown, tiny_folder).dimension == 3


def test_measured_refuses_a_limit_that_the_model_cannot_read(tiny_folder, tiny_card, write_model):
    """A model with 512 positions fails at the first long text, years later; it is tried now."""
    write_model(tiny_folder / MODEL_FILE, positions=12)

    assert measured(dataclasses.replace(tiny_card, max_tokens=12), tiny_folder).dimension == 3
    with pytest.raises(ModelError, match=r"should read 13 tokens.*Remedy: --max-tokens"):
        measured(dataclasses.replace(tiny_card, max_tokens=13), tiny_folder)


def test_with_files_hashes_the_weights_beside_the_model(tiny_folder, tiny_card, write_model):
    """The same graph with other weights is another model."""
    write_model(tiny_folder / MODEL_FILE, weights="model.onnx_data")
    first = with_files(tiny_card, tiny_folder)
    data = bytearray((tiny_folder / "model.onnx_data").read_bytes())
    data[-1] ^= 1
    (tiny_folder / "model.onnx_data").write_bytes(data)
    second = with_files(tiny_card, tiny_folder)

    assert first.model_sha256 == second.model_sha256
    assert first.identity != second.identity
    assert first.precision == "float32"
