"""Words, the segmenter and the thesauri; examples are in tests/cases/words.toml."""

import logging
import tempfile
from collections import Counter
from importlib import resources

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.text.in_chinese import in_chinese
from kgrag.text.official_terms import in_official_terms, official_terms
from kgrag.text.regions import regions_named
from kgrag.text.words import (
    Segmenter,
    character_pairs,
    normalize_name,
    sentence_spans,
    words,
)


@given(st.text())
def test_sentence_spans_cover_the_text_without_overlap(text):
    """Put together, the sentences are the text."""
    assert "".join(text[a:b] for a, b in sentence_spans(text)) == text


@given(st.text(), st.text(), st.text())
def test_character_pairs_of_a_part_stand_in_those_of_the_whole(before, part, after):
    """That is what makes a phrase search find every occurrence."""
    if len(normalize_name(part)) < 2 or not normalize_name(part).isalnum():
        return
    whole = normalize_name(before + " " + part + " " + after)
    if normalize_name(part) in whole:
        assert set(character_pairs(part)) <= set(character_pairs(whole))


def test_words_leave_stop_words_out_and_bring_width_and_plurals_together():
    """What is searched for meets what is written."""
    assert words("的 了 吗") == []
    assert words("２０２５年 Policies") == words("2025年 policy")
    assert "绿色工厂" in words("绿色工厂")
    assert "工厂" in words("绿色工厂")


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


FOLDER = resources.files("kgrag.text").joinpath("thesaurus")
LINES = [
    (file.name, line)
    for file in FOLDER.iterdir()
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def test_of_wordings_inside_each_other_the_longest_counts():
    """太阳能热水器 is no 光伏发电."""
    (long,) = official_terms("太阳能热水器补多少")[:1]
    assert "太阳能热水器补多少"[long.start : long.end] == "太阳能热水器"


def test_the_question_is_worded_in_official_terms():
    """What is not in the thesaurus stays as it is."""
    text = "请问旧件翻新和PUE"
    assert in_official_terms(text, official_terms(text)) == "请问再制造和电能利用效率"
    assert in_official_terms("无此词", []) == "无此词"


def test_every_line_of_the_thesaurus_is_a_group():
    """Official terms, =, everyday wordings of two to eight characters, nothing empty."""
    assert len(LINES) > 1000
    for name, line in LINES:
        official, is_group, lay = line.partition(" = ")
        assert is_group, (name, line)
        assert " = " not in lay, (name, line)
        words = lay.split("、")
        assert all(official.split("、")), (name, line)
        assert all(2 <= len(word) <= 8 for word in words), (name, line)
        assert not set(words) & set(official.split("、")), (name, line)


def test_no_file_has_a_wording_twice():
    """It would mean two things."""
    for name in {name for name, _ in LINES}:
        words = [w for n, line in LINES if n == name for w in line.partition(" = ")[2].split("、")]
        assert sorted({w for w in words if words.count(w) > 1}) == [], name


BILINGUAL = resources.files("kgrag.text").joinpath("bilingual")
ENTRIES = [
    (file.name, line)
    for file in BILINGUAL.iterdir()
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def test_further_terms_are_given_besides():
    read = in_chinese("renewable energy in data centers: PUE")
    assert read is not None
    assert "电能利用效率" in read.others
    assert "PUE" in read.terms


def test_every_entry_has_both_sides():
    """English in lower case, Chinese without blanks; places are listed ones."""
    for file, line in ENTRIES:
        english, is_entry, chinese = line.partition(" = ")
        terms = chinese.split("、")
        assert is_entry, line
        assert english == english.lower(), line
        assert english.isascii(), line
        assert all(term and " " not in term for term in terms), line
        if file == "places.txt":
            assert all(regions_named(term) or regions_named(f"{term}市") for term in terms), line


def test_no_two_entries_are_worded_alike():
    """The later would take the place of the former."""
    said = Counter(word for _, line in ENTRIES for word in line.partition(" = ")[0].split(", "))
    assert [word for word, n in said.items() if n > 1] == []
