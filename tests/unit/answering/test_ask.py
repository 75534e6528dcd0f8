"""A question is answered in full: options, models, notes, writing, checking and shortening."""

import json
import math
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from kgrag.answering.ask import ask
from kgrag.answering.follow_up import Turn
from kgrag.answering.models import QuestionModels
from kgrag.answering.notes import search_notes
from kgrag.answering.options import AskOptions
from kgrag.answering.search_context import ResultsWithDocuments, facts_in
from kgrag.config import (
    Config,
    VerifyConfig,
)
from kgrag.errors import (
    ConfigError,
    ModelError,
    ModelUnavailableError,
)
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.results import ScoredChunk
from kgrag.retrieval.filter import Filter
from kgrag.testing.scripted import ScriptedChat
from tests.fixtures.kit import knowledge_base

QUESTION = "到2025年，A省创建多少家绿色工厂？"
RIGHT = "A省到2025年创建绿色工厂500家[1]。"

GOOD = json.dumps(
    {
        "reference_correctness": 0.9,
        "correctness": 0.9,
        "citation_accuracy": 0.9,
        "truthfulness": 0.95,
        "bias": 0.1,
        "conciseness": 0.9,
        "judgement": "true",
        "revised_question": "",
    }
)
BAD = json.dumps(
    {
        "reference_correctness": 0.1,
        "correctness": 0.1,
        "citation_accuracy": 0.1,
        "truthfulness": 0.5,
        "bias": 0.9,
        "conciseness": 0.5,
        "judgement": "false",
        "revised_question": "A省绿色工厂的创建目标是多少家？",
    }
)


class Script:
    """Answers by the schema that is asked for; a list gives one after the other.

    Attributes:
        asked: Schemas, or stages where the answer is plain text, in order.
    """

    def __init__(self, away=(), **answers):
        self.away = away
        self._answers = {"cov": GOOD, **answers}
        self.asked = []
        self._lock = threading.Lock()
        self._model = ScriptedChat(self._answer)

    def of(self, stage):
        """Return the model of every stage."""
        if stage in self.away:
            raise ModelUnavailableError(f"{stage} is away")
        return self._model

    def _answer(self, request):
        kind = request.schema_name or request.stage
        with self._lock:
            self.asked.append(kind)
        answer = self._answers[kind]
        if isinstance(answer, list):
            answer = answer.pop(0)
        return answer(request) if callable(answer) else answer


@pytest.fixture
def script():
    return Script


@pytest.fixture
def asked(knowledge, options):
    """Return a function that asks with a script."""

    def run(script, question=QUESTION, history=(), on_text=None, toolbox=None, **said):
        return ask(
            question,
            knowledge=knowledge,
            options=options(**said),
            stages=script,
            history=history,
            on_text=on_text,
            toolbox=toolbox,
        )

    return run


def names(answer):
    return [step.name for step in answer.steps]


def test_an_answer_is_written_cited_checked_and_verified(asked, script):
    """Answer, verify."""
    model = script(answer=RIGHT)
    answer = asked(model)
    assert model.asked == ["answer", "cov"]
    assert answer.text == RIGHT
    assert "500家" in answer.citations[0].quote
    assert [check.supported for check in answer.checks] == [True]
    assert answer.verdict.passed
    assert names(answer) == ["retrieve", "generate", "verify", "used"]
    assert [step.calls for step in answer.steps] == [0, 1, 1, 0]


@pytest.mark.parametrize("verify", ["none", "cov"])
def test_every_call_ends_with_the_time_of_the_question(asked, script, verify):
    """Also where nothing is verified: `verify.timeout_s` is of all calls, the first draft's too."""
    ends = []

    def told(answer):
        def say(request):
            ends.append((request.deadline or math.inf) - time.monotonic())
            return answer

        return say

    model = script(answer=told(RIGHT), cov=told(GOOD))
    asked(model, verify=verify, on_text=lambda _: None)
    assert len(ends) == (1 if verify == "none" else 2)
    assert max(ends) <= Config().verify.timeout_s


def test_a_number_that_is_not_in_the_cited_text_is_answered_again(asked, script):
    """The writer is told what is wrong, though the verifier passed it; the better answer stands."""
    told = []

    def mend(request):
        told.append(request.messages[-1].content)
        return RIGHT

    model = script(answer=["A省到2025年创建绿色工厂900家[1]。", mend])
    answer = asked(model)
    assert model.asked == ["answer", "cov", "answer", "cov"]
    assert "〔与引文不符：900家≠500家〕" in told[0]
    assert (answer.text, answer.verdict.passed, answer.verdict.rounds) == (RIGHT, True, 2)


def test_a_bad_answer_is_asked_again_with_a_better_question(asked, script):
    """CoV-RAG, Algorithm 1: retrieve with the revised question, answer the first one again."""
    model = script(answer=["A省创建绿色工厂100家[1]。", RIGHT], cov=[BAD, GOOD])
    answer = asked(model)
    assert answer.text == RIGHT
    assert answer.verdict.rounds == 2
    attempt = ["retrieve", "generate"]
    assert names(answer) == [*attempt, "verify", "revise", *attempt, "verify", "used"]
    assert answer.question == QUESTION


def test_a_false_answer_is_asked_again_on_the_same_passages(asked, script):
    """The model is shown its answer, by the numbers of the passages, and what is wrong."""
    problem = {"kind": "wrong", "sentence": "A省创建300家[1]。", "why": "那是B省的目标"}
    false = json.dumps(json.loads(GOOD) | {"judgement": "false", "problem": problem})
    prompts = []

    def answered(request):
        prompts.append([message.content for message in request.messages])
        return RIGHT if len(prompts) > 1 else "绿色工厂A省要建500家[1]。"

    answer = asked(script(answer=answered, cov=[false, GOOD]))
    assert names(answer) == ["retrieve", "generate", "verify", "answer again", "generate",
                                 "verify", "used"]  # fmt: skip
    first, second = prompts
    assert second[:2] == first
    assert "那是B省的目标" in second[2]
    assert "绿色工厂A省要建500家[1]。" in second[2]
    assert (answer.text, answer.verdict.rounds, answer.verdict.passed) == (RIGHT, 2, True)


def test_an_answer_that_lacks_a_part_is_asked_again_with_more_passages(asked, script):
    """What was found stays, and the better question is searched for."""
    problem = {"kind": "missing", "sentence": "", "why": "没有说明牵头部门"}
    said = {"judgement": "false", "problem": problem, "revised_question": "A省由哪个部门牵头？"}
    lacking = json.dumps(json.loads(GOOD) | said)
    whole = f"{RIGHT}由省工业和信息化厅牵头[1]。"
    answer = asked(script(answer=[RIGHT, whole], cov=[lacking, GOOD]))
    assert names(answer).count("retrieve") == 2
    assert "revise" in names(answer)
    assert "牵头" in answer.text
    assert answer.verdict.revised_question == "A省由哪个部门牵头？"


def test_an_answer_stays_where_answering_again_fails(asked, script):
    """It is paid for; the verdict names what is wrong with it."""
    problem = {"kind": "wrong", "sentence": RIGHT, "why": "年份不对"}
    false = json.dumps(json.loads(GOOD) | {"judgement": "false", "problem": problem})
    gone = ModelUnavailableError("away")

    def answered(request):
        if len(request.messages) > 2:
            raise gone
        return RIGHT

    answer = asked(script(answer=answered, cov=[false]))
    assert answer.text == RIGHT
    assert "年份不对" in answer.verdict.reason
    assert answer.verdict.problem.kind == "wrong"


def test_without_verification_nothing_more_is_asked(asked, script):
    """Offline checks are made all the same."""
    model = script(answer=RIGHT)
    answer = asked(model, verify="none")
    assert model.asked == ["answer"]
    assert answer.verdict.passed
    assert answer.checks


def test_chats_grid_rates_and_checks(asked, script):
    """One rating of all that was found, one self-check."""

    def ratings(request):
        n = request.messages[-1].content.count("</passage ")
        return json.dumps(
            {"ratings": [{"n": i, "score": 0 if i > 1 else 9} for i in range(1, n + 1)]}
        )

    good = dict.fromkeys(
        ("faithfulness", "context_recall", "answer_relevance", "answer_accuracy"), 0.95
    )
    model = script(
        answer=RIGHT,
        ratings=ratings,
        self_check=json.dumps(good),
    )
    answer = asked(model, verify="chats-grid")
    assert model.asked == ["ratings", "answer", "self_check"]
    assert answer.verdict.passed
    rating = next(step for step in answer.steps if step.name == "rate")
    assert "dropped" in rating.detail
    assert len({c.doc_id for c in answer.citations}) == 1


def test_a_model_that_is_away_leaves_quotes_and_a_note(asked, script):
    """The reader gets an answer and learns why it is another."""
    answer = asked(script(answer=ModelUnavailableError("the endpoint cannot be reached")))
    assert answer.method == "extractive"
    assert answer.fallback
    assert "500家" in answer.text
    assert "fall back" in names(answer)
    assert "cannot be reached" in answer.notes[0]


def test_a_verification_that_fails_does_not_lose_the_answer(asked, script):
    """The verdict says that it was not verified."""
    answer = asked(script(answer=RIGHT, cov="不是JSON"))
    assert answer.text == RIGHT
    assert not answer.verdict.passed
    assert answer.verdict.status == "unverified"
    assert "not verified" in answer.verdict.reason


def test_a_follow_up_is_understood_first(asked, script):
    """The question is rewritten from history; the answer is to the rewritten one."""
    model = script(
        answer="到2025年，B省创建绿色工厂300家[1]。", analyse="到2025年，B省创建多少家绿色工厂？"
    )
    answer = asked(model, question="那B省呢？", history=[Turn(QUESTION, RIGHT)])
    assert model.asked[0] == "analyse"
    assert answer.question == "到2025年，B省创建多少家绿色工厂？"
    assert answer.steps[0].name == "understand"


def test_the_draft_is_streamed_once(asked, script):
    """A later answer is not."""
    pieces: list[Any] = []
    asked(
        script(answer=["A省创建绿色工厂100家[1]。", RIGHT], cov=[BAD, GOOD]), on_text=pieces.append
    )
    assert pieces == ["A省创建绿色工厂100家[1]。"]


@pytest.mark.parametrize("verify", ["cov", "chats-grid"])
def test_a_stage_that_is_away_does_not_cost_the_answer(asked, script, verify):
    """What helps is left out and told; only the answer's own model is needed."""
    answer = asked(script(away=("verify",), answer=RIGHT), verify=verify)
    assert answer.text == RIGHT
    assert not answer.verdict.passed
    assert "verify is away" in answer.verdict.reason
    assert any("rate: left out" in note for note in answer.notes) == (verify == "chats-grid")


def test_a_follow_up_without_its_model_is_understood_by_rule(asked, script):
    """With what the question before was about."""
    history = [Turn("到2025年，江苏创建多少家绿色工厂？", RIGHT)]
    model = script(away=("analyse",), answer=RIGHT)
    answer = asked(model, question="由谁牵头？", history=history)
    assert answer.method == "scripted"
    assert answer.question == "到2025年，江苏创建绿色工厂由谁牵头？"


def test_steps_of_a_conversation_are_shown_where_the_model_stopped(asked, script):
    """What was done before stays."""
    history = [Turn(QUESTION, RIGHT)]
    gone = script(
        analyse="到2025年，B省创建多少家绿色工厂？",
        answer=ModelUnavailableError("nobody answers"),
    )
    answer = asked(gone, question="那B省呢？", history=history)
    assert names(answer) == ["understand", "retrieve", "fall back", "used"]
    assert answer.question == "到2025年，B省创建多少家绿色工厂？"
    assert "300家" in answer.text


def test_a_further_attempt_that_stops_leaves_no_steps_of_its_own(asked, script):
    """The first answer stands; the verdict says why there is no other."""
    gone = ModelUnavailableError("nobody answers")
    model = script(answer=["A省创建绿色工厂100家[1]。", gone], cov=[BAD])
    answer = asked(model)
    assert names(answer)[2:] == ["verify", "revise", "stop", "used"]
    assert "再次作答未成功：nobody answers" in answer.verdict.reason


def test_a_model_that_fails_does_not_say_that_documents_hold_nothing(asked, script):
    """Nobody looked."""
    away = script(answer=ModelUnavailableError("away"))
    tools = SimpleNamespace(functions=({"function": {"name": "search"}},))
    answer = asked(away, question="？", toolbox=lambda language: tools)
    assert not answer.found
    assert answer.text.startswith("模型未能作答")
    assert "does not mean that the documents hold no answer" in answer.notes[0]


def test_an_empty_question_asks_nobody(asked, script):
    model = script()
    assert not asked(model, question="  ").found
    assert model.asked == []


def test_the_conversation_is_shown_to_the_answers_model(asked, script):
    """A question may lean on what was answered."""
    seen = []

    def answering(request):
        seen.append(request.messages[-1].content)
        return RIGHT

    asked(script(answer=answering, analyse=QUESTION), history=[Turn("A省有何目标？", "见方案。")])
    assert "见方案。" in seen[0]


def test_quotes_need_no_model_and_no_check(knowledge, options):
    """What is quoted word for word says what it says."""
    answer = ask(QUESTION, knowledge=knowledge, options=options(), stages=None)
    assert answer.found
    assert answer.checks == ()


def test_a_model_sees_only_what_a_filter_leaves(knowledge, options, script):
    seen = []

    def answering(request):
        seen.append(request.messages[-1].content)
        return "到2025年，B省创建绿色工厂300家[1]。"

    model = script(answer=answering)
    answer = ask(
        QUESTION,
        knowledge=knowledge.within(Filter(documents=("B省",))),
        options=options(),
        stages=model,
    )
    assert "300家" in seen[0]
    assert "500家" not in seen[0]
    assert [c.title for c in answer.citations] == ["B省绿色工厂实施方案"]


def test_a_model_writes_where_there_is_one():
    assert AskOptions.from_config(Config(), has_model=False).writer == "quotes"
    assert AskOptions.from_config(Config(), has_model=True).writer == "model"
    assert AskOptions.from_config(Config(), has_model=True, writer="quotes").writer == "quotes"


def test_a_model_that_is_wanted_must_be_configured():
    with pytest.raises(ConfigError, match=r"kgrag\.toml"):
        AskOptions.from_config(Config(), has_model=False, writer="model")


def test_each_method_has_its_own_rounds_unless_settings_say():
    """CoV-RAG asks once more, Chats-Grid four times."""
    rounds = {
        name: AskOptions.from_config(Config(), has_model=True, verify=name).verify.max_rounds
        for name in ("cov", "cov-paper", "chats-grid", "none")
    }
    assert rounds == {"cov": 2, "cov-paper": 2, "chats-grid": 5, "none": 1}
    config = Config(verify=VerifyConfig(max_rounds=3))
    assert AskOptions.from_config(config, has_model=True, verify="cov").verify.max_rounds == 3


@pytest.mark.parametrize(
    ("config", "said", "says"),
    [
        (Config(), {"verify": "hope"}, 'verify.method.*"cov"'),
        (Config(), {"template": "poem"}, 'answer.template.*"normal"'),
    ],
)
def test_what_is_not_known_is_named(config, said, says):
    with pytest.raises(ConfigError, match=says):
        AskOptions.from_config(config, has_model=True, **said)


REQUEST = Request((Message("user", "问"),), "answer")


def models(script, max_calls=10):
    model = ScriptedChat(script)
    stages: Any = SimpleNamespace(of=lambda _: model)
    return QuestionModels(stages, VerifyConfig(max_calls=max_calls))


def test_no_call_goes_beyond_the_bound():
    """The error says which setting it is."""
    asked = models(["甲", "乙"], max_calls=1)
    asked.of("answer").complete(REQUEST)
    with pytest.raises(ModelError, match="max_calls"):
        asked.of("answer").complete(REQUEST)


def test_usage_tells_what_was_paid_now():
    """What came from the cache cost nothing."""
    asked = models(
        [
            Completion("甲", "m", usage=Usage(100, 10)),
            Completion("乙", "m", usage=Usage(999, 99), from_cache=True),
        ]
    )
    for _ in range(2):
        asked.of("answer").complete(REQUEST)
    assert asked.usage() == "2 calls, 1 of them from the cache; 100 tokens in, 10 out"


@pytest.fixture
def undated(tmp_path):
    """One document without a year; leaves and facts carry vectors."""
    with knowledge_base(tmp_path, {"a": "甲方案\n加强管理。\n"}, "hash-8") as base:
        yield base


def of_search(undated, within=None):
    return search_notes(undated.store, Config(), undated.sizes, within)


def test_search_notes_tell_of_documents_that_a_filter_cannot_judge(undated):
    """One that does not say when it was issued."""
    (left_out,) = of_search(undated, Filter(years=(2022, 2022)))
    assert left_out.startswith("1 of 1 documents")


def test_facts_of_a_merged_chunk_are_those_of_its_leaves(kb):
    """Evidence hangs on leaves; a parent's facts are theirs."""
    (doc,) = [d for d in kb.documents() if "A省" in d.file]
    store = kb.store
    leaf = kb.sizes.leaf
    leaves = store.chunks_of([doc.doc_id], size=leaf)
    (parent,) = store.chunks_of([doc.doc_id], size=kb.sizes.parent)
    assert facts_in([ScoredChunk(parent, 1.0)], store, leaf=leaf) == store.facts_of_chunks(
        [chunk.chunk_id for chunk in leaves]
    )


def test_results_of_documents_that_are_gone_are_left_out(kb):
    """Somebody may have deleted one since it was found."""
    from dataclasses import replace

    (doc, _) = kb.documents()
    chunk = kb.store.chunks_of([doc.doc_id], size=kb.sizes.leaf)[0]
    gone = replace(chunk, doc_id="d-gone", chunk_id="d-gone:256:0")
    held = ResultsWithDocuments.of([ScoredChunk(gone, 2.0), ScoredChunk(chunk, 1.0)], kb.store)
    assert [r.chunk for r in held.results] == [chunk]
    assert held.documents[doc.doc_id].text
