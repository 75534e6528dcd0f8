"""The chat models of a knowledge base, configured or given."""

import pytest

from kgrag.chat_models import ChatModels
from kgrag.config import Config, ModelConfig
from kgrag.errors import ConfigError, ModelError, ModelUnavailableError
from kgrag.llm.chat import OK, Message, Request
from kgrag.llm.given import GivenModels
from kgrag.testing import ScriptedChat
from tests.fixtures.double import Double

REQUEST = Request((Message("user", "问"),), stage="answer")


@pytest.fixture
def given(tmp_path):
    """Return a function that gives the models of a scripted one."""
    opened = []

    def give(script):
        chat = ChatModels(Config(), tmp_path, script)
        opened.append(chat)
        return chat

    yield give
    for chat in opened:
        chat.close()


def test_a_model_that_is_given_is_that_of_every_stage(given):
    chat = given(ScriptedChat(["答"], name="mine"))
    assert chat.has("extract")
    assert chat.has("answer")
    models = chat.models
    assert isinstance(models, GivenModels)
    assert models is chat.models
    assert models.is_configured("verify")
    assert models.are_together("verify", "answer")
    assert models.model_name("extract") == "mine"
    assert models.of("extract") is models.of("answer")
    assert models.parameters("answer") == {"given": "kgrag.testing.scripted.ScriptedChat"}


def test_its_answers_are_kept_and_its_calls_counted(given):
    script = ScriptedChat(["答"])
    chat = given(script)
    for _ in range(2):
        completion = chat.models.of("answer").complete(REQUEST)
        assert completion.text == "答"
        completion.report(OK)
    assert len(script.requests) == 1
    (total,) = chat.calls.totals("stage")
    assert total.group == "answer"


def test_its_errors_are_models_errors_and_those_of_kgrag_pass(given):
    chat = given(ScriptedChat([OSError("line is dead"), ModelUnavailableError("gone")]))
    with pytest.raises(ModelError, match=r"scripted\.ScriptedChat, failed: OSError: line is dead"):
        chat.models.of("answer").complete(REQUEST)
    with pytest.raises(ModelUnavailableError, match=r"^gone$"):
        chat.models.of("answer").complete(REQUEST)


def test_what_is_no_completion_is_an_error(given):
    class Plain(Double):
        name = "plain"

        def complete(self, request, *, on_text=None):
            return "答"

    with pytest.raises(ModelError, match="returned str instead of a Completion"):
        given(Plain()).models.of("answer").complete(REQUEST)


def test_stopped_models_begin_no_call(given):
    script = ScriptedChat(["答"])
    models = given(script).fresh()
    models.stop()
    with pytest.raises(ModelUnavailableError, match="stopped"):
        models.of("answer").complete(REQUEST)
    assert not script.requests


@pytest.mark.parametrize("model", [5, "glm", ScriptedChat])
def test_what_is_no_model_is_refused_at_once(model, tmp_path):
    with pytest.raises(ConfigError, match=r"model must have a name and complete\("):
        ChatModels(Config(), tmp_path, model)


def test_without_one_settings_say(tmp_path):
    config = Config(stages={"answer": ModelConfig(provider="glm")})
    chat = ChatModels(config, tmp_path)
    assert (chat.has("answer"), chat.has("extract")) == (True, False)
    assert chat.models.is_configured("answer")
    chat.close()
