"""What is known of providers of encoders: address, key variable, model, batches, extra fields."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kgrag.config import EmbeddingConfig
from kgrag.embedding.embedder import Task
from kgrag.llm.address import ENCODER, SERVICES, AtService, Service, place_of

# Many servers know no base64, which is what the client would ask for.
_FLOATS: Mapping[str, str | bool] = MappingProxyType({"encoding_format": "float"})
_NONE: Mapping[Task, str] = MappingProxyType({"query": "", "passage": ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(AtService):
    """A preset.

    Attributes:
        service: Where it is asked.
        model: The model taken where none is named; empty where it is yours to name.
        batch_texts: Texts sent at once.
        batch_tokens: Tokens sent at once, estimated.
        dimensions: Whether it cuts vectors itself when asked by the field `dimensions`; else
            they are cut here.
        fields: Sent with every request.
    """

    service: Service = field(default_factory=Service)
    model: str = ""
    batch_texts: int = 32
    batch_tokens: int = 16_000
    dimensions: bool = False
    fields: Mapping[str, str | bool] = field(default_factory=lambda: _FLOATS)


# Largest batches are below the limits: what a kill may lose is what is under way.
PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        # api.jina.ai/openapi.json: fields task, dimensions, truncate, embedding_type; 500 requests
        # and 1 million tokens a minute. A list of more than 512 is refused (dify-official-plugins,
        # issue 1997).
        "jina": Provider(
            service=SERVICES["jina"],
            model="jina-embeddings-v3",
            batch_texts=128,
            batch_tokens=64_000,
            dimensions=True,
            fields=MappingProxyType({"embedding_type": "float", "truncate": True}),
        ),
        # api-docs.siliconflow.cn, embeddings: 512 tokens a text for bge-large-zh, 8192 for bge-m3;
        # `dimensions` is for Qwen3 only, so vectors are cut here. More than 64 texts, and with some
        # models 32, are refused with 413.
        "siliconflow": Provider(
            service=SERVICES["siliconflow"],
            model="BAAI/bge-m3",
        ),
        # help.aliyun.com, model-studio, "OpenAI compatible - Embedding": at most 10 texts of 8192
        # tokens; dimensions 64 to 2048, 1024 where none is asked for.
        "dashscope": Provider(
            service=SERVICES["dashscope"],
            model="text-embedding-v4",
            batch_texts=10,
            dimensions=True,
        ),
        # The API reference: at most 2048 texts of 8192 tokens, and 300,000 tokens in all.
        "openai": Provider(
            service=SERVICES["openai"],
            model="text-embedding-3-small",
            batch_texts=256,
            batch_tokens=100_000,
            dimensions=True,
        ),
        # vLLM refuses `dimensions` unless the model's files say "is_matryoshka", which those of
        # Qwen3-Embedding do not (vllm pull request 16331, QwenLM/Qwen3-Embedding issue 85).
        "vllm": Provider(service=SERVICES["vllm"], batch_texts=64, batch_tokens=32_000),
        # text-embeddings-router --help: max-client-batch-size 32.
        "tei": Provider(service=SERVICES["tei"]),
        # It encodes on the user's machine: a large batch would not be done in time.
        "ollama": Provider(service=SERVICES["ollama"], batch_texts=16, batch_tokens=8_000),
    }
)
_OWN = Provider()
_JINA_TASKS: Mapping[Task, str] = MappingProxyType(
    {"query": "retrieval.query", "passage": "retrieval.passage"}
)
_JINA_WITH_TASKS = re.compile(r"jina-embeddings-v[3-9]")

# What a model wants before a text, as its card on the Hugging Face hub says; by its name there,
# which servers mostly keep. (query, passage).
_INSTRUCTIONS: tuple[tuple[re.Pattern[str], tuple[str, str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), pair)
    for pattern, pair in (
        (r"bge-(small|base|large)-zh", ("为这个句子生成表示以用于检索相关文章：", "")),
        (
            r"bge-(small|base|large)-en",
            ("Represent this sentence for searching relevant passages: ", ""),
        ),
        (
            r"qwen3-embedding",
            (
                "Instruct: Given a web search query, retrieve relevant passages that answer the"
                " query\nQuery:",
                "",
            ),
        ),
        (r"\be5-(small|base|large)(-v2)?$", ("query: ", "passage: ")),
        (r"nomic-embed-text", ("search_query: ", "search_document: ")),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An encoder's endpoint with everything filled in.

    Attributes:
        base_url: Where to post to, without `/embeddings`.
        model: Name of the model.
        api_key_env: The environment variable that holds the key; empty where none is needed.
        batch_texts: Texts sent at once, at most.
        batch_tokens: Tokens sent at once, at most, as estimated.
        dimension: Length of the vectors that is asked for; 0 for the model's own.
        asks_dimension: Whether the endpoint is asked for it; else vectors are cut here.
        fields: Sent with every request.
        tasks: What the field `task` says for each task; empty where it is not sent.
        instructions: What is put before a text of each task.
    """

    base_url: str
    model: str
    api_key_env: str = ""
    batch_texts: int = 32
    batch_tokens: int = 16_000
    dimension: int = 0
    asks_dimension: bool = False
    fields: Mapping[str, str | bool] = field(default_factory=lambda: _FLOATS)
    tasks: Mapping[Task, str] = field(default_factory=lambda: _NONE)
    instructions: Mapping[Task, str] = field(default_factory=lambda: _NONE)


def endpoint_for(config: EmbeddingConfig) -> Endpoint:
    """Return an encoder's endpoint with what is empty filled in from its provider and model.

    Raises:
        ConfigError: As `place_of`.
    """
    place = place_of(ENCODER, config.provider, config, PROVIDERS)
    provider = PROVIDERS.get(config.provider, _OWN)
    has_tasks = config.provider == "jina" and _JINA_WITH_TASKS.match(place.model)
    return Endpoint(
        base_url=place.url,
        model=place.model,
        api_key_env=place.key_env,
        batch_texts=config.batch_texts or provider.batch_texts,
        batch_tokens=config.batch_tokens or provider.batch_tokens,
        dimension=config.dimension,
        asks_dimension=bool(config.dimension) and provider.dimensions,
        fields=provider.fields,
        tasks=_JINA_TASKS if has_tasks else _NONE,
        instructions=_instructions(config, place.model),
    )


def _instructions(config: EmbeddingConfig, model: str) -> Mapping[Task, str]:
    known = next((pair for name, pair in _INSTRUCTIONS if name.search(model)), ("", ""))
    return MappingProxyType(
        {
            "query": config.query_instruction or known[0],
            "passage": config.passage_instruction or known[1],
        }
    )
