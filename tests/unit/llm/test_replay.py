"""What is recorded of a model is played, word for word, and nothing else is."""

import json
import threading

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import EvaluationError, ModelError, RateLimitError
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.testing import Player, Recorder, ScriptedChat
from kgrag.testing.reply import fake_answer


def request(text, stage="answer", **options):
    return Request((Message("system", "你是"), Message("user", text)), stage, **options)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "made" / "answers.jsonl"


def test_a_recorded_answer_is_played_as_it_was_given(file):
    """Text, end, tokens and the model's name; whatever else the request says."""
    given = Completion("120家。\n“好”", "glm", "length", Usage(40, 7))
    assert Recorder(ScriptedChat([given], name="glm"), file).complete(request("几家？")) == given
    player = Player.read(file)
    pieces: list[str] = []
    other = request("几家？", "verify", max_tokens=9, schema={}, schema_name="x")
    assert player.complete(other, on_text=pieces.append) == given
    assert player.name == "glm"
    assert pieces == ["120家。\n“好”"]
    assert file.stat().st_mode & 0o077 == 0


def test_a_line_says_what_was_asked_with_the_hashes_of_both(file):
    """Anybody can read it, and find the answer to a prompt."""
    asked = request("几家？", "extract", schema={}, schema_name="facts_rows")
    Recorder(ScriptedChat(["120家"], name="glm"), file).complete(asked)
    record = json.loads(file.read_text("utf-8"))
    assert (record["model"], record["stage"], record["schema"]) == ("glm", "extract", "facts_rows")
    assert record["messages"][1] == {"role": "user", "content": "几家？"}
    assert record["text"] == "120家"
    assert len(record["prompt"]) == len(record["answer"]) == 32
    assert "几家" in file.read_text("utf-8")


def test_answers_to_one_prompt_come_in_their_order_then_the_last(file):
    """A model that is asked twice may answer twice."""
    recorder = Recorder(ScriptedChat(["一", "二"]), file)
    for _ in range(2):
        recorder.complete(request("问"))
    player = Player.read(file)
    assert [player.complete(request("问")).text for _ in range(3)] == ["一", "二", "二"]
    assert player.unplayed == []


def test_a_prompt_that_was_not_recorded_is_an_error_that_says_where_it_differs(file):
    """A changed prompt is seen, not answered by another's answer."""
    Recorder(ScriptedChat(["一"]), file).complete(request("绿色工厂有几家？"))
    player = Player.read(file)
    with pytest.raises(
        ModelError, match="says '几家？' where this one says '多少家？'; record it anew"
    ):
        player.complete(request("绿色工厂有多少家？"))
    assert [r.text for r in player.unplayed] == ["一"]
    with pytest.raises(ModelError, match="no answer was recorded"):
        Player([]).complete(request("问"))


def test_a_failed_call_is_not_recorded(file):
    """There is nothing to play."""
    recorder = Recorder(ScriptedChat([RateLimitError("busy"), "一"]), file)
    with pytest.raises(RateLimitError):
        recorder.complete(request("问"))
    recorder.complete(request("问"))
    assert len(file.read_text("utf-8").splitlines()) == 1


def test_a_file_that_is_there_is_gone_on_with(file):
    """Two runs are one recording."""
    for text in ("一", "二"):
        Recorder(ScriptedChat([text]), file).complete(request(f"问{text}"))
    player = Player.read(file)
    assert [player.complete(request(f"问{t}")).text for t in "二一"] == ["二", "一"]


def test_threads_write_whole_lines(file):
    """Passages are read side by side."""
    recorder = Recorder(ScriptedChat(lambda r: r.messages[1].content * 500), file)
    asked = [request(f"第{n}问") for n in range(40)]
    threads = [threading.Thread(target=recorder.complete, args=[r]) for r in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    player = Player.read(file)
    assert all(player.complete(r).text == r.messages[1].content * 500 for r in asked)


@pytest.mark.parametrize("text", ["半个\ud83d字", "行\u2028分\u2029隔\r\n", "\0"])
def test_any_text_is_recorded(file, text):
    """What a model may say, a file holds."""
    Recorder(ScriptedChat([text]), file).complete(request(text))
    assert Player.read(file).complete(request(text)).text == text


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
        recorder.complete(request(text))
    first, second = file.read_text("utf-8").splitlines()
    file.write_text(f"{first}\n{change(second)}\n", "utf-8")
    with pytest.raises(EvaluationError, match=told):
        Player.read(file)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    """As is a place that cannot be written."""
    with pytest.raises(EvaluationError, match=r"none\.jsonl: cannot be read"):
        Player.read(tmp_path / "none.jsonl")
    with pytest.raises(EvaluationError, match="cannot be written"):
        Recorder(ScriptedChat(["一"]), tmp_path).complete(request("问"))


def stand_in(request):
    """Answer a request as the stand-in server does."""
    named = {"name": request.schema_name, "schema": request.schema}
    form = {"response_format": {"json_schema": named}} if request.schema is not None else {}
    sent = [{"role": m.role, "content": m.content} for m in request.messages]
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
