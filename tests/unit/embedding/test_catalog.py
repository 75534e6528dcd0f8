"""Models by name: cards tell them apart, names are safe, the catalogue is complete."""

import dataclasses
import re

import pytest

from kgrag.embedding.catalog import (
    CATALOG,
    DEFAULT_MODEL,
    ModelCard,
    find_entry,
    is_name,
    name_from,
    remedy,
)
from kgrag.errors import ModelNotFoundError

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


REFUSED = ["", "hash", "hash-64", "../x", "A", "a b", "-a", "a" * 65, "BAAI/bge-m3", ".staging-7"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_name_is_refused(name):
    """A name becomes a folder's name; `hash` is the stand-in."""
    assert not is_name(name)


@pytest.mark.parametrize("text", [*REFUSED, "模型", "a-", "My Model v1.5"])
def test_a_name_from_any_text_is_one(text):
    """So that a command that proposes it is not refused."""
    assert is_name(name_from(text))


@pytest.mark.parametrize("name", ["bge-small-zh", "a-", "m.1_2"])
def test_a_name_is_itself(name):
    """Nothing of it is taken away."""
    assert name_from(name) == name


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
