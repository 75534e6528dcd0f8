"""The trainers: a tiny BERT learns pairs, and is read out of an ONNX file as it was."""

import json
import sys
from importlib import import_module
from typing import Any

import pytest

pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

WORDS = "森 林 湿 地 氢 能 率 是 多 少 达 到"


@pytest.fixture
def start(tmp_path):
    """A tiny BERT with a tokenizer of characters, as a folder of transformers."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: n for n, word in enumerate([*marks, *WORDS.split()])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=32,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "tokenizer.json"),
        **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")},
    ).save_pretrained(tmp_path / "start")
    BertModel(config).save_pretrained(tmp_path / "start")
    return tmp_path / "start"


@pytest.fixture
def pairs(tmp_path):
    """Questions whose positive has their subject, and whose negatives have others."""
    subjects = ("森林", "湿地", "氢能")
    rows = [
        {
            "query": f"{one}率是多少",
            "pos": [f"{one}率达到"],
            "neg": [f"{other}率达到" for other in subjects if other != one],
        }
        for one in subjects
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("name", ["train_encoder", "train_reranker"])
def test_the_loss_falls_and_the_model_is_written(name, start, pairs, tmp_path, monkeypatch, capsys):
    """The last losses are below half of the first; what others ask for, too, is no negative."""
    trainer = import_module(f"benchmarks.{name}")
    words = ("--batch", "3", "--epochs", "30", "--rate", "0.003", "--held-out", "0")
    told = [name, pairs, "--start", start, "--out", tmp_path / "out", *words]
    monkeypatch.setattr(sys, "argv", [str(word) for word in told])
    trainer.main()
    said = capsys.readouterr().out
    losses = [float(line.split()[-1]) for line in said.splitlines() if line.startswith("step")]
    assert len(losses) == 10
    assert losses[-1] < losses[0] / 2
    assert (tmp_path / "out" / "model.safetensors").exists()
    assert (tmp_path / "out" / "tokenizer.json").exists()


def test_held_out_queries_share_no_positive_with_the_others():
    from benchmarks.train_encoder import split

    pairs = [{"query": str(n), "pos": [f"p{n // 2}"], "neg": ["x"]} for n in range(20)]
    train, held = split(pairs, 0.2, 0)
    assert len(held) == 4
    assert {p["pos"][0] for p in train}.isdisjoint({p["pos"][0] for p in held})


def test_weights_are_read_out_of_an_onnx_file(start, tmp_path):
    """Matrices that are numbered and transposed there are what they were."""
    import onnx
    import torch
    from onnx import helper, numpy_helper
    from transformers import BertModel

    from benchmarks.bert_weights import bert_folder

    model = BertModel.from_pretrained(start, add_pooling_layer=False).eval()
    kept: list[Any] = []
    nodes: list[Any] = []
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        if name.startswith("encoder") and array.ndim == 2:
            number = f"onnx::MatMul_{len(nodes)}"
            kept.append(numpy_helper.from_array(array.T.copy(), number))
            place = "/" + name.removesuffix(".weight").replace(".", "/").replace("layer/", "layer.")
            nodes.append(helper.make_node("MatMul", ["x", number], ["y"], name=f"{place}/MatMul"))
        else:
            kept.append(numpy_helper.from_array(array, name))
    graph = helper.make_graph(nodes, "bert", [], [], initializer=kept)
    onnx.save(helper.make_model(graph), str(start.parent / "bert.onnx"))

    again = BertModel.from_pretrained(
        bert_folder(start.parent / "bert.onnx", tmp_path / "again"), add_pooling_layer=False
    ).eval()
    fed = torch.tensor([[2, 5, 6, 3]])
    with torch.no_grad():
        assert torch.equal(model(fed).last_hidden_state, again(fed).last_hidden_state)
