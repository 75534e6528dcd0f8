import math

import pytest

from kgrag.answering.pack import bm25, compress

TEXT = "甲项工作很重要。创建绿色工厂500家。乙项工作也重要。绿色工厂给予奖励。"


def test_compress_keeps_the_sentences_most_like_the_question_in_their_order():
    """Gaps are shown."""
    assert compress(TEXT, ["绿色", "工厂"], rate=0.5) == "…创建绿色工厂500家。…绿色工厂给予奖励。"


def test_compress_at_rate_1_gives_the_text_as_it_is():
    """Nothing is lost where nothing is asked to go."""
    assert compress(" 甲。\n\n乙。 ", [], rate=1) == " 甲。\n\n乙。 "


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.8, 0.99])
def test_compress_keeps_at_least_the_rate(rate):
    """Sentences are added until it is reached, never cut."""
    kept = compress(TEXT, ["奖励"], rate=rate).replace("…", "")
    assert len(kept) >= rate * len(TEXT)


def test_compress_without_words_in_common_keeps_the_beginning():
    """Ties go to what stands first."""
    assert compress("甲一二三。乙一二三。", ["丙"], rate=0.5) == "甲一二三。…"


@pytest.mark.parametrize("rate", [0, -1, 1.01])
def test_compress_when_the_rate_is_out_of_range_is_refused(rate):
    """The share is in (0, 1]."""
    with pytest.raises(ValueError, match="rate"):
        compress("甲。", [], rate=rate)


def test_bm25_is_the_formula():
    """Two sentences, one of which has the word once: idf ln(1 + 1.5/1.5), mean length 2."""
    scores = bm25([["绿色", "工厂", "目标"], ["其他"]], ["绿色"])
    norm = 1.5 * (1 - 0.75 + 0.75 * 3 / 2)
    assert scores == pytest.approx([math.log(2) * 2.5 / (1 + norm), 0])
