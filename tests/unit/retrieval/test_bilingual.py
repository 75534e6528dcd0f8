"""Questions in another language than the documents."""

import json

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.question.query import analyse
from kgrag.question.question import question_of
from kgrag.retrieval.bilingual import read

ENGLISH = "What is the 2030 target for the share of non-fossil energy in Jiangsu?"
CHINESE = "江苏省能源规划\n一、目标\n到2030年，全省非化石能源消费比重达到35%。\n"
OTHER = "江苏省林业规划\n一、目标\n到2030年，全省森林覆盖率达到24.1%。\n"
LATIN = "Harbour Plan\nThe share of non-fossil energy in the harbour is to reach 60% by 2030.\n"


def test_an_english_question_keeps_its_words_where_documents_are_english():
    """Nothing is read into it."""
    assert read(ENGLISH) == analyse(ENGLISH)
    assert read(ENGLISH, chinese=0.05) == analyse(ENGLISH)


@pytest.mark.parametrize("chinese", [0.0, 0.5, 1.0])
def test_a_chinese_question_is_read_as_ever(chinese):
    """Whatever the documents are."""
    for question in ("江苏2030年的目标是多少？", "PUE要降到多少", "2025?"):
        assert read(question, chinese=chinese) == analyse(question)


def test_an_english_question_is_read_in_chinese_words():
    """Its language stays that of the answer."""
    query = read(ENGLISH, chinese=1.0)
    assert query.text == "江苏 到2030年 非化石能源消费比重 目标 多少"
    assert (query.asked, query.question, query.language) == (ENGLISH, ENGLISH, "en")
    assert query.places == {"江苏"}


def test_sides_of_an_english_comparison_are_asked_in_english():
    """A side keeps how the whole was asked."""
    sides = question_of(read("Compare the forest coverage of Fujian and Henan", chinese=1.0)).sides
    assert [side.label for side in sides] == ["福建", "河南"]
    assert {side.query.language for side in sides} == {"en"}
    assert all(side.query.asked for side in sides)


def run(folder, *words):
    """Run a command on a knowledge base."""
    settings = ["--config", str(folder / "kgrag.toml")]
    return CliRunner().invoke(main, [*settings, *words, "--kb", str(folder / "kb")])


def based(folder, **texts):
    """Take in documents with the stand-in encoder."""
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (folder / "docs").mkdir()
    for name, text in texts.items():
        (folder / "docs" / f"{name}.txt").write_text(text, "utf-8")
    assert run(folder, "ingest", str(folder / "docs")).exit_code == 0
    return folder


def test_an_english_question_finds_and_quotes_chinese_documents(tmp_path):
    """From the command line; the quote is Chinese, what stands around it English."""
    base = based(tmp_path, a=CHINESE, b=OTHER)
    found = run(base, "search", ENGLISH)
    assert found.stdout.startswith("1. 江苏省能源规划")
    said = run(base, "ask", ENGLISH)
    assert "非化石能源消费比重达到35%" in said.stdout
    assert ", characters " in said.stdout
    assert "read in Chinese: 江苏 到2030年 非化石能源消费比重" in said.stderr
    told = json.loads(run(base, "ask", "--json", ENGLISH).stdout)
    assert told["question"] == ENGLISH
    assert told["found"]


def test_an_english_question_of_unknown_words_says_what_to_do(tmp_path):
    """Nothing is found, and why."""
    said = run(based(tmp_path, a=CHINESE), "ask", "Who founded it?")
    assert "ask in Chinese" in said.stderr


def test_among_both_english_documents_stay_first_and_chinese_ones_are_found(tmp_path):
    """Chinese words are looked for besides."""
    base = based(tmp_path, a=CHINESE, b=LATIN, c=OTHER)
    found = run(base, "search", "What share of non-fossil energy is the harbour to reach?").stdout
    assert found.startswith("1. Harbour Plan")
    assert "江苏省能源规划" in found


@pytest.mark.parametrize("system", ["grim", "hybrid", "vector"])
def test_a_question_of_which_half_is_unread_is_asked_of_the_encoder_alone(tmp_path, system):
    """No word, title, figure or table answers it, and a note says which words were left out."""
    asked = "Which swindlers forged the forest coverage maps?"
    base = based(tmp_path, a=CHINESE, b=OTHER)
    searched = run(base, "search", asked, "--system", system, "--json")
    hits = json.loads(searched.stdout)
    assert "swindlers, forged, maps" in searched.stderr
    reasons = {reason.split()[0] for hit in hits["results"] for reason in hit["via"]}
    assert not reasons & {"words", "path", "holds", "section"}
    assert "vector" in reasons
    told = json.loads(run(base, "ask", asked, "--writer", "quotes", "--json").stdout)
    (note,) = (note for note in told["notes"] if "encoder alone" in note)
    assert "swindlers, forged, maps" in note
    assert "森林覆盖率" in note
