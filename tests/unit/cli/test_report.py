"""Answers as files: ask --out, and many in a report."""

import json
import re

import pytest
from docx import Document
from openpyxl import load_workbook

from kgrag.answer.answer import Answer, Verdict
from kgrag.answer.blocks import Claim, Run
from kgrag.api import KnowledgeBase
from tests.fixtures.kit import run, shared_folder, write
from tests.fixtures.policies import POLICIES
from tests.fixtures.word_files import footnotes

FOREST = "到2025年四川和成都的森林覆盖率目标分别是多少？"
FACTORIES = "到2025年，四川省创建多少家绿色工厂？"
UNKNOWN = "？"
LOST, LONG = "??????????????", "长" * 4001
QUESTIONS = f"# 清单\n{FOREST}\n\n  {FACTORIES} \n{UNKNOWN}\n{LOST}\n{FOREST}\n{LONG}\n"

folder = shared_folder(POLICIES)


@pytest.fixture
def asked(tmp_path):
    """A file of questions, as Chinese editors on Windows save it."""
    file = tmp_path / "questions.txt"
    file.write_bytes(QUESTIONS.encode("gb18030"))
    return file


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


def test_a_report_in_word_has_a_section_for_each_question(folder, asked, tmp_path):
    """What cannot be asked is named there and on stderr; the rest is answered."""
    out = tmp_path / "r.docx"
    done = run(folder, "report", asked, "--out", out, language="zh", code=1)
    assert done.stdout == ""
    said = done.stderr.splitlines()
    assert [line.partition("行：")[0] for line in said[:2]] == [
        f"kgrag: {asked} 第 {number} " for number in (6, 8)
    ]
    assert said[2:] == [f"{out}: 5 个问题"]
    document = Document(out)
    (title, head, *rest) = told(document)
    assert title == ("Title", "问答报告")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d，共5个问题", head[1])
    heads = [text for style, text in rest if style == "Heading 1"]
    assert heads == [FOREST, FACTORIES, UNKNOWN, LOST, "长" * 60 + "…"]
    texts = [text for _, text in rest]
    assert texts[texts.index(UNKNOWN) + 1] == "在这些文件中未找到答案。"
    assert texts[texts.index(LOST) + 1].startswith("未能作答：收到的问题是")
    assert len(footnotes(out.read_bytes())) > 2


def test_a_report_as_a_page_links_to_its_quotes(folder, asked, tmp_path):
    """Every link leads to one place."""
    out = tmp_path / "r.html"
    run(folder, "report", asked, "--out", out, code=1)
    page = out.read_text("utf-8")
    links, ids = re.findall(r'href="#([^"]+)"', page), re.findall(r'id="([^"]+)"', page)
    assert len(set(links)) == len(set(ids)) == len(ids) > 2
    assert set(links) == set(ids)
    assert "<h1>Questions and answers</h1>" in page
    assert page.count("not answered: the question") == 2


@pytest.mark.parametrize(
    ("language", "names", "found"),
    [("en", ["answers", "sources"], "yes"), ("zh", ["回答", "出处"], "是")],
)
def test_a_report_as_a_workbook_has_answers_and_sources(
    folder, asked, tmp_path, language, names, found
):
    """A row for each question, a row for each citation."""
    out = tmp_path / "r.XLSX"
    run(folder, "report", asked, "--out", out, language=language, code=1)
    book = load_workbook(out)
    assert book.sheetnames == names
    answers, sources = ([*sheet.iter_rows(values_only=True)] for sheet in book)
    assert [row[0] for row in answers[1:]] == [1, 2, 3, 4, 5]
    assert [row[3] == found for row in answers[1:]] == [True, True, False, False, False]
    cited = [(row[0], row[2]) for row in sources[1:]]
    assert cited[0] == (1, "[1]")
    assert (2, "[1]") in cited
    reference, place = sources[1][3], sources[1][-1]
    assert reference == "《四川省绿色发展实施方案》（川府发〔2022〕3号）二"
    assert run(folder, "read", place, code=0).stdout.startswith(str(reference))


def test_a_report_takes_filters_and_a_day(folder, tmp_path):
    """The day is in the file; a filter that no document passes ends it, and writes nothing."""
    (questions,) = write(tmp_path, {"q.txt": f"\ufeff{FACTORIES}\r\n"})
    out = tmp_path / "r.docx"
    words = ("report", questions, "--out", out, "--as-of", "2022-04", "--region", "四川")
    run(folder, *words, language="zh", code=0)
    assert told(Document(out))[1][1].endswith("，效力以2022-04-30为准")
    whole = out.read_bytes()
    done = run(folder, *words, "--document", "没有", code=1)
    assert done.stderr.startswith("kgrag: no document")
    assert out.read_bytes() == whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["q.txt", "r.docx"]


@pytest.mark.parametrize(
    ("text", "out", "code", "told"),
    [
        (b"\xe9\x97\xae", "r.pdf", 2, "--out must end in .docx, .html, .xlsx, got 'r.pdf'"),
        (b"# a\n\n", "r.docx", 2, "there is no question in"),
        (b"", "r.docx", 2, "there is no question in"),
        (b"a" * 1_000_001, "r.docx", 1, "has more than 1,000,000 bytes: split the questions"),
        (b"PK\x03\x04", "r.docx", 1, "holds a zip archive or an Office file, not text"),
        (b"\xe9\x97\xae", "no/r.docx", 1, "no/r.docx: No such file or directory"),
    ],
)
def test_what_is_no_report_is_a_message(folder, tmp_path, monkeypatch, text, out, code, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_bytes(text)
    done = run(folder, "report", "q.txt", "--out", out)
    assert done.exit_code == code
    assert told in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["q.txt"]


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
    questions, out, one = (
        *write(tmp_path, {"q.txt": FOREST}),
        tmp_path / "r.docx",
        tmp_path / "a.docx",
    )
    run(folder, "report", questions, "--out", out, code=code)
    done = run(folder, "ask", FOREST, "--out", one, code=code)
    for file in (out, one):
        assert [text for _, text in told(Document(file))][-2:] == [f"注：{said}", "注：其他"]
    assert f"note: {said}" in done.stderr
