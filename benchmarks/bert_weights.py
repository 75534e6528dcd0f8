"""A BERT for transformers, read out of the initialisers of its ONNX file.

bge-small-zh as Maven Central has it is such a file (docs/training.md): names of embeddings, norms
and biases are the model's own; the matrices, which an export names by number, are told by the node
that multiplies by them, and are transposed.
"""

import re
from pathlib import Path
from typing import Any

_MATRIX = re.compile(r"/?(?P<path>(?:\w+/)*encoder/layer\.\d+/.+)/MatMul")


def bert_folder(start: Path, out: Path) -> Path:
    """Return a folder that transformers can load: the given one, or one made of an ONNX file.

    Args:
        start: A folder, or a file `NAME.onnx` with `NAME-tokenizer.json` or `tokenizer.json`
            beside it.
        out: Where the folder is made.
    """
    if start.is_dir():
        return start
    import onnx
    from tokenizers.normalizers import BertNormalizer
    from transformers import BertModel, PreTrainedTokenizerFast

    weights = _weights(onnx.load(str(start)))
    model = BertModel(_config(weights), add_pooling_layer=False)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    lost = [name for name in missing if "position_ids" not in name]
    if lost or unexpected:
        raise ValueError(f"{start} is no BERT: lacks {lost[:3]}, has {list(unexpected)[:3]}")
    named = start.with_name(f"{start.stem}-tokenizer.json")
    file = named if named.exists() else start.with_name("tokenizer.json")
    marks = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(file),
        model_max_length=512,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **{f"{name}_token": mark for name, mark in marks.items()},
    )
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    # The vocabulary has no capitals: without this GDP is unknown.
    tokenizer.backend_tokenizer.normalizer = BertNormalizer(lowercase=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return out


def _weights(graph_file: Any) -> dict[str, Any]:
    """Return the weights by the names that transformers has for them."""
    import torch
    from onnx.numpy_helper import to_array

    held = {i.name: to_array(i) for i in graph_file.graph.initializer}
    found = {name: array for name, array in held.items() if name.startswith(("embed", "encoder"))}
    for node in graph_file.graph.node:
        match = _MATRIX.fullmatch(node.name)
        if node.op_type == "MatMul" and match and node.input[1] in held:
            name = match["path"].replace("/", ".") + ".weight"
            found[name] = held[node.input[1]].T
    return {name: torch.tensor(array) for name, array in found.items()}


def _config(weights: dict[str, Any]) -> Any:
    """Return what the shapes of the weights tell; heads have 64 dimensions, as all BERTs' do."""
    from transformers import BertConfig

    vocabulary, hidden = weights["embeddings.word_embeddings.weight"].shape
    layers = {re.match(r"encoder\.layer\.(\d+)", name) for name in weights} - {None}
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=len({match[1] for match in layers if match}),
        num_attention_heads=hidden // 64,
        intermediate_size=weights["encoder.layer.0.intermediate.dense.bias"].shape[0],
        max_position_embeddings=weights["embeddings.position_embeddings.weight"].shape[0],
    )
