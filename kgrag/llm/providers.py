"""What is known of providers: addresses, default models, the keys' variables, prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kgrag.choices import JsonMode
from kgrag.config import ModelConfig
from kgrag.errors import ConfigError
from kgrag.llm.address import CHAT, SERVICES, AtService, Service, place_of
from kgrag.llm.client import JSON_MODES


@dataclass(frozen=True, slots=True)
class Price:
    """What tokens cost, per million.

    Attributes:
        sent: Of tokens sent.
        cached: Of tokens sent that the endpoint had in its cache.
        answered: Of tokens answered.
        currency: `CNY`, `USD`, ...; empty where nobody said.
        as_of: Month of the list that it is from, e.g. `2025-10`; empty for your own.
    """

    sent: float
    cached: float
    answered: float
    currency: str
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Provider(AtService):
    """A preset.

    Attributes:
        service: Where it is asked.
        model: The model taken where none is named; empty where it is yours to name.
        json: How JSON is asked for.
        prices: By model.
        longest: Longest answers by model, in tokens, as their makers state them; under an empty
            name that of other models.
    """

    service: Service
    model: str
    json: JsonMode
    prices: Mapping[str, Price]
    longest: Mapping[str, int]

    def longest_of(self, model: str) -> int:
        """Return the longest answer of a model, in tokens."""
        return self.longest.get(model, self.longest[""])


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model's settings with everything filled in.

    Attributes:
        base_url: Where to post to, without `/chat/completions`.
        model: Name of the model.
        api_key_env: The environment variable that holds the key; empty where none is needed.
        json: How JSON is asked for.
        price: None where nobody said.
        max_tokens: Longest answer.
    """

    base_url: str
    model: str
    api_key_env: str
    json: JsonMode
    price: Price | None
    max_tokens: int


def _prices(
    currency: str, as_of: str, models: Mapping[str, tuple[float, float, float]]
) -> Mapping[str, Price]:
    """Return prices by model from (sent, cached, answered)."""
    return MappingProxyType({name: Price(*of, currency, as_of) for name, of in models.items()})


def _longest(most: int, models: Mapping[str, int] = MappingProxyType({})) -> Mapping[str, int]:
    """Return longest answers by model, and that of all others."""
    return MappingProxyType({"": most, **models})


_NO_PRICES: Mapping[str, Price] = MappingProxyType({})

# Prices change, and differ by length of the prompt and time of day: set your own in kgrag.toml
# (price_in, price_cached, price_out) before relying on them. Where no discount for cached tokens
# was known, they cost as much as others.
PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "glm": Provider(
            SERVICES["glm"],
            "glm-4-plus",  # of the GraphRAG paper that kgrag follows
            "object",
            _prices(
                "CNY",
                "2025-06",
                {
                    "glm-4-plus": (5, 5, 5),
                    "glm-4-air": (0.5, 0.5, 0.5),
                    "glm-4-flash": (0, 0, 0),
                },
            ),
            _longest(4095),
        ),
        "deepseek": Provider(
            SERVICES["deepseek"],
            "deepseek-chat",
            "object",
            _prices(
                "CNY",
                "2025-10",
                {"deepseek-chat": (2, 0.2, 3), "deepseek-reasoner": (2, 0.2, 3)},
            ),
            _longest(8192, {"deepseek-reasoner": 32_768}),  # which counts its thoughts
        ),
        "qwen": Provider(
            SERVICES["dashscope"],
            "qwen-plus",
            "object",
            _prices(
                "CNY",
                "2025-07",
                {
                    "qwen-max": (2.4, 0.48, 9.6),
                    "qwen-plus": (0.8, 0.16, 2),
                    "qwen-turbo": (0.3, 0.06, 0.6),
                },
            ),
            _longest(8192),
        ),
        "moonshot": Provider(
            SERVICES["moonshot"],
            "moonshot-v1-32k",
            "object",
            _prices(
                "CNY",
                "2025-09",
                {
                    "moonshot-v1-8k": (2, 2, 10),
                    "moonshot-v1-32k": (5, 5, 20),
                    "moonshot-v1-128k": (10, 10, 30),
                    "kimi-k2-0905-preview": (4, 1, 16),
                },
            ),
            # The context of the smallest is 8192 with the prompt.
            _longest(8192, {"moonshot-v1-8k": 4000}),
        ),
        "openai": Provider(
            SERVICES["openai"],
            "gpt-4.1-mini",
            "schema",
            _prices(
                "USD",
                "2025-08",
                {
                    "gpt-4o": (2.5, 1.25, 10),
                    "gpt-4o-mini": (0.15, 0.075, 0.6),
                    "gpt-4.1": (2, 0.5, 8),
                    "gpt-4.1-mini": (0.4, 0.1, 1.6),
                    "gpt-4.1-nano": (0.1, 0.025, 0.4),
                },
            ),
            _longest(16_384),
        ),
        "vllm": Provider(SERVICES["vllm"], "", "schema", _NO_PRICES, _longest(8192)),
        "ollama": Provider(SERVICES["ollama"], "", "schema", _NO_PRICES, _longest(8192)),
    }
)
_OWN = Provider(Service(), "", "schema", _NO_PRICES, _longest(8192))


def settings_for(config: ModelConfig) -> Endpoint:
    """Return a model's settings with what is empty filled in from its provider.

    Raises:
        ConfigError: As `place_of`, or if no such way to ask for JSON is known.
    """
    place = place_of(CHAT, config.provider, config, PROVIDERS)
    provider = PROVIDERS.get(config.provider, _OWN)
    return Endpoint(
        place.url,
        place.model,
        place.key_env,
        _json_mode(config.json or provider.json),
        _price(config, provider.prices.get(place.model)),
        config.max_tokens or provider.longest_of(place.model),
    )


def _json_mode(name: str) -> JsonMode:
    for mode in JSON_MODES:
        if mode == name:
            return mode
    raise ConfigError(f"llm.json must be one of {', '.join(JSON_MODES)}, got {name!r}")


def _price(config: ModelConfig, listed: Price | None) -> Price | None:
    """Return the list's price with what the settings say put in."""
    own = (config.price_in, config.price_cached, config.price_out)
    if max(own) < 0:
        return listed
    sent = _first(config.price_in, listed.sent if listed else 0.0)
    # An own price of tokens sent makes the list's price of cached ones meaningless.
    known = listed.cached if listed and config.price_in < 0 else sent
    return Price(
        sent,
        _first(config.price_cached, known),
        _first(config.price_out, listed.answered if listed else 0.0),
        config.currency or (listed.currency if listed else ""),
    )


def _first(own: float, listed: float) -> float:
    return own if own >= 0 else listed
