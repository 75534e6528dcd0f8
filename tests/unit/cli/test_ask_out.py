"""Answers as files: ask --out."""

import json
import re

import pytest
from docx import Document

from kgrag.answer.answer import Answer, Verdict
from kgrag.answer.blocks import Claim, Run
from kgrag.api import KnowledgeBase
from tests.fixtures.kit import run, shared_folder
from tests.fixtures.policies import POLICIES
from tests.fixtures.word_files import footnotes

FOREST = "到2025年四川和成都的森林覆盖率目标分别是多少？"
folder = shared_folder(POLICIES)


def told(document):
    return [(p.style.name, p.text) for p in document.paragraphs if p.text]


def test_an_answer_is_written_to_word_instead_of_printed(folder, tmp_path):
    """Rows are a table; each has its source as a footnote, with 文号; notes are on stderr, too."""
    file = tmp_path / "a.docx"
    printed = run(folder, "ask", FOREST)
    done = run(folder, "ask", FOREST, "--out", file, code=0)
    assert done.stdout == ""
    assert done.stderr == f"{file}: 2 citations\n{printed.stderr}"
    document = Document(file)
    assert told(document)[0] == ("Heading 1", FOREST)
    assert told(document)[-1][1] == printed.stderr.splitlines()[-1].replace("note: ", "注：")
    rows = [[cell.text for cell in row.cells] for row in document.tables[0].rows[1:]]
    assert [row[0][:3] for row in rows] == ["四川省", "成都市"]
    assert "森林覆盖率达到41%" in rows[0][2]
    first, second = footnotes(file.read_bytes())
    told_as_json = json.loads(run(folder, "ask", FOREST, "--json", code=0).stdout)["citations"]
    for note, cited in zip((first, second), told_as_json, strict=True):
        assert note.startswith(f"{cited['reference']}，")
        assert cited["document_number"] in cited["reference"]
    assert re.match(
        r"《四川省绿色发展实施方案》（川府发〔2022〕3号）二，\w+/sichuan\.txt：“到2025年", first
    )


@pytest.mark.parametrize("status", ["failed", "unverified"])
def test_files_tell_whether_a_models_answer_was_verified(folder, tmp_path, monkeypatch, status):
    """Whoever gets the file has not seen the screen; what could not be checked is no success."""
    verdict = Verdict("cov", status, reason="数字不符")
    answer = Answer(FOREST, (Claim((Run("41%。"),)),), "m", notes=("其他",), verdict=verdict)
    monkeypatch.setattr(KnowledgeBase, "ask", lambda *_, **__: answer)
    said = (
        "核验（cov）：未通过，请对照引文: 数字不符"
        if status == "failed"
        else "未能核验（cov）：数字不符"
    )
    code = int(status == "unverified")
    out = tmp_path / "a.docx"
    done = run(folder, "ask", FOREST, "--out", out, code=code)
    assert [text for _, text in told(Document(out))][-2:] == [f"注：{said}", "注：其他"]
    assert f"note: {said}" in done.stderr


def test_another_kind_of_file_is_refused(folder, tmp_path):
    done = run(folder, "ask", FOREST, "--out", tmp_path / "a.pdf", code=2)
    assert "--out must end in .docx, .html, .md, got 'a.pdf'" in done.stderr
    assert not [*tmp_path.iterdir()]
