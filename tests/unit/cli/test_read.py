"""`kgrag read`: a document, or a place in it."""

import json
import re

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
    """A knowledge base of one document, told of in English."""
    monkeypatch.setenv("KGRAG_LANG", "en")
    (file,) = write(tmp_path, {"节能条例": TEXT})
    kgrag("ingest", "--kb", tmp_path / "kb", file, code=0)
    return tmp_path / "kb"


def test_a_place_that_an_answer_names_is_shown_in_its_document(kb):
    """Reference, sections, place, and the quote between the paragraphs around it."""
    told = kgrag("ask", "--kb", kb, "到2025年创建绿色工厂多少家？", "--json", code=0).stdout
    cited = json.loads(told)["citations"][0]
    place = f"{cited['start']}-{cited['end']}"
    lines = kgrag("read", f"节能条例.txt:{place}", "--kb", kb, code=0).stdout.splitlines()
    assert lines[0].startswith("《云岭省节能条例》")
    assert any(line.endswith(f"节能条例.txt, characters {place}") for line in lines)
    assert QUOTE in "\n".join(lines)


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
        ("节能条例.txt:5-9999", "has the characters 0-"),
        ("另一个.txt:5-9", "no document is called"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(kb, place, message):
    done = kgrag("read", place, "--kb", kb, code=1)
    assert message in done.stderr
    assert done.stdout == ""


def test_a_document_is_read_with_its_outline_and_says_where_it_goes_on(kb):
    done = kgrag("read", "节能条例", "--characters", 9, "--kb", kb, code=0)
    assert "第二条  " in done.stdout
    assert QUOTE not in done.stdout
    (rest,) = re.findall(r"→ (\S+)", done.stderr)
    assert QUOTE in kgrag("read", rest, "--kb", kb, code=0).stdout
    assert "no document is called '[1'" in kgrag("read", "--kb", kb, "[1", code=1).stderr
