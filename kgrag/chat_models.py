"""The chat models of a knowledge base: those of the settings, or one that a program gives."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import Config
from kgrag.errors import ConfigError
from kgrag.files.cache_folder import cache_folder
from kgrag.ids import digest

if TYPE_CHECKING:
    from kgrag.llm.calls import Calls
    from kgrag.llm.chat import ChatModel
    from kgrag.llm.given import GivenModels
    from kgrag.llm.models import Models


def calls_file(location: str | Path, config: Config) -> Path:
    """Return the file that keeps the answers of models and their ledger.

    Args:
        location: Of the knowledge base: a folder, or the address of a server.
        config: Settings; `calls` of `[llm]` goes first.

    Raises:
        ModelError: If it belongs into the user's cache folder and there is none.
    """
    if config.llm.calls:
        return Path(config.llm.calls)
    if "://" in str(location):
        return cache_folder() / f"calls-{digest('calls', str(location))}.db"
    return Path(location) / "calls.db"


def keeping_calls(config: Config, location: str | Path) -> Config:
    """Return settings by which any knowledge base keeps its calls where this one will.

    Args:
        config: Settings.
        location: Of a knowledge base that is not there yet.
    """
    calls = str(calls_file(location, config))
    return replace(config, llm=replace(config.llm, calls=calls))


class ChatModels:
    """Opens what models need when it is first asked for: their file of calls, their clients.

    Attributes:
        given: The model of every stage; None for those of the settings.
    """

    def __init__(
        self, config: Config, location: str | Path, given: "ChatModel | None" = None
    ) -> None:
        """Keep the settings; nothing is opened yet.

        Args:
            config: Settings.
            location: Of the knowledge base.
            given: A model for every stage, in the place of those that are configured.

        Raises:
            ConfigError: If what is given is no model.
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
    def calls(self) -> "Calls":
        """The file that keeps what models answered, and the ledger of their calls."""
        from kgrag.llm.calls import Calls

        return Calls.open(calls_file(self._location, self._config))

    @cached_property
    def models(self) -> "Models | GivenModels":
        """The chat model of every stage that has one."""
        return self.fresh()

    def fresh(self) -> "Models | GivenModels":
        """Return models that have not been asked: one that was out of reach may be back."""
        if self.given is not None:
            from kgrag.llm.given import GivenModels

            return GivenModels(self.given, calls=self.calls, limits=self._config.llm)
        from kgrag.llm.models import Models

        return Models(self._config.model_of, calls=self.calls)

    def has(self, stage: str) -> bool:
        """Return whether a stage has a model; nothing is opened."""
        return self.given is not None or self._config.model_of(stage).is_configured

    def close(self) -> None:
        """Release files and connections."""
        for name in ("models", "calls"):
            if name in self.__dict__:  # opened
                self.__dict__.pop(name).close()
