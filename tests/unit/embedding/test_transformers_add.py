"""Installing models in their makers' format, and what is told of those that cannot be."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from kgrag.embedding.folder import read_folder
from kgrag.embedding.installed import write_card
from kgrag.embedding.transformers_add import add_transformers
from kgrag.embedding.transformers_model import TransformersEmbedder
from kgrag.errors import ModelError

pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

JINA = "jina_embeddings_v3"


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "staging"
    folder.mkdir()
    return folder


def change(folder: Path, **settings: Any) -> None:
    """Change the config in a folder; None takes a setting out."""
    config = json.loads((folder / "config.json").read_text()) | settings
    kept = {key: value for key, value in config.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(kept))


def test_add_transformers_takes_what_the_folder_says(hub_folder, staging):
    """A jina model: adapters, instructions, limit and licence need no option."""
    folder = hub_folder(JINA)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    card = add_transformers(folder, staging, read_folder(folder))

    assert (card.format, card.dimension, card.pooling) == ("transformers", 32, "mean")
    assert (card.query_adapter, card.passage_adapter) == ("retrieval_query", "retrieval_passage")
    assert (card.max_tokens, card.precision, card.licence) == (64, "float32", "cc-by-nc-4.0")
    assert card.query_instruction.startswith("Represent the query")
    write_card(card, staging)
    assert TransformersEmbedder.from_folder(staging).embed(["a"], "query").any()


def test_add_transformers_takes_adapters_with_dots_in_their_names(hub_folder, staging):
    """As the original model calls its tasks."""
    folder = hub_folder(JINA)
    for task in ("query", "passage"):
        (folder / f"retrieval_{task}").rename(folder / f"retrieval.{task}")
    card = add_transformers(folder, staging, read_folder(folder))

    assert card.query_adapter == "retrieval.query"
    assert (staging / "retrieval.query" / "adapter_model.safetensors").is_file()


def test_add_transformers_keeps_what_the_user_says(hub_folder, staging):
    """Name, pooling and instruction of the card that is given stay."""
    folder = hub_folder("bert")
    given = dataclasses.replace(
        read_folder(folder), name="mine", pooling="cls", query_instruction="b", max_tokens=9
    )
    card = add_transformers(folder, staging, given)

    assert (card.name, card.pooling, card.query_instruction) == ("mine", "cls", "b")
    assert (card.max_tokens, card.passage_adapter) == (9, "")
    assert len(card.model_sha256) == len(card.tokenizer_sha256) == 64


def test_add_transformers_runs_no_code_of_the_makers(hub_folder, staging, tmp_path):
    """A folder may name its own modules: they are neither run nor taken along."""
    folder = hub_folder("bert")
    ran = tmp_path / "ran"
    (folder / "modeling.py").write_text(f"open({str(ran)!r}, 'w')\nclass Model: pass\n")
    change(folder, auto_map={"AutoConfig": "modeling.Model", "AutoModel": "modeling.Model"})
    add_transformers(folder, staging, read_folder(folder))

    assert not ran.exists()
    assert not (staging / "modeling.py").exists()
    assert "auto_map" not in (staging / "config.json").read_text()


def test_add_transformers_takes_a_model_without_a_pooler_and_with_another_head(hub_folder, staging):
    """Weights that are not read may be missing, and others be there."""
    folder = hub_folder("bert")
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = {name: t for name, t in load_file(path).items() if "pooler" not in name}
    save_file({**tensors, "cls.bias": tensors["embeddings.LayerNorm.bias"].clone()}, path)

    assert add_transformers(folder, staging, read_folder(folder)).dimension == 32


@pytest.mark.parametrize(
    ("family", "settings", "max_tokens", "message"),
    [
        ("bert", {"model_type": None}, 64, "names no model_type"),
        ("bert", {"model_type": "future"}, 64, "'future', which the installed transformers"),
        (
            "bert",
            {"model_type": "future", "auto_map": {}},
            64,
            r"needs code of its makers.*transformers knows itself",
        ),
        (
            "xlm-roberta",
            {"num_hidden_layers": 5, "auto_map": {}, "lora_adaptations": []},
            64,
            r"needs code.*jinaai/jina-embeddings-v3-hf\. Without it: the weights",
        ),
        ("bert", {"num_hidden_layers": 5}, 64, "weights in .* are not those"),
        ("bert", {}, 67, "max_tokens is 67, but the model in .* reads 66"),
        ("xlm-roberta", {}, 65, "max_tokens is 65, but the model in .* reads 64"),
    ],
)
def test_add_transformers_refuses_what_would_not_work(
    hub_folder, staging, family, settings, max_tokens, message
):
    """Before gigabytes are copied where that can be; each with its remedy."""
    folder = hub_folder(family)
    change(folder, **settings)
    given = dataclasses.replace(read_folder(folder), max_tokens=max_tokens)

    with pytest.raises(ModelError, match=message) as caught:
        add_transformers(folder, staging, given)
    assert "Remedy: " in str(caught.value)


@pytest.mark.parametrize(
    ("family", "name", "message"),
    [
        ("bert", "config.json", r"config\.json is missing"),
        ("bert", "tokenizer.json", "has no tokenizer"),
        ("bert", "model.safetensors", r"has no model\.safetensors"),
        (JINA, "retrieval_query/adapter_config.json", "lacks adapters .* seen: retrieval_passage"),
        (JINA, "retrieval_query/adapter_model.safetensors", "is missing"),
    ],
)
def test_add_transformers_names_the_file_that_is_missing(
    hub_folder, staging, family, name, message
):
    """A download that was not finished."""
    folder = hub_folder(family)
    (folder / name).unlink()

    with pytest.raises(ModelError, match=f"{message}.*Remedy"):
        add_transformers(folder, staging, read_folder(folder))


def test_add_transformers_refuses_weights_that_are_not_numbers(hub_folder, staging):
    """The load as proof finds what the files do not show."""
    folder = hub_folder("bert")
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.LayerNorm.weight"][:] = float("inf")
    save_file(tensors, folder / "model.safetensors")

    with pytest.raises(ModelError, match="vector of length nan"):
        add_transformers(folder, staging, read_folder(folder))
