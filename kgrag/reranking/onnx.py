"""Cross-encoders in ONNX format, run by onnxruntime on the processor."""

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kgrag.embedding.hub_folder import model_file, tokenizer_file
from kgrag.embedding.local import cores
from kgrag.embedding.onnx import PairNetwork
from kgrag.embedding.tokens import PairTokenizer
from kgrag.errors import ModelNotFoundError


class OnnxCrossEncoder:
    """A cross-encoder from an `.onnx` file and its `tokenizer.json`.

    Pairs are read one by one, as many at once as there are threads: nothing is padded, and a
    pair's score does not depend on its company. May be called from several threads.
    """

    def __init__(self, path: Path, *, max_tokens: int = 512, threads: int = 0) -> None:
        """Keep where it is; it is loaded with the first question.

        Args:
            path: The file, or a folder that holds it.
            max_tokens: Of a question with a passage; the longer of the two is cut.
            threads: Pairs read at once; 0 takes as many as there are processors.
        """
        self._path = path
        self._max_tokens = max_tokens
        self._threads = threads or cores()
        self._lock = threading.Lock()
        self._loaded: tuple[PairNetwork, PairTokenizer] | None = None

    def __repr__(self) -> str:
        return f"OnnxCrossEncoder({str(self._path)!r})"

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return for each passage the probability, in [0, 1], that it answers the question.

        It is the logistic function of the model's output: Nogueira and Cho, 2019, "Passage
        Re-ranking with BERT", arXiv 1901.04085, section 2.

        Raises:
            ModelError: If the model is not there, is damaged, or fails.
        """
        graph, tokenizer = self._opened()
        pairs = tokenizer.encode(question, passages)
        with ThreadPoolExecutor(min(self._threads, len(pairs))) as pool:
            return [_logistic(x) for x in pool.map(lambda pair: graph.logit(*pair), pairs)]

    def _opened(self) -> tuple[PairNetwork, PairTokenizer]:
        with self._lock:
            if self._loaded is None:
                if not self._path.exists():
                    raise ModelNotFoundError(f"rerank.path: there is no {self._path}")
                is_folder = self._path.is_dir()
                model = model_file(self._path) if is_folder else self._path
                tokens = tokenizer_file(self._path if is_folder else model.parent, model)
                self._loaded = (
                    PairNetwork.from_file(model),
                    PairTokenizer.from_file(tokens, max_tokens=self._max_tokens),
                )
            return self._loaded


def _logistic(x: float) -> float:
    """Return the logistic function, without overflow.

    >>> _logistic(0.0), _logistic(-1000.0), _logistic(1000.0)
    (0.5, 0.0, 1.0)
    """
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
