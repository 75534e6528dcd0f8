"""Where an endpoint is asked, with which key, and texts about it that do not show the key."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from kgrag.errors import ConfigError, ModelUnavailableError

SAID = 200  # characters of what an endpoint said in an error's text
# Of what is hidden, key or part of one between dots. Servers on this machine are given "x", "none"
# or "EMPTY" for a key: no secrets, and words of any text.
_SHORTEST_SECRET = 8
_HIDDEN = "***"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint, as it is called and as errors speak of it.

    Attributes:
        url: Its address.
        model: The model that is asked for.
        key: The key, which no text may show; empty for none.
        key_env: The environment variable that it comes from; empty for none.
        attempts: Tries that its client gives each request.
    """

    url: str
    model: str
    key: str = ""
    key_env: str = ""
    attempts: int = 1

    def __repr__(self) -> str:
        return f"Place({self.model!r} at {self.url!r})"

    def __str__(self) -> str:
        return f"{self.model} at {self.url}"

    @property
    def tried(self) -> str:
        """Return how often a request was tried, in words."""
        return f"(after {self.attempts} {'attempt' if self.attempts == 1 else 'attempts'})"

    @property
    def secrets(self) -> list[str]:
        """Return what no text may show: the key, and the parts of one that has dots."""
        whole = dict.fromkeys([self.key, *self.key.split(".")])
        return [secret for secret in whole if len(secret) >= _SHORTEST_SECRET]

    def hide(self, text: str) -> str:
        """Return text without the key, and without the parts of a key that has dots.

        >>> Place("", "", "k-12345678").hide("bad key k-12345678")
        'bad key ***'
        """
        for secret in self.secrets:
            text = text.replace(secret, _HIDDEN)
        return text

    def shown(self, said: object, *, most: int = SAID) -> str:
        """Return the start of what an endpoint said, on one line and without the key.

        The key is hidden first: cut in the middle, it would not be found.
        """
        return " ".join(self.hide(str(said)).split())[:most]

    def tells(self, exc: BaseException) -> bool:
        """Return whether the key stands in an error, or in one that led to it."""
        return any(self.hide(text) != text for e in chain(exc) for text in (str(e), repr(e)))


def chain(exc: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, latest first."""
    seen: set[int] = set()
    link: BaseException | None = exc
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


class Named(Protocol):
    """Settings of an endpoint, or a preset; what is empty is not said."""

    @property
    def base_url(self) -> str:
        """Its address."""
        ...

    @property
    def model(self) -> str:
        """The model that is asked for."""
        ...

    @property
    def api_key_env(self) -> str:
        """The environment variable that holds its key."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the settings that names an endpoint.

    Attributes:
        name: Its name, as errors say it.
        path: What is asked below the address; people copy it along with it.
        url: An address for example.
        variable: A variable for example.
    """

    name: str
    path: str
    url: str
    variable: str


CHAT = Table("llm", "/chat/completions", "http://localhost:8000/v1", "ZHIPUAI_API_KEY")
ENCODER = Table("embedding", "/embeddings", "http://localhost:8080/v1", "JINA_API_KEY")
RERANKER = Table("rerank", "/rerank", "http://localhost:8080", "JINA_API_KEY")


def place_of(table: Table, provider: str, asked: Named, presets: Mapping[str, Named]) -> Place:
    """Return an endpoint without its key, what is not asked filled in from its provider.

    Args:
        table: Where it is asked for.
        provider: Name of a preset; empty for none.
        asked: What stands in the table.
        presets: By name.

    Raises:
        ConfigError: If the provider is not known, the address is missing, no web address or holds
            more than that, no model is named, or what is to name the key's variable is no name.
            What may be a secret is not shown.
    """
    if provider and provider not in presets:
        raise ConfigError(
            f"{table.name}.provider {provider!r} is not known; known are {', '.join(presets)}"
        )
    if asked.api_key_env and not _VARIABLE.fullmatch(asked.api_key_env):
        raise ConfigError(
            f"{table.name}.api_key_env must be the name of an environment variable, like"
            f" {table.variable}; a key itself does not belong into a file"
        )
    preset = presets.get(provider)
    url = _address(table, asked.base_url or (preset.base_url if preset else ""))
    model = asked.model or (preset.model if preset else "")
    if not model:
        raise ConfigError(
            f'no model is named for {url}: set {table.name}.model = "..." in kgrag.toml'
            f" (GET {url}/models lists what is served)"
        )
    return Place(url, model, key_env=asked.api_key_env or (preset.api_key_env if preset else ""))


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
    """Return the key of an endpoint from the environment; empty where it wants none.

    Raises:
        ModelUnavailableError: If the variable is not set, or what it holds cannot be sent.
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
