"""An endpoint of a model: address, provider, requests and errors."""

import email.utils
import importlib
import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import openai
import pytest

from kgrag.config import ModelConfig
from kgrag.embedding import endpoint as encoders
from kgrag.errors import (
    BrokenOffError,
    ConfigError,
    KgragError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm import endpoint, providers
from kgrag.llm.address import (
    CHAT,
    ENCODER,
    RERANKER,
    Place,
    Table,
    place_of,
    read_key,
)
from kgrag.llm.endpoint import asks_too_long, kind_of, open_client, retrying, said_by
from kgrag.llm.providers import PROVIDERS, Endpoint, Price, Provider, settings_for
from kgrag.reranking import endpoint as reranking
from kgrag.text.messages import catalogue

KEY = "k-0123456789abcdef"
PLACE = Place("http://x/v1", "some-model", KEY, "SOME_KEY")
NO_REQUEST: Any = None


def mapped(exc, place, table=CHAT):
    return endpoint.mapped(exc, place, table)


def response(status: int, headers: dict[str, str] | None = None) -> Any:
    """Return what openai's errors read of a response."""
    return SimpleNamespace(status_code=status, headers=headers or {}, request=None)


def status_error(status, message="", headers=None, **fields):
    """Return the error that openai raises for a status."""
    body = {"message": message, **fields}
    return openai.APIStatusError(
        f"Error code: {status} - {body}", response=response(status, headers), body=body
    )


def caused(exc, cause):
    exc.__cause__ = cause
    return exc


ConnectError = type("ConnectError", (Exception,), {"__module__": "httpx"})
ReadError = type("ReadError", (Exception,), {"__module__": "httpx"})
ReadTimeout = type("ReadTimeout", (Exception,), {"__module__": "httpx2._exceptions"})
LATE = openai.APITimeoutError(request=NO_REQUEST)
NO_JSON = json.JSONDecodeError("no JSON", "<html>", 0)


def lost(cause):
    return caused(openai.APIConnectionError(request=NO_REQUEST), cause)


def event(body):
    """Return the error that openai raises for an event in the middle of a stream."""
    return openai.APIError("x", NO_REQUEST, body=body)


@pytest.mark.parametrize(
    ("table", "error", "kind", "text"),
    [
        (
            CHAT,
            status_error(429, "并发过高", code="1302"),
            RateLimitError,
            "1302); asked too often",
        ),
        (CHAT, status_error(429, code="insufficient_quota"), ModelUnavailableError, "top it up"),
        (CHAT, status_error(503), TransientModelError, "answers 503"),
        (CHAT, status_error(401, "bad key"), ModelUnavailableError, "variable SOME_KEY"),
        (CHAT, status_error(404, "Not Found"), ModelUnavailableError, "llm.base_url and llm.model"),
        (CHAT, status_error(400, "Model Not Exist"), ModelUnavailableError, "check llm.model"),
        (CHAT, status_error(413), ModelOutputError, "extract.passage_chars or answer.context"),
        (CHAT, status_error(422, "messages: field required"), ModelError, "field required"),
        (CHAT, status_error(400, "敏感内容", code="1301"), ModelOutputError, "withheld"),
        (CHAT, lost(ConnectError("refused")), ModelUnreachableError, "no connection (refused)"),
        (CHAT, lost(ReadError("reset")), BrokenOffError, "broke off (ReadError: reset)"),
        (CHAT, LATE, BrokenOffError, "llm.timeout_s"),
        (CHAT, ReadTimeout("slow"), BrokenOffError, "llm.timeout_s"),
        (CHAT, ReadError("reset"), BrokenOffError, "broke off"),
        (CHAT, NO_JSON, BrokenOffError, "broke off (JSONDecodeError: no JSON"),
        (CHAT, event({"message": "overloaded"}), BrokenOffError, "overloaded"),
        (CHAT, event({"code": "429"}), RateLimitError, "429"),
        (CHAT, event("insufficient_quota"), ModelUnavailableError, "top it up"),
        (ENCODER, status_error(401, "bad key"), ModelUnavailableError, "use embedding.model"),
        (ENCODER, status_error(500), TransientModelError, "(after 1 attempt); try again later"),
        (
            ENCODER,
            status_error(429, headers={"retry-after": "3600"}),
            RateLimitError,
            "asked too often (it asks to wait 3600 s): lower embedding.concurrency",
        ),
        (ENCODER, status_error(400, code="1301"), ModelError, "the settings in [embedding]"),
        (ENCODER, lost(ValueError("no")), BrokenOffError, "(ValueError: no) (after 1 attempt)"),
        (RERANKER, status_error(401), ModelUnavailableError, "it may use rerank.model"),
        (RERANKER, status_error(404), ModelUnavailableError, "no http://x/v1/rerank: check rerank"),
        (RERANKER, status_error(424), ModelUnavailableError, "rerank.model must be a reranker"),
        (RERANKER, status_error(422, "no texts"), ModelError, 'wants provider = "tei"'),
        (RERANKER, status_error(413), ModelOutputError, "lower rerank.candidates"),
        (RERANKER, LATE, BrokenOffError, "rerank.timeout_s"),
        (RERANKER, NO_JSON, ModelOutputError, "not whole JSON"),
    ],
)
def test_a_fault_becomes_the_error_that_tells_what_to_do(table, error, kind, text):
    """What may pass, what needs the user's hand, and what is wrong with this request alone."""
    found = mapped(error, PLACE, table)
    assert type(found) is kind
    assert text in str(found)
    assert "some-model at http://x/v1" in str(found)
    assert "llm.api_key_env" in str(mapped(status_error(401), Place("http://x", "m")))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize(("status", "table"), [(429, CHAT), (503, ENCODER)])
def test_an_error_carries_the_pause_that_is_asked_for(
    monkeypatch, headers, expected, status, table
):
    """In seconds, milliseconds or as a date; also of a server that is down for a while."""
    monkeypatch.setattr("time.time", lambda: 1_000_000.0)
    assert mapped(status_error(status, headers=headers), PLACE, table).retry_after_s == expected


def below(*kinds):
    """Return classes with all their subclasses, at any depth."""
    found = list(kinds)
    for kind in found:
        found += [k for k in kind.__subclasses__() if k not in found]
    return found


def http_errors():
    """Return every exception class of the HTTP library that openai uses."""
    library = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
    http = importlib.import_module(library)
    return below(http.HTTPError, http.StreamError, http.InvalidURL)


@pytest.mark.parametrize(
    "kind", [*below(openai.OpenAIError), *http_errors()], ids=lambda kind: kind.__name__
)
def test_no_error_of_openai_or_the_http_library_leaks(kind):
    """Each of their classes, also those that later versions add, becomes one of ours."""
    error = kind.__new__(kind)  # their ways to be made differ too much
    status = getattr(kind, "status_code", 500)
    error.__dict__.update(body=None, response=response(status), status_code=status)
    assert isinstance(mapped(error, PLACE), ModelError)
    assert isinstance(mapped(error, PLACE, ENCODER), ModelError)
    assert isinstance(mapped(error, PLACE, RERANKER), ModelError)


def test_mapped_leaves_alone_what_is_not_the_endpoints():
    """A caller's own error in the midst of a stream is the caller's."""
    assert mapped(BrokenPipeError("pager closed"), PLACE) is None
    assert mapped(KgragError("ours"), PLACE) is None
    assert mapped(caused(KeyError("bug"), NO_JSON), PLACE) is None


OPENINGS = sorted({*range(40), *range(140, 210), *range(330, 410)})


@pytest.mark.parametrize(
    "make",
    [
        lambda said: status_error(401, said),
        lambda said: status_error(500, "oops", code=said),
        lambda said: openai.APIStatusError(said, response=response(502), body=said),
        lambda said: openai.APIStatusError(said, response=response(502), body=None),
        lambda said: openai.APIError("x", NO_REQUEST, body={"message": said}),
        lambda said: caused(openai.APIConnectionError(request=NO_REQUEST), ConnectError(said)),
        lambda said: ReadError(said),
        lambda said: TransientModelError(f"the answer has no choices: {said}"),
    ],
)
def test_no_text_holds_a_part_of_the_key(make):
    """Wherever the text is cut: the key is hidden first."""
    for before in OPENINGS:
        for table in (CHAT, ENCODER):
            text = str(mapped(make("x" * before + " " + KEY + " y" * 300), PLACE, table))
            assert KEY[:6] not in text, before
            assert before or "***" in text
            assert len(text) < 700


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (402, "", "money"),
        (403, "AUTHZ_INSUFFICIENT_BALANCE: Insufficient account balance", "money"),
        (403, "Sorry, your account balance is insufficient (code 30001)", "money"),
        (429, "insufficient_quota", "money"),
        (400, "Arrearage: your account is in arrears", "money"),
        (429, "您的账户已用尽 (code 1113)", "money"),
        (429, "Rate limit reached: max tokens per minute", "often"),
        (500, "insufficient_quota", "busy"),
        (500, "internal error", "busy"),
        (503, "too many requests", "busy"),
        (425, "too early", "busy"),
        (401, "token too long", "key"),
        (400, "无此模型 (code 1211)", "model"),
        (404, "model 'm' not found, try pulling it first", "model"),
        (400, "the model does not support embeddings", "no encoder"),
        (501, "not implemented", "path"),
        (400, "输入过多 (code 1261)", "size"),
        (413, "Request Entity Too Large", "size"),
        (422, "batch size 33 > maximum allowed batch size 32", "size"),
        (400, "batch size is invalid, it should not be larger than 10.: input", "size"),
        (400, "Each input list can contain at most 512 items.", "size"),
        (400, "This model's maximum context length is 8192 tokens, but you sent 9000", "size"),
        (400, "Requested 400000 tokens, max 300000 tokens per request", "size"),
        (400, "`inputs` must have less than 512 tokens. Given: 785", "size"),
        (400, "the input length exceeds the context length", "size"),
        (400, "Range of input length should be [1, 8192]", "size"),
        (500, "input is too large to process. increase the physical batch size", "size"),
        (400, "不当内容 (code 1301)", "withheld"),
        (400, "unknown field dimensions", "refused"),
        (400, "max_tokens is too large", "refused"),
        (400, "the maximum number of output tokens is 8192", "refused"),
        (400, "API key not valid", "key"),
        (400, "模型不存在", "model"),
        (404, "The model `some-model` does not exist", "model"),
        (405, "", "path"),
        *((status, "the request took too long", "busy") for status in (408, 409, 425, 500, 504)),
    ],
)
def test_kind_of_reads_words_where_a_status_has_several_meanings(status, said, kind):
    """The same for chat models and encoders; GLM has numbers of its own."""
    assert kind_of(status, said) == kind


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "欠费", "code": "1113", "param": None}, "欠费 (code 1113)"),
        ({"message": "欠费"}, "欠费"),
        ({"message": ""}, "{'message': ''}"),
        ("no\n JSON", "no JSON"),
        (None, "Error code: 429"),
        ({"message": f"bad {KEY}", "code": KEY}, "bad *** (code ***)"),
        ("x" * 1000, "x" * 200),
    ],
)
def test_said_by_is_in_words_where_the_endpoint_says_some(body, said):
    """The message, then codes, by which alone some providers tell apart; short, without the key."""
    error: Any = ValueError("Error code: 429")
    error.body = body
    assert said_by(error, PLACE) == said


def test_a_client_takes_nothing_of_openais_environment(monkeypatch):
    """Neither its key nor its organization goes to other endpoints."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_ORG_ID", "o")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://other")
    with open_client(Place("https://h.example/v1", "m"), timeout_s=60) as client:
        assert (client.api_key, client.organization, client.project) == ("none", None, None)
        assert str(client.base_url) == "https://h.example/v1/"


@pytest.mark.parametrize(
    ("url", "is_proxied"), [("http://localhost:8/v1", False), ("https://h.example/v1", True)]
)
def test_a_proxy_for_the_world_does_not_lead_to_this_machine(monkeypatch, url, is_proxied):
    seen = {}
    real = openai.DefaultHttpxClient

    def make(**options):
        seen.update(options)
        return real(**options)

    monkeypatch.setattr(openai, "DefaultHttpxClient", make)
    open_client(Place(url, "m"), timeout_s=5).close()
    assert seen["trust_env"] is is_proxied


BUSY = TransientModelError("busy")


def run(script, *, draw=0.5, attempts=5, **options):
    """Return (what came of a script of errors and values, pauses)."""
    left = list(script)
    slept: list[float] = []

    def call():
        step = left.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    tries = retrying(attempts=attempts, sleep=slept.append, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("random.random", lambda: draw)
        try:
            return tries(call), slept
        except BaseException as exc:
            return exc, slept


def test_pauses_are_a_random_share_that_doubles_up_to_a_minute():
    """Callers who failed together do not come back together."""
    assert run([BUSY, BUSY, BUSY, "好"]) == ("好", [0.5, 1.0, 2.0])
    assert run([*[BUSY] * 9, "好"], attempts=10, draw=1.0)[1] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    last, told = TransientModelError("still busy"), []
    script = [BUSY, BUSY, last, "好"]
    assert run(script, attempts=3, note=lambda *p: told.append(p)) == (last, [0.5, 1.0])
    assert told == [(BUSY, 1, 0.5), (BUSY, 2, 1.0)]


def test_a_pause_is_what_the_endpoint_asks_for():
    """Up to two minutes, of a server that is down as well."""
    script = [RateLimitError("slow", retry_after_s=s) for s in (7.0, 120.0, 0.0)]
    assert run([*script, "好"]) == ("好", [7.0, 120.0, 0.0])
    assert run([TransientModelError("down", retry_after_s=120.0), "好"]) == ("好", [120.0])
    assert run([TransientModelError("down", retry_after_s=121.0), "好"]) == ("好", [0.5])
    assert run([RateLimitError("slow"), BUSY, "好"], unsaid_s=20.0) == ("好", [20.0, 1.0])


def test_an_endpoint_that_asks_to_wait_too_long_is_an_error_at_once():
    """A quota of a day is no pause."""
    daily = RateLimitError("daily", retry_after_s=86_400)
    assert asks_too_long(daily)
    assert not asks_too_long(RateLimitError("slow", retry_after_s=120.0))
    assert run([daily, "好"]) == (daily, [])


AT = Place("http://x/v1", "m", KEY, "SOME_KEY")
TABLE = Table("llm", "/chat/completions", "http://localhost:8000/v1", "EXAMPLE_KEY")


@dataclass(frozen=True)
class Asked:
    """Settings, or a preset."""

    base_url: str = ""
    model: str = ""
    api_key_env: str = ""


PRESETS = {
    "here": Provider(base_url="http://here/v1", api_key_env="HERE_KEY", model="m"),
    "there": Provider(base_url="http://there/v1"),
}


def test_hide_hides_the_parts_of_a_key_that_has_dots():
    """Zhipu's keys are `id.secret`, and errors echo one of them."""
    place = Place("", "", "0123456789.abcdefghij.v1")
    assert place.hide("id 0123456789, secret abcdefghij, v1") == "id ***, secret ***, v1"


@pytest.mark.parametrize("key", ["", "x", "none", "EMPTY", "ollama", "a.b.c"])
def test_hide_leaves_words_that_local_servers_take_for_a_key(key):
    """They are no secrets, and to blot them out would spoil any text."""
    place = Place("", "", key)
    text = "EMPTY boxes: none, x, a.b.c, ollama"
    assert place.hide(text) == text
    assert not place.tells(ValueError(text))


def test_shown_hides_before_it_cuts():
    """Half a key would not be found."""
    assert AT.shown("x" * 190 + KEY) == "x" * 190 + "***"
    assert AT.shown(f"part\n {KEY}") == "part ***"
    assert AT.shown("x" * 300, most=250) == "x" * 250


def test_tells_looks_through_the_whole_chain():
    """A traceback shows what an error was raised from."""
    error = caused(ValueError("x"), caused(KeyError("y"), OSError(KEY)))
    assert AT.tells(error)
    assert not AT.tells(ValueError("x"))
    assert not Place("", "").tells(error)


@pytest.mark.parametrize(
    ("provider", "asked", "place"),
    [
        ("here", Asked(), Place("http://here/v1", "m", key_env="HERE_KEY")),
        ("here", Asked("http://p/v1/", "n", "MY"), Place("http://p/v1", "n", key_env="MY")),
        ("there", Asked(model="n"), Place("http://there/v1", "n")),
        ("", Asked("https://h:1/v1/chat/completions", "n"), Place("https://h:1/v1", "n")),
    ],
)
def test_place_of_fills_in_the_preset(provider, asked, place):
    """What is asked goes before it; the path that people copy along is cut off."""
    assert place_of(TABLE, provider, asked, PRESETS) == place


@pytest.mark.parametrize(
    ("provider", "asked", "said"),
    [
        ("nobody", Asked(), r"llm\.provider 'nobody' is not known; known are here, there"),
        ("there", Asked(), r'no model .* http://there/v1: set llm\.model = "\.\.\."'),
        ("", Asked(model="m"), r"like http://localhost:8000/v1, got '' \(or name an llm\.prov"),
        ("", Asked("localhost:8080", "m"), r"llm\.base_url must be a web address"),
        ("", Asked("ftp://h/v1", "m"), r"llm\.base_url must be a web address"),
        ("", Asked("http://h:x/v1", "m"), r"llm\.base_url must be a web address"),
        ("", Asked("http://h:0/v1", "m"), r"llm\.base_url must be a web address"),
    ],
)
def test_place_of_refuses_what_cannot_be_right(provider, asked, said):
    """With the name of the setting and what to write."""
    with pytest.raises(ConfigError, match=said):
        place_of(TABLE, provider, asked, PRESETS)


@pytest.mark.parametrize(
    "asked",
    [
        Asked("http://me:geheim@h/v1", "m"),
        Asked("me:geheim@h/v1", "m"),
        Asked("http://h/v1?key=geheim", "m"),
        Asked("http://h/v1#geheim", "m"),
        Asked("http://h/v1", "m", "geheim-1"),
        Asked("http://h/v1", "m", "id.geheim"),
        Asked("http://h/v1", "m", "geheim\n"),
    ],
)
def test_place_of_does_not_show_what_may_be_a_secret(asked):
    """A key in the wrong place is not printed."""
    with pytest.raises(ConfigError, match=r"llm\.(base_url|api_key_env) must") as caught:
        place_of(TABLE, "", asked, PRESETS)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("value", [None, "", " "])
def test_read_key_names_the_variable_when_it_is_missing(monkeypatch, value):
    """The remedy is in the text."""
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(ModelUnavailableError, match=r"m at http://x.*variable SOME_KEY"):
        read_key(AT)


@pytest.mark.parametrize("key", ["“k-12345”", "k 12345", "k-12\n345"])
def test_read_key_refuses_what_cannot_be_sent_without_showing_it(monkeypatch, key):
    """Quotes of a text program, or two lines: the HTTP library would fail, and show it."""
    monkeypatch.setenv("SOME_KEY", key)
    with pytest.raises(ModelUnavailableError, match=r"SOME_KEY .*copy the key again") as caught:
        read_key(AT)
    assert "12" not in str(caught.value)


def test_a_web_service_wants_a_key_and_a_server_on_this_machine_none():
    """So that an error can name the variable to set; an address that nobody asks goes out of date.

    Presets take all addresses from one table.
    """
    kinds = (providers.PROVIDERS, encoders.PROVIDERS, reranking.PROVIDERS)
    named = {name: preset for kind in kinds for name, preset in kind.items()}
    assert named.keys() == catalogue("kgrag.llm", "providers.toml")["services"].keys()
    for name, preset in named.items():
        assert bool(preset.api_key_env) is preset.base_url.startswith("https://"), name


OWN = ModelConfig(base_url="http://localhost:1/v1", model="m")


def test_settings_for_fills_in_the_preset_when_a_provider_is_named():
    """The model of the GraphRAG paper that kgrag follows, with one line of settings."""
    endpoint = settings_for(ModelConfig(provider="glm"))
    url = "https://open.bigmodel.cn/api/paas/v4"
    assert endpoint.place == Place(url, "glm-4-plus", key_env="ZHIPUAI_API_KEY")
    assert endpoint.json == "object"
    assert endpoint.price is not None


def test_settings_for_takes_what_the_settings_say_before_the_preset():
    """Each field by itself; an unlisted model has no price."""
    config = ModelConfig(
        provider="glm", model="x", base_url="http://proxy/v4/", api_key_env="MY", json="none"
    )
    assert settings_for(config) == Endpoint(
        Place("http://proxy/v4", "x", key_env="MY"), "none", None, 4095
    )


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_every_preset_is_complete(name):
    """Named with a model it can be asked; a provider that takes money wants a key."""
    provider = PROVIDERS[name]
    endpoint = settings_for(ModelConfig(provider=name, model=provider.model or "served"))
    local = endpoint.place.url.startswith("http://localhost")
    assert local is not bool(endpoint.place.key_env)
    assert local is not bool(provider.model)
    assert local or endpoint.place.url.startswith("https://")
    assert local or provider.model in provider.prices
    assert all(0 <= p.cached <= p.sent <= p.answered for p in provider.prices.values())


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (ModelConfig(model="m"), "llm.base_url must be a web address"),
        (ModelConfig(base_url="http://x/v1"), "set llm.model"),
        (ModelConfig(provider="vllm"), "set llm.model"),
        (ModelConfig(provider=cast("Any", "nobody")), "nobody"),
    ],
)
def test_settings_for_says_what_is_missing(config, text):
    """With the value seen and what to write."""
    with pytest.raises(ConfigError, match=text):
        settings_for(config)


@pytest.mark.parametrize(
    ("config", "price"),
    [
        (OWN, None),
        (ModelConfig(provider="deepseek"), Price(2, 0.2, 3, "CNY", "2025-10")),
        (ModelConfig(provider="deepseek", price_out=9.0), Price(2, 0.2, 9.0, "CNY")),
        (ModelConfig(provider="deepseek", price_in=1.0), Price(1.0, 1.0, 3, "CNY")),
        (
            ModelConfig(
                base_url="http://x", model="m", price_in=4.0, price_out=8.0, currency="EUR"
            ),
            Price(4.0, 4.0, 8.0, "EUR"),
        ),
        (ModelConfig(base_url="http://x", model="m", price_in=0.0), Price(0.0, 0.0, 0.0, "")),
    ],
)
def test_own_prices_go_before_the_table(config, price):
    """One by one; tokens from the endpoint's cache cost as others where nobody said."""
    assert settings_for(config).price == price


@pytest.mark.parametrize(
    ("config", "longest"),
    [
        (ModelConfig(provider="glm"), 4095),
        (ModelConfig(provider="deepseek"), 8192),
        (ModelConfig(provider="moonshot", model="moonshot-v1-8k"), 4000),
        (ModelConfig(provider="openai"), 16_384),
        (OWN, 8192),
        (ModelConfig(provider="glm", max_tokens=700), 700),
    ],
)
def test_the_longest_answer_is_the_models_unless_the_settings_say(config, longest):
    """4,000 tokens were too few for a thorough reading, and too many for none."""
    assert settings_for(config).max_tokens == longest
