"""Presets of chat model providers, and endpoints completed by them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kgrag.config import JsonMode, ModelConfig
from kgrag.llm.address import CHAT, Place, Preset, place_of, presets
from kgrag.llm.chat import Usage


class Price(NamedTuple):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Preset):
    """A preset."""

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


PROVIDERS: Mapping[str, Provider] = {
    name: replace(known, prices={model: Price._make(row) for model, row in known.prices.items()})
    for name, known in presets(CHAT, Provider).items()
}


def settings_for(config: ModelConfig) -> Endpoint:
    """Return a model's settings, filled in by its provider; ConfigError as `place_of`."""
    place = place_of(CHAT, config.provider, config, PROVIDERS)
    provider = PROVIDERS.get(config.provider, Provider())
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
