"""Which files are copied, and how damage is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from kgrag.embedding.card import ModelCard
from kgrag.embedding.transformers_files import (
    check_files,
    copy_files,
    precision,
    safetensors_precision,
    seal,
)
from kgrag.errors import ModelError, ModelNotFoundError


def safetensors(path: Path, **tensors: tuple[str, int]) -> Path:
    """Write a safetensors file of zeros: each tensor's type and bytes."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, size) in tensors.items():
        head[name] = {"dtype": dtype, "shape": [size], "data_offsets": [end, end + size]}
        end += size
    data = json.dumps(head).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(data).to_bytes(8, "little") + data + bytes(end))
    return path


@pytest.fixture
def maker(tmp_path: Path) -> Path:
    """A folder as the hub has it, with more in it than is needed."""
    folder = tmp_path / "maker"
    safetensors(folder / "model.safetensors", a=("BF16", 64), b=("F32", 8))
    safetensors(folder / "retrieval_query" / "adapter_model.safetensors", a=("F32", 4))
    (folder / "retrieval_query" / "adapter_config.json").write_text("{}")
    config = {"model_type": "bert", "auto_map": {"AutoModel": "x.Y"}, "attn_implementation": "a/b"}
    (folder / "config.json").write_text(json.dumps(config))
    for name in ("pytorch_model.bin", "modeling.py", "README.md", "tokenizer.json"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def names(folder: Path) -> list[str]:
    """Return the files in a folder, relative to it."""
    return sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file())


def test_copy_files_takes_weights_config_and_adapters_alone(maker, target):
    """Nothing that could be run comes along, nor what would make transformers look for it."""
    copy_files(maker, target, ("retrieval_query",))

    assert names(target) == [
        "config.json",
        "model.safetensors",
        "retrieval_query/adapter_config.json",
        "retrieval_query/adapter_model.safetensors",
    ]
    assert json.loads((target / "config.json").read_text()) == {"model_type": "bert"}
    assert precision(target) == "bfloat16"


def test_copy_files_takes_weights_in_parts(maker, target):
    """Large models come in several files with an index."""
    (maker / "model.safetensors").unlink()
    parts = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}
    for name in set(parts.values()):
        safetensors(maker / name, a=("F16", 4))
    index = maker / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    copy_files(maker, target, ())

    assert names(target)[1:] == ["model-1.safetensors", "model-2.safetensors", index.name]
    assert precision(target) == "float16"

    index.write_text(json.dumps({"weight_map": {"a": "../model-1.safetensors"}}))
    with pytest.raises(ModelError, match=r"outside.*Remedy"):
        copy_files(maker, target, ())


def test_copy_files_says_what_is_missing(maker, target):
    """No weights, weights in a format that may hold code, an adapter's weights."""
    (maker / "retrieval_query" / "adapter_model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"adapter_model\.safetensors is missing.*Remedy"):
        copy_files(maker, target, ("retrieval_query",))
    (maker / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"only pytorch_model\.bin, which may hold code.*Remedy"):
        copy_files(maker, target, ())
    (maker / "pytorch_model.bin").unlink()
    with pytest.raises(ModelError, match=r"has no model\.safetensors\. Remedy"):
        copy_files(maker, target, ())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b"<html>not found</html>", "is not a safetensors file"),
        (b"", "is not a safetensors file"),
        (b"\x02\0\0\0\0\0\0\0{}", "is not a safetensors file"),
        (b"\x02\0\0\0\0\0\0\0[]", "is not a safetensors file"),
        (b'\x0f\0\0\0\0\0\0\0{"a":{"dtype":1}}', "is not a safetensors file"),
    ],
)
def test_safetensors_precision_refuses_what_is_none(tmp_path, data, message):
    """A pointer of Git LFS is the commonest of them."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)

    with pytest.raises(ModelError, match=f"{message}.*Remedy"):
        safetensors_precision(path)


def test_safetensors_precision_tells_a_download_that_was_cut_short(tmp_path):
    """The head says how long the file is."""
    path = safetensors(tmp_path / "model.safetensors", a=("F32", 400))
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(ModelError, match=r"cut short.*Remedy"):
        safetensors_precision(path)


def test_seal_hashes_the_tokenizer_apart_from_the_rest(maker):
    """A changed adapter is another model, a changed tokenizer another tokenizer."""
    model, tokenizer = seal(maker)
    (maker / "files.json").unlink()
    (maker / "tokenizer.json").write_text("other")
    other = seal(maker)
    (maker / "files.json").unlink()
    (maker / "retrieval_query" / "adapter_config.json").write_text("{ }")
    third = seal(maker)

    assert len(model) == len(tokenizer) == 64
    assert other[0] == model
    assert other[1] != tokenizer
    assert third[0] != model
    assert third[1] == other[1]


def sealed(folder: Path) -> ModelCard:
    """Return a card for a folder, once its files are hashed."""
    model, tokenizer = seal(folder)
    return ModelCard(name="mine", dimension=1, model_sha256=model, tokenizer_sha256=tokenizer)


def test_check_files_accepts_what_was_sealed(maker):
    """A card lies beside the files and is none of them."""
    card = sealed(maker)
    (maker / "card.json").write_text("{}")

    check_files(maker, card)


def test_check_files_refuses_a_file_that_is_gone_or_changed(maker):
    """Same length, other bytes: the hash tells; the error names the file and the remedy."""
    card = sealed(maker)
    path = maker / "config.json"
    path.write_text(path.read_text().replace("bert", "gert"))
    with pytest.raises(ModelError, match=r"config\.json is damaged.*models add PATH --name mine"):
        check_files(maker, card)
    path.unlink()
    with pytest.raises(ModelNotFoundError, match=r"config\.json is missing.*Remedy"):
        check_files(maker, card)


def test_check_files_compares_only_the_size_of_large_files(maker, monkeypatch):
    """A gigabyte is not hashed at every opening."""
    monkeypatch.setattr("kgrag.embedding.transformers_files._QUICK_BYTES", 60)
    card = sealed(maker)
    path = maker / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    check_files(maker, card)
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(ModelError, match="is damaged"):
        check_files(maker, card)


def test_check_files_refuses_another_models_list(maker):
    """The card and the list of files belong together."""
    card = sealed(maker)
    (maker / "files.json").write_text("{}")

    with pytest.raises(ModelError, match=r"does not describe.*Remedy"):
        check_files(maker, card)


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 100_000,
        b'{"a": {"dtype": [], "data_offsets": [0, {}]}}',
        b'{"a": {"dtype": "F32", "data_offsets": [0]}}',
        b'{"a": 1}',
        b"{}",
    ],
)
def test_safetensors_precision_refuses_heads_of_strangers(tmp_path, head):
    """However they are made."""
    (tmp_path / "a").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(ModelError, match="not a safetensors file"):
        safetensors_precision(tmp_path / "a")


def test_safetensors_precision_reads_no_head_of_gigabytes(tmp_path):
    """A file of holes is as large as it likes to be."""
    with (tmp_path / "a").open("wb") as file:
        file.write((10 * 1024**3).to_bytes(8, "little"))
        file.truncate(11 * 1024**3)
    with pytest.raises(ModelError, match="not a safetensors file"):
        safetensors_precision(tmp_path / "a")
