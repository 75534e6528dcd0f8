"""What stands beside the figures of a run."""

import json

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import EvaluationError, ModelUnavailableError
from kgrag.evaluation.answers import Asking, Gold, measure_answers
from kgrag.evaluation.chat_models import Metered, Tape
from kgrag.evaluation.queries import GoldQuery
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.testing import Recorder, ScriptedChat

TEXT = "甲省方案\n到2025年，甲省创建绿色工厂500家。\n推进节水灌溉。\n"
QUERIES = [
    GoldQuery("q1", "到2025年甲省创建绿色工厂多少家？", ("a",), {"a": ((5, 20),)}, "number"),
    GoldQuery("q2", "到2025年甲省创建绿色工厂多少家？", ("zz",), {"zz": ((0, 3),)}, "lost"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    (folder / "a.txt").write_text(TEXT, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest(folder / "a.txt")
        yield made


def test_gold_that_is_not_held_scores_0_and_is_told(base):
    report = measure_answers(base, QUERIES, Asking(writer="quotes"))
    held, lost = report.rows
    assert held.scores["gold-quoted"] == 1
    assert lost.scores["gold-quoted"] == lost.scores["F1-char"] == 0
    assert report.notes == ("1 gold documents are not held: zz",)


def test_gold_sentences_are_whole(base):
    gold = Gold.of(QUERIES, base.store)
    assert gold.references(QUERIES[0]) == ["到2025年，甲省创建绿色工厂500家。"]
    assert gold.spans(QUERIES[0]) == [TEXT[5:20]]
    assert gold.references(QUERIES[1]) == []


def test_a_question_that_cannot_be_asked_is_named(base):
    with pytest.raises(EvaluationError, match="question q1: no"):
        measure_answers(base, QUERIES, Asking(system="no-such-system", writer="quotes"))


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

    model = Metered(Model())
    model.complete(ask("一"))
    with pytest.raises(ModelUnavailableError):
        model.complete(ask("二"))
    assert [str(exc) for exc in model.failed] == ["gone"]
    assert model.taken() == (2, Usage(10, 2))
    assert model.taken() == (0, Usage())
    assert model.failed == []


def test_a_tape_plays_what_was_recorded_and_names_what_it_lacks(tmp_path):
    tape = Tape(record=tmp_path / "tape.jsonl")
    recorded = tape.around(ScriptedChat(["甲"]))
    assert isinstance(recorded, Recorder)
    recorded.complete(ask("一"))
    assert json.loads((tmp_path / "tape.jsonl").read_text("utf-8"))["text"] == "甲"

    tape = Tape(replay=tmp_path / "tape.jsonl")
    assert tape.has_answers
    played = Metered(tape.around(ScriptedChat([])))
    assert played.complete(ask("一")).text == "甲"
    tape.check("question q1", played)
    with pytest.raises(Exception, match="no answer was recorded"):
        played.complete(ask("二"))
    with pytest.raises(EvaluationError, match="question q2: no answer was recorded"):
        tape.check("question q2", played)
    assert Tape().around(played) is played
