"""Models in ONNX format, run by onnxruntime, and metadata of their files."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from kgrag.embedding.catalog import ModelCard, Pooling, remedy
from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.model_folder import MODEL_FILE
from kgrag.errors import ModelError

_Ids = NDArray[np.int64]
_Feed = dict[str, NDArray[np.generic]]
_Inputs = Mapping[str, onnxruntime.NodeArg]

# Inputs of a graph, computed from token ids without padding.
_INPUTS: Mapping[str, Callable[[_Ids], _Ids]] = {
    "input_ids": lambda ids: ids,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
    "position_ids": lambda ids: np.zeros_like(ids) + np.arange(ids.shape[1]),
}
_PAST = "past_key_values."  # of decoders, fed empty
_TYPES: Mapping[str, type[np.generic]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}
# `pooler_output` is left out: it is trained for another task.
_POOLED = "sentence_embedding"
_SCORES = "logits"  # in the name of outputs of other tasks
_STATES = ("last_hidden_state", "token_embeddings")
_POOL: Mapping[Pooling, Callable[[Vectors], Vectors]] = {
    "cls": lambda states: states[:, 0],
    "mean": lambda states: states.mean(axis=1, dtype=np.float32),
    "last": lambda states: states[:, -1],
}
# Maximum tokens of a batch of short texts of equal length (benchmarks/decisions.md).
_BATCH_TOKENS = 256
_CPU = "CPUExecutionProvider"
_GPU = "CUDAExecutionProvider"

# The fields read from an ONNX file, with their numbers and kinds;
# https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
_MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "Model": {"graph": (7, "Graph")},
    "Graph": {"node": (1, "Node"), "tensor": (5, "Tensor")},
    "Node": {"operator": (4, "string"), "attribute": (5, "Attribute")},
    "Attribute": {"tensor": (5, "Tensor"), "graph": (6, "Graph")},
    "Tensor": {"sizes": (1, "int64"), "type": (2, "int32"), "beside": (13, "Entry")},
    "Entry": {"key": (1, "string"), "value": (2, "string")},
}
# Operators of quantised models, whatever type most of the weights have.
_QUANTISED = {
    "MatMulNBits": "int4",
    "DynamicQuantizeLinear": "int8",
    "DynamicQuantizeMatMul": "int8",
    "MatMulInteger": "int8",
    "MatMulIntegerToFloat": "int8",
    "QAttention": "int8",
    "QLinearMatMul": "int8",
    "QuantizeLinear": "int8",
}
# TensorProto.DataType
_WEIGHT_TYPES = {1: "float32", 2: "uint8", 3: "int8", 10: "float16", 11: "float64", 16: "bfloat16"}
_MOST_SIZES = 32  # of a tensor's dimensions
_MOST_ELEMENTS = 1 << 40  # numbers of a tensor
_MOST_BYTES = 1 << 31  # of a protocol buffer; larger models have external weights


class OnnxNetwork:
    """A loaded graph; any thread may run it, and each run uses one thread, or the GPU.

    Texts of a quantised model are encoded one by one: a batch would be scaled together, so that a
    text's vector would depend on its neighbours (cosine down to 0.99); alone, the same text gives
    the same bytes in every call. Short texts of a float32 model with equally many tokens are
    batched; their vectors are the same in any batch to 1e-6 in each component. There is no padding:
    graphs need no mask.
    """

    pads = False

    def __init__(self, session: onnxruntime.InferenceSession, card: ModelCard) -> None:
        self._session = session
        self._pooling = card.pooling
        self._inputs = _inputs_of(session)
        self._output = _output(session)
        self.batch_tokens = _BATCH_TOKENS if card.precision == "float32" else 1

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard) -> "OnnxNetwork":
        """Load a folder's `model.onnx`, on a GPU if there is one for it.

        Raises:
            ModelError: If it cannot be loaded, or is not a text encoder.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the callers' threads use the cores
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors arrive as exceptions
        file, providers = str(folder / MODEL_FILE), _providers(card.precision)
        try:
            session = onnxruntime.InferenceSession(file, options, providers=providers)
        except Exception as exc:  # the library raises subclasses of Exception only
            raise ModelError(
                f"cannot load the model in {folder}: {_on_a_line(exc)}. {remedy(folder.name)}"
            ) from exc
        return cls(session, card)

    def pooled(self, batch: Sequence[Sequence[int]], task: Task) -> Vectors:
        """Return `float32[len(batch), dimension]`, not normalised; texts are of one length."""
        found = self._run(self._output, batch)
        return _POOL[self._pooling](found) if found.ndim == 3 else found

    def _run(self, output: str, ids: Sequence[Sequence[int]]) -> Vectors:
        try:
            (found,) = self._session.run([output], _feed_for(self._inputs, ids))
            return np.asarray(found, np.float32)
        # the library raises subclasses of Exception only, numpy errors of shapes
        except Exception as exc:
            raise ModelError(
                f"the model failed on a text of {len(ids[0])} tokens: {_on_a_line(exc)}"
            ) from exc


def _providers(precision: str) -> list[str | tuple[str, dict[str, str]]]:
    """Return what runs a model: the GPU, if onnxruntime offers one, and else the processor.

    Models of integers stay on the processor: CUDA has no kernel for `DynamicQuantizeLinear`, so
    that each layer would travel there and back. Without TF32, float32 is float32.
    """
    if precision.startswith("int") or _GPU not in onnxruntime.get_available_providers():
        return [_CPU]
    return [(_GPU, {"use_tf32": "0"}), _CPU]


def _inputs_of(session: onnxruntime.InferenceSession) -> _Inputs:
    """Return the inputs of a graph, by name; ModelError if it is not a text model."""
    inputs = {node.name: node for node in session.get_inputs()}
    unknown = [name for name in inputs if name not in _INPUTS and not name.startswith(_PAST)]
    if unknown or "input_ids" not in inputs:
        raise ModelError(
            f"the model is not a text encoder: it asks for {', '.join(inputs)}; known "
            f"are {', '.join(_INPUTS)}. Remedy: export it as a text encoder"
        )
    return inputs


def _feed_for(inputs: _Inputs, ids: Sequence[Sequence[int]]) -> _Feed:
    """Return the inputs of a graph, by name, for the token ids of texts of one length."""
    table = np.array(ids, np.int64)
    fed: _Feed = {}
    for name, node in inputs.items():
        kind = _TYPES[node.type]
        if name in _INPUTS:
            fed[name] = _INPUTS[name](table).astype(kind, copy=False)
        else:  # [texts, heads, tokens before, size of a head]
            fed[name] = np.zeros((len(table), node.shape[1], 0, node.shape[3]), kind)
    return fed


def _on_a_line(exc: Exception) -> str:
    """Return an error message of the library, often many lines, as a short one."""
    line = " ".join(str(exc).split())
    return line if len(line) <= 240 else f"{line[:160]} … {line[-60:]}"


def _output(session: onnxruntime.InferenceSession) -> str:
    """Return the output with vectors, or else with token states.

    Raises:
        ModelError: If all outputs are scores, of words or classes.
    """
    outputs = {node.name: len(node.shape or ()) for node in session.get_outputs()}
    ranks = {name: rank for name, rank in outputs.items() if _SCORES not in name.casefold()}
    if not ranks:
        raise ModelError(
            f"the model gives {', '.join(outputs)}: scores of words or classes, not vectors. "
            "Remedy: export the encoder without its head (optimum-cli export onnx --task "
            "feature-extraction), or choose an encoder"
        )
    states = [*(name for name in _STATES if name in ranks), *(n for n in ranks if ranks[n] == 3)]
    # 0 is an unknown rank
    vectors = [*states, *(name for rank in (2, 0) for name in ranks if ranks[name] == rank)]
    if not vectors:
        raise ModelError(
            "the model has no output that could be vectors; seen, with the number of their "
            f"dimensions: {ranks}. Remedy: export it as a text encoder"
        )
    return _POOLED if _POOLED in ranks else vectors[0]


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """Metadata of an ONNX file that onnxruntime does not expose."""

    precision: str  # `int8` or `int4` if quantised, else of most weights; empty without any
    weights: tuple[str, ...]  # names of its files of external weights, ordered


def read_onnx_file(path: Path) -> OnnxFile:
    """Read the metadata of an ONNX file.

    Raises:
        ModelError: If it is not a complete ONNX file, or its weights are in another folder.
    """
    from google.protobuf.message import DecodeError  # onnxruntime brings it

    size = path.stat().st_size
    try:
        if size >= _MOST_BYTES:
            raise ValueError("a protocol buffer has less than 2 GB")
        found = _read(_message("Model").FromString(path.read_bytes()))
    except (OSError, ValueError, DecodeError) as exc:
        raise ModelError(
            f"{path} is not an ONNX file, or not a whole one ({size} bytes): {exc}. "
            "Remedy: download it again (git lfs pull, where it was cloned)"
        ) from exc
    for name in found.weights:
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name:
            raise ModelError(f"{path} wants weights from {name!r}, which is not a file beside it")
    return found


@cache
def _message(name: str) -> Any:
    """Return the class of a message of `_MESSAGES`; all its fields are lists."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="onnx", package="onnx")
    for message, fields in _MESSAGES.items():
        made = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            own = made.field.add(name=field, number=number, label=kinds.LABEL_REPEATED)
            if kind in _MESSAGES:
                own.type, own.type_name = kinds.TYPE_MESSAGE, f".onnx.{kind}"
            else:
                own.type = kinds.Type.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"onnx.{name}"))


def _read(model: Any) -> OnnxFile:
    operators: set[str] = set()
    elements: Counter[str] = Counter()  # by type
    weights: set[str] = set()
    graphs, tensors = [*model.graph], []
    for graph in graphs:  # grows by the graphs of branches
        tensors += graph.tensor
        for node in graph.node:
            operators.update(node.operator)
            for attribute in node.attribute:
                tensors += attribute.tensor
                graphs += attribute.graph
    if not operators:
        raise ValueError("it has no graph")
    for tensor in tensors:
        if len(tensor.sizes) > _MOST_SIZES or math.prod(tensor.sizes) > _MOST_ELEMENTS:
            raise ValueError("a tensor of more numbers than a model has")
        for kind in filter(None, map(_WEIGHT_TYPES.get, tensor.type)):
            elements[kind] += math.prod(tensor.sizes)
        for entry in tensor.beside:
            weights.update(entry.value if "location" in entry.key else ())
    quantised = {_QUANTISED[name] for name in operators & _QUANTISED.keys()}
    most = [kind for kind, _ in elements.most_common(1)]
    return OnnxFile(min(quantised, default="".join(most)), tuple(sorted(weights)))
