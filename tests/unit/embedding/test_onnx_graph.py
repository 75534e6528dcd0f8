"""Graphs of every family: what they ask for, what they give, how it becomes a vector."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from kgrag.embedding.installed import MODEL_FILE
from kgrag.embedding.onnx_graph import OnnxGraph
from kgrag.errors import ModelError

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
def test_vectors_of_every_family_and_pooling(tmp_path, family, pooling):
    """Mask of ones, types of zero, positions from zero, no past; first, mean or last state."""
    shape = Shape(inputs=FAMILIES[family])
    write_graph(tmp_path, shape)
    states = expected_states(shape)
    pooled = {"cls": states[:, 0], "mean": states.mean(axis=1), "last": states[:, -1]}

    vectors = OnnxGraph.from_folder(tmp_path, pooling=pooling).vectors(IDS)

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
def test_vectors_of_graphs_with_other_types_and_names(tmp_path, shape, tolerance):
    """Short integers in, half precision out, an output of any name, its shape left open."""
    write_graph(tmp_path, shape)
    vectors = OnnxGraph.from_folder(tmp_path, pooling="mean").vectors(IDS)

    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected_states(shape).mean(axis=1), abs=tolerance)


def test_states_are_those_of_each_token(tmp_path):
    """Special ones as well; who asks knows which they are."""
    shape = Shape(inputs=FAMILIES["xlm-roberta"])
    write_graph(tmp_path, shape)
    graph = OnnxGraph.from_folder(tmp_path, pooling="cls")

    assert graph.has_states
    assert graph.states(IDS[0]) == pytest.approx(expected_states(shape)[0], abs=1e-6)


def test_from_folder_refuses_what_is_no_text_encoder(tmp_path):
    """An image model asks for pixels; the text names what it asks for."""
    write_graph(tmp_path, Shape(inputs=("input_ids", "pixel_values")))

    with pytest.raises(ModelError, match="not a text encoder: it asks for input_ids, pixel_values"):
        OnnxGraph.from_folder(tmp_path, pooling="cls")


@pytest.mark.parametrize("output", ["logits", "start_logits"])
def test_from_folder_refuses_scores_of_a_head_for_another_task(tmp_path, output):
    """A language model gives a score for each word at each place: not the states of tokens."""
    write_graph(tmp_path, Shape(inputs=FAMILIES["bert"], output=output))

    with pytest.raises(ModelError, match=f"gives {output}: scores .* Remedy: export the encoder"):
        OnnxGraph.from_folder(tmp_path, pooling="mean")


def test_vectors_map_what_the_library_raises(tmp_path):
    """A token without a state fails in the graph, texts of two lengths before it."""
    write_graph(tmp_path, Shape(inputs=FAMILIES["bare"]))
    graph = OnnxGraph.from_folder(tmp_path, pooling="cls")

    for wrong in ([[1, 99]], [[1, 2], [1]]):
        with pytest.raises(ModelError, match="the model failed on a text of 2 tokens"):
            graph.vectors(wrong)
