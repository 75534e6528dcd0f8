"""Presets of chat model providers, and endpoints completed by them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgrag.config import JsonMode, ModelConfig
from kgrag.llm.address import CHAT, SERVICES, AtService, Place, Service, place_of
from kgrag.llm.chat import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """Price of tokens, per million."""

    sent: float
    cached: float  # of tokens sent that are in the endpoint's cache
    answered: float
    currency: str  # empty if unknown
    as_of: str = ""  # month of the price list, e.g. `2025-10`; empty for configured prices

    def of(self, usage: Usage) -> float:
        """Return the cost of tokens.

        >>> Price(4, 1, 9, "CNY").of(Usage(2_000_000, 1_000_000, cached=500_000))
        15.5
        """
        fresh = usage.prompt - usage.cached
        total = fresh * self.sent + usage.cached * self.cached + usage.completion * self.answered
        return total / 1_000_000


@dataclass(frozen=True, slots=True)
class Provider(AtService):
    """A preset."""

    service: Service
    model: str = ""  # default; empty if the settings must name one
    json: JsonMode = "schema"
    prices: Mapping[str, Price] = field(default_factory=dict)  # by model
    longest: int = 8192  # tokens of an answer, as stated by the maker, or a default
    longest_of: Mapping[str, int] = field(default_factory=dict)  # of models that differ


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model's settings, complete except for the key."""

    place: Place
    json: JsonMode
    price: Price | None  # None if unknown
    max_tokens: int


# Prices change, and differ by length of the prompt and time of day: set your own in kgrag.toml
# (price_in, price_cached, price_out) before relying on them. Without a known discount, cached
# tokens cost as much as others.
PROVIDERS: Mapping[str, Provider] = {
    "glm": Provider(
        SERVICES["glm"],
        "glm-4-plus",  # as in the GRIM paper
        "object",
        {
            "glm-4-plus": Price(5, 5, 5, "CNY", "2025-06"),
            "glm-4-air": Price(0.5, 0.5, 0.5, "CNY", "2025-06"),
            "glm-4-flash": Price(0, 0, 0, "CNY", "2025-06"),
        },
        4095,
    ),
    "deepseek": Provider(
        SERVICES["deepseek"],
        "deepseek-chat",
        "object",
        {
            "deepseek-chat": Price(2, 0.2, 3, "CNY", "2025-10"),
            "deepseek-reasoner": Price(2, 0.2, 3, "CNY", "2025-10"),
        },
        longest_of={"deepseek-reasoner": 32_768},  # which counts its thoughts
    ),
    "qwen": Provider(
        SERVICES["dashscope"],
        "qwen-plus",
        "object",
        {
            "qwen-max": Price(2.4, 0.48, 9.6, "CNY", "2025-07"),
            "qwen-plus": Price(0.8, 0.16, 2, "CNY", "2025-07"),
            "qwen-turbo": Price(0.3, 0.06, 0.6, "CNY", "2025-07"),
        },
    ),
    "moonshot": Provider(
        SERVICES["moonshot"],
        "moonshot-v1-32k",
        "object",
        {
            "moonshot-v1-8k": Price(2, 2, 10, "CNY", "2025-09"),
            "moonshot-v1-32k": Price(5, 5, 20, "CNY", "2025-09"),
            "moonshot-v1-128k": Price(10, 10, 30, "CNY", "2025-09"),
            "kimi-k2-0905-preview": Price(4, 1, 16, "CNY", "2025-09"),
        },
        longest_of={"moonshot-v1-8k": 4000},  # whose context is 8192 with the prompt
    ),
    "openai": Provider(
        SERVICES["openai"],
        "gpt-4.1-mini",
        "schema",
        {
            "gpt-4o": Price(2.5, 1.25, 10, "USD", "2025-08"),
            "gpt-4o-mini": Price(0.15, 0.075, 0.6, "USD", "2025-08"),
            "gpt-4.1": Price(2, 0.5, 8, "USD", "2025-08"),
            "gpt-4.1-mini": Price(0.4, 0.1, 1.6, "USD", "2025-08"),
            "gpt-4.1-nano": Price(0.1, 0.025, 0.4, "USD", "2025-08"),
        },
        16_384,
    ),
    "vllm": Provider(SERVICES["vllm"]),
    "ollama": Provider(SERVICES["ollama"]),
}


def settings_for(config: ModelConfig) -> Endpoint:
    """Return a model's settings, filled in by its provider; ConfigError as `place_of`."""
    place = place_of(CHAT, config.provider, config, PROVIDERS)
    provider = PROVIDERS.get(config.provider, Provider(Service()))
    return Endpoint(
        place,
        config.json or provider.json,
        _price(config, provider.prices.get(place.model)),
        config.max_tokens or provider.longest_of.get(place.model, provider.longest),
    )


def _price(config: ModelConfig, listed: Price | None) -> Price | None:
    """Return the listed price, overridden by the settings."""
    if max(config.price_in, config.price_cached, config.price_out) < 0:
        return listed
    known = listed or Price(0.0, 0.0, 0.0, "")
    sent = config.price_in if config.price_in >= 0 else known.sent
    # With a configured price of tokens sent, the listed one of cached tokens is meaningless.
    cached = known.cached if listed and config.price_in < 0 else sent
    return Price(
        sent,
        config.price_cached if config.price_cached >= 0 else cached,
        config.price_out if config.price_out >= 0 else known.answered,
        config.currency or known.currency,
    )
