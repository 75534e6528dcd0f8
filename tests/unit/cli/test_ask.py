"""Commands that answer: asking, conversations, odd questions and documents."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kgrag.answer.answer import Step, Verdict
from kgrag.answer.citation import Citation
from kgrag.cli.ask import is_done, print_answer
from tests.fixtures.answers import answer_of
from tests.fixtures.kit import run, shared_folder

PATH = ("一、目标", "长标题" * 20)
CITATION = Citation(1, "d-1", "甲方案", "a.pdf", PATH, 3, 5, 9, "500家", "d-1:256:0")


def answer(question, *, verdict=None, method="m", steps=()):
    told = answer_of(question, "500家[1]。", [CITATION], method)
    return replace(told, verdict=verdict, steps=steps)


def test_what_stands_around_an_answer_is_in_the_questions_language(capsys):
    """An analyst reads one language at a time."""
    verdict = Verdict("cov", "failed", reason="数字不符", rounds=2)
    print_answer(answer("目标是多少？", verdict=verdict), explain=False)
    said = capsys.readouterr().out
    assert "a.pdf，第 3 页，第 5 至 9 个字符" in said
    assert "核验（cov）：未通过，请对照引文；共作答 2 次: 数字不符" in said
    print_answer(answer("What is the target?", verdict=verdict), explain=False)
    said = capsys.readouterr().out
    assert "a.pdf, page 3, characters 5-9" in said
    assert "verified (cov): not passed, look at the quotes; 2 answers: 数字不符" in said


def test_a_heading_that_is_a_whole_provision_is_cut(capsys):
    """The path is to be read at a glance."""
    print_answer(answer("问"), explain=False)
    assert f"一、目标 › {'长标题' * 9}长标…\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdict", "fallback", "done"),
    [
        (None, False, True),
        (Verdict("cov", "failed", reason="judged false"), False, True),
        (Verdict("cov", "unverified", reason="not verified: malformed"), False, False),
        (None, True, False),
    ],
)
def test_an_answer_is_done_where_model_and_check_did_their_part(verdict, fallback, done):
    assert is_done(replace(answer("问", verdict=verdict), fallback=fallback)) is done


def test_no_words_of_a_model_are_taken_for_what_became_of_an_answer(capsys):
    """A reason or a step may begin as those of kgrag do."""
    verdict = Verdict("cov", "failed", reason="not verified: 数字不符")
    found = answer("问", verdict=verdict, steps=(Step("fall back", "left out: all"),))
    assert is_done(found)
    print_answer(found, explain=False)
    said = capsys.readouterr().out
    assert "核验（cov）：未通过，请对照引文: not verified: 数字不符" in said
    assert "未能核验" not in said


def test_json_has_the_keys_that_it_always_had():
    """Programs read them; a verdict tells whether it passed."""
    verdict = Verdict("cov", "unverified", reason="not verified: malformed")
    found: Any = answer("问", verdict=verdict, steps=(Step("verify", "", 1, True),)).to_dict()
    assert list(found) == [
        "question", "text", "citations", "found", "method", "notes", "checks", "verdict", "steps",
        "repointed", "blocks",
    ]  # fmt: skip
    assert found["verdict"] == {
        "method": "cov",
        "passed": False,
        "scores": {},
        "reason": "not verified: malformed",
        "revised_question": "",
        "rounds": 1,
        "problem": None,
    }
    assert list(found["verdict"])[:2] == ["method", "passed"]
    assert found["steps"] == [{"name": "verify", "detail": "", "calls": 1}]


def test_scores_stand_among_the_steps_only(capsys):
    """They say little to an analyst."""
    verdict = Verdict("cov", "passed", scores={"bias": 0.1}, reason="judged true")
    print_answer(answer("问", verdict=verdict), explain=False)
    assert "0.1" not in capsys.readouterr().out


def test_checks_without_a_model_are_not_called_verification(capsys):
    """They look at numbers, dates and names only."""
    print_answer(answer("问", verdict=Verdict("none", "passed")), explain=False)
    said = capsys.readouterr().out
    assert "离线检查：通过" in said
    assert "核验" not in said


PROVINCES = {
    "江苏": "江苏省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到18%。\n"
    "到2030年，全省非化石能源消费比重达到25%。\n",
    "福建": "福建省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到27.4%。\n",
    "河南": "河南省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到16%。\n",
}
ONE = "到2025年江苏的非化石能源消费比重目标是多少？"


base = shared_folder(PROVINCES)


def replies(base, *lines):
    """Return what is printed after each line, and what went to stderr."""
    before, said = "", []
    for n in range(len(lines)):
        done = run(base, "chat", typed="\n".join(lines[: n + 1]) + "\n")
        assert done.exit_code == 0, done.output
        said.append(done.stdout[len(before) :])
        before = done.stdout
    return said, done.stderr


def test_courtesy_and_help_are_answered_without_a_search(base):
    """In a line; what follows leans on the question before."""
    said, _ = replies(base, "你好", ONE, "谢谢", "帮助", "那福建呢")
    assert said[0] == said[2] == "请继续提问；/help 说明用法。\n\n"
    assert "换成河南" in said[3]
    assert "27.4%" in said[4]


@pytest.mark.parametrize("word", ["exit", "quit", "退出", "/exit", "/quit"])
def test_a_conversation_ends(base, word):
    """What stands behind is not asked."""
    done = run(base, "chat", typed=f"{word}\n不会问到\n")
    assert (done.exit_code, done.stdout) == (0, "")


ODD = {
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


odd = shared_folder(ODD)


def asked(odd, *words):
    """Return an answer as JSON."""
    return json.loads(run(odd, "ask", "--json", *words).stdout)


@pytest.mark.parametrize("question", ["PUE", "pue", "ＰＵＥ", "数据中心PUE要达到多少"])
def test_an_acronym_finds_what_documents_call_it(odd, question):
    """Alone, in any width and case, or in a question; the figure is quoted."""
    found = run(odd, "search", "--top-k", "1", question).stdout
    assert "甲市数据中心管理办法" in found
    assert "不高于1.3" in run(odd, "ask", question).stdout


@pytest.mark.parametrize(
    "question", ["乙市2025年森林覆盖率达到多少？", "乙市２０２５年森林覆盖率达到多少？"]
)
def test_full_width_texts_are_found_and_quoted_as_they_are(odd, question):
    """The quote is verbatim, at its place."""
    (cited, *_) = asked(odd, question)["citations"]
    assert "３０．５％" in cited["quote"]
    assert ODD["wide"][cited["start"] : cited["end"]] == cited["quote"]
    assert "引文中没有" not in run(odd, "ask", question).stdout


def test_a_number_that_a_gap_breaks_is_told(odd):
    """It is quoted as it stands, checked as the number it is, and a note tells."""
    said = run(odd, "ask", "2021年度碳排放配额总量是多少？")
    assert "总量为0. 75亿吨，其中政府预留比例为6%。**[1]" in said.stdout
    assert "〔" not in said.stdout
    assert "引文[1]里的数字在原文中带有空格（0. 75），按 0.75 理解，请核对" in said.stderr


@pytest.mark.parametrize("question", ["数据中心PUE要达到多少", "江苏和福建如何加快建设充电设施？"])
def test_an_answer_has_no_more_characters_than_asked_for(odd, question):
    told = asked(odd, question, "--max-chars", "100")
    assert 0 < sum(len(c["quote"]) for c in told["citations"]) <= 100
