"""Odd questions and documents, from the command line to the result."""

import json

import pytest

from tests.unit.cli.conftest import ingested, run

TEXTS = {
    "pue": "甲市数据中心管理办法\n一、要求\n到2025年，新建大型数据中心电能利用效率不高于1.3。\n",
    "wide": "乙市生态岛规划\n一、目标\n"
    "到２０２５年，全市森林覆盖率达到３０．５％，新建ＰＭ２．５监测站２０个．\n",
    "gap": "丙市碳排放配额通知\n一、总量\n"
    "2021年度碳排放配额总量为0. 75亿吨，其中政府预留比例为6%。\n",
    "list": "丁市行动方案\n一、重点任务\n（一）推进建筑节能。开展改造。\n"
    "（二）推进绿色出行。发展公交。\n（三）推进植树造林。扩大绿化。\n二、保障措施\n加强领导。\n",
    "江苏": "江苏省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到18%。\n"
    "二、措施\n加快建设高速公路充电设施，居住区充电设施由街道协助。\n",
    "福建": "福建省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到27.4%。\n"
    "二、措施\n加快建设乡镇充电设施，旅游景区充电设施优先。\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A knowledge base of odd documents."""
    return ingested(tmp_path_factory.mktemp("odd"), TEXTS)


def asked(base, *words):
    """Return an answer as JSON."""
    return json.loads(run(base, "ask", "--json", *words).stdout)


@pytest.mark.parametrize("question", ["PUE", "pue", "ＰＵＥ", "数据中心PUE要达到多少"])
def test_an_acronym_finds_what_documents_call_it(base, question):
    """Alone, in any width and case, or in a question; the figure is quoted."""
    found = run(base, "search", "--top-k", "1", question).stdout
    assert "甲市数据中心管理办法" in found
    assert "不高于1.3" in run(base, "ask", question).stdout


@pytest.mark.parametrize(
    "question", ["乙市2025年森林覆盖率达到多少？", "乙市２０２５年森林覆盖率达到多少？"]
)
def test_full_width_texts_are_found_and_quoted_as_they_are(base, question):
    """The quote is verbatim, at its place."""
    (cited, *_) = asked(base, question)["citations"]
    assert "３０．５％" in cited["quote"]
    assert TEXTS["wide"][cited["start"] : cited["end"]] == cited["quote"]
    assert "引文中没有" not in run(base, "ask", question).stdout


def test_words_of_a_full_width_text_match(base):
    """PM2.5 is ＰＭ２．５."""
    assert run(base, "search", "--top-k", "1", "PM2.5监测站").stdout.startswith("1. 乙市生态岛规划")


def test_a_number_that_a_gap_breaks_is_told(base):
    """It is quoted as it stands, checked as the number it is, and a note tells."""
    said = run(base, "ask", "2021年度碳排放配额总量是多少？")
    assert "总量为0. 75亿吨，其中政府预留比例为6%。[1]" in said.stdout
    assert "〔" not in said.stdout
    assert "引文[1]里的数字在原文中带有空格（0. 75），按 0.75 理解，请核对" in said.stderr


@pytest.mark.parametrize(
    ("question", "most"),
    [
        ("数据中心PUE要达到多少", 1),  # a quote
        ("到2025年江苏、福建的非化石能源消费比重目标各是多少？", 1),  # a table of figures
        ("丁市行动方案有哪些重点任务？", 2),  # a list
        ("江苏和福建分别如何加快建设充电设施？", 1),  # sides
    ],
)
def test_an_answer_has_no_more_quotes_than_asked_for(base, question, most):
    """On every road of answering."""
    whole = asked(base, question)
    told = asked(base, question, "--max-sentences", str(most))
    assert whole["found"]
    assert len(told["citations"]) == min(most, len(whole["citations"]))
    assert len(told["citations"]) <= most


def test_tables_are_cut_and_told(base):
    """All rows where nothing is said."""
    question = "到2025年江苏、福建的非化石能源消费比重目标各是多少？"
    assert len(asked(base, question)["citations"]) == 2
    assert "列出前1条，共2条" in asked(base, question, "--max-sentences", "1")["notes"]


def test_no_quotes_are_no_answer(base):
    """At least one."""
    assert run(base, "ask", "问", "--max-sentences", "0").exit_code == 2
