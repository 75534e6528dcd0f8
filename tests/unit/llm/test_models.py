"""Models of stages, their prompts and tokens."""

import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kgrag.config import Config, ModelConfig
from kgrag.errors import ConfigError, ModelError, ModelUnavailableError
from kgrag.llm.chat import OK, Message, Request
from kgrag.llm.middleware import Clock
from kgrag.llm.models import ChatModels, Models
from kgrag.llm.prompts import LANGUAGES, Prompt, fence, prompt, prompt_names
from kgrag.llm.tokens import estimate_tokens, material
from kgrag.testing import ScriptedChat
from kgrag.testing.reply import Reply
from kgrag.testing.server import FakeServer
from tests.fixtures.double import Double

REQUEST = Request((Message("user", "问"),), "answer")


class Hasty(Clock):
    """A clock by which nobody waits."""

    def sleep(self, seconds):
        """Return at once."""


@pytest.fixture
def models_of(calls):
    """Return a maker of models from settings by stage, which are closed afterwards."""
    made = []

    def make(**stages):
        made.append(Models(lambda s: stages.get(s, ModelConfig()), calls=calls, clock=Hasty()))
        return made[-1]

    yield make
    for models in made:
        models.close()


def test_of_gives_a_model_whose_answers_are_paid_once(models_of, calls):
    """The cache stands outermost: what was answered is not sent again, nor after a restart."""
    with FakeServer(lambda body: Reply("好")) as server:
        config = ModelConfig(base_url=server.base_url, model="m")
        first = models_of(answer=config).of("answer").complete(REQUEST)
        first.report(OK)
        again = models_of(answer=config).of("answer").complete(REQUEST)
        again.report(OK)
    assert (first.text, first.from_cache) == ("好", False)
    assert (again.text, again.from_cache) == ("好", True)
    assert len(server.requests) == 1
    assert [(t.sent, t.from_cache) for t in calls.totals()] == [(1, 1)]


def test_an_answer_of_another_temperature_is_another(models_of):
    """What the answer depends on is in the key."""
    with FakeServer(lambda body: Reply("好")) as server:
        cold = ModelConfig(base_url=server.base_url, model="m")
        warm = replace(cold, temperature=0.7, max_tokens=99)
        models = models_of(answer=cold, verify=warm)
        models.of("answer").complete(REQUEST)
        assert not models.of("verify").complete(REQUEST).from_cache
    assert models.parameters("verify") == {
        "base_url": server.base_url, "json": "schema", "max_tokens": "99", "temperature": "0.7",
    }  # fmt: skip


def test_stages_at_the_same_endpoint_share_its_health(models_of):
    """One stage finds the model gone; the other does not ask again."""
    with FakeServer(lambda body: Reply("no such model", status=404)) as server:
        cold = ModelConfig(base_url=server.base_url, model="m")
        warm = ModelConfig(base_url=server.base_url, model="m", temperature=0.7)
        models = models_of(answer=cold, verify=warm)
        for stage in ("answer", "verify"):
            with pytest.raises(ModelUnavailableError, match="no such model"):
                models.of(stage).complete(REQUEST)
    assert len(server.requests) == 1


def test_stages_at_the_same_endpoint_share_its_limits(models_of):
    """Eight threads in two stages with one call at a time: never two under way."""
    from concurrent.futures import ThreadPoolExecutor

    with FakeServer(lambda body: Reply("好"), latency_s=0.005) as server:
        cold = ModelConfig(base_url=server.base_url, model="m", concurrency=1)
        warm = ModelConfig(base_url=server.base_url, model="m", concurrency=1, temperature=0.7)
        models = models_of(answer=cold, verify=warm)
        requests = [Request((Message("user", str(i)),), "answer") for i in range(8)]
        with ThreadPoolExecutor(8) as pool:
            for stage in ("answer", "verify"):
                pool.map(models.of(stage).complete, requests)
    assert (server.most, len(server.requests)) == (1, 16)


def test_a_stage_without_a_model_is_said_so(models_of):
    """Asked whether, it says no; asked for it, what to set."""
    models = models_of(answer=ModelConfig(provider="ollama", model="m"))
    assert models.is_configured("answer")
    assert not models.is_configured("extract")
    with pytest.raises(ConfigError, match=r"'extract'.*kgrag.toml"):
        models.of("extract")


def test_a_missing_key_is_said_before_anything_is_sent(models_of, monkeypatch):
    """But what needs no key works without: a prediction wants to know the endpoint only."""
    monkeypatch.delenv("ZHIPUAI_API_KEY", raising=False)
    models = models_of(answer=ModelConfig(provider="glm"))
    assert models.endpoint("answer").place.model == "glm-4-plus"
    assert models.parameters("answer")["json"] == "object"
    with pytest.raises(ModelUnavailableError, match="ZHIPUAI_API_KEY"):
        models.of("answer")


@pytest.mark.parametrize(
    "reply",
    [Reply("slow", status=429, headers={"Retry-After": "60"}), Reply("oops", status=503)],
)
def test_stop_ends_pauses_and_lets_no_call_begin(calls, reply):
    """Whoever interrupts a run does not wait for a minute."""
    with FakeServer(lambda body: reply) as server:
        config = ModelConfig(base_url=server.base_url, model="m", concurrency=2, attempts=9)
        models = Models(lambda stage: config, calls=calls)
        failed = []

        def ask(number):
            try:
                models.of("answer").complete(Request((Message("user", str(number)),), "answer"))
            except ModelUnavailableError as exc:
                failed.append(str(exc))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        while not server.requests:
            time.sleep(0.005)
        models.stop()
        for thread in threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
        sent = len(server.requests)
        ask(5)
        models.close()
    assert len(server.requests) == sent
    assert len(failed) == 5
    assert all("stopped" in text for text in failed)


@pytest.fixture
def own(tmp_path):
    """Return a function that gives the models of a scripted one."""
    opened = []

    def give(script):
        chat = ChatModels(Config(), tmp_path, script)
        opened.append(chat)
        return chat

    yield give
    for chat in opened:
        chat.close()


def test_a_model_that_is_given_is_that_of_every_stage(own):
    chat = own(ScriptedChat(["答"], name="mine"))
    assert chat.has("extract")
    assert chat.has("answer")
    models = chat.models
    assert models is chat.models
    assert models.is_configured("verify")
    assert models.model_name("extract") == "mine"
    assert models.of("extract") is models.of("answer")
    assert models.parameters("answer") == {"given": "kgrag.testing.scripted.ScriptedChat"}


def test_its_answers_are_kept_and_its_calls_counted(own):
    script = ScriptedChat(["答"])
    chat = own(script)
    for _ in range(2):
        completion = chat.models.of("answer").complete(REQUEST)
        assert completion.text == "答"
        completion.report(OK)
    assert len(script.requests) == 1
    (total,) = chat.calls.totals()
    assert total.stage == "answer"


def test_its_errors_are_models_errors_and_those_of_kgrag_pass(own):
    chat = own(ScriptedChat([OSError("line is dead"), ModelUnavailableError("gone")]))
    with pytest.raises(ModelError, match=r"scripted\.ScriptedChat, failed: OSError: line is dead"):
        chat.models.of("answer").complete(REQUEST)
    with pytest.raises(ModelUnavailableError, match=r"^gone$"):
        chat.models.of("answer").complete(REQUEST)


def test_what_is_no_completion_is_an_error(own):
    class Plain(Double):
        name = "plain"

        def complete(self, request, *, on_text=None):
            return "答"

    with pytest.raises(ModelError, match="returned str instead of a Completion"):
        own(Plain()).models.of("answer").complete(REQUEST)


ROOT = Path(__file__).parents[3]


def test_fence_is_the_same_for_the_same_text():
    """Answers are cached by prompt: a random mark would make each prompt new."""
    assert fence("甲", label="data") == fence("甲", label="data")


def test_text_that_holds_the_mark_gets_another(monkeypatch):
    """Even if somebody finds a text whose hash stands in it."""
    marks = {("fence", "写着 aaaaaaaa"): "aaaaaaaa"}
    monkeypatch.setattr(
        "kgrag.llm.prompts.digest", lambda *parts, length: marks.get(parts, "b" * length)
    )
    assert (
        fence("写着 aaaaaaaa", label="data") == "<data bbbbbbbb>\n写着 aaaaaaaa\n</data bbbbbbbb>"
    )


@pytest.fixture
def greeting():
    return Prompt(
        "greeting", "en", "Says hello.", "Be kind to $name.", "Hello $name, $$5 for $what."
    )


def test_values_are_not_read_for_places(greeting):
    """A document that writes $what stays as it is."""
    assert greeting.fill(name="$what", what="x")[0].content == "Be kind to $what."


@pytest.mark.parametrize("values", [{"name": "a"}, {"name": "a", "what": "b", "more": "c"}])
def test_a_place_left_or_a_value_too_many_is_an_error(greeting, values):
    """A prompt with a hole would be sent, and paid for."""
    with pytest.raises(ValueError, match="places"):
        greeting.fill(**values)


def test_every_prompt_stands_in_every_language_with_the_same_places():
    """Otherwise one language fails at run time."""
    for name in prompt_names():
        fields = {language: prompt(name, language).fields for language in LANGUAGES}
        assert len(set(fields.values())) == 1, (name, fields)
    for language in LANGUAGES:
        folder = ROOT / "kgrag/llm/prompts" / language
        assert sorted(f.stem for f in folder.iterdir()) == prompt_names()


def test_every_prompt_says_what_it_is_for():
    """`kgrag prompts` prints it."""
    for name in prompt_names():
        for language in LANGUAGES:
            assert prompt(name, language).about, (name, language)


def test_every_prompt_is_used():
    """A prompt that no code names is never sent; `answer_{template}` names all that fit."""
    text = "".join(
        path.read_text("utf-8")
        for package in ("kgrag", "ingestion")
        for path in (ROOT / package).rglob("*.py")
    )
    named = re.findall(r'f"([a-z]+_{\w+}|{\w+}_[a-z]+)"', text)
    patterns = ["[a-z]+".join(re.split(r"{\w+}", name)) for name in named]
    unused = [name for name in prompt_names() if f'"{name}"' not in text]
    assert [name for name in unused if not any(re.fullmatch(p, name) for p in patterns)] == []


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("碳达峰碳中和工作" * 100, 0.6, 0.7),
        ("the building of green factories " * 100, 0.2, 0.3),
        ('{"subject": "x", "object": "y"}' * 100, 0.25, 0.5),
    ],
)
def test_tokens_of_a_character_are_in_the_range_that_makers_state(text, least, most):
    """Chinese about 0.65, English about 0.25, JSON between."""
    assert least <= estimate_tokens(text) / len(text) <= most


def test_material_is_what_is_fenced_in_the_users_messages():
    """Not the words around it, not what the system message shows."""
    fences = [fence(text, label="text") for text in ("不算", "甲乙丙", "丁\n戊")]
    messages = (
        Message("system", fences[0]),
        Message("user", f"读：\n{fences[1]}\n{fences[2]}完"),
    )
    assert material(Request(messages, "extract")) == ["甲乙丙", "丁\n戊"]


def test_a_fence_that_a_document_writes_does_not_count_twice():
    """It stands inside the real one."""
    text = fence("甲", label="text") + "乙"
    request = Request((Message("user", fence(text, label="text")),), "extract")
    assert material(request) == [text]
