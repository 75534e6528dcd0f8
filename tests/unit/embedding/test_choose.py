"""The encoder that is used when none, or one by name, is asked for."""

import pytest

from kgrag.embedding.add import add_model
from kgrag.embedding.cache import CARD_FILE
from kgrag.embedding.choose import open_embedder, stand_in_notice
from kgrag.errors import ModelError, ModelNotFoundError


def test_open_embedder_is_the_stand_in_when_nothing_is_installed(cache):
    """Nothing is fetched, and the user is told the command."""
    embedder = open_embedder()
    notice = stand_in_notice(embedder)

    assert embedder.name == "hash-1024"
    assert notice is not None
    assert "kgrag models pull bge-small-zh" in notice
    assert not cache.exists()


def test_open_embedder_takes_the_default_model_when_it_is_installed(
    cache, tiny_files, tiny_entry, monkeypatch
):
    """The model wins over the stand-in, which stays available by name."""
    monkeypatch.setattr("kgrag.embedding.choose.DEFAULT_MODEL", "tiny")
    add_model(tiny_files, name="tiny")
    embedder = open_embedder(threads=1)

    assert embedder.name.startswith("tiny-")
    assert stand_in_notice(embedder) is None
    assert open_embedder("hash").is_stand_in
    assert open_embedder("hash-64").dimension == 64


def test_open_embedder_finds_a_model_by_the_identity_that_a_knowledge_base_records(
    cache, tiny_files
):
    """Name and identity open the same model; another identity does not."""
    card = add_model(tiny_files, name="mine")

    assert open_embedder("mine").name == open_embedder(card.identity).name == card.identity
    with pytest.raises(ModelNotFoundError, match="kgrag models add PATH --name mine"):
        open_embedder("mine-000000000000-0000")


def test_open_embedder_never_falls_back_when_the_default_model_is_damaged(
    cache, tiny_files, monkeypatch
):
    """The stand-in in place of a damaged model would go unnoticed."""
    monkeypatch.setattr("kgrag.embedding.choose.DEFAULT_MODEL", "tiny")
    add_model(tiny_files, name="tiny")
    (cache / "tiny" / CARD_FILE).write_text("{", encoding="utf-8")

    with pytest.raises(ModelError, match="card"):
        open_embedder()


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("bge-small-zh", "kgrag models pull bge-small-zh"),
        ("bge-small-zh-15b717c382bc-1a2b", "kgrag models pull bge-small-zh"),
        ("mine", "kgrag models add PATH --name mine"),
        ("../mine", "kgrag models add"),
    ],
)
def test_open_embedder_names_the_command_when_a_model_is_not_installed(cache, name, command):
    """One command mends it."""
    with pytest.raises(ModelNotFoundError, match=command):
        open_embedder(name)
