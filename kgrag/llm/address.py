"""Addresses and keys of endpoints, and texts about them without keys."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from kgrag.config import EmbeddingConfig, ModelConfig, RerankConfig
from kgrag.errors import ConfigError, ModelUnavailableError
from kgrag.text.messages import catalogue

# Minimum length of a key, or of a part of it between dots, that is hidden. Local servers accept
# "x", "none" or "EMPTY" as keys: those are no secrets, and occur in any text.
_SHORTEST_SECRET = 8
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint and a model there."""

    url: str
    model: str
    key: str = ""  # secret; empty for none
    key_env: str = ""  # environment variable of the key; empty for none
    attempts: int = 1  # of each request

    def __repr__(self) -> str:
        return f"Place({self.model!r} at {self.url!r})"

    def __str__(self) -> str:
        return f"{self.model} at {self.url}"

    @property
    def secrets(self) -> list[str]:
        """Return the key, and the parts of one that has dots."""
        parts = dict.fromkeys([self.key, *self.key.split(".")])
        return [secret for secret in parts if len(secret) >= _SHORTEST_SECRET]

    def hide(self, text: str) -> str:
        """Return a text with *** for the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text

    def shown(self, said: object, *, most: int = 200) -> str:
        """Return the first characters of an endpoint's message, on one line and without the key.

        The key is hidden first: truncated, it would not be found.
        """
        return " ".join(self.hide(str(said)).split())[:most]

    def tells(self, exc: BaseException) -> bool:
        """Return whether an error, or one of its causes, contains the key."""
        return any(self.hide(text) != text for e in chain(exc) for text in (str(e), repr(e)))


def chain(exc: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, latest first."""
    seen: set[int] = set()
    link: BaseException | None = exc
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A provider or local server: its address, the variable of its key, and the default model."""

    base_url: str = ""  # without the path of a request
    api_key_env: str = ""  # empty where no key is needed
    model: str = ""  # empty if the settings must name one


_P = TypeVar("_P", bound=Preset)


_Settings = EmbeddingConfig | ModelConfig | RerankConfig


@dataclass(frozen=True, slots=True)
class Table:
    """A settings table that configures an endpoint."""

    name: str
    path: str  # of requests, below the address; users copy it with the address
    url: str  # an example for errors, as `variable`
    variable: str


CHAT = Table("llm", "/chat/completions", "http://localhost:8000/v1", "ZHIPUAI_API_KEY")
ENCODER = Table("embedding", "/embeddings", "http://localhost:8080/v1", "JINA_API_KEY")
RERANKER = Table("rerank", "/rerank", "http://localhost:8080", "JINA_API_KEY")


def presets(table: Table, kind: type[_P]) -> Mapping[str, _P]:
    """Return the presets for a settings table in `providers.toml`, by provider."""
    known = catalogue("kgrag.llm", "providers.toml")
    return {n: kind(**known["services"][n], **more) for n, more in known[table.name].items()}


def place_of(table: Table, provider: str, asked: _Settings, known: Mapping[str, Preset]) -> Place:
    """Return the endpoint that a table configures, without its key.

    The provider's preset, if any, fills in what is not set.

    Raises:
        ConfigError: If the provider is unknown, the address is missing, malformed or contains a
            password or query, no model is named, or `api_key_env` is no name of a variable.
            Possible secrets are not shown.
    """
    if provider and provider not in known:
        raise ConfigError(
            f"{table.name}.provider {provider!r} is not known; known are {', '.join(known)}"
        )
    if asked.api_key_env and not _VARIABLE.fullmatch(asked.api_key_env):
        raise ConfigError(
            f"{table.name}.api_key_env must be the name of an environment variable, like"
            f" {table.variable}; a key itself does not belong into a file"
        )
    preset = known.get(provider, Preset())
    url = _address(table, asked.base_url or preset.base_url)
    model = asked.model or preset.model
    if not model:
        raise ConfigError(
            f'no model is named for {url}: set {table.name}.model = "..." in kgrag.toml'
            f" (GET {url}/models lists what is served)"
        )
    return Place(url, model, key_env=asked.api_key_env or preset.api_key_env)


def _address(table: Table, url: str) -> str:
    if {"@", "?", "#"} & set(url):
        raise ConfigError(
            f"{table.name}.base_url must hold no user, password or query (what is after @, ? or"
            f" #): a key is named by {table.name}.api_key_env"
        )
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        whole = False
    if not whole:
        raise ConfigError(
            f"{table.name}.base_url must be a web address like {table.url}, got {url!r}"
            f" (or name an {table.name}.provider)"
        )
    return url.rstrip("/").removesuffix(table.path)


def read_key(place: Place) -> str:
    """Return the key of an endpoint from the environment; empty where it needs none.

    Raises:
        ModelUnavailableError: If the variable is not set or malformed.
    """
    name = place.key_env
    if not name:
        return ""
    key = os.environ.get(name, "").strip()
    if not key:
        raise ModelUnavailableError(f"{place} needs a key: set the environment variable {name}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelUnavailableError(
            f"the environment variable {name} holds blanks or characters that no key has;"
            " copy the key again"
        )
    return key
