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

from kgrag.embedding.add import add_transformers
from kgrag.embedding.catalog import ModelCard
from kgrag.embedding.hub_folder import read_folder
from kgrag.embedding.local import LocalEmbedder
from kgrag.embedding.model_folder import ModelFolder
from kgrag.embedding.tokens import windows
from kgrag.embedding.transformers_model import (
    TransformersNetwork,
    choose_device,
    convert_tokenizer,
    knows,
)
from kgrag.errors import MissingDependencyError, ModelError, ModelNotFoundError

pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

JINA = "jina_embeddings_v3"


@pytest.fixture
def staging(tmp_path: Path) -> ModelFolder:
    """An empty folder."""
    (tmp_path / "staging").mkdir()
    return ModelFolder(tmp_path / "staging")


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
    staging.write_card(card)
    assert LocalEmbedder.from_folder(staging.path).embed(["a"], "query").any()


def test_add_transformers_takes_adapters_with_dots_in_their_names(hub_folder, staging):
    """As the original model calls its tasks."""
    folder = hub_folder(JINA)
    for task in ("query", "passage"):
        (folder / f"retrieval_{task}").rename(folder / f"retrieval.{task}")
    card = add_transformers(folder, staging, read_folder(folder))

    assert card.query_adapter == "retrieval.query"
    assert (staging.path / "retrieval.query" / "adapter_model.safetensors").is_file()


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
    assert not (staging.path / "modeling.py").exists()
    assert "auto_map" not in (staging.path / "config.json").read_text()


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
        TransformersNetwork.from_folder(tmp_path, card)


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
    TransformersNetwork.from_folder(folder, card)

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
    TransformersNetwork.from_folder(folder, card)

    assert asked == []


@pytest.mark.jina
@quiet
def test_load_model_refuses_weights_of_another_model(hub_folder):
    """A config with more layers than the weights have would be filled with noise."""
    folder = hub_folder("bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))

    with pytest.raises(ModelError, match=r"16 weights are missing, the first is encoder\.layer\.2"):
        TransformersNetwork.from_folder(folder, CARD)


@pytest.mark.jina
@quiet
def test_load_model_maps_what_the_libraries_raise(hub_folder):
    """Broken weights and broken configs are errors of ours."""
    folder = hub_folder("bert")
    path = folder / "model.safetensors"
    path.write_bytes(b"\x08" + path.read_bytes()[1:])
    with pytest.raises(ModelError, match=r"cannot load the model in .*Remedy"):
        TransformersNetwork.from_folder(folder, CARD)
    (folder / "config.json").write_text('{"model_type": "none"}')
    with pytest.raises(ModelError, match=r"cannot load the model in .*Remedy"):
        TransformersNetwork.from_folder(folder, CARD)


@pytest.mark.jina
@quiet
def test_load_model_refuses_an_adapter_that_is_missing_or_does_not_fit(hub_folder):
    """Weights of an adapter that are not there would be noise."""
    folder = hub_folder("jina_embeddings_v3")
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


pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

CARD = ModelCard(name="tiny", dimension=32, format="transformers")
BATCH = [[0, 5, 6, 7, 2], [0, 9, 2]]


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_pooled_leaves_the_padding_out(hub_folder, pooling):
    """The vector is made of the states that `states` gives, one for each token of a text."""
    card = ModelCard(name="tiny", dimension=32, pooling=pooling)
    network = TransformersNetwork.from_folder(hub_folder("bert"), card)
    vectors = network.pooled(BATCH, "query")
    states = network.states(BATCH, "query")

    assert [rows.shape for rows in states] == [(5, 32), (3, 32)]
    for vector, rows in zip(vectors, states, strict=True):
        expected = {"cls": rows[0], "mean": rows.mean(axis=0), "last": rows[-1]}[pooling]
        assert np.abs(vector - expected).max() < 1e-5
    alone = network.states([BATCH[1]], "query")[0]
    assert np.abs(alone - states[1]).max() < 1e-5


def test_from_folder_sets_the_threads_of_torch_only_when_asked(hub_folder):
    """They are of the whole process: what another part has set stays."""
    folder = hub_folder("bert")
    import torch

    before = torch.get_num_threads()
    TransformersNetwork.from_folder(folder, CARD)
    assert torch.get_num_threads() == before
    TransformersNetwork.from_folder(folder, CARD, threads=before + 1)
    assert torch.get_num_threads() == before + 1
    torch.set_num_threads(before)


def test_pooled_maps_what_the_model_raises(hub_folder):
    """A token that the model has no state for fails as our error, with a remedy."""
    network = TransformersNetwork.from_folder(hub_folder("bert"), CARD)

    with pytest.raises(ModelError, match=r"failed on 1 texts of up to 2 tokens.*Remedy"):
        network.pooled([[0, 9999]], "query")


pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

JINA = "jina_embeddings_v3"
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
        ModelFolder(folder).write_card(add_transformers(source, ModelFolder(folder), given))
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


@pytest.mark.parametrize("family", FAMILIES)
def test_embed_does_not_depend_on_the_company(install, family):
    """A text alone, in one batch, and in batches of two has the same vector to 1e-5."""
    embedder = LocalEmbedder.from_folder(install(family))
    together = embedder.embed(TEXTS, "passage")
    embedder._network.batch_tokens = 90  # type: ignore[misc]
    apart = embedder.embed(TEXTS[::-1], "passage")[::-1]

    assert np.abs(together - apart).max() < CLOSE
    for text, row in zip(TEXTS, together, strict=True):
        assert np.abs(embedder.embed([text], "passage")[0] - row).max() < CLOSE
        assert np.linalg.norm(row) == pytest.approx(1)


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


def test_embed_puts_the_instruction_of_the_task_first(install):
    """An instruction is text before the text."""
    embedder = LocalEmbedder.from_folder(install("bert", query_instruction="ask: "))

    (asked,) = embedder.embed(["绿色"], "query")
    assert np.abs(asked - embedder.embed(["ask: 绿色"], "passage")[0]).max() < CLOSE
    assert np.abs(asked - embedder.embed(["绿色"], "passage")[0]).max() > 0.01


def test_embed_cuts_texts_at_the_limit_of_tokens(install):
    """10 tokens are <s>, eight characters, </s>; what follows is not read."""
    embedder = LocalEmbedder.from_folder(install("bert", max_tokens=10))
    exact, longer, shorter = embedder.embed(["a" * 8, "a" * 8 + "b" * 99, "a" * 7], "passage")

    assert np.abs(exact - longer).max() < CLOSE
    assert np.abs(exact - shorter).max() > CLOSE


def test_embed_keeps_the_order_and_encodes_equal_texts_once(install):
    """Row i belongs to text i; what repeats is not run again."""
    embedder = LocalEmbedder.from_folder(install("bert"))
    read: list[int] = []
    pooled = embedder._network.pooled

    def counting(batch, task):
        read.append(len(batch))
        return pooled(batch, task)

    embedder._network.pooled = counting  # type: ignore[method-assign]
    texts = ["ab", "b", "", "ab", "减排目标", "b"]
    rows = embedder.embed(texts, "passage")

    assert sum(read) == 3
    for text, row in zip(texts, rows, strict=True):
        assert np.abs(embedder.embed([text], "passage")[0] - row).max() < CLOSE


def test_embed_gives_zero_for_empty_texts_and_no_rows_for_none(install):
    """An empty text is like nothing, also where an instruction would stand before it."""
    embedder = LocalEmbedder.from_folder(install(JINA))

    assert not embedder.embed(["", " \n"], "query").any()
    assert embedder.embed([], "query").shape == (0, 32)


def test_embed_lowers_the_case_when_the_card_says_so(install):
    """Letters whose small form is two characters stay, so that places do not move."""
    embedder = LocalEmbedder.from_folder(install("bert", lower_case=True))
    rows = embedder.embed(["abc", "ABC", "İab", "İAB"], "passage")

    assert (rows[0] == rows[1]).all()
    assert (rows[2] == rows[3]).all()


def test_embed_takes_texts_that_are_not_valid_unicode(install):
    """Half a surrogate pair from a broken file is one unknown character."""
    rows = LocalEmbedder.from_folder(install("bert")).embed(["a\ud800", "a?"], "passage")

    assert np.abs(rows[0] - rows[1]).max() < CLOSE


def test_embed_may_be_called_from_several_threads(install):
    """Switching adapters in one thread does not disturb another."""
    embedder = LocalEmbedder.from_folder(install(JINA), threads=1)
    tasks = ["query", "passage"] * 8
    expected = {task: embedder.embed(TEXTS[:3], task) for task in ("query", "passage")}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda task: embedder.embed(TEXTS[:3], task), tasks))

    for task, rows in zip(tasks, results, strict=True):
        assert np.abs(rows - expected[task]).max() < CLOSE


def test_embed_spans_averages_the_states_of_the_tokens_of_a_span(install):
    """The text is read whole; special tokens and the instruction are in no span."""
    folder = install(JINA, passage_instruction="doc: ")
    text = "绿色工厂，减排目标。"
    states = reference(folder, "doc: " + text, "retrieval_passage")[6:-1]  # <s>, doc: and </s>
    spans = [(0, 4), (5, 10), (0, len(text)), (3, 3), (2, 3)]

    (rows,) = LocalEmbedder.from_folder(folder).embed_spans([text], [spans])

    assert rows.shape == (5, 32)
    assert rows.dtype == np.float32
    for (start, end), row in zip(spans, rows, strict=True):
        expected = unit(states[start:end].mean(axis=0)) if start < end else np.zeros(32)
        assert np.abs(row - expected).max() < CLOSE


def test_embed_spans_sees_the_context_of_a_span(install):
    """The same words elsewhere have another vector: that is what late chunking is for."""
    embedder = LocalEmbedder.from_folder(install(JINA))
    first, second = embedder.embed_spans(["绿色工厂", "减排绿色"], [[(0, 2)], [(2, 4)]])

    assert np.abs(first - second).max() > 0.01


def test_embed_spans_reads_long_texts_in_windows(install):
    """A span's states come from the windows that keep its tokens; each window is prompted."""
    folder = install("bert", max_tokens=20, passage_instruction="d:")
    text = "绿色工厂减排目标，abcdefghijklmnopqrstuvwxyz" * 2
    spans = [(0, 10), (10, 40), (len(text) - 3, len(text)), (0, len(text))]
    states = np.zeros((len(text), 32), np.float32)
    parts = windows(len(text), 20 - 4)  # <s>, </s>, d and :
    for part in parts:
        own = reference(folder, "d:" + text[part.start : part.end])[3:-1]
        states[part.keep_from : part.keep_to] = own[
            part.keep_from - part.start : part.keep_to - part.start
        ]

    (rows,) = LocalEmbedder.from_folder(folder).embed_spans([text], [spans])

    assert len(parts) > 3
    for (start, end), row in zip(spans, rows, strict=True):
        assert np.abs(row - unit(states[start:end].mean(axis=0))).max() < CLOSE


def test_embed_spans_keeps_order_over_texts_of_any_length(install):
    """Batches are by length, answers by place; blank spans are zero, texts without spans empty."""
    embedder = LocalEmbedder.from_folder(install("bert", max_tokens=20))
    texts = ["a b", "减排目标" * 9, "", "绿色"]
    spans = [[(0, 1), (1, 2)], [(0, 36)], [], [(0, 2)]]
    together = embedder.embed_spans(texts, spans)

    assert [rows.shape for rows in together] == [(2, 32), (1, 32), (0, 32), (1, 32)]
    assert not together[0][1].any()
    for text, of_text, rows in zip(texts, spans, together, strict=True):
        (alone,) = embedder.embed_spans([text], [of_text])
        assert np.abs(alone - rows).max(initial=0) < CLOSE


def test_embed_spans_refuses_an_instruction_as_long_as_the_limit(install):
    """There would be no room for the text."""
    embedder = LocalEmbedder.from_folder(
        install("bert", max_tokens=8, passage_instruction="passage: ")
    )
    with pytest.raises(ModelError, match="instruction has 9 tokens"):
        embedder.embed_spans(["绿色"], [[(0, 2)]])


def test_name_tells_the_weights_and_the_settings(install):
    """The same files pooled otherwise are another model; the same again are the same."""
    first, again, other = (
        LocalEmbedder.from_folder(install("bert", pooling=pooling))
        for pooling in ("mean", "mean", "cls")
    )

    assert first.name == again.name != other.name
    assert first.name.startswith("tiny-")
    assert first.name.split("-")[1] == other.name.split("-")[1]
    assert not first.is_stand_in


def test_settings_tell_what_decides_the_vectors(install):
    """People see adapter, instruction, pooling, limit and precision."""
    settings = LocalEmbedder.from_folder(install(JINA, query_instruction="q: ")).settings

    assert settings["query"] == "adapter retrieval_query, instruction q: "
    assert (settings["pooling"], settings["max_tokens"]) == ("mean", "64")
    assert settings["precision"] == "float32"


def test_from_folder_refuses_files_that_were_changed(install):
    """A file that is gone, another config, shorter weights: each is named with the remedy."""
    damages: tuple[tuple[str, Callable[[bytes], bytes] | None, type[ModelError], str], ...] = (
        ("card.json", None, ModelNotFoundError, "is missing"),
        ("model.safetensors", None, ModelNotFoundError, "is missing"),
        ("config.json", lambda data: data.replace(b"gelu", b"relu"), ModelError, "is damaged"),
        ("model.safetensors", lambda data: data[:-8], ModelError, "is damaged"),
        ("files.json", lambda data: data.replace(b"config", b"konfig"), ModelError, "describe"),
    )
    for name, change, error, text in damages:
        folder = install("bert")
        data = (folder / name).read_bytes()
        (folder / name).unlink() if change is None else (folder / name).write_bytes(change(data))
        with pytest.raises(error, match=f"{text}.*Remedy: kgrag models add"):
            LocalEmbedder.from_folder(folder)


def test_from_folder_refuses_no_threads(tmp_path):
    """Somebody has to do the work."""
    with pytest.raises(ValueError, match="at least 1"):
        LocalEmbedder.from_folder(tmp_path, threads=0)


def test_embed_refuses_another_dimension_than_the_card_says(install):
    """A wrong card is found at the first text, whole or in spans."""
    folder = install("bert")
    card = dataclasses.replace(ModelFolder(folder).card(), dimension=31)
    embedder = LocalEmbedder.from_card(folder, card)

    with pytest.raises(ModelError, match=r"shape \(32,\), its card says 31"):
        embedder.embed(["a"], "passage")
    with pytest.raises(ModelError, match=r"shape \(32,\), its card says 31"):
        embedder.embed_spans(["a"], [[(0, 1)]])


def test_embed_refuses_vectors_without_direction(install):
    """Weights that give infinities are broken; that must not enter a store."""
    embedder = LocalEmbedder.from_folder(install("bert"))
    embedder._network._model.embeddings.LayerNorm.weight.data[:] = float("nan")  # type: ignore[attr-defined]

    with pytest.raises(ModelError, match="vector of length nan"):
        embedder.embed(["a"], "passage")
