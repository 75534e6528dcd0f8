"""Settings of endpoints, filled in from what is known of providers and models."""

from typing import Any, cast

import pytest

from kgrag.config import EmbeddingConfig
from kgrag.config_file import read_config
from kgrag.embedding.endpoint_providers import PROVIDERS, Endpoint, endpoint_for
from kgrag.errors import ConfigError

BGE = "为这个句子生成表示以用于检索相关文章："


def test_every_provider_may_stand_in_the_file(tmp_path):
    """The settings file and this table know the same names."""
    for name in PROVIDERS:
        path = tmp_path / f"{name}.toml"
        path.write_text(f'[embedding]\nprovider = "{name}"\n')
        assert read_config(path).embedding.provider == name


def test_endpoint_for_fills_in_the_provider():
    """Address, model, key variable and batches."""
    endpoint = endpoint_for(EmbeddingConfig(provider="dashscope"))
    assert endpoint.base_url == "https://dashscope.aliyuncs.com/compatible-mode/v1"
    assert endpoint.model == "text-embedding-v4"
    assert endpoint.api_key_env == "DASHSCOPE_API_KEY"
    assert endpoint.batch_texts == 10
    assert not any(endpoint.tasks.values())


def test_endpoint_for_prefers_the_settings():
    """Whatever is set replaces what the provider has."""
    config = EmbeddingConfig(
        provider="openai", base_url="http://h/v1/embeddings/", model="x", api_key_env="KEY",
        batch_texts=3, batch_tokens=4, query_instruction="q", passage_instruction="p",
    )  # fmt: skip
    endpoint = endpoint_for(config)
    assert endpoint == Endpoint(
        base_url="http://h/v1", model="x", api_key_env="KEY", batch_texts=3, batch_tokens=4,
        instructions={"query": "q", "passage": "p"},
    )  # fmt: skip


def test_endpoint_for_asks_for_a_dimension_where_it_is_understood():
    """And only if one is set."""
    assert not endpoint_for(EmbeddingConfig(provider="jina")).asks_dimension
    assert endpoint_for(EmbeddingConfig(provider="jina", dimension=64)).asks_dimension
    tei = endpoint_for(EmbeddingConfig(provider="tei", model="m", dimension=64))
    assert (tei.dimension, tei.asks_dimension) == (64, False)


@pytest.mark.parametrize(
    ("provider", "model", "tasks"),
    [
        ("jina", "", ["retrieval.query", "retrieval.passage"]),
        ("jina", "jina-embeddings-v4", ["retrieval.query", "retrieval.passage"]),
        ("jina", "jina-embeddings-v2-base-zh", ["", ""]),
        ("vllm", "jina-embeddings-v3", ["", ""]),
    ],
)
def test_endpoint_for_has_tasks_with_jinas_models_since_v3(provider, model, tasks):
    """Others would refuse the field."""
    endpoint = endpoint_for(EmbeddingConfig(provider=provider, model=model))
    assert [endpoint.tasks["query"], endpoint.tasks["passage"]] == tasks


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("BAAI/bge-large-zh-v1.5", BGE, ""),
        ("BAAI/bge-m3", "", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
    ],
)
def test_endpoint_for_knows_what_models_want_before_a_text(model, query, passage):
    """By their names."""
    endpoint = endpoint_for(EmbeddingConfig(provider="vllm", model=model))
    assert endpoint.instructions == {"query": query, "passage": passage}


def test_endpoint_for_ends_qwens_instruction_as_its_card_does():
    """The question follows the colon."""
    endpoint = endpoint_for(
        EmbeddingConfig(provider="siliconflow", model="Qwen/Qwen3-Embedding-8B")
    )
    assert endpoint.instructions["query"].startswith("Instruct: ")
    assert endpoint.instructions["query"].endswith("\nQuery:")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            EmbeddingConfig(provider=cast("Any", "nobody")),
            "'nobody' is not known; known are jina, ",
        ),
        (EmbeddingConfig(provider="tei"), r'embedding\.model = "\.\.\."'),
        (EmbeddingConfig(base_url="localhost:8080", model="m"), "must be a web address"),
        (EmbeddingConfig(base_url="http://h:x/v1", model="m"), "must be a web address"),
        (EmbeddingConfig(model="m"), r"or name an embedding\.provider"),
    ],
)
def test_endpoint_for_refuses_what_cannot_be_right(config, said):
    """With the key of the setting and what to write."""
    with pytest.raises(ConfigError, match=said):
        endpoint_for(config)


@pytest.mark.parametrize(
    "config",
    [
        EmbeddingConfig(provider="jina", api_key_env="jina_12345-geheim"),
        EmbeddingConfig(base_url="http://me:geheim@h/v1", model="m"),
        EmbeddingConfig(base_url="http://h/v1?key=geheim", model="m"),
    ],
)
def test_endpoint_for_does_not_show_what_may_be_a_secret(config):
    """A key in the wrong place is not printed."""
    with pytest.raises(ConfigError) as caught:
        endpoint_for(config)
    assert "geheim" not in str(caught.value)
