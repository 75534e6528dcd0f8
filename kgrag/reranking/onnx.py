"""Cross-encoders in ONNX format, run by onnxruntime on the CPU."""

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from kgrag.embedding.hub_folder import model_file, tokenizer_file
from kgrag.embedding.local import cores
from kgrag.embedding.onnx import SCORES, feed_for, inputs_of, on_a_line, open_session
from kgrag.embedding.tokens import clean, open_tokenizer
from kgrag.errors import ModelError, ModelNotFoundError


class _Network:
    """A cross-encoder's graph in memory; thread-safe, one thread per run."""

    def __init__(self, model: Path) -> None:
        self._session = open_session(model, f"the model {model}")
        self._inputs = inputs_of(self._session)
        outputs = [node.name for node in self._session.get_outputs()]
        self._output = next((o for o in outputs if SCORES in o.casefold()), outputs[0])

    def logit(self, ids: Sequence[int], types: Sequence[int]) -> float:
        """Return the logit of a passage for a question, unbounded.

        Args:
            ids: Token ids of both, special tokens included.
            types: Token types, 0 for the question, 1 for the passage; used if the model has them.

        Raises:
            ModelError: If the graph fails, or returns anything but one finite number.
        """
        try:
            fed = feed_for(self._inputs, [ids])
            if (own := fed.get("token_type_ids")) is not None:
                own[0] = types
            found = np.asarray(self._session.run([self._output], fed)[0], np.float32)
        except Exception as exc:  # the library raises bare Exceptions of its own making
            raise ModelError(
                f"the model failed on a pair of {len(ids)} tokens: {on_a_line(exc)}"
            ) from exc
        if found.size != 1 or not np.isfinite(found).all():
            raise ModelError(
                f"the model gives no score, but an output of shape {found.shape} for one pair. "
                "Remedy: a cross-encoder with one label (optimum-cli export onnx --task "
                "text-classification)"
            )
        return float(found.item())


class _Tokenizer:
    """A thread-safe tokenizer of question-passage pairs."""

    def __init__(self, file: Path, *, max_tokens: int) -> None:
        self._tokenizer = open_tokenizer(file, f"the tokenizer {file}", "download it again")
        self._tokenizer.enable_truncation(max_tokens)  # the longer of the two is cut first
        self._tokenizer.no_padding()

    def encode(self, question: str, passages: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return (token ids, token types) per passage, with the question and special tokens."""
        pairs = [(clean(question), clean(passage)) for passage in passages]
        return [(e.ids, e.type_ids) for e in self._tokenizer.encode_batch(pairs)]


class OnnxCrossEncoder:
    """A cross-encoder from an `.onnx` file and its `tokenizer.json`.

    Pairs are run one by one without padding, in parallel threads, so that a score does not depend
    on other pairs. Thread-safe.
    """

    def __init__(self, path: Path, *, max_tokens: int = 512, threads: int = 0) -> None:
        """Keep the path; the model is loaded with the first question.

        Args:
            path: The file, or its folder.
            max_tokens: Of a pair; the longer text is truncated.
            threads: Pairs run in parallel; 0 for the number of processors.
        """
        self._path = path
        self._max_tokens = max_tokens
        self._threads = threads or cores()
        self._lock = threading.Lock()
        self._loaded: tuple[_Network, _Tokenizer] | None = None

    def __repr__(self) -> str:
        return f"OnnxCrossEncoder({str(self._path)!r})"

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return for each passage the probability, in [0, 1], that it answers the question.

        It is the logistic function of the logit: Nogueira and Cho, 2019, "Passage Re-ranking with
        BERT", arXiv 1901.04085, section 2.

        Raises:
            ModelError: If the model is missing, damaged, or fails.
        """
        graph, tokenizer = self._opened()
        pairs = tokenizer.encode(question, passages)
        with ThreadPoolExecutor(min(self._threads, len(pairs))) as pool:
            return [_logistic(x) for x in pool.map(lambda pair: graph.logit(*pair), pairs)]

    def _opened(self) -> tuple[_Network, _Tokenizer]:
        with self._lock:
            if self._loaded is None:
                if not self._path.exists():
                    raise ModelNotFoundError(f"rerank.path: there is no {self._path}")
                is_folder = self._path.is_dir()
                model = model_file(self._path) if is_folder else self._path
                tokens = tokenizer_file(self._path if is_folder else model.parent, model)
                self._loaded = (
                    _Network(model),
                    _Tokenizer(tokens, max_tokens=self._max_tokens),
                )
            return self._loaded


def _logistic(x: float) -> float:
    """Return the logistic function, without overflow.

    >>> _logistic(0.0), _logistic(-1000.0), _logistic(1000.0)
    (0.5, 0.0, 1.0)
    """
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
