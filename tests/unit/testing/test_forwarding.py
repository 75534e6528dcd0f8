"""Recorder and player behind a server, for whole commands."""

import pytest

from kgrag.errors import ModelError
from kgrag.llm.address import Place
from kgrag.llm.chat import Message, Request, Usage
from kgrag.llm.client import OpenAIChat
from kgrag.testing import FakeServer, Reply, __main__, playing, recording

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
ASKED = (
    Request((Message("user", "问"),), "answer"),
    Request((Message("user", "读"),), "extract", schema=SCHEMA, schema_name="facts_rows"),
    Request((Message("user", "长"),), "extract", max_tokens=5, streamed=True),
)


def answers(server, *, json_mode="schema"):
    chat = OpenAIChat(Place(server.base_url, "m"), timeout_s=30, json_mode=json_mode)
    found = [chat.complete(request) for request in ASKED]
    chat.close()
    return found


def model(body):
    text = body["messages"][0]["content"]
    cut = body.get("max_tokens") == 5
    return Reply(f"答{text}", finish_reason="length" if cut else "stop", usage=Usage(7, 3))


@pytest.mark.parametrize("json_mode", ["schema", "object", "none"])
def test_what_a_command_asks_is_recorded_and_played(tmp_path, json_mode):
    """The model behind gets what was asked, with its own key; then it is not needed."""
    file = tmp_path / "answers.jsonl"
    with FakeServer(model, api_key="k-1") as real:
        with FakeServer(recording(file, base_url=real.base_url, api_key="k-1")) as server:
            once = answers(server, json_mode=json_mode)
        bodies = [received.body for received in real.requests]
    assert [c.text for c in once] == ["答问", "答读", "答长"]
    assert once[2].finish == "length"
    assert once[0].usage == Usage(7, 3)
    assert bodies[2]["max_tokens"] == 5
    assert ("json_schema" in str(bodies[1].get("response_format"))) is (json_mode == "schema")
    with FakeServer(playing(file)) as server:
        assert answers(server, json_mode=json_mode) == once


def test_what_was_not_recorded_is_refused(tmp_path):
    """At once, and with the reason."""
    file = tmp_path / "answers.jsonl"
    file.write_text("", "utf-8")
    with FakeServer(playing(file)) as server:
        chat = OpenAIChat(Place(server.base_url, "m"), timeout_s=30)
        with pytest.raises(ModelError, match="no answer was recorded for the prompt"):
            chat.complete(ASKED[1])
        chat.close()
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500])
def test_a_fault_of_the_model_is_passed_on_and_not_recorded(tmp_path, status):
    """Whoever asks tries again as ever."""
    file = tmp_path / "answers.jsonl"
    with (
        FakeServer(lambda body: Reply("busy", status=status)) as real,
        FakeServer(recording(file, base_url=real.base_url)) as server,
    ):
        chat = OpenAIChat(Place(server.base_url, "m"), timeout_s=30)
        with pytest.raises(ModelError, match="busy"):
            chat.complete(ASKED[0])
        chat.close()
    assert not file.exists()


def test_a_command_line_plays_a_file_or_says_what_is_wrong_with_it(tmp_path, monkeypatch, capsys):
    """`python -m kgrag.testing --replay FILE`."""
    monkeypatch.setattr("sys.argv", ["kgrag.testing", "--replay", str(tmp_path / "none.jsonl")])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 1
    assert "none.jsonl: cannot be read" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["kgrag.testing", "--record", str(tmp_path / "new.jsonl")])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 2
    assert "--model-url" in capsys.readouterr().err
