"""The chat model of every stage, put together from the settings."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from kgrag.config import ModelConfig
from kgrag.errors import ConfigError
from kgrag.llm.address import Place, read_key
from kgrag.llm.breaker import Breaker, Circuit
from kgrag.llm.calls import Calls
from kgrag.llm.chat import ChatModel
from kgrag.llm.client import OpenAIChat
from kgrag.llm.ledger import Cached, Recorded
from kgrag.llm.limits import Limited, Limits, Stop
from kgrag.llm.providers import Endpoint, settings_for
from kgrag.llm.retried import Retried

# Of the provider's limit in the keys of answers: it was once the same for all, and what is whole
# does not depend on it.
_KEPT_UNDER = 4000
_Shared = tuple[str, str, str]  # address, model, key: what an endpoint counts by


class Models:
    """Builds the model of a stage when it is first asked for, and keeps it; safe for threads.

    Stages that ask the same model at the same endpoint share what is known of its health and,
    where their limits are the same, those: it counts them together.
    """

    def __init__(
        self,
        config_of: Callable[[str], ModelConfig],
        *,
        calls: Calls,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """Keep the settings; nothing is built yet.

        Args:
            config_of: Gives the settings of a stage.
            calls: Keeps answers and the ledger; stays open when the models are closed.
            clock: Gives seconds.
            sleep: Waits the given seconds; None for one that `stop` ends.
        """
        self._config_of = config_of
        self._calls = calls
        self._clock = clock
        self._stop = Stop()
        self._sleep = sleep or self._stop.sleep
        self._lock = threading.Lock()
        self._models: dict[ModelConfig, ChatModel] = {}
        self._clients: list[OpenAIChat] = []
        self._circuits: dict[_Shared, Circuit] = {}
        self._limits: dict[tuple[_Shared, int, int, int], Limits] = {}

    def is_configured(self, stage: str) -> bool:
        """Return whether a stage has a model."""
        return self._config_of(stage).is_configured

    def endpoint(self, stage: str) -> Endpoint:
        """Return where a stage's model is, and what it costs; needs no key.

        Raises:
            ConfigError: If it has none, or its settings lack something.
        """
        config = self._config_of(stage)
        if not config.is_configured:
            raise ConfigError(
                f"no model is configured for the stage {stage!r}: set llm.provider or"
                " llm.base_url in kgrag.toml"
            )
        return settings_for(config)

    def model_name(self, stage: str) -> str:
        """Return the name of a stage's model, as its endpoint knows it; needs no key.

        Raises:
            ConfigError: As `endpoint`.
        """
        return self.endpoint(stage).model

    def are_together(self, one: str, other: str) -> bool:
        """Return whether two stages ask the same endpoint."""
        if not (self.is_configured(one) and self.is_configured(other)):
            return False
        return self.endpoint(one).base_url == self.endpoint(other).base_url

    def parameters(self, stage: str) -> dict[str, str]:
        """Return what an answer depends on besides model and request, for the cache's key.

        Raises:
            ConfigError: As `endpoint`.
        """
        config, endpoint = self._config_of(stage), self.endpoint(stage)
        return {
            "base_url": endpoint.base_url,
            "json": endpoint.json,
            "max_tokens": str(config.max_tokens or _KEPT_UNDER),
            "temperature": str(config.temperature),
        }

    def of(self, stage: str) -> ChatModel:
        """Return the model of a stage.

        Raises:
            ConfigError: As `endpoint`.
            ModelUnavailableError: If its key is not in the environment.
        """
        endpoint, config = self.endpoint(stage), self._config_of(stage)
        with self._lock:
            if config not in self._models:
                self._models[config] = self._built(config, endpoint, self.parameters(stage))
            return self._models[config]

    def stop(self) -> None:
        """Let calls under way end, but none wait, be tried again or begin; may be repeated."""
        self._stop.set()

    def close(self) -> None:
        """Close the connections of all models."""
        with self._lock:
            clients, self._clients = self._clients, []
            self._models.clear()
        for client in clients:
            client.close()

    def _built(
        self, config: ModelConfig, endpoint: Endpoint, parameters: Mapping[str, str]
    ) -> ChatModel:
        place = Place(endpoint.base_url, endpoint.model, key_env=endpoint.api_key_env)
        client = OpenAIChat(
            replace(place, key=read_key(place)),
            timeout_s=config.timeout_s,
            max_tokens=endpoint.max_tokens,
            temperature=config.temperature,
            json_mode=endpoint.json,
        )
        self._clients.append(client)
        shared = (endpoint.base_url, endpoint.model, endpoint.api_key_env)
        rates = (config.concurrency, config.requests_per_minute, config.tokens_per_minute)
        limits = self._limits.get((shared, *rates))
        if limits is None:
            limits = self._limits[(shared, *rates)] = Limits(
                concurrency=config.concurrency,
                requests_per_minute=config.requests_per_minute,
                tokens_per_minute=config.tokens_per_minute,
                clock=self._clock,
                sleep=self._sleep,
                check=self._stop.check,
            )
        limited = Limited(Recorded(client, calls=self._calls), limits=limits)
        retried = Retried(limited, attempts=config.attempts, clock=self._clock, sleep=self._sleep)
        circuit = self._circuits.get(shared)
        if circuit is None:
            circuit = self._circuits[shared] = Circuit(
                clock=self._clock, sleep=self._sleep, check=self._stop.check
            )
        breaker = Breaker(retried, trial=limited, circuit=circuit)
        limit = "" if config.max_tokens else str(endpoint.max_tokens)
        return Cached(breaker, calls=self._calls, parameters=parameters, limit=limit)
