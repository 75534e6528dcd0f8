"""`kgrag read`: a place in its document, citations of the last answer."""

import json
import re

import click
import pytest

from tests.fixtures.kit import kgrag, write

TEXT = (
    "云岭省节能条例\n第一条 目的\n为了节能，制定本条例。\n第二条 目标\n"
    "到2025年，创建绿色工厂500家。\n第三条 附则\n自公布之日起施行。\n"
)
QUOTE = "到2025年，创建绿色工厂500家。"
START = TEXT.index(QUOTE)


@pytest.fixture
def kb(tmp_path, monkeypatch):
    """A knowledge base of one document, and a cache folder of its own."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KGRAG_LANG", "en")
    (file,) = write(tmp_path, {"节能条例": TEXT})
    kgrag("ingest", "--kb", tmp_path / "kb", file, code=0)
    return tmp_path / "kb"


@pytest.fixture
def asked(kb):
    """The same, with a question that was answered."""
    kgrag("ask", "--kb", kb, "到2025年创建绿色工厂多少家？", code=0)
    return kb


@pytest.mark.parametrize("place", ["1", "[1]"])
def test_a_citation_of_the_last_answer_is_shown_in_its_document(asked, place):
    """Reference, sections, place, and the quote between the paragraphs around it."""
    lines = kgrag("read", place, "--kb", asked, code=0).stdout.splitlines()
    assert lines[0] == "[1] 《云岭省节能条例》第二条"
    assert lines[1] == "    第二条"
    assert lines[2].endswith(f"节能条例.txt, characters {START}-{START + len(QUOTE)}")
    assert lines[4:] == ["第二条 目标", f"〖{QUOTE}〗", "第三条 附则"]


def test_without_a_place_all_citations_are_listed_as_officials_write_them(asked):
    assert kgrag("read", "--kb", asked, code=0).stdout == "[1] 《云岭省节能条例》第二条\n"
    assert (
        kgrag("read", "1", "--cite", "--kb", asked, code=0).stdout == "《云岭省节能条例》第二条\n"
    )


def test_a_place_may_be_given_by_document_and_characters(kb):
    """With more or fewer paragraphs; no answer is needed."""
    place = f"节能条例.txt:{START}-{START + 6}"
    shown = kgrag("read", place, "--paragraphs", 0, "--kb", kb, code=0).stdout
    assert shown.splitlines()[-1] == "〖到2025年〗，创建绿色工厂500家。"
    shown = json.loads(kgrag("read", place, "--json", "--kb", kb, code=0).stdout)
    assert (shown["text"], shown["reference"]) == ("到2025年", "《云岭省节能条例》第二条")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("2", "the last answer has no citation 2"),
        ("节能条例.txt:5-9999", "has the characters 0-"),
        ("另一个.txt:5-9", "no document is called"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(asked, place, message):
    done = kgrag("read", place, "--kb", asked, code=1)
    assert message in done.stderr
    assert done.stdout == ""


def test_a_document_is_read_with_its_outline_and_says_where_it_goes_on(kb):
    done = kgrag("read", "节能条例", "--characters", 9, "--kb", kb, code=0)
    assert "第二条  " in done.stdout
    assert QUOTE not in done.stdout
    (rest,) = re.findall(r"→ (\S+)", done.stderr)
    assert QUOTE in kgrag("read", rest, "--kb", kb, code=0).stdout
    assert "no document is called '[1'" in kgrag("read", "--kb", kb, "[1", code=1).stderr


def test_there_may_be_no_last_answer_or_one_from_elsewhere(asked, tmp_path, monkeypatch):
    """A damaged file of it is none; nothing of it is shown from another knowledge base."""
    kgrag("ingest", "--kb", tmp_path / "other", tmp_path / "节能条例.txt", code=0)
    done = kgrag("read", "--kb", tmp_path / "other", code=1)
    assert f"came from another knowledge base: --kb {asked.resolve()}" in done.stderr
    (tmp_path / "cache" / "last_answer.json").write_text('{"kb": 5, "citations": [1]}')
    assert "there is no last answer" in kgrag("read", "--kb", asked, code=1).stderr
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "empty"))
    assert "there is no last answer" in kgrag("read", "--kb", asked, code=1).stderr


def test_no_text_is_kept_and_a_cache_that_cannot_be_written_hinders_no_answer(
    asked, tmp_path, monkeypatch
):
    """Documents and offsets alone, readable by the owner."""
    kept = tmp_path / "cache" / "last_answer.json"
    assert QUOTE not in kept.read_text("utf-8")
    assert kept.stat().st_mode & 0o077 == 0
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "file"))
    kgrag("ask", "--kb", asked, "到2025年创建绿色工厂多少家？", code=0)


def test_the_file_is_opened_where_it_is_on_this_machine(asked, tmp_path, monkeypatch):
    opened = []

    def launch(path):
        opened.append(path)
        return 0

    monkeypatch.setattr(click, "launch", launch)
    kgrag("read", "1", "--open", "--kb", asked, code=0)
    assert opened == [str(tmp_path / "节能条例.txt")]
    monkeypatch.setattr(click, "launch", lambda path: 1)
    assert (
        "no program of this machine opens"
        in kgrag("read", "1", "--open", "--kb", asked, code=1).stderr
    )
    (tmp_path / "节能条例.txt").unlink()
    assert "not on this machine" in kgrag("read", "1", "--open", "--kb", asked, code=1).stderr
