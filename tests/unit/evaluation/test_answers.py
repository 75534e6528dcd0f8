"""Answers that are evaluated: measures, judges, pairs, reports."""

import builtins
import json

import pytest

from kgrag.errors import (
    EvaluationError,
    MissingDependencyError,
    ModelUnavailableError,
)
from kgrag.evaluation import wording
from kgrag.evaluation.answer_report import (
    Abstention,
    AnswerReport,
    AnswerScores,
    answer_tables,
    write_answers,
)
from kgrag.evaluation.answers import Asking, Gold, measure_answers
from kgrag.evaluation.chat_models import Tape
from kgrag.evaluation.judges import AnswerJudge
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.wording import overlap_scores, word_tokens
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.middleware import Counted
from kgrag.testing import Recorder, ScriptedChat
from tests.fixtures.kit import shared_base

TEXT = "甲省方案\n到2025年，甲省创建绿色工厂500家。\n推进节水灌溉。\n"
QUERIES = [
    GoldQuery("q1", "到2025年甲省创建绿色工厂多少家？", ("a",), {"a": ((5, 20),)}, "number"),
    GoldQuery("q2", "到2025年甲省创建绿色工厂多少家？", ("zz",), {"zz": ((0, 3),)}, "lost"),
]


base = shared_base({"a": TEXT}, "hash-32")


def test_gold_that_is_not_held_scores_0_and_is_told(base):
    report = measure_answers(base, QUERIES, Asking(writer="quotes"))
    held, lost = report.rows
    assert held.scores["gold-quoted"] == 1
    assert lost.scores["gold-quoted"] == lost.scores["F1-char"] == 0
    assert report.notes == ("1 gold documents are not held: zz",)


def test_gold_sentences_are_whole(base):
    gold = Gold.of(QUERIES, base.store)
    assert gold.references(QUERIES[0]) == ["到2025年，甲省创建绿色工厂500家。"]
    assert gold.references(QUERIES[1]) == []


def test_a_judge_that_fails_is_told_and_leaves_the_other_figures(base):
    def judge(_query, _answer):
        raise ModelUnavailableError("gone")

    report = measure_answers(base, QUERIES[:1], Asking(writer="quotes", judge=judge))
    assert report.notes == ("1 answers could not be judged: question q1: gone",)
    assert report.rows[0].scores["any-gold"] == 1


def ask(text):
    return Request((Message("user", text),), "answer")


def test_calls_and_tokens_are_counted_from_question_to_question():
    answers = [Completion("甲", "m", usage=Usage(10, 2)), ModelUnavailableError("gone")]

    class Model:
        name = "m"

        def complete(self, request, *, on_text=None):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    model = Counted(Model())
    model.complete(ask("一"))
    with pytest.raises(ModelUnavailableError):
        model.complete(ask("二"))
    assert [str(exc) for exc in model.failed] == ["gone"]
    assert [c.usage for _, c in model.completions] == [Usage(10, 2)]
    assert model.calls == 2
    model.reset()
    assert (model.calls, model.completions, model.failed) == (0, [], [])


def test_a_tape_plays_what_was_recorded_and_names_what_it_lacks(tmp_path):
    tape = Tape(record=tmp_path / "tape.jsonl")
    recorded = tape.around(ScriptedChat(["甲"]))
    assert isinstance(recorded, Recorder)
    recorded.complete(ask("一"))
    assert json.loads((tmp_path / "tape.jsonl").read_text("utf-8"))["text"] == "甲"

    tape = Tape(replay=tmp_path / "tape.jsonl")
    assert tape.has_answers
    played = Counted(tape.around(ScriptedChat([])))
    assert played.complete(ask("一")).text == "甲"
    tape.check("question q1", played)
    with pytest.raises(Exception, match="no answer was recorded"):
        played.complete(ask("二"))
    with pytest.raises(EvaluationError, match="question q2: no answer was recorded"):
        tape.check("question q2", played)
    assert Tape().around(played) is played


def row(name, kind, *, answerable=True, refused=False, **scores):
    return AnswerScores(
        name, kind, "问？", answerable, refused, "答", (), {"refused": float(refused), **scores}
    )


@pytest.fixture
def report():
    return AnswerReport(
        "grim",
        (
            row("1", "number", EM=1.0, calls=3.0, seconds=0.5),
            row("2", "number", EM=0.0, refused=True, calls=1.0, seconds=1.5),
            row("3", "none", answerable=False, refused=True, calls=2.0, seconds=1.0),
            row("4", "none", answerable=False, calls=2.0, seconds=1.0, faith=0.5),
        ),
    )


def test_refusals_are_right_or_wrong(report):
    told = report.abstention
    assert told == Abstention(unanswerable=2, refused=1, answerable=2, wrongly_refused=1)
    assert (told.precision, told.recall, told.wrongly_refused_share) == (0.5, 0.5, 0.5)
    never = Abstention(0, 0, 3, 0)
    assert (never.precision, never.recall, never.wrongly_refused_share) == (None, None, 0.0)


def test_tables_show_percent_costs_judged_measures_and_refusals(report):
    told = answer_tables(report).splitlines()
    assert told[0].split() == ["wording", "n", "EM"]
    assert told[1].split() == ["all", "4", "50.0"]
    assert told[3].split() == ["none", "2", "-"]
    assert told[5].split() == ["cost", "n", "refused", "calls", "seconds"]
    assert told[7].split() == ["number", "2", "50.0", "2.00", "1.00"]
    assert told[10].split() == ["judged", "n", "faith"]
    assert told[-1].startswith("refused: 1 of 2 unanswerable (recall 50.0 %, precision 50.0 %), 1")


def test_files_hold_a_line_a_question_or_the_report(report, tmp_path):
    write_answers(tmp_path / "a.jsonl", report)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == ["1", "2", "3", "4"]
    assert lines[1]["refused"]
    assert lines[1]["scores"]["EM"] == 0
    write_answers(tmp_path / "a.json", report)
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == report.to_dict()
    with pytest.raises(EvaluationError, match="cannot write"):
        write_answers(tmp_path / "no" / "such" / "a.jsonl", report)


QUERY = GoldQuery("q1", "到2025年甲省创建绿色工厂多少家？", ("a",))
GRID = dict.fromkeys(("faithfulness", "context_recall", "answer_relevance"), 0.5)
GRID |= {"answer_accuracy": 0.25}
COV = dict.fromkeys(
    ("reference_correctness", "correctness", "citation_accuracy", "truthfulness", "conciseness"),
    0.75,
)
JUDGED = COV | {"bias": 0.5}


judged_base = shared_base(
    {
        "a": "甲省方案\n到2025年，甲省创建绿色工厂500家。\n",
        "b": "乙市规划\n推进节水灌溉，建设高标准农田。\n",
    },
    "hash-32",
)


def judged(judged_base, question, *, evaluators=None):
    model = ScriptedChat([json.dumps(GRID), json.dumps({**JUDGED, "judgement": "false"})])
    answer = judged_base.ask(question, writer="quotes")
    judge = AnswerJudge(judged_base, model, evaluators=evaluators)
    query = GoldQuery("q1", question, ("a",))
    return judge(query, answer), model, answer


def test_scores_of_both_papers_are_told_apart(judged_base):
    scores, model, answer = judged(judged_base, QUERY.question)
    assert answer.found
    assert scores["grid:answer_accuracy"] == 0.25
    assert scores["cov:bias"] == 0.5
    assert scores["cov:true"] == 0
    assert not any(name.startswith("grim:") for name in scores)
    shown = model.requests[0].messages[-1].content
    assert "创建绿色工厂500家" in shown
    assert "[1]" in shown
    assert "[?]" not in shown  # what is cited is among the references


def test_an_answer_that_found_nothing_has_0_but_for_its_references(judged_base):
    """Whatever a lenient judge says of a refusal."""
    scores, _, answer = judged(judged_base, "鹭鹮鹯", evaluators=lambda *_: {"Resp-Qry": 1.0})
    assert not answer.found
    assert scores["grim:Resp-Qry"] == scores["grid:faithfulness"] == scores["cov:correctness"] == 0
    assert scores["cov:bias"] == 1
    assert scores["grid:context_recall"] == 0.5
    assert scores["cov:reference_correctness"] == 0.75


def test_the_same_words_score_1_whatever_marks_and_width_they_have():
    scores = overlap_scores("福州、厦门。", ["福州 厦门"])
    assert scores["EM"] == scores["F1-char"] == scores["F1-word"] == scores["ROUGE-L"] == 1
    assert scores["BLEU-1"] == pytest.approx(1)
    assert scores["METEOR"] == pytest.approx(1 - 0.5 / 2**3)  # its penalty for one chunk of two
    assert overlap_scores("ＰＵＥ低于1.3", ["PUE 低于 1.3"])["EM"] == 1


def test_each_measure_counts_as_its_paper_says():
    """Said: 创建 绿色工厂 500 家; wanted: 绿色工厂 达到 500 家: three words of four, two chunks."""
    scores = overlap_scores("创建绿色工厂500家", ["绿色工厂达到500家"])
    assert word_tokens("创建绿色工厂500家") == ["创建", "绿色工厂", "500", "家"]
    assert scores["EM"] == 0
    assert scores["F1-char"] == pytest.approx(2 * 8 / 20)
    assert scores["F1-word"] == scores["ROUGE-1"] == scores["ROUGE-L"] == pytest.approx(0.75)
    assert scores["BLEU-1"] == pytest.approx(0.75)
    assert scores["METEOR"] == pytest.approx(0.75 * (1 - 0.5 * (2 / 3) ** 3))


def test_bleu_1_is_brief_and_words_out_of_order_are_no_longest_sequence():
    scores = overlap_scores("厦门福州", ["福州厦门南平三明"])
    assert scores["ROUGE-1"] == pytest.approx(2 / 3)
    assert scores["ROUGE-L"] == pytest.approx(1 / 3)
    assert scores["BLEU-1"] == pytest.approx(2.718281828 ** (1 - 4 / 2))


def test_english_stems_count_for_meteor_and_no_dictionary_is_asked():
    said, told = "planning factories", "planned factories"
    assert overlap_scores(said, [told])["METEOR"] > 0.9
    assert overlap_scores("car", ["automobile"])["METEOR"] == 0  # WordNet's synonyms


def test_missing_packages_are_named_with_their_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("rouge_score"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **options)

    wording._measures.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kgrag\[eval\]'"):
        overlap_scores("甲", ["甲"])
    wording._measures.cache_clear()
