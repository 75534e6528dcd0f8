"""A tiny cross-encoder on this machine."""

import math
import os

import pytest

from kgrag.errors import ModelError, ModelNotFoundError
from kgrag.reranking.onnx import OnnxCrossEncoder
from tests.fixtures.rerankers import write_cross_encoder

pytest.importorskip("onnx", reason="the tiny model is made with the onnx package")
WEIGHTS = {"甲": 1.0, "乙": -2.0}


def logistic(x):
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_scores_are_probabilities_of_the_passages_in_their_order(tmp_path, threads):
    """The question's characters do not count: the model is told which are whose."""
    write_cross_encoder(tmp_path, WEIGHTS)
    encoder = OnnxCrossEncoder(tmp_path, threads=threads)
    scores = encoder.scores("甲甲甲", ["甲", "乙", "丙", "甲甲乙"])
    expected = [logistic(1), logistic(-2), 0.5, 0.5]
    assert scores == pytest.approx(expected, abs=1e-6)


def test_a_model_that_tells_no_types_apart_reads_both(tmp_path):
    """As XLM-RoBERTa does, of which bge-reranker-v2-m3 is made."""
    write_cross_encoder(tmp_path, WEIGHTS, has_types=False)
    scores = OnnxCrossEncoder(tmp_path).scores("甲", ["甲", "乙"])
    assert scores == pytest.approx([logistic(2), logistic(-1)], abs=1e-6)


def test_the_file_itself_may_be_named_among_others(tmp_path):
    """Its tokenizer lies beside it."""
    write_cross_encoder(tmp_path, WEIGHTS, name="a.onnx")
    write_cross_encoder(tmp_path, {"甲": -1.0}, name="b.onnx")
    (score,) = OnnxCrossEncoder(tmp_path / "b.onnx").scores("问", ["甲"])
    assert score == pytest.approx(logistic(-1), abs=1e-6)
    with pytest.raises(ModelError, match="holds 2 models"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])


def test_long_pairs_are_cut_at_the_longer_of_the_two(tmp_path):
    """Three special tokens, one of the question, and three of the passage are seven."""
    write_cross_encoder(tmp_path, WEIGHTS)
    (score,) = OnnxCrossEncoder(tmp_path, max_tokens=7).scores("问", ["甲" * 50])
    assert score == pytest.approx(logistic(3), abs=1e-6)


def test_half_characters_are_no_error(tmp_path):
    """Broken files bring lone surrogates."""
    write_cross_encoder(tmp_path, WEIGHTS)
    assert OnnxCrossEncoder(tmp_path).scores("\ud800", ["\udfff"]) == [0.5]


def test_far_logits_do_not_overflow(tmp_path):
    """exp(1000) would."""
    write_cross_encoder(tmp_path, {"甲": 1000.0, "乙": -1000.0})
    assert OnnxCrossEncoder(tmp_path).scores("问", ["甲", "乙"]) == [1.0, 0.0]


def test_what_gives_no_single_score_is_told(tmp_path):
    """A classifier of several labels, and a model that overflows."""
    write_cross_encoder(tmp_path, WEIGHTS, n_labels=2)
    with pytest.raises(ModelError, match=r"shape \(1, 2\).*one label"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])
    write_cross_encoder(tmp_path, {"甲": float("inf")})
    with pytest.raises(ModelError, match="gives no score"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])


def test_damaged_and_missing_files_are_told(tmp_path):
    """With their names, whatever the libraries raise."""
    with pytest.raises(ModelNotFoundError, match=r"rerank\.path: there is no"):
        OnnxCrossEncoder(tmp_path / "none").scores("问", ["甲"])
    with pytest.raises(ModelError, match="holds no model"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])
    write_cross_encoder(tmp_path, WEIGHTS)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="holds no tokenizer"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])
    write_cross_encoder(tmp_path, WEIGHTS)
    (tmp_path / "model.onnx").write_bytes(os.urandom(100))
    with pytest.raises(ModelError, match=r"cannot load the model .*model\.onnx"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])


def test_an_encoder_is_no_cross_encoder(tmp_path):
    """Its states are no score."""
    from tests.unit.embedding.conftest import make_model

    write_cross_encoder(tmp_path, WEIGHTS)
    make_model(tmp_path / "model.onnx")
    with pytest.raises(ModelError, match="gives no score"):
        OnnxCrossEncoder(tmp_path).scores("问", ["甲"])
