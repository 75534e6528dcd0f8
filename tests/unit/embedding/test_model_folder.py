"""The user's folder of models: where, what, and how a model gets in whole or not at all."""

import contextlib
import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from kgrag.embedding.catalog import ModelCard
from kgrag.embedding.model_folder import (
    CARD_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    installed_models,
    installing,
    listed_models,
    remove_model,
)
from kgrag.errors import ModelError, ModelNotFoundError


@pytest.fixture
def tiny(cache, tiny_folder, tiny_card):
    """The folder of an installed model."""
    with installing() as staging:
        shutil.copytree(tiny_folder, staging.path, dirs_exist_ok=True)
        staging.install(tiny_card)
    return cache / "tiny"


def test_remove_model_takes_it_away_damaged_or_not(cache, tiny):
    """A folder without a card is what remains of a model."""
    (tiny / CARD_FILE).write_text("{")
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
    ModelFolder(tmp_path).write_card(tiny_card)

    assert ModelFolder(tmp_path).card() == dataclasses.replace(tiny_card, folder=tmp_path)


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
def test_card_refuses_what_it_does_not_understand(tmp_path, tiny_card, changes):
    """Unknown keys and wrong types are errors that name the file."""
    ModelFolder(tmp_path).write_card(tiny_card)
    data = json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))
    (tmp_path / CARD_FILE).write_text(json.dumps({**data, **changes}), encoding="utf-8")

    with pytest.raises(ModelError, match=r"card\.json"):
        ModelFolder(tmp_path).card()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "x"}', "\xff"])
def test_card_refuses_what_is_no_card(tmp_path, text):
    """Empty, cut short or something else: always the same kind of error."""
    (tmp_path / CARD_FILE).write_bytes(text.encode("latin-1"))

    with pytest.raises(ModelError, match="Remedy"):
        ModelFolder(tmp_path).card()


def install(folder: Path, card) -> None:
    """Install the files in a folder under a card."""
    with installing() as staging:
        for path in folder.glob("*.*"):
            (staging.path / path.name).write_bytes(path.read_bytes())
        staging.install(card)


def test_installed_models_passes_over_a_damaged_card(cache, tiny_files, tiny_card):
    """One broken model does not hide the others."""
    install(tiny_files, tiny_card)
    install(tiny_files, dataclasses.replace(tiny_card, name="broken"))
    (cache / "broken" / CARD_FILE).write_text("{", encoding="utf-8")

    assert [card.name for card in installed_models()] == ["tiny"]


def test_installing_leaves_nothing_behind_when_it_fails(cache):
    """Half a model is never found, and takes no space."""
    with contextlib.suppress(KeyError), installing() as staging:
        (staging.path / MODEL_FILE).write_bytes(b"half")
        raise KeyError

    assert [path.name for path in cache.iterdir() if path.is_dir()] == []


def test_installing_clears_what_a_killed_process_left(cache):
    """The next attempt tidies up."""
    (cache / ".staging-1").mkdir(parents=True)
    (cache / ".staging-1" / MODEL_FILE).write_bytes(b"half")

    with installing() as staging:
        assert [path for path in cache.iterdir() if path.is_dir()] == [staging.path]


def test_install_replaces_an_older_model(cache, tiny_files, tiny_card):
    """The new files take the old ones' place whole."""
    install(tiny_files, dataclasses.replace(tiny_card, source="old"))
    (cache / "tiny" / "old.txt").write_text("old")
    install(tiny_files, dataclasses.replace(tiny_card, source="new"))

    assert installed_models()[0].source == "new"
    assert not (cache / "tiny" / "old.txt").exists()
    assert [path.name for path in cache.iterdir() if path.is_dir()] == ["tiny"]


def test_install_records_the_size_of_the_files(cache, tiny_folder, tiny_card):
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


def test_listed_models_are_those_here_and_then_those_that_can_be_pulled(tiny):
    """What is not here has no folder, and the size of its download."""
    here, *known = listed_models()

    assert (here.name, here.folder, here.problem) == ("tiny", tiny, "")
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


def test_a_model_of_an_older_kgrag_is_taken_for_whole(tiny):
    """It recorded no size; the files are checked when it is opened."""
    card = json.loads((tiny / CARD_FILE).read_text())
    del card["n_bytes"]
    (tiny / CARD_FILE).write_text(json.dumps(card))
    assert listed_models()[0].problem == ""


@pytest.fixture
def sealed(tmp_path):
    """A folder of a transformers model, once its files are hashed, and its card."""
    folder = ModelFolder(tmp_path / "sealed")
    (folder.path / "adapter").mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "adapter/adapter_config.json", TOKENIZER_FILE):
        (folder.path / name).write_text(name * 4)
    model, tokenizer = folder.seal()
    card = ModelCard(
        name="mine",
        dimension=1,
        format="transformers",
        model_sha256=model,
        tokenizer_sha256=tokenizer,
    )
    folder.write_card(card)
    return folder


def test_seal_hashes_the_tokenizer_apart_from_the_rest(sealed):
    """A changed adapter is another model, a changed tokenizer another tokenizer."""
    card = sealed.check()
    for name in ("files.json", CARD_FILE):
        (sealed.path / name).unlink()
    (sealed.path / TOKENIZER_FILE).write_text("other")
    model, tokenizer = sealed.seal()
    (sealed.path / "files.json").unlink()
    (sealed.path / "adapter/adapter_config.json").write_text("{ }")

    assert len(model) == len(tokenizer) == 64
    assert (model == card.model_sha256, tokenizer == card.tokenizer_sha256) == (True, False)
    assert (sealed.seal()[0] == model, sealed.seal()[1] == tokenizer) == (False, True)


def test_check_refuses_a_file_that_is_gone_or_changed(sealed):
    """Same length, other bytes: the hash tells; the error names the file and the remedy."""
    file = sealed.path / "config.json"
    file.write_text(file.read_text().upper())
    with pytest.raises(ModelError, match=r"config\.json is damaged.*models add PATH --name mine"):
        sealed.check()
    file.unlink()
    with pytest.raises(ModelNotFoundError, match=r"config\.json is missing.*Remedy"):
        sealed.check()
    assert sealed.intact_card() is None


def test_check_compares_only_the_size_of_large_files(sealed, monkeypatch):
    """A gigabyte is not hashed at every opening."""
    monkeypatch.setattr("kgrag.embedding.model_folder._QUICK_BYTES", 60)
    file = sealed.path / "model.safetensors"
    file.write_text(file.read_text().upper())
    sealed.check()
    file.write_text(file.read_text()[1:])
    with pytest.raises(ModelError, match="is damaged"):
        sealed.check()


@pytest.mark.parametrize("text", ["{}", "[1]", '{"a": 1}'])
def test_check_refuses_another_models_list(sealed, text):
    """The card and the list of files belong together."""
    (sealed.path / "files.json").write_text(text)
    with pytest.raises(ModelError, match=r"files\.json.*Remedy"):
        sealed.check()
