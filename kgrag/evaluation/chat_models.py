"""Chat models of a measurement: counted by question, recorded, or played from a file."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kgrag.config import Config, ModelConfig, Writer
from kgrag.errors import ConfigError, EvaluationError, ModelError
from kgrag.llm.chat import ChatModel, Completion, OnText, Request, Usage
from kgrag.llm.ledger import Calls
from kgrag.llm.models import Models, calls_file
from kgrag.llm.replay import Player, Recorder


class Routed:
    """The chat model of each stage as one: a request goes to that of its stage."""

    def __init__(self, open_models: Callable[[], Models]) -> None:
        """Keep where models come from; nothing is opened before the first request.

        Args:
            open_models: Called once.
        """
        self._open = open_models
        self._models: Models | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name of the model that answers."""
        return self._opened().model_name("answer")

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the answer of the stage's model; see `ChatModel.complete`."""
        models = self._opened()
        stage = request.stage if models.is_configured(request.stage) else "answer"
        return models.of(stage).complete(request, on_text=on_text)

    def _opened(self) -> Models:
        with self._lock:
            if self._models is None:
                self._models = self._open()
            return self._models


class Metered:
    """A chat model that counts calls and tokens since it was last asked for them.

    Answers that were paid for before count as the others: it is told what a question takes.

    Attributes:
        failed: What went wrong since, oldest first.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._calls = 0
        self._usage = Usage()
        self.failed: list[ModelError] = []

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`."""
        try:
            completion = self._model.complete(request, on_text=on_text)
        except ModelError as exc:
            with self._lock:
                self._calls += 1
                self.failed.append(exc)
            raise
        used = completion.usage
        with self._lock:
            self._calls += 1
            self._usage = Usage(
                self._usage.prompt + used.prompt, self._usage.completion + used.completion
            )
        return completion

    def taken(self) -> tuple[int, Usage]:
        """Return calls and tokens since the last time, and begin anew."""
        with self._lock:
            told = self._calls, self._usage
            self._calls, self._usage = 0, Usage()
            self.failed = []
        return told


class Tape:
    """The file from which answers of models are played, or in which they are recorded, if any.

    Attributes:
        unrecorded: Calls of a recorded run that failed: where it is played, they are lacking.
    """

    def __init__(self, *, record: Path | None = None, replay: Path | None = None) -> None:
        """Open what is to be played.

        Args:
            record: A new file for what models answer.
            replay: A file that was recorded.

        Raises:
            EvaluationError: If both are given, the new file is there already, or the other cannot
                be read.
        """
        if record and replay:
            raise EvaluationError("a run is either recorded or played: give --record or --replay")
        if record and record.exists():
            raise EvaluationError(
                f"{record}: is there already. Remedy: name another file, or delete it; --replay "
                "plays it"
            )
        self._record = record
        self.unrecorded = 0
        self._lock: AbstractContextManager[object] = threading.Lock()
        self.player = Player.read(replay) if replay else None

    def around(self, model: ChatModel) -> ChatModel:
        """Return the player, or a model that is recorded if the run is."""
        if self.player is not None:
            return self.player
        if self._record is not None:
            return Recorder(model, self._record, lock=self._lock)
        return model

    def check(self, place: str, *models: Metered | None) -> None:
        """Raise what a player lacked since the last question, or count what was not recorded.

        Args:
            place: The question, for the error.
            models: That played, or were recorded.

        Raises:
            EvaluationError: If nothing was recorded for what one of them was asked.
        """
        lacking = [exc for model in models if model for exc in model.failed]
        if self.player is not None and lacking:
            raise EvaluationError(f"{place}: {lacking[0]}")
        if self._record is not None:
            self.unrecorded += len(lacking)

    def notes(self) -> list[str]:
        """Return what who plays the file should know."""
        if not self.unrecorded:
            return []
        return [
            f"{self.unrecorded} calls failed and were not recorded: the recording cannot be played "
            "to its end"
        ]

    @property
    def has_answers(self) -> bool:
        """Return whether the file that is played holds answers to questions."""
        return self.player is not None and any(r.stage == "answer" for r in self.player.unplayed)


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
