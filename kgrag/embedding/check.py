"""Checks that a folder's files are the model that its card names."""

import dataclasses
from pathlib import Path

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import CatalogEntry
from kgrag.embedding.installed import MODEL_FILE, TOKENIZER_FILE, file_sha256, write_card
from kgrag.embedding.onnx_file import read_onnx_file
from kgrag.errors import ModelError
from kgrag.ids import digest

# Longer than the 512 tokens at which most encoders end: a card that says more is found out.
_PROOF_TOKENS = 600
_MOST_NUMBERS = 32_768  # of a vector; the largest encoders give 8,192


def with_files(card: ModelCard, folder: Path) -> ModelCard:
    """Return the card with the hashes and the precision of the files in a folder.

    Raises:
        ModelError: If the model file is not a model.
    """
    file = read_onnx_file(folder / MODEL_FILE)
    hashes = [f"{name} {file_sha256(folder / name)}" for name in file.weights]
    return dataclasses.replace(
        card,
        model_sha256=file_sha256(folder / MODEL_FILE),
        weights_sha256=digest(*hashes, length=64) if hashes else "",
        tokenizer_sha256=file_sha256(folder / TOKENIZER_FILE),
        precision=file.precision,
    )


def check_model(entry: CatalogEntry, folder: Path) -> ModelCard:
    """Return the card of the files in a folder, once they are proven to be a catalogued model.

    Known hashes prove it; other files must load, give the dimension and tell the entry's
    passages apart.

    Raises:
        ModelError: If they are not that model.
    """
    from kgrag.embedding.onnx import OnnxEmbedder

    card = with_files(entry.card, folder)
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


def check_dimension(dimension: int) -> None:
    """Refuse vectors that are longer than those of any encoder.

    Raises:
        ModelError: If they are.
    """
    if not 0 < dimension <= _MOST_NUMBERS:
        raise ModelError(
            f"the model gives vectors of {dimension} numbers; at most {_MOST_NUMBERS} are taken. "
            "Remedy: choose an encoder of texts"
        )


def measured(card: ModelCard, folder: Path) -> ModelCard:
    """Return the card with the dimension that the model in a folder turns out to have.

    Raises:
        ModelError: If it cannot be loaded or run, or cannot read as much as the card says.
    """
    from kgrag.embedding.onnx_graph import OnnxGraph
    from kgrag.embedding.tokens import TextTokenizer

    graph = OnnxGraph.from_folder(folder, pooling=card.pooling)
    tokenizer = TextTokenizer.from_folder(folder, max_tokens=card.max_tokens)
    (probe,) = tokenizer.encode(["绿色 green"])
    dimension = graph.vectors([tokenizer.framed(probe.ids[: tokenizer.limit])]).shape[1]
    check_dimension(dimension)
    long = (probe.ids * _PROOF_TOKENS)[: min(tokenizer.limit, _PROOF_TOKENS)]
    try:
        graph.vectors([tokenizer.framed(long)])
    except ModelError as exc:
        raise ModelError(
            f"the model should read {card.max_tokens} tokens, but {exc}. Remedy: --max-tokens 512, "
            "or what its makers state"
        ) from exc
    return dataclasses.replace(card, dimension=int(dimension))
