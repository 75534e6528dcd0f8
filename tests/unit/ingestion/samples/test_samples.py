"""The sample documents and questions as shipped."""

import json
import re

import pytest

from kgrag.ingestion.load import discover, load
from kgrag.ingestion.samples import questions_file, sample_folder
from kgrag.text.words import quoted_titles
from scripts.make_samples import FILES, make_samples

SOURCES = discover([sample_folder()]).sources
TEXTS = {source.path.stem: load(source).text for source in SOURCES}
QUESTIONS = [json.loads(x) for x in questions_file().read_text("utf-8").splitlines()]


def bare(text: str) -> str:
    """Return a text without blanks."""
    return re.sub(r"\s+", "", text)


def test_sample_folder_holds_what_the_script_writes():
    """The folder holds exactly the ten files, in five formats, each below 60 kB."""
    assert sorted(source.path.name for source in SOURCES) == sorted(FILES)
    assert len(FILES) == 10
    suffixes = [source.path.suffix for source in SOURCES]
    wanted = [".docx"] * 4 + [".html"] * 2 + [".md"] + [".pdf"] * 2 + [".txt"]
    assert sorted(suffixes) == wanted
    assert all(source.path.stat().st_size < 60_000 for source in SOURCES)


def test_sample_folder_is_up_to_date(tmp_path):
    """The shipped documents read the same as those the script writes now."""
    for path in make_samples(tmp_path):
        fresh = {s.path.stem: load(s).text for s in discover([path]).sources}
        assert TEXTS[path.stem] == fresh[path.stem]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.path.stem)
def test_sample_document(source):
    """A sample says that it is one, has substance and numbers, and loads without a warning."""
    document = load(source)

    assert "本文件为软件示例，机构与数据均为虚构" in document.text
    assert 1500 <= len(document.text) <= 6000
    targets = re.findall(r"\d[\d.]*(?:%|个|家|亿|万|元|年|日|公里|座|项|‰)", document.text)
    assert len(set(targets)) >= 6
    assert document.title.startswith(("云岭省", "青川市", "南渡市", "石桥县"))
    assert document.warnings == ()


def test_samples_refer_to_each_other():
    """Most samples cite another sample by its 《title》."""
    issued = {}
    for stem, text in TEXTS.items():
        head = bare(text[:400])
        issued[stem] = [title for _, _, title in quoted_titles(head)] or [head[:9]]
    own = {titles[0]: stem for stem, titles in issued.items()}
    cites = {
        (stem, own[title])
        for stem, text in TEXTS.items()
        for _, _, title in quoted_titles(bare(text))
        if title in own and own[title] != stem
    }

    assert len({stem for stem, _ in cites}) >= 7


def test_questions_are_answered_by_their_gold_document():
    """Every answer stands in the gold document, in no other where it is long enough to tell."""
    assert len(QUESTIONS) == 12
    assert len({q["id"] for q in QUESTIONS}) == 12
    for question in QUESTIONS:
        assert set(question) == {"id", "question", "answers", "gold_docs", "kind"}
        text = "".join(bare(TEXTS[stem]) for stem in question["gold_docs"])
        assert any(answer in text for answer in question["answers"]) or not question["answers"]


def test_questions_without_an_answer():
    """Two questions have neither answer nor document, and their subject stands nowhere."""
    open_ones = [q for q in QUESTIONS if q["kind"] == "unanswerable"]

    assert len(open_ones) == 2
    assert all(q["answers"] == q["gold_docs"] == [] for q in open_ones)
    assert all("氢燃料" not in text and "海绵城市" not in text for text in TEXTS.values())
