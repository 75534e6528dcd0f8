"""Models in their makers' format: installed, loaded, encoding."""

import dataclasses
import json
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag.embedding.add import add_transformers, copy_safetensors
from kgrag.embedding.catalog import ModelCard
from kgrag.embedding.hub_folder import read_folder
from kgrag.embedding.local import LocalEmbedder
from kgrag.embedding.model_folder import ModelFolder
from kgrag.embedding.transformers_model import (
    TransformersNetwork,
    choose_device,
    convert_tokenizer,
)
from kgrag.errors import MissingDependencyError, ModelError

pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

JINA = "jina_embeddings_v3"


@pytest.fixture
def staging(tmp_path: Path) -> ModelFolder:
    """An empty folder."""
    (tmp_path / "staging").mkdir()
    return ModelFolder(tmp_path / "staging")


def added(folder: Path, staging: ModelFolder, given: ModelCard | None = None) -> ModelCard:
    """Add the model in a folder, used as it says or as a card that is given says."""
    return add_transformers(folder / "model.safetensors", staging, given or read_folder(folder))


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
    card = added(folder, staging)

    assert (card.format, card.dimension, card.pooling) == ("transformers", 32, "mean")
    assert (card.query_adapter, card.passage_adapter) == ("retrieval_query", "retrieval_passage")
    assert (card.max_tokens, card.precision, card.licence) == (64, "float32", "cc-by-nc-4.0")
    assert card.query_instruction.startswith("Represent the query")
    staging.write_card(card)
    assert LocalEmbedder.from_folder(staging.path).embed(["a"], "query").any()


def test_add_transformers_takes_adapters_with_dots_in_their_names(hub_folder, staging):
    """As the original model calls its tasks."""
    folder = hub_folder(JINA)
    for task in ("query", "passage"):
        (folder / f"retrieval_{task}").rename(folder / f"retrieval.{task}")
    card = added(folder, staging)

    assert card.query_adapter == "retrieval.query"
    assert (staging.path / "retrieval.query" / "adapter_model.safetensors").is_file()


def test_add_transformers_runs_no_code_of_the_makers(hub_folder, staging, tmp_path):
    """A folder may name its own modules: they are neither run nor taken along."""
    folder = hub_folder("bert")
    ran = tmp_path / "ran"
    (folder / "modeling.py").write_text(f"open({str(ran)!r}, 'w')\nclass Model: pass\n")
    change(folder, auto_map={"AutoConfig": "modeling.Model", "AutoModel": "modeling.Model"})
    added(folder, staging)

    assert not ran.exists()
    assert not (staging.path / "modeling.py").exists()
    assert "auto_map" not in (staging.path / "config.json").read_text()


def test_add_transformers_takes_a_model_without_a_pooler_and_with_another_head(hub_folder, staging):
    """Weights that are not read may be missing, and others be there."""
    folder = hub_folder("bert")
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = {name: t for name, t in load_file(path).items() if "pooler" not in name}
    save_file({**tensors, "cls.bias": tensors["embeddings.LayerNorm.bias"].clone()}, path)

    assert added(folder, staging).dimension == 32


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
        added(folder, staging, given)
    assert "Remedy: " in str(caught.value)


@pytest.mark.parametrize(
    ("family", "name", "message"),
    [
        ("bert", "tokenizer.json", "has no tokenizer"),
        ("bert", "model.safetensors", r"model\.safetensors is missing"),
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
        added(folder, staging)


def test_add_transformers_refuses_weights_that_are_not_numbers(hub_folder, staging):
    """The load as proof finds what the files do not show."""
    folder = hub_folder("bert")
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.LayerNorm.weight"][:] = float("inf")
    save_file(tensors, folder / "model.safetensors")

    with pytest.raises(ModelError, match="vector of length nan"):
        added(folder, staging)


@pytest.mark.parametrize("package", ["torch", "transformers", "peft"])
def test_from_folder_tells_how_to_install_what_is_missing(monkeypatch, tmp_path, package):
    """The one command is in the text; peft is needed for adapters."""
    for name in ("torch", "transformers", "peft"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    monkeypatch.setitem(sys.modules, package, None)
    card = ModelCard(name="tiny", dimension=32, query_adapter="retrieval_query")

    with pytest.raises(
        MissingDependencyError, match=r"not installed.*Remedy: pip install 'kgrag\[jina\]'"
    ):
        TransformersNetwork.from_folder(tmp_path, card)


def test_choose_device_takes_a_graphics_processor_where_there_is_one(monkeypatch):
    """Half precision there, in the form that does not overflow where the processor has it."""
    torch = pytest.importorskip("torch")

    assert choose_device() == ("cpu", torch.float32)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == ("mps", torch.float16)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for has_bfloat16, dtype in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has_bfloat16, **_: has)
        assert choose_device() == ("cuda", dtype)


def test_from_folder_is_quiet_and_leaves_the_library_as_it_was(hub_folder, capfd):
    """No bars, no reports; what the user has set for transformers is not changed."""
    folder = hub_folder(JINA)
    from transformers.utils import logging

    logging.enable_progress_bar()
    before = logging.get_verbosity()
    TransformersNetwork.from_folder(folder, read_folder(folder))

    assert capfd.readouterr() == ("", "")
    assert logging.get_verbosity() == before
    assert logging.is_progress_bar_enabled()
    logging.disable_progress_bar()


def test_from_folder_asks_nobody(hub_folder, monkeypatch):
    """All that a model is lies in its folder, adapters included: no connection is tried."""
    folder = hub_folder(JINA)
    asked: list[object] = []
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, lambda *to, **_: asked.append(to))
    monkeypatch.setattr(socket.socket, "connect", lambda *to: asked.append(to))
    TransformersNetwork.from_folder(folder, read_folder(folder))

    assert asked == []


def test_from_folder_maps_what_the_libraries_raise(hub_folder):
    """Broken weights and broken configs are errors of ours."""
    folder = hub_folder("bert")
    path = folder / "model.safetensors"
    path.write_bytes(b"\x08" + path.read_bytes()[1:])
    with pytest.raises(ModelError, match=r"cannot load the model in .*Remedy"):
        TransformersNetwork.from_folder(folder, CARD)
    (folder / "config.json").write_text('{"model_type": "none"}')
    with pytest.raises(ModelError, match=r"cannot load the model in .*Remedy"):
        TransformersNetwork.from_folder(folder, CARD)


def test_from_folder_refuses_an_adapter_that_is_missing_or_does_not_fit(hub_folder):
    """Weights of an adapter that are not there would be noise."""
    folder = hub_folder(JINA)
    (folder / "none").mkdir()
    card = ModelCard(name="tiny", dimension=32, query_adapter="none")
    with pytest.raises(ModelError, match=r"adapter .*none is missing"):
        TransformersNetwork.from_folder(folder, card)

    path = folder / "retrieval_query" / "adapter_config.json"
    config = json.loads(path.read_text())
    card = ModelCard(name="tiny", dimension=32, query_adapter="retrieval_query")
    for modules, message in (
        ([*config["target_modules"], "o_proj"], "4 weights are missing, the first is .*o_proj"),
        (["q_proj", "k_proj"], "4 weights are unknown, the first is .*v_proj"),
        (["nothing"], "cannot load the model"),
    ):
        path.write_text(json.dumps({**config, "target_modules": modules}))
        with pytest.raises(ModelError, match=message):
            TransformersNetwork.from_folder(folder, card)


def test_convert_tokenizer_makes_the_file_of_an_older_models_vocabulary(hub_folder, tmp_path):
    """BERT models of some years ago have vocab.txt alone."""
    from tokenizers import Tokenizer

    folder = hub_folder("bert")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "绿", "色")
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    convert_tokenizer(folder, tmp_path / "tokenizer.json")

    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("绿色x").ids == [
        2, 5, 6, 1, 3,
    ]  # fmt: skip


CARD = ModelCard(name="tiny", dimension=32, format="transformers")


def test_pooled_maps_what_the_model_raises(hub_folder):
    """A token that the model has no state for fails as our error, with a remedy."""
    network = TransformersNetwork.from_folder(hub_folder("bert"), CARD)

    with pytest.raises(ModelError, match=r"failed on 1 texts of up to 2 tokens.*Remedy"):
        network.pooled([[0, 9999]], "query")


FAMILIES = (JINA, "bert", "xlm-roberta", "modernbert")
TEXTS = ["绿色工厂", "a", "减排目标，减排目标。" * 5, "green factory", "b c", "色" * 40]
CLOSE = 1e-5  # of float32 on a processor, as the class promises


@pytest.fixture
def install(hub_folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """Return a function that installs a model of a family, used as the card's fields say."""

    def installed(family: str, **changes: Any) -> Path:
        source = hub_folder(family)
        folder = tmp_path / "models" / source.parent.name
        folder.mkdir(parents=True)
        given = dataclasses.replace(read_folder(source), name="tiny", **changes)
        card = add_transformers(source / "model.safetensors", ModelFolder(folder), given)
        ModelFolder(folder).write_card(card)
        return folder

    return installed


def reference(folder: Path, text: str, adapter: str = "") -> Any:
    """Return the states of one text as transformers itself gives them, with special tokens."""
    import torch
    import transformers
    from tokenizers import Tokenizer

    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32)
    if adapter:
        model.load_adapter(str(folder / adapter), adapter_name="only")
    ids = torch.tensor([Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids])
    with torch.no_grad():
        return model.eval()(input_ids=ids).last_hidden_state[0].numpy()


def unit(vector: Any) -> Any:
    """Return the vector with length 1."""
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_embed_gives_what_the_model_gives_for_a_text_alone(install, family, pooling):
    """Each family and pooling, in a batch with padding, against one text without any."""
    folder = install(family, pooling=pooling, query_instruction="", passage_instruction="")
    adapter = "retrieval_passage" if family == JINA else ""
    rows = LocalEmbedder.from_folder(folder).embed(TEXTS[:4], "passage")

    for text, row in zip(TEXTS, rows, strict=False):
        states = reference(folder, text, adapter)
        pooled = {"cls": states[0], "mean": states.mean(axis=0), "last": states[-1]}[pooling]
        assert np.abs(row - unit(pooled)).max() < CLOSE


def test_embed_takes_the_adapter_of_the_task(install):
    """Questions and passages are read by their own adapters, in either order of loading."""
    folder = install(JINA, query_instruction="", passage_instruction="")
    embedder = LocalEmbedder.from_folder(folder)

    for task in ("passage", "query", "passage"):
        (row,) = embedder.embed(["绿色工厂"], task)
        expected = unit(reference(folder, "绿色工厂", f"retrieval_{task}").mean(axis=0))
        assert np.abs(row - expected).max() < CLOSE
    assert np.abs(embedder.embed(["绿色工厂"], "query")[0] - expected).max() > 0.01


def test_embed_leaves_the_adapter_out_where_a_task_has_none(install):
    """A model of another kind may have an adapter for questions alone."""
    folder = install(JINA, query_instruction="", passage_instruction="")
    card = dataclasses.replace(ModelFolder(folder).card(), passage_adapter="")
    embedder = LocalEmbedder.from_card(folder, card)
    query, passage = (embedder.embed(["a"], task)[0] for task in ("query", "passage"))

    assert np.abs(embedder.embed(["a"], "query")[0] - query).max() < CLOSE
    assert np.abs(passage - unit(reference(folder, "a").mean(axis=0))).max() < CLOSE
    assert np.abs(query - passage).max() > 0.01


def test_embed_may_be_called_from_several_threads(install):
    """Switching adapters in one thread does not disturb another."""
    embedder = LocalEmbedder.from_folder(install(JINA), threads=1)
    tasks = ["query", "passage"] * 8
    expected = {task: embedder.embed(TEXTS[:3], task) for task in ("query", "passage")}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda task: embedder.embed(TEXTS[:3], task), tasks))

    for task, rows in zip(tasks, results, strict=True):
        assert np.abs(rows - expected[task]).max() < CLOSE


def safetensors(path: Path, **tensors: tuple[str, int]) -> Path:
    """Write a safetensors file of zeros: each tensor's type and size."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, size) in tensors.items():
        behind = end + size * {"F32": 4}.get(dtype, 2)
        head[name] = {"dtype": dtype, "shape": [size], "data_offsets": [end, behind]}
        end = behind
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


def test_copy_safetensors_takes_weights_config_and_adapters_alone(maker, target):
    """Nothing that could be run comes along, nor what would make transformers look for it."""
    weights = maker / "model.safetensors"

    assert copy_safetensors(weights, target, ("retrieval_query",)) == "bfloat16"
    assert names(target) == [
        "config.json",
        "model.safetensors",
        "retrieval_query/adapter_config.json",
        "retrieval_query/adapter_model.safetensors",
        "tokenizer.json",
    ]
    assert json.loads((target / "config.json").read_text()) == {"model_type": "bert"}


def test_copy_safetensors_takes_weights_in_parts(maker, target):
    """Large models come in several files with an index."""
    (maker / "model.safetensors").unlink()
    parts = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}
    for name in set(parts.values()):
        safetensors(maker / name, a=("F16", 4))
    index = maker / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    assert copy_safetensors(index, target, ()) == "float16"
    assert names(target)[1:4] == ["model-1.safetensors", "model-2.safetensors", index.name]

    index.write_text(json.dumps({"weight_map": {"a": "../model-1.safetensors"}}))
    with pytest.raises(ModelError, match=r"outside.*Remedy"):
        copy_safetensors(index, target, ())


def test_copy_safetensors_refuses_what_is_none(maker, target):
    """A pointer of Git LFS, a page, a download that was cut short, a head that is none."""
    file = maker / "model.safetensors"
    whole = file.read_bytes()
    head = b'{"a": {"dtype": "F32", "data_offsets": [0]}}'
    for data in (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        b"<html>not found</html>",
        b"",
        b"\x02\0\0\0\0\0\0\0{}",
        len(head).to_bytes(8, "little") + head,
        whole[:-1],
    ):
        file.write_bytes(data)
        with pytest.raises(ModelError, match=r"not a safetensors file.*Remedy"):
            copy_safetensors(file, target, ())
