"""How much wording an answer shares with reference answers."""

import builtins

import pytest

from kgrag.errors import MissingDependencyError
from kgrag.evaluation import wording
from kgrag.evaluation.wording import OVERLAP, overlap_scores, token_f1, word_tokens


def test_the_same_words_score_1_whatever_marks_and_width_they_have():
    scores = overlap_scores("福州、厦门。", ["福州 厦门"])
    assert scores["EM"] == scores["F1-char"] == scores["F1-word"] == scores["ROUGE-L"] == 1
    assert scores["BLEU-1"] == pytest.approx(1)
    assert scores["METEOR"] == pytest.approx(1 - 0.5 / 2**3)  # its penalty for one chunk of two
    assert overlap_scores("ＰＵＥ低于1.3", ["PUE 低于 1.3"])["EM"] == 1


def test_each_measure_counts_as_its_paper_says():
    """Said: 创建 绿色工厂 500 家; wanted: 绿色工厂 达到 500 家: three words of four, two chunks."""
    scores = overlap_scores("创建绿色工厂500家", ["绿色工厂达到500家"])
    assert word_tokens("创建绿色工厂500家") == ["创建", "绿色工厂", "500", "家"]
    assert scores["EM"] == 0
    assert scores["F1-char"] == pytest.approx(2 * 8 / 20)
    assert scores["F1-word"] == scores["ROUGE-1"] == scores["ROUGE-L"] == pytest.approx(0.75)
    assert scores["BLEU-1"] == pytest.approx(0.75)
    assert scores["METEOR"] == pytest.approx(0.75 * (1 - 0.5 * (2 / 3) ** 3))


def test_bleu_1_is_brief_and_words_out_of_order_are_no_longest_sequence():
    scores = overlap_scores("厦门福州", ["福州厦门南平三明"])
    assert scores["ROUGE-1"] == pytest.approx(2 / 3)
    assert scores["ROUGE-L"] == pytest.approx(1 / 3)
    assert scores["BLEU-1"] == pytest.approx(2.718281828 ** (1 - 4 / 2))


def test_the_reference_that_suits_each_measure_best_counts():
    assert overlap_scores("昆明市", ["玉溪市", "昆明市"])["EM"] == 1


@pytest.mark.parametrize(("said", "references"), [("", ["甲"]), ("甲", []), ("甲", ["。"])])
def test_nothing_said_or_nothing_to_compare_with_scores_0(said, references):
    assert overlap_scores(said, references) == dict.fromkeys(OVERLAP, 0.0)


def test_english_stems_count_for_meteor_and_no_dictionary_is_asked():
    said, told = "planning factories", "planned factories"
    assert overlap_scores(said, [told])["METEOR"] > 0.9
    assert overlap_scores("car", ["automobile"])["METEOR"] == 0  # WordNet's synonyms


def test_tokens_count_as_often_as_they_stand_there():
    assert token_f1("aab", "abb") == pytest.approx(2 / 3)
    assert token_f1("", "a") == 0


def test_missing_packages_are_named_with_their_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("rouge_score"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **options)

    wording._measures.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kgrag\[eval\]'"):
        overlap_scores("甲", ["甲"])
    wording._measures.cache_clear()
