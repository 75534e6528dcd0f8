import logging
import tempfile

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.text.words import Segmenter

ADDED = ("碳达峰碳中和", "绿色工厂")
TEXTS = (
    "到2025年，全市数据中心PUE降到1.25以下，建成绿色工厂100家。",
    "推进碳达峰碳中和工作领导小组办公室第一次全体会议在京召开",
    "杭研大厦的王小明硕士毕业于中国科学院计算所，后在日本京都大学深造",
    "GB/T 32150-2015 & ISO_14064  C++ 3.5% A.B.\r\n〇々℃",
    "",
)


@pytest.fixture(scope="module")
def by_jieba():
    """Return jieba's own search mode, with the words that the segmenter was given."""
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    for word in ADDED:
        tokenizer.add_word(word)
    return lambda text: [w for w in tokenizer.cut_for_search(text) if not w.isspace()]


@pytest.fixture(scope="module")
def ours():
    """Return the segmenter's words of a text, in jieba's order."""
    segmenter = Segmenter.from_jieba(ADDED)

    def split(text):
        words = []
        for piece, is_run in segmenter.runs(text):
            words += segmenter.segment(piece) if is_run else [piece]
        return [word for word in words if not word.isspace()]

    return split


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_split_as_jieba_splits_them(text, by_jieba, ours):
    """Words, names that only the model knows, numbers, signs and blanks: all the same."""
    assert ours(text) == by_jieba(text)


@settings(max_examples=300)
@given(st.text(st.sampled_from([*"".join(TEXTS), *"的了在是一不为有我他这中人大来上国个到说"])))
def test_any_text_is_split_as_jieba_splits_it(by_jieba, ours, text):
    """Also where characters follow each other that never do: ties and unknown words."""
    assert ours(text) == by_jieba(text)


def test_words_that_were_added_are_kept_whole(ours):
    """Their parts come before them."""
    assert ours("绿色工厂") == ["绿色", "工厂", "绿色工厂"]


def test_of_equally_likely_paths_the_longest_word_wins():
    """As in jieba, whose maximum of (weight, end) takes the larger end."""
    equal = Segmenter({"甲": 2, "乙": 2, "甲乙": 1}, 4)  # 2/4 · 2/4 = 1/4
    assert equal.segment("甲乙") == ["甲乙"]
    assert Segmenter({"甲": 3, "乙": 3, "甲乙": 1}, 4).segment("甲乙") == ["甲", "乙"]


def test_a_file_of_another_user_in_the_temporary_folder_is_in_nobodys_way(
    tmp_path, monkeypatch, caplog
):
    """Jieba's dictionary is kept in kgrag's own folder, and where that cannot be, nowhere."""
    (tmp_path / "jieba.cache").mkdir()  # as a file that may be neither read nor replaced
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "own"))
    assert Segmenter.from_jieba().segment("绿色工厂")
    assert (tmp_path / "own" / "jieba" / "jieba.cache").is_file()

    (tmp_path / "file").touch()
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "file"))
    assert Segmenter.from_jieba().segment("绿色工厂")
    assert not caplog.records
