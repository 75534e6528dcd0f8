"""The catalogue is complete and its names are unique."""

import dataclasses
import re

import pytest

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import CATALOG, DEFAULT_MODEL, find_entry, known_card, remedy
from kgrag.embedding.names import is_name
from kgrag.errors import ModelNotFoundError


def test_catalogue_entries_are_complete():
    """Each has hashes, a licence and at least one check; no name is used twice."""
    assert len({entry.card.name for entry in CATALOG}) == len(CATALOG)
    for entry in CATALOG:
        assert len(entry.card.model_sha256) == len(entry.card.tokenizer_sha256) == 64
        assert entry.card.licence
        assert entry.checks
        assert entry.card.folder is None


def test_find_entry_has_the_default_model():
    """The default can be pulled; its questions carry the instruction of its makers."""
    card = find_entry(DEFAULT_MODEL).card

    assert card.query_instruction == "为这个句子生成表示以用于检索相关文章："
    assert (card.dimension, card.pooling, card.max_tokens) == (512, "cls", 512)


def test_find_entry_lists_what_is_known_when_the_name_is_not():
    """A typing error shows the names."""
    with pytest.raises(ModelNotFoundError, match=r"'bge'.*known are bge-small-zh"):
        find_entry("bge")


def test_known_card_needs_both_files():
    """A known model with a foreign tokenizer is not the known model."""
    card = CATALOG[0].card
    files = ModelCard(
        name="x",
        dimension=1,
        model_sha256=card.model_sha256,
        tokenizer_sha256=card.tokenizer_sha256,
    )

    assert known_card(files) == card
    assert known_card(dataclasses.replace(files, tokenizer_sha256="0" * 64)) is None
    assert known_card(dataclasses.replace(files, weights_sha256="0" * 64)) is None


def test_remedy_is_the_one_command_that_helps():
    """What cannot be pulled can be added."""
    assert remedy("bge-small-zh").endswith("kgrag models pull bge-small-zh")
    assert remedy("mine").endswith("kgrag models add PATH --name mine")


@pytest.mark.parametrize("name", ["BAAI/bge-m3", "My Model", "../mine", "hash", "a\nb", "模型"])
def test_remedy_proposes_only_names_that_are_allowed(name):
    """What `models add` refuses helps nobody; the settings have to say the other name, too."""
    ((proposed, again),) = re.findall(r" --name (\S+), and (\S+) in place of ", remedy(name))
    assert proposed == again
    assert is_name(proposed)
    with pytest.raises(ModelNotFoundError, match=f"--name {proposed},"):
        find_entry(name)


def test_remedy_while_a_model_is_being_installed_names_no_folder_of_ours():
    """It is not called so."""
    assert remedy(".staging-77") == "Remedy: download its files again"
