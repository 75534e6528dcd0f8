"""Folders from the hub: the model, its settings and its tokenizer, the weights."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from kgrag.embedding.hub_folder import (
    adapters,
    model_file,
    most_tokens,
    read_folder,
    settings_folder,
    tokenizer_file,
)
from kgrag.errors import ModelError


def put(folder: Path, **files: Any) -> Path:
    """Write files; `__` in a keyword stands for a slash, and `.json` is added."""
    for name, data in files.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    return folder


def test_read_folder_gives_the_cards_defaults_for_an_empty_folder(tmp_path):
    """Nothing said: mean pooling, 512 tokens, no instructions, no adapters."""
    card = read_folder(tmp_path)

    assert (card.pooling, card.max_tokens, card.lower_case) == ("mean", 512, False)
    assert (card.query_instruction, card.passage_instruction) == ("", "")
    assert (card.query_adapter, card.passage_adapter, card.licence) == ("", "", "")
    assert (card.name, card.source) == (tmp_path.name, tmp_path.name)


@pytest.mark.parametrize(
    ("stated", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_lasttoken": True, "include_prompt": True}, "last"),
        ({"pooling_mode": "lasttoken"}, "last"),
        ({"word_embedding_dimension": 8}, "mean"),
    ],
)
def test_read_folder_takes_the_pooling_of_the_pooling_module(tmp_path, stated, pooling):
    """Older files have a switch for each mode, newer ones its name."""
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"},
               {"path": "2_Pool", "type": "sentence_transformers.models.Pooling"},
               {"path": "3", "type": "sentence_transformers.models.Normalize"}]  # fmt: skip
    put(tmp_path, modules=modules, **{"2_Pool__config": stated})

    assert read_folder(tmp_path).pooling == pooling


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"1_Pooling__config": {"pooling_mode_max_tokens": True}}, "pooling_mode_max_tokens"),
        (
            {"1_Pooling__config": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": 1}},
            "cls_token, pooling_mode_mean",
        ),
        (
            {"1_Pooling__config": {"pooling_mode": "mean", "include_prompt": False}},
            "mean without the prompt",
        ),
        ({"modules": [{"type": "sentence_transformers.models.Dense"}]}, "a Dense module"),
        ({"config": "{"}, r"cannot read .*config\.json"),
        ({"config": "[]"}, "must hold an object"),
        ({"modules": "{"}, r"cannot read .*modules\.json"),
    ],
)
def test_read_folder_refuses_what_would_be_left_out(tmp_path, files, message):
    """Another pooling, or a layer behind it, would give vectors of another model."""
    with pytest.raises(ModelError, match=f"{message}.*Remedy"):
        read_folder(put(tmp_path, **files))


def test_read_folder_takes_prompts_by_any_of_their_names(tmp_path):
    """Query and document, or the names of the tasks."""
    prompts = {"retrieval.query": "Q: ", "document": "D: ", "other": "X: "}
    card = read_folder(put(tmp_path, config_sentence_transformers={"prompts": prompts}))

    assert (card.query_instruction, card.passage_instruction) == ("Q: ", "D: ")


@pytest.mark.parametrize(
    ("config", "sbert", "tokenizer", "expected"),
    [
        ({"max_position_embeddings": 512}, None, None, 512),
        ({"max_position_embeddings": 512}, 256, 10**30, 256),
        ({"max_position_embeddings": 512}, None, 8192, 512),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1},
         514, None, 512),
        ({"max_position_embeddings": 8194, "model_type": "jina_embeddings_v3", "pad_token_id": 1},
         None, None, 8192),
        ({}, None, 10**30, 512),
        ({}, None, 2048, 2048),
    ],
)  # fmt: skip
def test_read_folder_takes_the_lowest_sensible_limit(tmp_path, config, sbert, tokenizer, expected):
    """What sentence-transformers says, else the tokenizer, never above the positions."""
    put(tmp_path, config=config)
    if sbert:
        put(tmp_path, sentence_bert_config={"max_seq_length": sbert, "do_lower_case": True})
    if tokenizer:
        put(tmp_path, tokenizer_config={"model_max_length": tokenizer})
    card = read_folder(tmp_path)

    assert card.max_tokens == expected
    assert card.lower_case == bool(sbert)


def test_most_tokens_is_open_for_models_without_positions():
    """Relative positions know no limit."""
    assert most_tokens({"model_type": "t5"}) is None


def test_read_folder_knows_jina_by_its_kind(tmp_path):
    """Its instructions and licence stand nowhere in the transformers form."""
    for task in ("retrieval_query", "retrieval_passage", "separation"):
        put(tmp_path, **{f"{task}__adapter_config": {}})
    card = read_folder(put(tmp_path, config={"model_type": "jina_embeddings_v3"}))

    assert card.query_instruction == "Represent the query for retrieving evidence documents: "
    assert card.passage_instruction == "Represent the document for retrieval: "
    assert (card.query_adapter, card.passage_adapter) == ("retrieval_query", "retrieval_passage")
    assert card.licence == "cc-by-nc-4.0"
    assert adapters(tmp_path) == ["retrieval_passage", "retrieval_query", "separation"]


def test_read_folder_finds_adapters_however_they_are_spelt(tmp_path):
    """With dots, in a folder of adapters, or one for questions and passages alike."""
    dotted = put(tmp_path / "a", **{"retrieval.query__adapter_config": {}})
    assert read_folder(dotted).query_adapter == "retrieval.query"
    shared = read_folder(put(tmp_path / "b", adapters__retrieval__adapter_config={}))
    assert (shared.query_adapter, shared.passage_adapter) == ("adapters/retrieval",) * 2


@pytest.mark.parametrize(
    ("head", "licence", "languages"),
    [
        ("license: mit\nlanguage:\n- zh\n- en\n", "mit", "zh,en"),
        ("language: zh\ntags:\n- x\nlicense: apache-2.0\n", "apache-2.0", "zh"),
        ("language: [zh, en]\n", "", "zh,en"),
        ("license: mit\nlanguage:\n- multilingual\n- af\n", "mit", ""),
        ("nothing", "", ""),
    ],
)
def test_read_folder_takes_licence_and_languages_from_the_readme(
    tmp_path, head, licence, languages
):
    """The head of README.md, between its rules; models for all languages have none."""
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\nlicense: none\n")
    card = read_folder(tmp_path)

    assert (card.licence, card.languages) == (licence, languages)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": ' * 100_000, "9" * 5000, "5", "null", "\xff", "{"]
)
@pytest.mark.parametrize("name", ["config.json", "modules.json", "tokenizer_config.json"])
def test_read_folder_refuses_settings_that_are_none(tmp_path, name, text):
    """In words, or passes over what says nothing; however deep, long or broken it is."""
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    passed_over = name == "modules.json" and text in ("5", "null")
    with contextlib.nullcontext() if passed_over else pytest.raises(ModelError, match=name):
        read_folder(tmp_path)


def test_read_folder_does_not_read_settings_of_gigabytes(tmp_path):
    """They would fill the memory."""
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(ModelError, match="17,179,869,184 bytes are more than settings have"):
        read_folder(tmp_path)


@pytest.fixture
def make(tmp_path):
    """Return a function that writes empty files and returns their folder."""

    def made(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"")
        return tmp_path

    return made


def test_model_file_prefers_onnx_which_needs_no_torch(make):
    """A clone of the hub often has both; --file takes the other."""
    folder = make("config.json", "model.safetensors", "onnx/model.onnx", "pytorch_model.bin")

    assert model_file(folder) == folder / "onnx/model.onnx"
    assert model_file(folder, "model.safetensors") == folder / "model.safetensors"


@pytest.mark.parametrize(
    "names",
    [
        ("config.json", "model.safetensors", "task/adapter_model.safetensors"),
        ("config.json", "model.safetensors", "model.safetensors.index.json"),
    ],
)
def test_model_file_is_the_whole_model_in_its_makers_format(make, names):
    """Adapters are none, nor is an index beside the weights."""
    folder = make(*names)

    assert model_file(folder) == folder / "model.safetensors"


def test_model_file_takes_an_index_for_weights_in_parts(make):
    """A large model's."""
    folder = make("deep/config.json", "deep/model.safetensors.index.json")

    assert model_file(folder).name == "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), r"holds no model \(\*\.onnx or model\.safetensors\)\. Remedy"),
        (("config.json", "pytorch_model.bin"), r"only pytorch_model\.bin .*never opened"),
        (("model.safetensors",), "holds no model"),
        (("a.onnx", "b.onnx"), r"2 models: a\.onnx \(0 MB\), b\.onnx .* --file a\.onnx"),
    ],
)
def test_model_file_says_what_is_there_instead(make, names, message):
    """Weights without a config are no model, pickles are not opened."""
    with pytest.raises(ModelError, match=message):
        model_file(make(*names))


def test_settings_folder_is_the_nearest_with_settings(make):
    """Those of sentence-transformers first; without any, what was given."""
    folder = make("a/modules.json", "a/config.json", "a/onnx/config.json", "a/onnx/m.onnx", "b/m")

    assert settings_folder(folder, folder / "a/onnx/m.onnx") == folder / "a"
    assert settings_folder(folder, folder / "b/m") == folder


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("tokenizer.json", "onnx/m.onnx"), "tokenizer.json"),
        (("tokenizer.json", "onnx/tokenizer.json", "onnx/m.onnx"), "onnx/tokenizer.json"),
        (("onnx/m.onnx", "onnx/small-tokenizer.json"), "onnx/small-tokenizer.json"),
        (("onnx/m.onnx", "onnx/x-tokenizer.json", "onnx/tokenizer.json"), "onnx/tokenizer.json"),
        (("onnx/m.onnx", "vocabulary/tokenizer.json"), "vocabulary/tokenizer.json"),
        (("onnx/m.onnx", "tokenizer_config.json", "tokenizer.json"), "tokenizer.json"),
    ],
)
def test_tokenizer_file_is_the_nearest(make, names, expected):
    """Beside the model, above it, elsewhere; its config is none."""
    folder = make(*names)

    assert tokenizer_file(folder, folder / "onnx/m.onnx") == folder / expected


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("m.onnx", "vocab.txt", "tokenizer_config.json"), "holds no tokenizer .*vocab.txt"),
        (("m.onnx", "a_tokenizer.json", "b_tokenizer.json"), "2 tokenizers: a_tokenizer"),
    ],
)
def test_tokenizer_file_says_what_is_wrong(make, names, message):
    """None, or two as near."""
    folder = make(*names)

    with pytest.raises(ModelError, match=message):
        tokenizer_file(folder, folder / "m.onnx")


def test_model_file_does_not_look_through_a_whole_disk(make, monkeypatch):
    """A home folder is none of a model."""
    monkeypatch.setattr("kgrag.embedding.hub_folder._MAX_FILES", 3)
    with pytest.raises(ModelError, match="more than 3 files"):
        model_file(make("a.onnx", "b/1", "b/2", "c/3"))
