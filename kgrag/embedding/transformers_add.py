"""Installing a model in its makers' format: chosen files, one load as proof, hashes."""

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path

from kgrag.embedding.card import ModelCard
from kgrag.embedding.check import check_dimension
from kgrag.embedding.folder import (
    CONFIG_FILE,
    JINA_V3,
    adapters,
    most_tokens,
    read_folder,
    read_json,
)
from kgrag.embedding.installed import TOKENIZER_FILE
from kgrag.embedding.tokens import TextTokenizer
from kgrag.embedding.transformers_files import copy_files, precision, seal
from kgrag.embedding.transformers_load import convert_tokenizer, knows
from kgrag.embedding.transformers_model import TransformersEmbedder
from kgrag.embedding.transformers_network import Network
from kgrag.errors import ModelError

_PROBE = "绿色 green "
_PROBE_TOKENS = 1024  # a second or two on a processor, where 8,192 would take a minute
# Memory is taken by what a config says, before its weights are looked at.
_MOST = {
    "hidden_size": 65_536,
    "intermediate_size": 1_000_000,
    "max_position_embeddings": 10_000_000,
    "num_attention_heads": 4_096,
    "num_hidden_layers": 1_000,
    "vocab_size": 10_000_000,
}
_VOCABULARIES = (
    "vocab.txt",
    "vocab.json",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
)


def add_transformers(path: Path, staging: Path, given: ModelCard) -> ModelCard:
    """Copy a model into a folder, prove that it works, and return its card with hashes.

    Args:
        path: A folder as the hub has it: `config.json`, safetensors, tokenizer, adapters.
        staging: An empty folder; afterwards it holds what `TransformersEmbedder` opens, except
            the card.
        given: How the model is to be used: `read_folder(path)`, with what the user says
            instead. Empty adapters are looked up in the folder; dimension, format, precision
            and hashes are found here.

    Raises:
        ModelError: If files are missing or damaged, the model is of an unknown kind, needs code
            of its makers or other weights, or cannot read as much as the card says.
    """
    config = read_json(path / CONFIG_FILE)
    stated = read_folder(path)
    card = dataclasses.replace(
        given,
        format="transformers",
        query_adapter=given.query_adapter or stated.query_adapter,
        passage_adapter=given.passage_adapter or stated.passage_adapter,
    )
    _check_config(path, config, card)
    names = dict.fromkeys(filter(None, (card.query_adapter, card.passage_adapter)))
    copy_files(path, staging, tuple(names))
    _put_tokenizer(path, staging)
    try:
        card = _proven(staging, dataclasses.replace(card, precision=precision(staging)))
    except ModelError as exc:
        if "auto_map" in config:
            raise ModelError(f"{_needs_code(path, config)}. Without it: {exc}") from exc
        raise
    model_sha256, tokenizer_sha256 = seal(staging)
    return dataclasses.replace(card, model_sha256=model_sha256, tokenizer_sha256=tokenizer_sha256)


def _check_config(path: Path, config: Mapping[str, object], card: ModelCard) -> None:
    """Refuse what cannot work before gigabytes are copied."""
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise ModelError(
            f"{path / CONFIG_FILE} {'names no model_type' if config else 'is missing'}. "
            "Remedy: give the folder as the hub has it, with all its files"
        )
    if not knows(kind, path):
        if "auto_map" in config:
            raise ModelError(_needs_code(path, config))
        raise ModelError(
            f"{path / CONFIG_FILE} is of the kind {kind!r}, which the installed transformers does "
            "not know. Remedy: pip install --upgrade transformers, or choose another model"
        )
    for key, most in _MOST.items():
        value = config.get(key)
        if isinstance(value, int | float) and value > most:
            raise ModelError(
                f"{path / CONFIG_FILE} says {key} = {value}; at most {most:,} is taken: more would "
                "not fit into memory. Remedy: download it again"
            )
    if kind == JINA_V3 and not (card.query_adapter and card.passage_adapter):
        seen = ", ".join(adapters(path)) or "none"
        raise ModelError(
            f"{path} lacks adapters for questions and passages; seen: {seen}. Remedy: download "
            "the folders retrieval_query and retrieval_passage, too"
        )
    limit = most_tokens(config)
    if limit is not None and card.max_tokens > limit:
        raise ModelError(
            f"max_tokens is {card.max_tokens}, but the model in {path} reads {limit}. "
            f"Remedy: a max_tokens of 1 to {limit}"
        )


def _needs_code(path: Path, config: Mapping[str, object]) -> str:
    remedy = "choose a model that transformers knows itself"
    if "lora_adaptations" in config:  # jina-embeddings-v3 as its makers first published it
        remedy = "download its transformers form, jinaai/jina-embeddings-v3-hf"
    return (
        f"the model in {path} needs code of its makers ({CONFIG_FILE} has auto_map), which kgrag "
        f"never runs. Remedy: {remedy}"
    )


def _put_tokenizer(path: Path, staging: Path) -> None:
    """Copy `tokenizer.json`, or make it of the files that older models have instead."""
    if (path / TOKENIZER_FILE).is_file():
        shutil.copyfile(path / TOKENIZER_FILE, staging / TOKENIZER_FILE)
    elif any((path / name).is_file() for name in _VOCABULARIES):
        convert_tokenizer(path, staging / TOKENIZER_FILE)
    else:
        raise ModelError(
            f"{path} has no tokenizer: neither {TOKENIZER_FILE} nor {', '.join(_VOCABULARIES)}. "
            "Remedy: download them, too"
        )


def _proven(folder: Path, card: ModelCard) -> ModelCard:
    """Return the card with the dimension of vectors that the model has given."""
    tokenizer = TextTokenizer.from_folder(folder, max_tokens=card.max_tokens)
    network = Network.from_folder(folder, card, threads=None)
    # long, so that a model with fewer positions than tokens shows it
    probe = _PROBE * min(card.max_tokens, _PROBE_TOKENS)
    (tokens,) = tokenizer.encode([probe])
    ids = tokens.ids[: min(tokenizer.limit, _PROBE_TOKENS)]
    dimension = network.pooled([tokenizer.framed(ids)], "passage").shape[1]
    check_dimension(dimension)
    card = dataclasses.replace(card, dimension=dimension)
    embedder = TransformersEmbedder(network, tokenizer, card)
    embedder.embed([_PROBE], "query")
    embedder.embed([_PROBE], "passage")
    return card
