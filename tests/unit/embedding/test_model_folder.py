"""Folders of ONNX models, and the encoder of one."""

import contextlib
import dataclasses
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from kgrag.embedding.catalog import ModelCard, Pooling, find_entry
from kgrag.embedding.local import LocalEmbedder
from kgrag.embedding.model_folder import (
    CARD_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    file_sha256,
    installed_models,
    installing,
    listed_models,
    models_folder,
    remove_model,
)
from kgrag.embedding.onnx import OnnxNetwork, read_onnx_file
from kgrag.errors import ModelError, ModelNotFoundError


@pytest.fixture
def tiny(cache, tiny_folder, tiny_card):
    """The folder of an installed model."""
    with installing() as staging:
        shutil.copytree(tiny_folder, staging.path, dirs_exist_ok=True)
        staging.install(tiny_card)
    return cache / "tiny"


def test_remove_model_takes_it_away_damaged_or_not(cache, tiny):
    """A folder without a card is what remains of a model."""
    (tiny / CARD_FILE).write_text("{")
    remove_model("tiny")
    assert [path for path in cache.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("name", ["other", "..", ".", ".lock", "", "tiny/.."])
def test_remove_model_refuses_what_is_no_model(cache, name):
    """Nothing outside of the folder of models can be named."""
    (cache / "tiny").mkdir(parents=True)

    with pytest.raises(ModelNotFoundError, match="installed: tiny"):
        remove_model(name)
    assert (cache / "tiny").is_dir()


def test_card_comes_back_as_it_was_written(tmp_path, tiny_card):
    """Only the folder is added, where the card was found."""
    ModelFolder(tmp_path).write_card(tiny_card)

    assert ModelFolder(tmp_path).card() == dataclasses.replace(tiny_card, folder=tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"dimension": "3"},
        {"dimension": 0},
        {"format": "pickle"},
        {"dimension": True},
        {"max_tokens": 0},
        {"n_bytes": "9"},
        {"pooling": "max"},
        {"lower_case": "no"},
        {"name": None},
        {"colour": "red"},
        {"answered": "high"},
    ],
)
def test_card_refuses_what_it_does_not_understand(tmp_path, tiny_card, changes):
    """Unknown keys and wrong types are errors that name the file."""
    ModelFolder(tmp_path).write_card(tiny_card)
    data = json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))
    (tmp_path / CARD_FILE).write_text(json.dumps({**data, **changes}), encoding="utf-8")

    with pytest.raises(ModelError, match=r"card\.json"):
        ModelFolder(tmp_path).card()


def test_what_was_measured_is_of_the_card_or_of_the_files(tmp_path, tiny_card):
    """A card from before they were written, under any name, is known by its files and settings."""
    told = dataclasses.replace(tiny_card, answered=0.7)
    ModelFolder(tmp_path).write_card(told)
    assert ModelFolder(tmp_path).card().answered == 0.7

    known = find_entry("bge-small-zh").card
    for card, limits in (
        (dataclasses.replace(known, name="office"), known.answered),
        (dataclasses.replace(known, pooling="mean"), None),
        (dataclasses.replace(tiny_card, name="bge-small-zh"), None),
    ):
        ModelFolder(tmp_path).write_card(card)
        data = json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))
        del data["answered"]
        (tmp_path / CARD_FILE).write_text(json.dumps(data), encoding="utf-8")
        assert ModelFolder(tmp_path).card().answered == limits


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "x"}', "\xff"])
def test_card_refuses_what_is_no_card(tmp_path, text):
    """Empty, cut short or something else: always the same kind of error."""
    (tmp_path / CARD_FILE).write_bytes(text.encode("latin-1"))

    with pytest.raises(ModelError, match="Remedy"):
        ModelFolder(tmp_path).card()


def install(folder: Path, card) -> None:
    """Install the files in a folder under a card."""
    with installing() as staging:
        for path in folder.glob("*.*"):
            (staging.path / path.name).write_bytes(path.read_bytes())
        staging.install(card)


def test_installing_leaves_nothing_behind_when_it_fails(cache):
    """Half a model is never found, and takes no space."""
    with contextlib.suppress(KeyError), installing() as staging:
        (staging.path / MODEL_FILE).write_bytes(b"half")
        raise KeyError

    assert [path.name for path in cache.iterdir() if path.is_dir()] == []


def test_install_replaces_an_older_model(cache, tiny_files, tiny_card):
    """The new files take the old ones' place whole."""
    install(tiny_files, dataclasses.replace(tiny_card, source="old"))
    (cache / "tiny" / "old.txt").write_text("old")
    install(tiny_files, dataclasses.replace(tiny_card, source="new"))

    assert installed_models()[0].source == "new"
    assert not (cache / "tiny" / "old.txt").exists()
    assert [path.name for path in cache.iterdir() if path.is_dir()] == ["tiny"]


def test_install_records_the_size_of_the_files(cache, tiny_folder, tiny_card):
    """Of all but the card, so that a list can tell that one was cut; no model is another for it."""
    install(tiny_folder, tiny_card)
    (card,) = installed_models()

    files = (tiny_folder / name for name in (MODEL_FILE, TOKENIZER_FILE))
    assert card.n_bytes == sum(file.stat().st_size for file in files)
    assert card == dataclasses.replace(tiny_card, folder=cache / "tiny")
    assert card.identity == tiny_card.identity


def test_installing_names_the_remedy_when_the_cache_cannot_be_written(monkeypatch, tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "file"))

    with pytest.raises(ModelError, match="set KGRAG_CACHE"), installing():
        pass


def test_a_model_with_a_damaged_card_is_here_and_damaged(tiny):
    """Under the name of its folder, though nobody can say how it is used."""
    tiny.rename(tiny.with_name("bge-small-zh"))
    (tiny.with_name("bge-small-zh") / CARD_FILE).write_text("{")
    here, other = listed_models()

    assert (here.name, here.card, other.name) == ("bge-small-zh", None, "bge-small-en")
    assert "cannot read the model card" in here.problem
    assert here.problem.endswith("Remedy: kgrag models pull bge-small-zh")


@pytest.mark.parametrize("file", [MODEL_FILE, "tokenizer.json"])
@pytest.mark.parametrize("is_left", [True, False])
def test_a_model_of_which_a_file_was_cut_or_lost_is_damaged(tiny, file, is_left):
    """The size of the files is not the one that the card says."""
    (tiny / file).write_bytes((tiny / file).read_bytes()[:-1])
    if not is_left:
        (tiny / file).unlink()
    here = listed_models()[0]

    assert here.card
    assert f"had {here.card.n_bytes:,} when it was installed. Remedy: " in here.problem
    assert here.problem.endswith("kgrag models add PATH --name tiny")


@pytest.fixture
def sealed(tmp_path):
    """A folder of a transformers model, once its files are hashed, and its card."""
    folder = ModelFolder(tmp_path / "sealed")
    (folder.path / "adapter").mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "adapter/adapter_config.json", TOKENIZER_FILE):
        (folder.path / name).write_text(name * 4)
    model, tokenizer = folder.seal()
    card = ModelCard(
        name="mine",
        dimension=1,
        format="transformers",
        model_sha256=model,
        tokenizer_sha256=tokenizer,
    )
    folder.write_card(card)
    return folder


def test_seal_hashes_the_tokenizer_apart_from_the_rest(sealed):
    """A changed adapter is another model, a changed tokenizer another tokenizer."""
    card = sealed.check()
    for name in ("files.json", CARD_FILE):
        (sealed.path / name).unlink()
    (sealed.path / TOKENIZER_FILE).write_text("other")
    model, tokenizer = sealed.seal()
    (sealed.path / "files.json").unlink()
    (sealed.path / "adapter/adapter_config.json").write_text("{ }")

    assert len(model) == len(tokenizer) == 64
    assert (model == card.model_sha256, tokenizer == card.tokenizer_sha256) == (True, False)
    assert (sealed.seal()[0] == model, sealed.seal()[1] == tokenizer) == (False, True)


def test_check_refuses_a_file_that_is_gone_or_changed(sealed):
    """Same length, other bytes: the hash tells; the error names the file and the remedy."""
    file = sealed.path / "config.json"
    file.write_text(file.read_text().upper())
    with pytest.raises(ModelError, match=r"config\.json is damaged.*models add PATH --name mine"):
        sealed.check()
    file.unlink()
    with pytest.raises(ModelNotFoundError, match=r"config\.json is missing.*Remedy"):
        sealed.check()
    assert sealed.intact_card() is None


def test_check_compares_only_the_size_of_large_files(sealed, monkeypatch):
    """A gigabyte is not hashed at every opening."""
    monkeypatch.setattr("kgrag.embedding.model_folder._QUICK_BYTES", 60)
    file = sealed.path / "model.safetensors"
    file.write_text(file.read_text().upper())
    sealed.check()
    file.write_text(file.read_text()[1:])
    with pytest.raises(ModelError, match="is damaged"):
        sealed.check()


@pytest.mark.parametrize("text", ["{}", "[1]", '{"a": 1}'])
def test_check_refuses_another_models_list(sealed, text):
    """The card and the list of files belong together."""
    (sealed.path / "files.json").write_text(text)
    with pytest.raises(ModelError, match=r"files\.json.*Remedy"):
        sealed.check()


# Where the user's own models are, before any fixture points elsewhere.
REAL = models_folder() / "bge-small-zh"


def change(folder: Path, **changes: Any) -> Path:
    """Rewrite the card in a folder, with the hashes of the files that are there now."""
    hashes: dict[str, Any] = {
        "model_sha256": file_sha256(folder / MODEL_FILE),
        "tokenizer_sha256": file_sha256(folder / TOKENIZER_FILE),
    }
    ModelFolder(folder).write_card(
        dataclasses.replace(ModelFolder(folder).card(), **hashes, **changes)
    )
    return folder


def unit(*numbers: float) -> list[float]:
    """Return the numbers scaled to length 1."""
    return list(np.array(numbers) / np.linalg.norm(numbers))


def test_embed_pools_by_the_mean_of_all_tokens(tiny_folder):
    """[CLS] a b [SEP] have the states 005, 300, 040, 001: the mean points to (3, 4, 6)."""
    (row,) = LocalEmbedder.from_folder(tiny_folder).embed(["ab"], "passage")

    assert row == pytest.approx(unit(3, 4, 6))
    assert row.dtype == np.float32


def test_embed_puts_the_instruction_before_the_text_of_its_task(tiny_folder):
    """The question `a` is read as `ca`, the passage `a` as `ba`."""
    embedder = LocalEmbedder.from_folder(change(tiny_folder, passage_instruction="b"))

    assert embedder.embed(["a"], "query")[0] == pytest.approx(unit(4, 2, 6))
    assert embedder.embed(["a"], "passage")[0] == pytest.approx(unit(3, 4, 6))


def test_embed_lowers_the_case_when_the_card_says_so(tiny_folder):
    """Without it, a capital letter is an unknown word."""
    plain = LocalEmbedder.from_folder(tiny_folder).embed(["ab", "Ab"], "passage")
    lowered = LocalEmbedder.from_folder(change(tiny_folder, lower_case=True))

    assert not np.allclose(plain[0], plain[1])
    assert (lowered.embed(["Ab"], "passage")[0] == plain[0]).all()


def count(embedder: LocalEmbedder) -> list[int]:
    """Return a list that is given the number of texts of each batch."""
    sizes: list[int] = []
    pooled = embedder._network.pooled

    def counting(batch, task):
        sizes.append(len(batch))
        return pooled(batch, task)

    embedder._network.pooled = counting  # type: ignore[method-assign]
    return sizes


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (("pooler_output", "last_hidden_state"), unit(3, 4, 6)),
        (("last_hidden_state", "sentence_embedding"), unit(3, 4, 6)),
        (("token_embeddings",), unit(3, 4, 6)),
        (("something",), unit(3, 4, 6)),
    ],
)
def test_embed_finds_the_output_that_holds_the_states(tiny_folder, write_model, outputs, expected):
    """The pooler's output, trained for another task, is never taken."""
    write_model(tiny_folder / MODEL_FILE, outputs=outputs)

    (row,) = LocalEmbedder.from_folder(change(tiny_folder)).embed(["ab"], "passage")

    assert row == pytest.approx(expected)


@pytest.mark.parametrize(
    ("precision", "expected"), [("float32", [1, 3, 1]), ("int8", [1] * 5), ("", [1] * 5)]
)
def test_embed_batches_short_texts_of_a_float32_model_only(tiny_folder, precision, expected):
    """Equal lengths together; a quantised model would give each the scale of all."""
    embedder = LocalEmbedder.from_folder(change(tiny_folder, precision=precision), threads=1)
    sizes = count(embedder)
    rows = embedder.embed(["ab", "b", "ba", "bb", "aaaa", "ab"], "passage")

    assert sizes == expected
    assert rows[2] == pytest.approx(unit(3, 4, 6))
    assert rows[4] == pytest.approx(unit(12, 0, 6))


def test_from_folder_finds_the_weights_beside_the_model(tiny_folder, write_model):
    """And says so where they are cut short; that they are there is not enough."""
    write_model(tiny_folder / MODEL_FILE, weights="model.onnx_data")
    embedder = LocalEmbedder.from_folder(change(tiny_folder))
    assert embedder.embed(["ab"], "passage")[0] == pytest.approx(unit(3, 4, 6))

    data = (tiny_folder / "model.onnx_data").read_bytes()
    (tiny_folder / "model.onnx_data").write_bytes(data[:5])
    with pytest.raises(ModelError, match="cannot load the model"):
        LocalEmbedder.from_folder(tiny_folder)


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_from_folder_names_the_remedy_when_a_file_is_missing(tiny_folder, name):
    """A missing file is a model that is not there."""
    (tiny_folder / name).unlink()

    with pytest.raises(ModelNotFoundError, match="Remedy: kgrag models"):
        LocalEmbedder.from_folder(tiny_folder)


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_from_folder_refuses_a_file_that_has_changed(tiny_folder, name):
    """One byte more and it is not the model that the card describes."""
    path = tiny_folder / name
    path.write_bytes(path.read_bytes() + b" ")

    with pytest.raises(ModelError, match="is damaged"):
        LocalEmbedder.from_folder(tiny_folder)


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_from_folder_maps_the_libraries_complaints(tiny_folder, name):
    """Files that are not a model at all are errors of ours."""
    (tiny_folder / name).write_bytes(b"<html>not found</html>")

    with pytest.raises(ModelError, match=r"cannot load the (model|tokenizer)"):
        LocalEmbedder.from_folder(change(tiny_folder))


def test_embed_refuses_vectors_without_direction(tiny_folder, write_model):
    """A model that gives zeros or infinities is broken; that must not enter a store."""
    for value in (0.0, float("inf"), float("nan")):
        write_model(tiny_folder / MODEL_FILE, states=[[value] * 3] * 9)
        embedder = LocalEmbedder.from_folder(change(tiny_folder))

        with pytest.raises(ModelError, match="vector of length"):
            embedder.embed(["a", "b"], "passage")


needs_real = pytest.mark.skipif(
    not (REAL / MODEL_FILE).is_file(), reason="bge-small-zh is not installed"
)


@pytest.mark.model
@needs_real
def test_real_model_gives_the_same_bytes_whatever_the_company():
    """An int8 batch would scale its rows together; here every row is that of the text alone."""
    embedder = LocalEmbedder.from_folder(REAL, threads=2)
    texts = ["绿色工厂" * n for n in (1, 3, 9, 30)] + ["到2025年，PUE低于1.3。", "污水治理"]
    rows = embedder.embed(texts, "passage")
    single = LocalEmbedder.from_folder(REAL, threads=1).embed(texts[::-1], "passage")[::-1]

    assert rows.tobytes() == single.tobytes()
    for text, row in zip(texts, rows, strict=True):
        assert row.tobytes() == embedder.embed([text], "passage").tobytes()


@pytest.mark.model
@needs_real
def test_real_model_may_be_used_from_several_threads():
    """Calls at the same time do not disturb each other."""
    embedder = LocalEmbedder.from_folder(REAL, threads=2)
    texts = [f"第{n}条 绿色工厂" for n in range(6)]
    expected = embedder.embed(texts, "passage").tobytes()

    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: embedder.embed(texts, "passage").tobytes(), range(8))

    assert set(results) == {expected}


@pytest.mark.model
@needs_real
def test_real_model_ranks_an_answer_in_other_words_first():
    """It knows that 脏水 and 污水 go together; letters of either case agree."""
    embedder = LocalEmbedder.from_folder(REAL)
    passages = embedder.embed(
        ["开展公共领域车辆电动化试点", "农村生活污水处理设施", "PUE低于1.3", "pue低于1.3"],
        "passage",
    )
    (question,) = embedder.embed(["村里的脏水谁来管？"], "query")

    assert passages.shape == (4, 512)
    assert (passages @ question).argmax() == 1
    assert passages[2].tobytes() == passages[3].tobytes()


WORDS, POSITIONS, TYPES = (np.random.default_rng(n).normal(size=(16, 4)) for n in range(3))
FAMILIES = {
    "bert": ("input_ids", "attention_mask", "token_type_ids"),
    "xlm-roberta": ("input_ids", "attention_mask"),
    "modernbert": ("attention_mask", "input_ids"),
    "gpt": ("input_ids", "attention_mask", "position_ids", "past_key_values.0.key"),
    "bare": ("input_ids",),
}
IDS = [[1, 5, 7, 2], [1, 6, 5, 2]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shape:
    """How a graph is built."""

    inputs: tuple[str, ...]
    ids: str = "INT64"
    states: str = "FLOAT"
    output: str = "last_hidden_state"
    is_shape_known: bool = True


def write_graph(folder: Path, shape: Shape) -> None:
    """Write a graph that adds up the states of words, positions, types, masked and past."""
    onnx = pytest.importorskip("onnx", reason="graphs are made with the onnx package")
    helper, kinds = onnx.helper, onnx.TensorProto
    tables = {"input_ids": WORDS, "position_ids": POSITIONS, "token_type_ids": TYPES}
    nodes, weights, parts, inputs = [], [], [], []
    for name in shape.inputs:
        if name.startswith("past"):
            inputs.append(helper.make_tensor_value_info(name, kinds.FLOAT, ["n", 2, "past", 4]))
            nodes.append(helper.make_node("ReduceSum", [name, "axes"], ["past"], keepdims=0))
            nodes.append(helper.make_node("Unsqueeze", ["past", "one"], ["part past"]))  # zero
            parts.append("part past")
            continue
        inputs.append(helper.make_tensor_value_info(name, getattr(kinds, shape.ids), ["n", "t"]))
        if name in tables:
            table = tables[name].astype(np.float32)
            weights.append(onnx.numpy_helper.from_array(table, f"table {name}"))
            nodes.append(helper.make_node("Gather", [f"table {name}", name], [f"part {name}"]))
            parts.append(f"part {name}")
    total = parts[0]
    for part in parts[1:]:
        nodes.append(helper.make_node("Add", [total, part], [f"{total}+"]))
        total = f"{total}+"
    if "attention_mask" in shape.inputs:
        nodes.append(helper.make_node("Cast", ["attention_mask"], ["mask"], to=kinds.FLOAT))
        nodes.append(helper.make_node("Unsqueeze", ["mask", "two"], ["mask of states"]))
        nodes.append(helper.make_node("Mul", [total, "mask of states"], ["masked"]))
        total = "masked"
    to = getattr(kinds, shape.states)
    nodes.append(helper.make_node("Cast", [total], [shape.output], to=to))
    for name, values in (("one", [1]), ("two", [2]), ("axes", [1, 2])):
        weights.append(onnx.numpy_helper.from_array(np.array(values, np.int64), name))
    dimensions = ["n", "t", 4] if shape.is_shape_known else None
    outputs = [helper.make_tensor_value_info(shape.output, to, dimensions)]
    graph = helper.make_graph(nodes, "family", inputs, outputs, weights)
    opset = helper.make_opsetid("", 13)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    onnx.save(model, str(folder / MODEL_FILE))


def network(folder: Path, pooling: Pooling) -> OnnxNetwork:
    """Return the network in a folder."""
    return OnnxNetwork.from_folder(folder, ModelCard(name="m", dimension=4, pooling=pooling))


def expected_states(shape: Shape) -> np.ndarray:
    """Return the states of IDS, reckoned with numpy."""
    states: np.ndarray = WORDS[np.array(IDS)]
    if "position_ids" in shape.inputs:
        states = states + POSITIONS[: len(IDS[0])]
    if "token_type_ids" in shape.inputs:
        states = states + TYPES[0]
    return states


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
@pytest.mark.parametrize("family", FAMILIES)
def test_pooled_of_every_family_and_pooling(tmp_path, family, pooling):
    """Mask of ones, types of zero, positions from zero, no past; first, mean or last state."""
    shape = Shape(inputs=FAMILIES[family])
    write_graph(tmp_path, shape)
    states = expected_states(shape)
    pooled = {"cls": states[:, 0], "mean": states.mean(axis=1), "last": states[:, -1]}

    vectors = network(tmp_path, pooling).pooled(IDS, "query")

    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(pooled[pooling], abs=1e-6)


@pytest.mark.parametrize(
    ("shape", "tolerance"),
    [
        (Shape(inputs=FAMILIES["bert"], ids="INT32"), 1e-6),
        (Shape(inputs=FAMILIES["bert"], states="FLOAT16"), 1e-2),
        (Shape(inputs=FAMILIES["bert"], output="something"), 1e-6),
        (Shape(inputs=FAMILIES["bert"], output="something", is_shape_known=False), 1e-6),
    ],
)
def test_pooled_of_graphs_with_other_types_and_names(tmp_path, shape, tolerance):
    """Short integers in, half precision out, an output of any name, its shape left open."""
    write_graph(tmp_path, shape)
    vectors = network(tmp_path, "mean").pooled(IDS, "query")

    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected_states(shape).mean(axis=1), abs=tolerance)


@pytest.mark.parametrize("output", ["logits", "start_logits"])
def test_from_folder_refuses_scores_of_a_head_for_another_task(tmp_path, output):
    """A language model gives a score for each word at each place: not the states of tokens."""
    write_graph(tmp_path, Shape(inputs=FAMILIES["bert"], output=output))

    with pytest.raises(ModelError, match=f"gives {output}: scores .* Remedy: export the encoder"):
        network(tmp_path, "mean")


def test_pooled_maps_what_the_library_raises(tmp_path):
    """A token without a state fails in the graph, texts of two lengths before it."""
    write_graph(tmp_path, Shape(inputs=FAMILIES["bare"]))
    graph = network(tmp_path, "cls")

    for wrong in ([[1, 99]], [[1, 2], [1]]):
        with pytest.raises(ModelError, match="the model failed on a text of 2 tokens"):
            graph.pooled(wrong, "query")


onnx = pytest.importorskip("onnx", reason="graphs are made with the onnx package")


def write(path, weights, *, operators=("Identity",), branch=()):
    """Write a graph with weights and operators that need not make sense."""
    helper = onnx.helper
    nodes = [helper.make_node(name, ["x"], [f"y{i}"]) for i, name in enumerate(operators)]
    if branch:
        inner = helper.make_graph([], "inner", [], [], list(branch))
        nodes.append(helper.make_node("If", ["x"], ["z"], then_branch=inner))
    graph = helper.make_graph(nodes, "g", [], [], list(weights))
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


def tensor(kind, *shape):
    """Return weights of a type."""
    return onnx.numpy_helper.from_array(np.zeros(shape, kind), "w")


def beside(location):
    """Return weights that lie in another file."""
    weights = tensor(np.float32, 2, 3)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value=location)
    return weights


@pytest.mark.parametrize(
    ("weights", "operators", "precision"),
    [
        ([tensor(np.float32, 9, 9), tensor(np.int64, 99, 99)], ["MatMul"], "float32"),
        ([tensor(np.float16, 9, 9), tensor(np.float32, 2)], ["MatMul"], "float16"),
        ([tensor(np.float32, 9, 9)], ["DynamicQuantizeLinear", "MatMulInteger"], "int8"),
        ([tensor(np.uint8, 9, 9)], ["MatMulNBits"], "int4"),
        ([tensor(np.int8, 9, 9), tensor(np.float32, 9)], ["DequantizeLinear"], "int8"),
        ([], ["Identity"], ""),
    ],
)
def test_precision_is_that_of_the_arithmetic_or_of_most_weights(
    tmp_path, weights, operators, precision
):
    """Whole numbers in an operator decide; lists of places count for nothing."""
    assert (
        read_onnx_file(write(tmp_path / "a", weights, operators=operators)).precision == precision
    )


@pytest.mark.parametrize("location", ["../x", "/etc/passwd", "a/b", "..", "", "a\\b"])
def test_weights_elsewhere_are_refused(tmp_path, location):
    """A model may not name files outside of its folder."""
    with pytest.raises(ModelError, match="not a file beside it"):
        read_onnx_file(write(tmp_path / "a", [beside(location)]))


def test_a_file_that_is_cut_short_is_refused_wherever_it_ends(tmp_path):
    """At every byte: nothing else than our error comes of it."""
    whole = write(tmp_path / "a", [tensor(np.float32, 4)]).read_bytes()
    graph = whole.rindex(b"\x42")  # behind it only the version of the operators
    for end in range(graph):
        (tmp_path / "a").write_bytes(whole[:end])
        with pytest.raises(ModelError, match="not an ONNX file"):
            read_onnx_file(tmp_path / "a")


@pytest.mark.parametrize(
    "content", [b"<html>404</html>", b"\x89PNG\r\n\x1a\n", b"\xff" * 99, b"{}"]
)
def test_other_files_are_refused(tmp_path, content):
    """What a server sent in place of the file."""
    (tmp_path / "a").write_bytes(content)

    with pytest.raises(ModelError, match=r"not an ONNX file.*Remedy: download it again"):
        read_onnx_file(tmp_path / "a")


def test_absurd_dimensions_are_refused(tmp_path):
    """The product of a million numbers would take hours."""
    for sizes in ([1 << 41], [1] * 40):
        weights = onnx.TensorProto(dims=sizes, data_type=1)
        with pytest.raises(ModelError, match="more numbers than a model has"):
            read_onnx_file(write(tmp_path / "a", [weights]))


def test_a_file_beyond_what_a_protocol_buffer_holds_is_refused(tmp_path):
    """It is not read."""
    with (tmp_path / "a").open("wb") as file:
        file.truncate(1 << 31)
    with pytest.raises(ModelError, match="less than 2 GB"):
        read_onnx_file(tmp_path / "a")


@pytest.mark.parametrize(
    ("offered", "precision", "first"),
    [
        (["CUDAExecutionProvider", "CPUExecutionProvider"], "float32", "CUDAExecutionProvider"),
        (["CUDAExecutionProvider", "CPUExecutionProvider"], "int8", "CPUExecutionProvider"),
        (["AzureExecutionProvider", "CPUExecutionProvider"], "float32", "CPUExecutionProvider"),
    ],
)
def test_gpu_runs_models_of_floats_where_there_is_one(
    monkeypatch, tiny_files, offered, precision, first
):
    """Models of integers stay on the processor, which stands behind the GPU for the rest."""
    asked: list[Any] = []
    session = onnxruntime.InferenceSession

    def recorded(file, options, providers):
        asked.extend(providers)
        return session(file, options, providers=["CPUExecutionProvider"])

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: offered)
    monkeypatch.setattr(onnxruntime, "InferenceSession", recorded)
    card = ModelCard(name="m", dimension=3, precision=precision)
    OnnxNetwork.from_folder(tiny_files, card)
    names = [one if isinstance(one, str) else one[0] for one in asked]
    assert names == list(dict.fromkeys([first, "CPUExecutionProvider"]))
