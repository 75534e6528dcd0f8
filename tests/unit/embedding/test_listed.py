"""What is said of models that are here, whole or damaged, and of those that could be."""

import json
import shutil

import pytest

from kgrag.embedding.installed import CARD_FILE, MODEL_FILE, installing, move_into_place
from kgrag.embedding.listed import listed_models


@pytest.fixture
def tiny(cache, tiny_folder, tiny_card):
    """The folder of an installed model."""
    with installing() as staging:
        shutil.copytree(tiny_folder, staging, dirs_exist_ok=True)
        move_into_place(staging, tiny_card)
    return cache / "tiny"


def forget(folder, *keys):
    """Write the card as an older kgrag did."""
    card = json.loads((folder / CARD_FILE).read_text())
    for key in keys:
        del card[key]
    (folder / CARD_FILE).write_text(json.dumps(card))


def test_listed_models_are_those_here_and_then_those_that_can_be_pulled(tiny):
    """What is not here has no folder, and the size of its download."""
    here, *known = listed_models()

    assert (here.name, here.folder, here.precision, here.problem) == ("tiny", tiny, "float32", "")
    assert here.card
    assert here.n_bytes == here.card.n_bytes > 0
    assert [model.name for model in known] == ["bge-small-zh", "bge-small-en"]
    assert [model.folder for model in known] == [None, None]
    assert [model.n_bytes for model in known] == [25_000_000, 35_000_000]


def test_a_model_with_a_damaged_card_is_here_and_damaged(tiny):
    """Under the name of its folder, though nobody can say how it is used."""
    tiny.rename(tiny.with_name("bge-small-zh"))
    (tiny.with_name("bge-small-zh") / CARD_FILE).write_text("{")
    here, other = listed_models()

    assert (here.name, here.card, other.name) == ("bge-small-zh", None, "bge-small-en")
    assert "cannot read the model card" in here.problem
    assert here.problem.endswith("Remedy: kgrag models pull bge-small-zh")


@pytest.mark.parametrize("file", [MODEL_FILE, "tokenizer.json"])
@pytest.mark.parametrize("is_left", [True, False])
def test_a_model_of_which_a_file_was_cut_or_lost_is_damaged(tiny, file, is_left):
    """The size of the files is not the one that the card says."""
    (tiny / file).write_bytes((tiny / file).read_bytes()[:-1])
    if not is_left:
        (tiny / file).unlink()
    here = listed_models()[0]

    assert here.card
    assert f"had {here.card.n_bytes:,} when it was installed. Remedy: " in here.problem
    assert here.problem.endswith("kgrag models add PATH --name tiny")


def test_a_model_of_an_older_kgrag_is_judged_by_its_file(tiny):
    """It recorded neither size nor precision; the file tells both."""
    forget(tiny, "n_bytes", "precision")
    assert (listed_models()[0].precision, listed_models()[0].problem) == ("float32", "")

    (tiny / MODEL_FILE).write_bytes((tiny / MODEL_FILE).read_bytes()[:-1])
    cut = listed_models()[0]
    assert "model.onnx is missing, or not whole. Remedy: " in cut.problem
    (tiny / MODEL_FILE).unlink()
    assert listed_models()[0].problem == cut.problem


def test_a_model_of_another_format_of_an_older_kgrag_is_taken_for_whole(tiny):
    """Its files are checked when it is opened."""
    forget(tiny, "n_bytes")
    card = json.loads((tiny / CARD_FILE).read_text())
    (tiny / CARD_FILE).write_text(json.dumps({**card, "format": "transformers"}))
    assert listed_models()[0].problem == ""
