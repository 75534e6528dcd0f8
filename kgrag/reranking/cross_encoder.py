"""Protocol of cross-encoders, and the one that the settings select."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from kgrag.config import RerankConfig
from kgrag.errors import ConfigError


class CrossEncoder(Protocol):
    """Scores pairs of a question and a passage."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage; higher is better.

        Raises:
            ModelError: If the model cannot be used.
        """
        ...


def open_cross_encoder(config: RerankConfig) -> CrossEncoder | None:
    """Return the configured cross-encoder, None for none; nothing is loaded or sent yet.

    Raises:
        ConfigError: If a model has no path or address, or both; or as `place_of`.
    """
    if config.path and config.is_endpoint:
        raise ConfigError(
            "rerank.path is a model on this machine, rerank.provider and rerank.base_url are an"
            " endpoint: leave one of them out"
        )
    if config.path:
        from kgrag.reranking.onnx import OnnxCrossEncoder

        path = Path(config.path).expanduser()
        return OnnxCrossEncoder(path, max_tokens=config.max_tokens, threads=config.threads)
    if config.is_endpoint:
        from kgrag.reranking.endpoint import EndpointCrossEncoder

        return EndpointCrossEncoder.from_config(config)
    if config.model:
        raise ConfigError(
            f"rerank names the model {config.model!r} but no endpoint: set rerank.provider or"
            " rerank.base_url beside it, or rerank.path for one on this machine"
        )
    return None
