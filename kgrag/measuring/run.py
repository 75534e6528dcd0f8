"""One run of `kgrag eval answers`: its models, what they answer kept or played, its questions."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kgrag.asking.options import Writer
from kgrag.chat_models import calls_file
from kgrag.config import Config, ModelConfig
from kgrag.errors import ConfigError
from kgrag.llm.calls import Calls
from kgrag.llm.models import Models
from kgrag.measuring.metered import Metered, Routed, Tape


@dataclass(frozen=True, slots=True)
class RunModels:
    """The chat models of a run.

    Attributes:
        config: Settings with which to open the knowledge base: answers are kept for this run only,
            so that what is played is what is counted.
        writer: Who writes answers.
        model: Writes them; None for quotes by rule.
        judge: Judges them; None where nobody does.
        tape: What is recorded or played.
    """

    config: Config
    writer: Writer
    model: Metered | None
    judge: Metered | None
    tape: Tape


@contextmanager
def run_models(
    config: Config,
    location: str,
    *,
    writer: Writer | None = None,
    model: str = "",
    judge: str = "",
    tape: Tape,
) -> Iterator[RunModels]:
    """Give the models of a run, and close them after.

    Args:
        config: Settings.
        location: Of the knowledge base: its file of calls is gone on with, as `ask` does.
        writer: Who writes answers; for None the model where one is configured, named or recorded.
        model: Name of the model that writes, at the configured endpoint; empty for the configured.
        judge: Name of the model that judges, at the endpoint of the stage `verify`; empty for none.
        tape: What is recorded or played.

    Raises:
        ConfigError: If a model is named and no endpoint is configured.
    """
    asked = _named(config, model) if model else config
    judging = replace(config.model_of("verify"), model=judge or config.model_of("verify").model)
    if not tape.player:
        _check(model, asked.model_of("answer"))
        _check(judge, judging)
    written = tape.has_answers if tape.player else asked.model_of("answer").is_configured
    chosen: Writer = writer or ("model" if written else "quotes")
    with ExitStack() as stack:
        own = stack.enter_context(TemporaryDirectory(prefix="kgrag-eval-"))
        kept = replace(asked, llm=replace(asked.llm, calls=str(Path(own, "calls.db"))))
        opened = _Opened(stack, lambda: calls_file(location, config))
        answers = Routed(lambda: opened.models(asked.model_of))
        judges = Routed(lambda: opened.models(lambda _: judging))
        yield RunModels(
            kept,
            chosen,
            Metered(tape.around(answers)) if chosen == "model" else None,
            Metered(tape.around(judges)) if judge else None,
            tape,
        )


class _Opened:
    """Opens models on the knowledge base's file of calls, when the first one is asked."""

    def __init__(self, stack: ExitStack, file: Callable[[], Path]) -> None:
        self._stack = stack
        self._file = file
        self._calls: Calls | None = None
        self._lock = threading.Lock()

    def models(self, config_of: Callable[[str], ModelConfig]) -> Models:
        with self._lock:
            if self._calls is None:
                self._calls = self._stack.enter_context(closing(Calls.open(self._file())))
            return self._stack.enter_context(closing(Models(config_of, calls=self._calls)))


def _named(config: Config, model: str) -> Config:
    """Return settings by which a model of this name writes; other stages keep theirs."""
    answer = replace(config.model_of("answer"), model=model)
    return replace(config, stages={**config.stages, "answer": answer})


def _check(model: str, config: ModelConfig) -> None:
    """Raise ConfigError if a model is named that there is no endpoint for."""
    if model and not config.is_configured:
        raise ConfigError(
            f"no endpoint is configured where a model {model!r} could be asked: set llm.provider "
            "or llm.base_url in kgrag.toml, or play a recording with --replay"
        )
