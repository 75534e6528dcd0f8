"""Address and key of an endpoint."""

from dataclasses import dataclass

import pytest

from kgrag.embedding import endpoint as encoders
from kgrag.errors import ConfigError, ModelUnavailableError
from kgrag.llm import providers
from kgrag.llm.address import (
    SERVICES,
    Place,
    Service,
    Table,
    chain,
    place_of,
    read_key,
)
from kgrag.llm.providers import Provider
from kgrag.reranking import endpoint as reranking

KEY = "k-0123456789abcdef"
PLACE = Place("http://x/v1", "m", KEY, "SOME_KEY")
TABLE = Table("llm", "/chat/completions", "http://localhost:8000/v1", "EXAMPLE_KEY")


@dataclass(frozen=True)
class Asked:
    """Settings, or a preset."""

    base_url: str = ""
    model: str = ""
    api_key_env: str = ""


PRESETS = {
    "here": Provider(Service("http://here/v1", "HERE_KEY"), "m"),
    "there": Provider(Service("http://there/v1")),
}


def caused(exc, cause):
    exc.__cause__ = cause
    return exc


def test_a_place_is_shown_without_its_key():
    """However it gets into a text."""
    assert (str(PLACE), repr(PLACE)) == ("m at http://x/v1", "Place('m' at 'http://x/v1')")


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
    assert PLACE.shown("x" * 190 + KEY) == "x" * 190 + "***"
    assert PLACE.shown(f"part\n {KEY}") == "part ***"
    assert PLACE.shown("x" * 300, most=250) == "x" * 250


def test_tells_looks_through_the_whole_chain():
    """A traceback shows what an error was raised from."""
    error = caused(ValueError("x"), caused(KeyError("y"), OSError(KEY)))
    assert PLACE.tells(error)
    assert not PLACE.tells(ValueError("x"))
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


def test_read_key_takes_the_key_from_its_variable(monkeypatch):
    """Without blanks around it; an endpoint that names no variable needs none."""
    monkeypatch.setenv("SOME_KEY", " k-1\n")
    assert read_key(PLACE) == "k-1"
    assert read_key(Place("http://x/v1", "m")) == ""


@pytest.mark.parametrize("value", [None, "", " "])
def test_read_key_names_the_variable_when_it_is_missing(monkeypatch, value):
    """The remedy is in the text."""
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(ModelUnavailableError, match=r"m at http://x.*variable SOME_KEY"):
        read_key(PLACE)


@pytest.mark.parametrize("key", ["“k-12345”", "k 12345", "k-12\n345"])
def test_read_key_refuses_what_cannot_be_sent_without_showing_it(monkeypatch, key):
    """Quotes of a text program, or two lines: the HTTP library would fail, and show it."""
    monkeypatch.setenv("SOME_KEY", key)
    with pytest.raises(ModelUnavailableError, match=r"SOME_KEY .*copy the key again") as caught:
        read_key(PLACE)
    assert "12" not in str(caught.value)


def test_chain_ends_where_an_error_led_to_itself():
    """Latest first; causes go before contexts."""
    first, last = ValueError("1"), caused(KeyError("2"), None)
    last.__context__, first.__context__ = first, last
    assert list(chain(last)) == [last, first]


def test_every_service_is_named_by_a_preset_and_every_preset_names_one():
    """An address that nobody asks, or one that is written elsewhere, would go out of date."""
    asked = {preset.service for preset in providers.PROVIDERS.values()}
    asked |= {preset.service for preset in encoders.PROVIDERS.values()}
    asked |= {preset.service for preset in reranking.PROVIDERS.values()}
    assert asked == set(SERVICES.values())


def test_a_web_service_wants_a_key_and_a_server_on_this_machine_none():
    """So that an error can name the variable to set."""
    for name, service in SERVICES.items():
        assert bool(service.api_key_env) is service.base_url.startswith("https://"), name
