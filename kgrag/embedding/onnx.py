"""Networks in ONNX format, run by onnxruntime: vectors, token states or scores of pairs out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

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

# What a graph may ask for, made from token ids without padding.
_INPUTS: Mapping[str, Callable[[_Ids], _Ids]] = {
    "input_ids": lambda ids: ids,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
    "position_ids": lambda ids: np.zeros_like(ids) + np.arange(ids.shape[1]),
}
_PAST = "past_key_values."  # what a decoder has read before: nothing
_TYPES: Mapping[str, type[np.generic]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}
# `pooler_output` is left out: it is trained for another task.
_POOLED = "sentence_embedding"
_SCORES = "logits"  # in the name of what a head for another task gives
_STATES = ("last_hidden_state", "token_embeddings")
_POOL: Mapping[Pooling, Callable[[Vectors], Vectors]] = {
    "cls": lambda states: states[:, 0],
    "mean": lambda states: states.mean(axis=1, dtype=np.float32),
    "last": lambda states: states[:, -1],
}
# Short texts of equal length are encoded together, up to so many tokens (benchmarks/decisions.md).
_BATCH_TOKENS = 256


class OnnxNetwork:
    """A graph in memory; any thread may run it, and each run uses one.

    Texts of a quantised model go one by one: a batch would scale all its rows together, so that
    a text's vector would depend on its neighbours (cosine down to 0.99); alone, the same text
    gives the same bytes in every call. Texts of a float32 model that have equally many tokens go
    together while they are short; their vectors are the same in any company to 1e-6 in each
    component. Nothing is padded: graphs need not know a mask.

    Attributes:
        batch_tokens: Tokens that a batch should not exceed.
        pads: False.
    """

    pads = False

    def __init__(self, session: onnxruntime.InferenceSession, card: ModelCard) -> None:
        self._session = session
        self._pooling = card.pooling
        self._inputs = _inputs(session)
        ranks = _ranks(session)
        self._states = _states(ranks)
        self._output = _POOLED if _POOLED in ranks else self._states or _vector(ranks)
        self.batch_tokens = _BATCH_TOKENS if card.precision == "float32" else 1

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard) -> "OnnxNetwork":
        """Return the network in a folder's `model.onnx`.

        Raises:
            ModelError: If it cannot be loaded, or is not that of a text encoder.
        """
        what, todo = f"the model in {folder}", f". {remedy(folder.name)}"
        return cls(_session(folder / MODEL_FILE, what, todo), card)

    def pooled(self, batch: Sequence[Sequence[int]], task: Task) -> Vectors:
        """Return `float32[len(batch), dimension]`, not normalised.

        Args:
            batch: Token ids of one or more texts, all of one length.
            task: Makes no difference.

        Raises:
            ModelError: If the graph fails.
        """
        found = self._run(self._output, batch)
        return _POOL[self._pooling](found) if found.ndim == 3 else found

    def states(self, batch: Sequence[Sequence[int]], task: Task) -> list[Vectors]:
        """Return for each text `float32[its tokens, dimension]`: the state of every token.

        Raises:
            ModelError: If the graph fails, or gives vectors of texts only.
        """
        if self._states is None:
            raise ModelError(
                "the model gives vectors of whole texts, not the states of tokens that late "
                'chunking needs. Remedy: late_chunking = "off", or another model'
            )
        return list(self._run(self._states, batch))

    def _run(self, output: str, ids: Sequence[Sequence[int]]) -> Vectors:
        try:
            (found,) = self._session.run([output], _feed(self._inputs, ids))
            return np.asarray(found, np.float32)
        # the library raises bare Exceptions of its own making, numpy complains about odd shapes
        except Exception as exc:
            raise ModelError(
                f"the model failed on a text of {len(ids[0])} tokens: {_line(exc)}"
            ) from exc


class PairNetwork:
    """The graph of a cross-encoder in memory; any thread may run it, and each run uses one."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session
        self._inputs = _inputs(session)
        outputs = [node.name for node in session.get_outputs()]
        self._output = next((o for o in outputs if _SCORES in o.casefold()), outputs[0])

    @classmethod
    def from_file(cls, model: Path) -> "PairNetwork":
        """Return the network in a file.

        Raises:
            ModelError: If it cannot be loaded, or does not read texts.
        """
        return cls(_session(model, f"the model {model}", ""))

    def logit(self, ids: Sequence[int], types: Sequence[int]) -> float:
        """Return how well a passage answers a question, unbounded.

        Args:
            ids: Token ids of both, special tokens included.
            types: Of each token whether it is the question's (0) or the passage's (1), where
                the model tells them apart.

        Raises:
            ModelError: If the graph fails, or gives anything but one finite number.
        """
        try:
            fed = _feed(self._inputs, [ids])
            if (own := fed.get("token_type_ids")) is not None:
                own[0] = types
            found = np.asarray(self._session.run([self._output], fed)[0], np.float32)
        except Exception as exc:  # as above
            raise ModelError(
                f"the model failed on a pair of {len(ids)} tokens: {_line(exc)}"
            ) from exc
        if found.size != 1 or not np.isfinite(found).all():
            raise ModelError(
                f"the model gives no score, but an output of shape {found.shape} for one pair. "
                "Remedy: a cross-encoder with one label (optimum-cli export onnx --task "
                "text-classification)"
            )
        return float(found.item())


def _session(model: Path, what: str, todo: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the callers' threads use the cores
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what matters arrives as exceptions
    providers = ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=providers)
    except Exception as exc:  # as above
        raise ModelError(f"cannot load {what}: {_line(exc)}{todo}") from exc


def _inputs(session: onnxruntime.InferenceSession) -> _Inputs:
    """Return what a graph asks for, by name.

    Raises:
        ModelError: If it is not that of a model that reads texts.
    """
    inputs = {node.name: node for node in session.get_inputs()}
    unknown = [name for name in inputs if name not in _INPUTS and not name.startswith(_PAST)]
    if unknown or "input_ids" not in inputs:
        raise ModelError(
            f"the model is not a text encoder: it asks for {', '.join(inputs)}; known "
            f"are {', '.join(_INPUTS)}. Remedy: export it as a text encoder"
        )
    return inputs


def _feed(inputs: _Inputs, ids: Sequence[Sequence[int]]) -> _Feed:
    table = np.array(ids, np.int64)
    fed: _Feed = {}
    for name, node in inputs.items():
        kind = _TYPES[node.type]
        if name in _INPUTS:
            fed[name] = _INPUTS[name](table).astype(kind, copy=False)
        else:  # [texts, heads, tokens before, size of a head]
            fed[name] = np.zeros((len(table), node.shape[1], 0, node.shape[3]), kind)
    return fed


def _line(exc: Exception) -> str:
    """Return what the library says, often many lines, as a short one."""
    line = " ".join(str(exc).split())
    return line if len(line) <= 240 else f"{line[:160]} … {line[-60:]}"


def _ranks(session: onnxruntime.InferenceSession) -> dict[str, int]:
    """Return the outputs that may be vectors with the number of their dimensions.

    Raises:
        ModelError: If all are scores: of the words of a vocabulary, or of classes.
    """
    ranks = {node.name: len(node.shape or ()) for node in session.get_outputs()}
    found = {name: rank for name, rank in ranks.items() if _SCORES not in name.casefold()}
    if not found:
        raise ModelError(
            f"the model gives {', '.join(ranks)}: scores of words or classes, not vectors. Remedy: "
            "export the encoder without its head (optimum-cli export onnx --task "
            "feature-extraction), or choose an encoder"
        )
    return found


def _states(ranks: Mapping[str, int]) -> str | None:
    """Return the output with a state for each token."""
    named = [name for name in _STATES if name in ranks]
    return next(iter([*named, *(name for name, rank in ranks.items() if rank == 3)]), None)


def _vector(ranks: Mapping[str, int]) -> str:
    """Return the output with a vector for each text; 0 is a rank that the graph leaves open."""
    found = [name for rank in (2, 0) for name in ranks if ranks[name] == rank]
    if not found:
        raise ModelError(
            f"the model has no output that could be vectors; seen, with the number of their "
            f"dimensions: {dict(ranks)}. Remedy: export it as a text encoder"
        )
    return found[0]
