"""The chat model of each stage: from the settings, or passed by a program."""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import Config, ModelConfig
from kgrag.errors import ConfigError, KgragError, ModelError
from kgrag.files.cache_folder import cache_folder
from kgrag.ids import digest
from kgrag.llm.address import Place, read_key
from kgrag.llm.chat import ChatModel, Completion, OnText, Request
from kgrag.llm.ledger import Calls
from kgrag.llm.middleware import (
    Breaker,
    Cached,
    Circuit,
    Clock,
    Limited,
    Limits,
    Recorded,
    Retried,
    Wrapper,
)
from kgrag.llm.providers import Endpoint, settings_for

if TYPE_CHECKING:
    from kgrag.llm.client import OpenAIChat

# The limit in cache keys where the provider sets it, formerly the same for all; complete answers do
# not depend on it.
_KEPT_UNDER = 4000


def calls_file(location: str | Path, config: Config) -> Path:
    """Return the file of answers and ledger of a knowledge base, a folder or an address.

    Raises:
        ModelError: If it belongs into the user's cache folder and there is none.
    """
    if config.llm.calls:
        return Path(config.llm.calls)
    if "://" in str(location):
        return cache_folder() / f"calls-{digest('calls', str(location))}.db"
    return Path(location) / "calls.db"


def keeping_calls(config: Config, location: str | Path) -> Config:
    """Return settings that store calls where a knowledge base at `location` would."""
    calls = str(calls_file(location, config))
    return replace(config, llm=replace(config.llm, calls=calls))


class ChatModels:
    """The models of a knowledge base and their file of calls, opened on demand.

    Attributes:
        given: The model of every stage; None for those of the settings.
    """

    def __init__(
        self, config: Config, location: str | Path, given: ChatModel | None = None
    ) -> None:
        """Store the settings; nothing is opened yet.

        Raises:
            ConfigError: If `given` is no model.
        """
        if given is not None and not (
            isinstance(getattr(given, "name", None), str)
            and callable(getattr(given, "complete", None))
        ):
            raise ConfigError(
                f"model must have a name and complete(request, *, on_text=None), as "
                f"kgrag.extending.ChatModel says; got {type(given).__name__}"
            )
        self._config = config
        self._location = location
        self.given = given

    @cached_property
    def calls(self) -> Calls:
        """The file of answers and the ledger."""
        return Calls.open(calls_file(self._location, self._config))

    @cached_property
    def models(self) -> "Models":
        """The chat model of every stage that has one."""
        return self.fresh()

    def fresh(self) -> "Models":
        """Return new models, without the state of unreachable endpoints."""
        config = self._config
        config_of = config.model_of if self.given is None else lambda stage: config.llm
        return Models(config_of, calls=self.calls, given=self.given)

    def has(self, stage: str) -> bool:
        """Return whether a stage has a model; nothing is opened."""
        return self.given is not None or self._config.model_of(stage).is_configured

    def close(self) -> None:
        """Release files and connections."""
        for name in ("models", "calls"):
            if name in self.__dict__:  # was opened
                self.__dict__.pop(name).close()


class Models:
    """Builds and caches the model of each stage on demand; thread-safe.

    Stages with the same model at the same endpoint share its circuit and, if equal, its limits. A
    model passed by a program serves every stage: its answers are cached, its calls recorded and
    limited, but not retried.
    """

    def __init__(
        self,
        config_of: Callable[[str], ModelConfig],
        *,
        calls: Calls,
        clock: Clock | None = None,
        given: ChatModel | None = None,
    ) -> None:
        """Store the settings, for a given model its limits; nothing is built yet.

        `calls` is not closed with the models. A given model must be thread-safe.
        """
        self._config_of = config_of
        self._calls = calls
        self._clock = clock or Clock()
        self._given = given
        self._lock = threading.Lock()
        self._models: dict[ModelConfig, ChatModel] = {}
        self._clients: list[OpenAIChat] = []
        self._circuits: dict[Place, Circuit] = {}
        self._limits: dict[tuple[Place | None, int, int, int], Limits] = {}

    def is_configured(self, stage: str) -> bool:
        """Return whether a stage has a model."""
        return self._given is not None or self._config_of(stage).is_configured

    def endpoint(self, stage: str) -> Endpoint:
        """Return a stage's configured endpoint and price; needs no key.

        Raises:
            ConfigError: If it has none, or its settings are incomplete.
        """
        config = self._config_of(stage)
        if not config.is_configured:
            raise ConfigError(
                f"no model is configured for the stage {stage!r}: set provider or base_url in"
                f" [{'vision' if stage == 'vision' else 'llm'}] of kgrag.toml"
            )
        return settings_for(config)

    def model_name(self, stage: str) -> str:
        """Return the name of a stage's model; needs no key; ConfigError as `endpoint`."""
        return self._given.name if self._given is not None else self.endpoint(stage).place.model

    def parameters(self, stage: str) -> dict[str, str]:
        """Return what an answer depends on besides model and request; ConfigError as `endpoint`."""
        if self._given is not None:
            return {"given": _class_of(self._given)}
        config, endpoint = self._config_of(stage), self.endpoint(stage)
        return {
            "base_url": endpoint.place.url,
            "json": endpoint.json,
            "max_tokens": str(config.max_tokens or _KEPT_UNDER),
            "temperature": str(config.temperature),
        }

    def of(self, stage: str) -> ChatModel:
        """Return the model of a stage; ModelUnavailableError if its key is not set.

        Raises:
            ConfigError: As `endpoint`.
        """
        config, parameters = self._config_of(stage), self.parameters(stage)
        with self._lock:
            if config not in self._models:
                if self._given is not None:
                    limited = self._limited(_Guarded(self._given), None, config)
                    model = Cached(limited, calls=self._calls, parameters=parameters)
                else:
                    model = self._built(config, self.endpoint(stage), parameters)
                self._models[config] = model
            return self._models[config]

    def stop(self) -> None:
        """Let calls in progress end, but none wait, be repeated or start; may be repeated."""
        self._clock.stop()

    def close(self) -> None:
        """Close the connections of the models built; a given one stays open."""
        with self._lock:
            clients, self._clients = self._clients, []
            self._models.clear()
        for client in clients:
            client.close()

    def _built(self, config: ModelConfig, endpoint: Endpoint, parameters: dict[str, str]) -> Cached:
        from kgrag.llm.client import OpenAIChat

        place = endpoint.place
        client = OpenAIChat(
            replace(place, key=read_key(place)),
            timeout_s=config.timeout_s,
            max_tokens=endpoint.max_tokens,
            temperature=config.temperature,
            json_mode=endpoint.json,
        )
        self._clients.append(client)
        limited = self._limited(client, place, config)
        retried = Retried(limited, self._clock, attempts=config.attempts)
        circuit = self._circuits.setdefault(place, Circuit(self._clock))
        breaker = Breaker(retried, trial=limited, circuit=circuit)
        limit = "" if config.max_tokens else str(endpoint.max_tokens)
        return Cached(breaker, calls=self._calls, parameters=parameters, limit=limit)

    def _limited(self, model: ChatModel, place: Place | None, config: ModelConfig) -> Limited:
        """Return a model with recorded calls, within the limits of its endpoint."""
        rates = (config.concurrency, config.requests_per_minute, config.tokens_per_minute)
        limits = self._limits.setdefault((place, *rates), Limits(self._clock, *rates))
        return Limited(Recorded(model, calls=self._calls), limits=limits)


class _Guarded(Wrapper):
    """Converts errors of a program's chat model to kgrag's."""

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        given_as = f"the model {self.name}, given as {_class_of(self.model)},"
        try:
            completion = self.model.complete(request, on_text=on_text)
        except KgragError:
            raise
        except Exception as exc:
            raise ModelError(f"{given_as} failed: {type(exc).__name__}: {exc}") from exc
        if not isinstance(completion, Completion):
            kind = type(completion).__name__
            raise ModelError(f"{given_as} returned {kind} instead of a Completion")
        return completion


def _class_of(model: object) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"
