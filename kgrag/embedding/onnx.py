"""Encoders in ONNX format, run by onnxruntime on the processor."""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kgrag.embedding.cache import MODEL_FILE, TOKENIZER_FILE, file_sha256, read_card
from kgrag.embedding.card import ModelCard, Pooling
from kgrag.embedding.catalog import remedy
from kgrag.embedding.embedder import Task, Vectors
from kgrag.errors import ModelError, ModelNotFoundError

_Vector = NDArray[np.float32]
_Ids = NDArray[np.int64]

# What a graph may ask for, made from the token ids of one text.
_INPUTS: Mapping[str, Callable[[_Ids], _Ids]] = {
    "input_ids": lambda ids: ids,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
    "position_ids": lambda ids: np.arange(ids.shape[1], dtype=np.int64)[np.newaxis],
}
# Best first. `pooler_output` is left out: it is trained for another task.
_OUTPUTS = ("sentence_embedding", "last_hidden_state", "token_embeddings")
_POOL: Mapping[Pooling, Callable[[NDArray[np.float32]], _Vector]] = {
    "cls": lambda states: states[0],
    "mean": lambda states: states.mean(axis=0, dtype=np.float32),
}
# Only the first tokens count, and a word of more than 100 characters is one unknown token, so
# that much text is enough; the rest need not be tokenised.
_CHARACTERS_PER_TOKEN = 100


class OnnxEmbedder:
    """An encoder from a folder of `model.onnx`, `tokenizer.json` and `card.json`.

    Texts are encoded one by one, in as many threads as there are cores. A batch would scale all
    its rows together when it quantises them, so that a text's vector would depend on its
    neighbours (cosine down to 0.99); alone, the same text gives the same bytes in every call.
    It is not slower either: there is no padding, and threads use the cores better than one
    operator split among them. May be called from several threads at once.

    Attributes:
        name: The card's identity: name, hash of the model, hash of the settings.
        dimension: Length of a vector.
        is_stand_in: False.
        languages: As the card says.
        card: How the model is used.
    """

    is_stand_in = False

    def __init__(self, graph: "OnnxGraph", card: ModelCard, *, threads: int) -> None:
        self.name = card.identity
        self.dimension = card.dimension
        self.languages = card.languages
        self.card = card
        self._graph = graph
        self._threads = threads

    @classmethod
    def from_folder(cls, folder: Path, *, threads: int | None = None) -> "OnnxEmbedder":
        """Return the encoder in a folder.

        Args:
            folder: With the three files.
            threads: Texts encoded at once; the cores that this process may use for None.

        Raises:
            ModelNotFoundError: If a file is missing.
            ModelError: If a file is damaged or is not the one that the card describes.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (folder / name).is_file():
                raise ModelNotFoundError(
                    f"the model file {folder / name} is missing. {remedy(folder.name)}"
                )
        card = read_card(folder)
        _check_hash(folder / MODEL_FILE, card.model_sha256, card.name)
        _check_hash(folder / TOKENIZER_FILE, card.tokenizer_sha256, card.name)
        graph = OnnxGraph.from_folder(folder, pooling=card.pooling, max_tokens=card.max_tokens)
        return cls(graph, card, threads=threads or _cores())

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Equal texts are encoded once.

        Raises:
            ModelError: If the model fails or gives vectors of another length.
        """
        distinct = list(dict.fromkeys(texts))
        encode = functools.partial(self._encode, self.card.instruction(task))
        if len(distinct) < 2 or self._threads == 1:
            rows = [encode(text) for text in distinct]
        else:
            with ThreadPoolExecutor(min(self._threads, len(distinct))) as pool:
                rows = list(pool.map(encode, distinct))
        place = {text: row for row, text in enumerate(distinct)}
        table = np.array(rows, np.float32).reshape(len(rows), self.dimension)
        return table[[place[text] for text in texts]]

    def _encode(self, instruction: str, text: str) -> _Vector:
        if self.card.lower_case:
            text = text.lower()  # not NFKC: it would turn Chinese marks into ASCII ones
        if not text.strip():
            return np.zeros(self.dimension, np.float32)
        vector = self._graph.vector(instruction + text)
        if vector.shape != (self.dimension,):
            raise ModelError(
                f"the model {self.name} gives vectors of shape {vector.shape}, its card says "
                f"{self.dimension}. {remedy(self.card.name)}"
            )
        norm = float(np.linalg.norm(vector))
        if not 0 < norm < float("inf"):
            raise ModelError(
                f"the model {self.name} gives a vector of length {norm} for {text[:40]!r}. "
                f"{remedy(self.card.name)}"
            )
        return vector / np.float32(norm)


class OnnxGraph:
    """A loaded graph with its tokenizer: one text in, one pooled vector out, not normalised."""

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        tokenizer: Tokenizer,
        *,
        pooling: Pooling,
        max_tokens: int,
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._inputs = [node.name for node in session.get_inputs()]
        self._output = _choose_output({node.name: node.shape for node in session.get_outputs()})
        self._max_characters = _CHARACTERS_PER_TOKEN * max_tokens
        unknown = [name for name in self._inputs if name not in _INPUTS]
        if unknown:
            raise ModelError(
                f"the model asks for the inputs {', '.join(unknown)}, known are "
                f"{', '.join(_INPUTS)}. Remedy: export it as a text encoder"
            )

    @classmethod
    def from_folder(cls, folder: Path, *, pooling: Pooling, max_tokens: int) -> "OnnxGraph":
        """Return the graph in a folder of `model.onnx` and `tokenizer.json`.

        Raises:
            ModelError: If one cannot be loaded.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the callers' threads use the cores
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors only; they arrive as exceptions, too
        try:
            session = onnxruntime.InferenceSession(
                str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
            tokenizer.enable_truncation(max_tokens)
            tokenizer.no_padding()
        # Both libraries raise bare Exceptions of their own making.
        except Exception as exc:
            raise ModelError(
                f"cannot load the model in {folder}: {exc}. {remedy(folder.name)}"
            ) from exc
        return cls(session, tokenizer, pooling=pooling, max_tokens=max_tokens)

    def vector(self, text: str) -> _Vector:
        """Return `float32[dim]` of a text; equal for equal texts, whatever else runs.

        Raises:
            ModelError: If the graph fails.
        """
        # Lone surrogates, which broken files bring, cannot be tokenised.
        text = text[: self._max_characters].encode("utf-8", "replace").decode("utf-8")
        try:
            ids = np.array([self._tokenizer.encode(text).ids], np.int64)
            feed = {name: _INPUTS[name](ids) for name in self._inputs}
            states = self._session.run([self._output], feed)[0][0]
        except Exception as exc:
            raise ModelError(f"the model failed on {text[:40]!r}: {exc}") from exc
        states = np.asarray(states, np.float32)
        return _POOL[self._pooling](states) if states.ndim == 2 else states


def _choose_output(shapes: Mapping[str, Sequence[object]]) -> str:
    for name in _OUTPUTS:
        if name in shapes:
            return name
    for rank in (3, 2):  # states of all tokens, or one vector a text
        for name, shape in shapes.items():
            if len(shape) == rank:
                return name
    raise ModelError(
        f"the model has no output that could be vectors; seen: {dict(shapes)}. "
        "Remedy: export it as a text encoder"
    )


def _check_hash(path: Path, expected: str, name: str) -> None:
    seen = file_sha256(path)
    if seen != expected:
        raise ModelError(
            f"{path} is damaged: its sha256 begins {seen[:12]}, the card says {expected[:12]}. "
            f"{remedy(name)}"
        )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
