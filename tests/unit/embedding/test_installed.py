"""The user's folder of models: where, what, and how a model gets in whole or not at all."""

import contextlib
import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from kgrag.embedding.installed import (
    CARD_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    installed_models,
    installing,
    is_intact,
    models_folder,
    move_into_place,
    read_card,
    remove_model,
    write_card,
)
from kgrag.errors import ModelError, ModelNotFoundError


def test_models_folder_is_in_the_users_cache(monkeypatch, tmp_path):
    """Beside the vectors and the copies."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))

    assert models_folder() == tmp_path / "models"


def test_remove_model_takes_it_away_damaged_or_not(cache, tiny_folder, tiny_card):
    """A folder without a card is what remains of a model."""
    with installing() as staging:
        shutil.copytree(tiny_folder, staging, dirs_exist_ok=True)
        move_into_place(staging, tiny_card)
    (cache / "tiny" / CARD_FILE).write_text("{")

    remove_model("tiny")

    assert [path for path in cache.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("name", ["other", "..", ".", ".lock", "", "tiny/.."])
def test_remove_model_refuses_what_is_no_model(cache, name):
    """Nothing outside of the folder of models can be named."""
    (cache / "tiny").mkdir(parents=True)

    with pytest.raises(ModelNotFoundError, match="installed: tiny"):
        remove_model(name)
    assert (cache / "tiny").is_dir()


def test_card_comes_back_as_it_was_written(tmp_path, tiny_card):
    """Only the folder is added, where the card was found."""
    write_card(tiny_card, tmp_path)

    assert read_card(tmp_path) == dataclasses.replace(tiny_card, folder=tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"dimension": "3"},
        {"dimension": 0},
        {"format": "pickle"},
        {"dimension": True},
        {"max_tokens": 0},
        {"n_bytes": "9"},
        {"pooling": "max"},
        {"lower_case": "no"},
        {"name": None},
        {"colour": "red"},
    ],
)
def test_read_card_refuses_what_it_does_not_understand(tmp_path, tiny_card, changes):
    """Unknown keys and wrong types are errors that name the file."""
    write_card(tiny_card, tmp_path)
    data = json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))
    (tmp_path / CARD_FILE).write_text(json.dumps({**data, **changes}), encoding="utf-8")

    with pytest.raises(ModelError, match=r"card\.json"):
        read_card(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "x"}', "\xff"])
def test_read_card_refuses_what_is_no_card(tmp_path, text):
    """Empty, cut short or something else: always the same kind of error."""
    (tmp_path / CARD_FILE).write_bytes(text.encode("latin-1"))

    with pytest.raises(ModelError, match="Remedy"):
        read_card(tmp_path)


def install(folder: Path, card) -> None:
    """Install the files in a folder under a card."""
    with installing() as staging:
        for path in folder.glob("*.*"):
            (staging / path.name).write_bytes(path.read_bytes())
        move_into_place(staging, card)


def test_installed_models_passes_over_a_damaged_card(cache, tiny_files, tiny_card):
    """One broken model does not hide the others."""
    install(tiny_files, tiny_card)
    install(tiny_files, dataclasses.replace(tiny_card, name="broken"))
    (cache / "broken" / CARD_FILE).write_text("{", encoding="utf-8")

    assert [card.name for card in installed_models()] == ["tiny"]


def test_is_intact_only_when_the_files_are_those_of_the_card(tiny_folder):
    """A changed file, and a missing card, are seen."""
    assert is_intact(tiny_folder)

    (tiny_folder / MODEL_FILE).write_bytes(b"x")
    assert not is_intact(tiny_folder)

    (tiny_folder / CARD_FILE).unlink()
    assert not is_intact(tiny_folder)
    assert not is_intact(tiny_folder / "nowhere")


def test_installing_leaves_nothing_behind_when_it_fails(cache):
    """Half a model is never found, and takes no space."""
    with contextlib.suppress(KeyError), installing() as staging:
        (staging / MODEL_FILE).write_bytes(b"half")
        raise KeyError

    assert [path.name for path in cache.iterdir() if path.is_dir()] == []


def test_installing_clears_what_a_killed_process_left(cache):
    """The next attempt tidies up."""
    (cache / ".staging-1").mkdir(parents=True)
    (cache / ".staging-1" / MODEL_FILE).write_bytes(b"half")

    with installing() as staging:
        assert [path for path in cache.iterdir() if path.is_dir()] == [staging]


def test_move_into_place_replaces_an_older_model(cache, tiny_files, tiny_card):
    """The new files take the old ones' place whole."""
    install(tiny_files, dataclasses.replace(tiny_card, source="old"))
    (cache / "tiny" / "old.txt").write_text("old")
    install(tiny_files, dataclasses.replace(tiny_card, source="new"))

    assert installed_models()[0].source == "new"
    assert not (cache / "tiny" / "old.txt").exists()
    assert [path.name for path in cache.iterdir() if path.is_dir()] == ["tiny"]


def test_move_into_place_records_the_size_of_the_files(cache, tiny_folder, tiny_card):
    """Of all but the card, so that a list can tell that one was cut; no model is another for it."""
    install(tiny_folder, tiny_card)
    (card,) = installed_models()

    files = (tiny_folder / name for name in (MODEL_FILE, TOKENIZER_FILE))
    assert card.n_bytes == sum(file.stat().st_size for file in files)
    assert card == dataclasses.replace(tiny_card, folder=cache / "tiny")
    assert card.identity == tiny_card.identity


def test_installing_names_the_remedy_when_the_cache_cannot_be_written(monkeypatch, tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "file"))

    with pytest.raises(ModelError, match="set KGRAG_CACHE"), installing():
        pass
