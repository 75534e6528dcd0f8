"""Loading with torch and without: devices, damage, missing packages."""

import json
import socket
import sys
from pathlib import Path

import pytest

from kgrag.embedding.card import ModelCard
from kgrag.embedding.transformers_load import choose_device, convert_tokenizer, knows, load_model
from kgrag.errors import MissingDependencyError, ModelError

CARD = ModelCard(name="tiny", dimension=32, format="transformers")
quiet = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("package", ["torch", "transformers", "peft"])
def test_load_model_tells_how_to_install_what_is_missing(monkeypatch, tmp_path, package):
    """The one command is in the text; peft is needed for adapters."""
    for name in ("torch", "transformers", "peft"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    monkeypatch.setitem(sys.modules, package, None)
    card = ModelCard(name="tiny", dimension=32, query_adapter="retrieval_query")

    with pytest.raises(
        MissingDependencyError, match=r"not installed.*Remedy: pip install 'kgrag\[jina\]'"
    ):
        load_model(tmp_path, card)


@pytest.mark.jina
@quiet
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


@pytest.mark.jina
@quiet
def test_knows_the_kinds_that_are_built_in():
    """Jina is one of them, whatever comes next year is not."""
    pytest.importorskip("transformers")

    assert knows("jina_embeddings_v3", Path())
    assert not knows("jina_embeddings_v99", Path())


@pytest.mark.jina
@quiet
def test_load_model_is_quiet_and_leaves_the_library_as_it_was(hub_folder, capfd):
    """No bars, no reports; what the user has set for transformers is not changed."""
    folder = hub_folder("jina_embeddings_v3")
    from transformers.utils import logging

    logging.enable_progress_bar()
    before = logging.get_verbosity()
    card = ModelCard(
        name="tiny",
        dimension=32,
        query_adapter="retrieval_query",
        passage_adapter="retrieval_passage",
    )
    load_model(folder, card)

    assert capfd.readouterr() == ("", "")
    assert logging.get_verbosity() == before
    assert logging.is_progress_bar_enabled()
    logging.disable_progress_bar()


@pytest.mark.jina
@quiet
def test_load_model_asks_nobody(hub_folder, monkeypatch):
    """All that a model is lies in its folder, adapters included: no connection is tried."""
    folder = hub_folder("jina_embeddings_v3")
    asked: list[object] = []
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, lambda *to, **_: asked.append(to))
    monkeypatch.setattr(socket.socket, "connect", lambda *to: asked.append(to))
    card = ModelCard(name="tiny", dimension=32, passage_adapter="retrieval_passage")
    load_model(folder, card)

    assert asked == []


@pytest.mark.jina
@quiet
def test_load_model_refuses_weights_of_another_model(hub_folder):
    """A config with more layers than the weights have would be filled with noise."""
    folder = hub_folder("bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))

    with pytest.raises(ModelError, match=r"16 are missing, the first is encoder\.layer\.2"):
        load_model(folder, CARD)


@pytest.mark.jina
@quiet
def test_load_model_maps_what_the_libraries_raise(hub_folder):
    """Broken weights and broken configs are errors of ours."""
    folder = hub_folder("bert")
    path = folder / "model.safetensors"
    path.write_bytes(b"\x08" + path.read_bytes()[1:])
    with pytest.raises(ModelError, match=r"cannot load the model in .*Remedy"):
        load_model(folder, CARD)
    (folder / "config.json").write_text('{"model_type": "none"}')
    with pytest.raises(ModelError, match=r"cannot load the model in .*Remedy"):
        load_model(folder, CARD)


@pytest.mark.jina
@quiet
def test_load_model_refuses_an_adapter_that_is_missing_or_does_not_fit(hub_folder):
    """Weights of an adapter that are not there would be noise."""
    folder = hub_folder("jina_embeddings_v3")
    (folder / "none").mkdir()
    card = ModelCard(name="tiny", dimension=32, query_adapter="none")
    with pytest.raises(ModelError, match=r"adapter .*none is missing"):
        load_model(folder, card)

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
            load_model(folder, card)


@pytest.mark.jina
@quiet
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
