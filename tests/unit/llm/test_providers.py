"""Presets, and what the settings make of them."""

from typing import Any, cast

import pytest

from kgrag.config import ModelConfig
from kgrag.errors import ConfigError
from kgrag.llm.address import Place
from kgrag.llm.providers import PROVIDERS, Endpoint, Price, settings_for

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
