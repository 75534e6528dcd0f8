"""The names that settings allow are those that the code knows."""

from typing import get_args

from kgrag import config
from kgrag.answering.generate import TEMPLATES
from kgrag.embedding.endpoint import PROVIDERS as EMBEDDING_PROVIDERS
from kgrag.ingestion.reading import _BEYOND, _TASKS
from kgrag.llm.client import JSON_MODES
from kgrag.llm.providers import PROVIDERS
from kgrag.reranking.endpoint import PROVIDERS as RERANK_PROVIDERS
from kgrag.verification.methods import METHODS


def test_every_name_that_settings_allow_is_one_that_the_code_knows():
    """And the other way round: a preset that no file may name is none."""
    assert set(get_args(config.ChatProvider)) == set(PROVIDERS)
    assert set(get_args(config.EmbeddingProvider)) == set(EMBEDDING_PROVIDERS)
    assert set(get_args(config.RerankProvider)) == set(RERANK_PROVIDERS)
    assert set(get_args(config.Template)) == set(TEMPLATES)
    assert set(get_args(config.VerifyMethod)) == {*METHODS, "none"}
    assert set(get_args(config.ExtractCalls)) == set(_TASKS)
    assert set(get_args(config.ExtractFacts)) == set(_BEYOND)
    assert get_args(config.JsonMode) == JSON_MODES == ("schema", "object", "none")
