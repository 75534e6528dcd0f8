"""Calls that are recorded, and played again."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import (
    EvaluationError,
    ModelError,
    StoreError,
    StoreUnavailableError,
)
from kgrag.ingestion.reading import SCHEMA_NAMES
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.ledger import Calls, PastCall, Rates, UsageTotal, predict, rates_of, request_key
from kgrag.llm.prompts import fence
from kgrag.llm.tokens import estimate_request, estimate_tokens
from kgrag.testing import Player, Recorder, ScriptedChat
from kgrag.testing.reply import fake_answer

ANSWER = Completion("答", "m-2024", "stop", Usage(10, 5, cached=2))
REQUEST = Request((Message("system", "读"), Message("user", "问")), "extract", doc_id="d-1")
PARAMETERS = {"base_url": "http://a/v1", "temperature": "0.0"}
READ = replace(REQUEST, schema_name="facts")


def record(calls, request=READ, *, model="m", usage=None, outcome="ok", seconds=1.5):
    """Enter a call, of 100 tokens in and 40 out unless told otherwise."""
    usage = usage or Usage(100, 40, cached=10)
    return calls.record(request, model, usage=usage, seconds=seconds, outcome=outcome)


def test_an_answer_comes_back_as_it_was_kept(calls, tmp_path):
    """Every field, marked as paid before, also after the file is opened again."""
    assert calls.answer("k") is None
    assert not calls.has_answer("k")
    calls.keep("k", ANSWER)
    assert calls.answer("k") == replace(ANSWER, from_cache=True)
    assert calls.has_answer("k")
    again = Calls.open(tmp_path / "calls.db")
    assert again.answer("k") == replace(ANSWER, from_cache=True)
    again.keep("k", replace(ANSWER, text="a\ud83db"))  # which fits into no file
    assert again.answer("k") == replace(ANSWER, text="a?b", from_cache=True)
    again.close()


def test_what_was_kept_survives_a_kill(tmp_path):
    """`keep` has committed when it returns."""
    code = (
        "import sys, os, signal\n"
        "from kgrag.llm.ledger import Calls\n"
        "from kgrag.llm.chat import Completion\n"
        "calls = Calls.open(sys.argv[1])\n"
        "for i in range(50):\n"
        "    calls.keep(str(i), Completion('答', 'm'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    file = tmp_path / "calls.db"
    run = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert run.returncode == -signal.SIGKILL
    calls = Calls.open(file)
    assert all(calls.has_answer(str(i)) for i in range(50))
    calls.close()


def test_many_threads_may_keep_and_record_at_once(calls):
    """Nothing is lost and nothing fails."""

    def work(number):
        for i in range(20):
            calls.keep(f"{number}-{i}", ANSWER)
            record(calls)
            assert calls.answer(f"{number}-{i}") is not None

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls.totals()[0].sent == 320


def test_processes_may_open_a_new_file_at_the_same_time(tmp_path):
    """Whoever comes first makes the tables; all keep their answers."""
    code = (
        "import sys\n"
        "from kgrag.llm.ledger import Calls\n"
        "from kgrag.llm.chat import Completion\n"
        "sys.stdin.read()\n"
        "calls = Calls.open(sys.argv[1])\n"
        "for i in range(20):\n"
        "    calls.keep(f'{sys.argv[2]}-{i}', Completion('答', 'm'))\n"
        "calls.close()\n"
    )
    file = tmp_path / "new" / "calls.db"
    runs = [
        subprocess.Popen([sys.executable, "-c", code, file, str(n)], stdin=subprocess.PIPE)
        for n in range(4)
    ]
    for run in runs:
        assert run.stdin
        run.stdin.close()
    assert [run.wait() for run in runs] == [0] * 4
    calls = Calls.open(file)
    assert all(calls.has_answer(f"{n}-{i}") for n in range(4) for i in range(20))
    calls.close()


def test_totals_add_up_what_was_sent(calls):
    """Failed calls count as sent; hits are counted apart, and their tokens cost nothing."""
    record(calls)
    record(calls, outcome="malformed", usage=Usage(100, 7, estimated=True))
    record(calls, outcome="RateLimitError", usage=Usage(), seconds=0.5)
    record(calls, outcome="cached", seconds=0.0)
    usage = Usage(200, 47, cached=10, estimated=True)
    assert calls.totals() == [UsageTotal("extract", "m", 3, 1, 2, usage, 3.5)]


def test_totals_are_apart_by_stage_and_model(calls):
    """Models have prices of their own, so no sum goes over two of them."""
    record(calls)
    record(calls, model="n")
    record(calls, replace(READ, stage="answer", doc_id=""), model="n")
    groups = [(t.stage, t.model) for t in calls.totals()]
    assert groups == [("answer", "n"), ("extract", "m"), ("extract", "n")]


def test_past_calls_are_those_of_the_same_model_stage_and_schema(calls):
    """Hits and calls that never came teach nothing; the request's own sizes are recorded."""
    record(calls, usage=Usage(120, 40))
    record(calls, outcome="cached", usage=Usage(999, 999))
    record(calls, outcome="RateLimitError", usage=Usage())
    record(calls, outcome="BrokenOffError", usage=Usage(80, 0, estimated=True))
    record(calls, model="n")
    record(calls, replace(READ, stage="summarize"))
    record(calls, replace(READ, schema_name="knowledge"))
    assert calls.past("m", "extract", "facts") == [PastCall(120, 40, 0, 13, 1, True)]
    assert calls.past("m", "verify", "cov") == []


def test_a_damaged_file_may_be_deleted(tmp_path):
    """The error says so, and what that loses."""
    file = tmp_path / "calls.db"
    file.write_bytes(b"no database at all, but long enough to look like one" * 100)
    with pytest.raises(StoreError, match=r"calls\.db: .* delete it: only answers"):
        Calls.open(file)


def test_damage_that_is_met_late_is_told_as_well(tmp_path):
    """Pages overwritten behind a sound first page."""
    file = tmp_path / "calls.db"
    calls = Calls.open(file)
    for i in range(200):
        calls.keep(f"{i:032}", replace(ANSWER, text="答" * 200))
    calls.close()
    size = file.stat().st_size
    with file.open("r+b") as f:
        f.seek(4096)
        f.write(b"\xff" * (size - 4096))
    calls = Calls.open(file)
    with pytest.raises(StoreError, match="delete it"):
        [calls.answer(f"{i:032}") for i in range(200)]
    calls.close()


def test_another_programs_database_is_left_alone(tmp_path):
    """A knowledge base named by mistake must not be written to."""
    file = tmp_path / "kgrag.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE chunks (id)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreUnavailableError, match="another program"):
        Calls.open(file)
    assert file.read_bytes() == before


def test_a_newer_kgrags_file_is_refused(calls, tmp_path):
    """Its tables may mean something else."""
    other = sqlite3.connect(tmp_path / "calls.db")
    other.execute("PRAGMA user_version = 2")
    other.close()
    with pytest.raises(StoreError, match="newer kgrag"):
        Calls.open(tmp_path / "calls.db")


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    """A folder in place of the file, a file in place of the folder."""
    with pytest.raises(StoreUnavailableError, match="name a file"):
        Calls.open(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailableError, match="name another file"):
        Calls.open(tmp_path / "file" / "calls.db")


def key(request=REQUEST, model="m", **parameters):
    return request_key(request, model=model, parameters=PARAMETERS | parameters)


@pytest.mark.parametrize(
    "other",
    [
        {"messages": (Message("system", "读"), Message("user", "问？"))},
        {"messages": (Message("user", "读"), Message("user", "问"))},
        {"messages": (Message("system", "读问"), Message("user", ""))},
        {"schema": {"type": "object"}},
        {"schema_name": "facts"},
        {"max_tokens": 10},
    ],
)
def test_whatever_decides_the_answer_is_in_the_key(other):
    """Messages with their roles, schema, length."""
    assert key(replace(REQUEST, **other)) != key()


def test_model_and_parameters_are_in_the_key():
    """Another endpoint answers otherwise; documents, stages and corrections are paid once."""
    keys = [key(), key(model="n"), key(base_url="http://b/v1"), key(json="object")]
    assert len(set(keys)) == 4
    turned = dict(reversed(PARAMETERS.items()))
    assert request_key(REQUEST, model="m", parameters=turned) == key()
    assert key(replace(REQUEST, doc_id="d-2", stage="summarize")) == key()
    added = (Message("assistant", "坏"), Message("user", "再答"))
    longer = replace(REQUEST, messages=(*REQUEST.messages, *added))
    assert key(replace(longer, added=2)) == key() != key(longer)


def past(completion=10, chars=100, *, prompt=120, estimated=100, cached=0, used=True):
    return PastCall(prompt, completion, cached, estimated, chars, used)


def rates(*calls: PastCall) -> Rates:
    """Return the rates of calls that have some."""
    found = rates_of(calls)
    assert found
    return found


@pytest.mark.parametrize(
    ("calls", "per_call", "per_char"),
    [
        ([past(10, 100), past(30, 300)], 0.0, 0.1),
        ([past(10, 100), past(50, 100)], 0.0, 0.3),
        ([past(10, 0), past(20, 0)], 15.0, 0.0),  # no material
    ],
)
def test_past_calls_give_a_share(calls, per_call, per_char):
    """Tokens a character of material, or a call."""
    learned = rates(*calls)
    assert (learned.per_call, learned.per_char) == pytest.approx((per_call, per_char))
    assert learned.completion(1000) == pytest.approx(per_call + 1000 * per_char)


def test_unusable_answers_are_paid_by_the_others():
    """Two used, one wasted: 1.5 attempts; 360 tokens sent for 200; 45 answered for 30."""
    learned = rates(past(10), past(20), past(15, used=False))
    assert learned.calls == 3
    assert learned.attempts == 1.5
    assert learned.prompt == 1.8
    assert learned.completion(100) == pytest.approx(22.5)


def request(text, **options):
    message = Message("user", "读出事实：\n" + fence(text, label="text"))
    return Request((message,), "extract", **{"schema_name": "facts"} | options)


def predicted(requests, calls):
    return predict(requests, model="m", parameters=PARAMETERS, calls=calls)


def test_without_history_the_estimate_stands_in(calls):
    """And the basis says so: no call."""
    one = request("碳" * 1000, schema_name="knowledge_missing")
    result = predicted([one], calls)
    assert (result.calls, result.cached_calls, result.basis) == (1, 0, 0)
    assert result.prompt_tokens == estimate_request(one)
    assert result.completion_tokens == 30 + round(1.03 * estimate_tokens("碳" * 1000))


@pytest.mark.parametrize("name", SCHEMA_NAMES.values())
def test_without_history_an_answer_grows_with_the_tokens_of_the_text(calls, name):
    """Whatever its language: 1,000 Latin characters state as much as 380 Chinese ones."""
    short, latin = request("碳" * 380, schema_name=name), request("a" * 1000, schema_name=name)
    long = request("碳" * 3800, schema_name=name)
    one, other, more = (predicted([r], calls).completion_tokens for r in (short, latin, long))
    assert one == other
    assert 8 * one < more < 10 * one


def test_an_answer_that_is_kept_costs_nothing(calls):
    """It is counted apart."""
    kept = request("甲" * 500)
    calls.keep(request_key(kept, model="m", parameters=PARAMETERS), Completion("答", "m"))
    result = predicted([kept, request("乙")], calls)
    assert (result.calls, result.cached_calls) == (1, 1)
    assert result.prompt_tokens == estimate_request(request("乙"))


def test_history_corrects_the_estimates(calls):
    """1.25 tokens sent for one estimated, half of them cached; one answered for 2 characters."""
    past, one = request("碳" * 1000), request("碳" * 100)
    sent = 5 * estimate_request(past) // 4
    for _ in range(5):
        record(calls, past, usage=Usage(sent, 500, sent // 2))
    result = predicted([one], calls)
    assert result.basis == 5
    assert result.prompt_tokens == pytest.approx(1.25 * estimate_request(one), abs=1)
    assert result.cached_tokens == pytest.approx(0.625 * estimate_request(one), abs=1)
    assert result.completion_tokens == 50


def asking(text, stage="answer", **options):
    return Request((Message("system", "你是"), Message("user", text)), stage, **options)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "made" / "answers.jsonl"


def test_a_recorded_answer_is_played_as_it_was_given(file):
    """Text, end, tokens and the model's name; whatever else the request says."""
    given = Completion("120家。\n“好”", "glm", "length", Usage(40, 7))
    assert Recorder(ScriptedChat([given], name="glm"), file).complete(asking("几家？")) == given
    player = Player.read(file)
    pieces: list[str] = []
    other = asking("几家？", "verify", max_tokens=9, schema={}, schema_name="x")
    assert player.complete(other, on_text=pieces.append) == given
    assert player.name == "glm"
    assert pieces == ["120家。\n“好”"]
    assert file.stat().st_mode & 0o077 == 0


def test_a_line_says_what_was_asked_with_the_hashes_of_both(file):
    """Anybody can read it, and find the answer to a prompt."""
    asked = asking("几家？", "extract", schema={}, schema_name="facts_rows")
    Recorder(ScriptedChat(["120家"], name="glm"), file).complete(asked)
    record = json.loads(file.read_text("utf-8"))
    assert (record["model"], record["stage"], record["schema"]) == ("glm", "extract", "facts_rows")
    assert record["messages"][1] == {"role": "user", "content": "几家？"}
    assert record["text"] == "120家"
    assert len(record["prompt"]) == len(record["answer"]) == 32
    assert "几家" in file.read_text("utf-8")


def test_a_prompt_that_was_not_recorded_is_an_error_that_says_how_it_ends(file):
    """A changed prompt is seen, not answered by another's answer."""
    Recorder(ScriptedChat(["一"]), file).complete(asking("绿色工厂有几家？"))
    player = Player.read(file)
    with pytest.raises(ModelError, match="ends with '绿色工厂有多少家？'; record it anew"):
        player.complete(asking("绿色工厂有多少家？"))
    assert [r.text for r in player.unplayed] == ["一"]
    with pytest.raises(ModelError, match="no answer was recorded"):
        Player([]).complete(asking("问"))


def test_threads_write_whole_lines(file):
    """Passages are read side by side."""
    recorder = Recorder(ScriptedChat(lambda r: r.messages[1].content * 500), file)
    asked = [asking(f"第{n}问") for n in range(40)]
    threads = [threading.Thread(target=recorder.complete, args=[r]) for r in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    player = Player.read(file)
    assert all(player.complete(r).text == r.messages[1].content * 500 for r in asked)


def changed(line, **values):
    return json.dumps({**json.loads(line), **values})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda line: changed(line, text="130家"), "line 2: was changed after it was recorded"),
        (lambda line: changed(line, messages=[]), "line 2: was changed after it was recorded"),
        (lambda line: "{}", "line 2: not a recording: 'prompt'"),
        (lambda line: changed(line, more=1), "line 2: not a recording"),
        (lambda line: "[]", "line 2: not a JSON object"),
        (lambda line: line[:-9], "line 2: "),
    ],
)
def test_a_file_that_is_damaged_or_changed_is_refused(file, change, told):
    """With its line: a figure that rests on it would be anybody's."""
    recorder = Recorder(ScriptedChat(["一", "120家"]), file)
    for text in "甲乙":
        recorder.complete(asking(text))
    first, second = file.read_text("utf-8").splitlines()
    file.write_text(f"{first}\n{change(second)}\n", "utf-8")
    with pytest.raises(EvaluationError, match=told):
        Player.read(file)


def stand_in(asking):
    """Answer a request as the stand-in server does."""
    named = {"name": asking.schema_name, "schema": asking.schema}
    form = {"response_format": {"json_schema": named}} if asking.schema is not None else {}
    sent = [{"role": m.role, "content": m.content} for m in asking.messages]
    return fake_answer({"messages": sent, **form})


def run(folder, model):
    """Read a document and a question with a model; return what came of both."""
    lines = [f"云岭省工信厅推进第{n}批绿色工厂建设，到2025年建成{n}20家。\n" for n in range(1, 9)]
    text = "云岭省节能规划\n" + "".join(lines)
    folder.mkdir()
    (folder / "plan.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", model=model, embedder=HashEmbedder()) as base:
        report = base.ingest([folder / "plan.txt"])
        answer = base.ask("云岭省到2025年建成多少家绿色工厂？")
        assert report.model is not None
        return report.model.facts, report.model.summaries, answer.text, base.counts()


def test_what_was_run_with_a_model_runs_again_without_it(tmp_path, file):
    """Documents and questions give the same in another folder, and every answer is played."""
    once = run(tmp_path / "one", Recorder(ScriptedChat(stand_in, name="m"), file))
    player = Player.read(file)
    assert run(tmp_path / "two", player) == once
    assert once[0] > 0
    assert player.unplayed == []
