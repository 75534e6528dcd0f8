"""Proof that a folder's files are the model that they are said to be."""

import dataclasses
from pathlib import Path

from kgrag.embedding.cache import MODEL_FILE, TOKENIZER_FILE, file_sha256, write_card
from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import CatalogEntry
from kgrag.errors import ModelError


def with_hashes(card: ModelCard, folder: Path) -> ModelCard:
    """Return the card with the hashes of the files in a folder."""
    return dataclasses.replace(
        card,
        model_sha256=file_sha256(folder / MODEL_FILE),
        tokenizer_sha256=file_sha256(folder / TOKENIZER_FILE),
    )


def check_model(entry: CatalogEntry, folder: Path) -> ModelCard:
    """Return the card of the files in a folder, once they are proven to be a catalogued model.

    Known hashes prove it; other files must load, give the dimension and tell the entry's
    passages apart.

    Raises:
        ModelError: If they are not that model.
    """
    from kgrag.embedding.onnx import OnnxEmbedder

    card = with_hashes(entry.card, folder)
    if card == entry.card:
        return card
    write_card(card, folder)
    embedder = OnnxEmbedder.from_folder(folder)
    for question, answer, other in entry.checks:
        (query,) = embedder.embed([question], "query")
        near, far = embedder.embed([answer, other], "passage") @ query
        if not near > far:
            raise ModelError(
                f"the files are not {card.name}: for {question!r} they rank {other!r} "
                f"({far:.3f}) over {answer!r} ({near:.3f})"
            )
    return card


def with_dimension(card: ModelCard, folder: Path) -> ModelCard:
    """Return the card with the dimension that the model in a folder turns out to have.

    Raises:
        ModelError: If it cannot be loaded or run.
    """
    from kgrag.embedding.onnx import OnnxGraph

    graph = OnnxGraph.from_folder(folder, pooling=card.pooling, max_tokens=card.max_tokens)
    return dataclasses.replace(card, dimension=int(graph.vector("绿色 green").shape[0]))
